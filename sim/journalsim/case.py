"""A case: one concrete run of a scenario, as a value.

Every axis is fixed, every action is placed, every delay is given.  Running the
same case twice gives the same history, in any process and on any machine, so a
case is at once the unit of search, the thing that shrinks, and the
reproduction.

The schedule is first in, first out, except for ``delays``: the entry that task
``lane`` made ready as its ``nth`` one is passed over ``turns`` times.  Any
schedule at all can be written this way (count how often each entry was passed
over), so random strategies are recorded as delays and need no seed to replay.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Literal, TypeAlias, get_args

from attrs import evolve, frozen

CASE_FORMAT = 1


@frozen
class Never:
    """The action is left out."""

    def __str__(self) -> str:
        return "never"


NEVER = Never()


@frozen
class AtPoint:
    """At a named point."""

    name: str

    def __str__(self) -> str:
        return self.name


@frozen
class AtStep:
    """Just before a step of the scheduler."""

    number: int

    def __str__(self) -> str:
        return f"step:{self.number}"


@frozen
class AtTime:
    """At a virtual time; on the axis of a pause, that much later."""

    time_ns: int

    def __str__(self) -> str:
        return f"time:{self.time_ns}"


@frozen
class After:
    """Behind another step of the scenario, the nearest above that has this label."""

    label: str
    delay_ns: int = 0

    def __str__(self) -> str:
        return f"after:{self.label}" + (f"+{self.delay_ns}ns" if self.delay_ns else "")


@frozen
class Loses:
    """Not a place: what a crash loses."""

    loss: str

    def __str__(self) -> str:
        return self.loss


@frozen
class AtByte:
    """Behind so many bytes of a connection."""

    number: int

    def __str__(self) -> str:
        return f"byte:{self.number}"


@frozen
class AtFrame:
    """Behind so many whole frames of a connection."""

    number: int

    def __str__(self) -> str:
        return f"frame:{self.number}"


CursorForm = Literal[
    "none",
    "equal",
    "frame",
    "ahead",
    "foreign_run",
    "foreign_session",
    "malformed",
    "evicted",
    "empty",
    "mid_part",
]


@frozen
class AtCursor:
    """The cursor that a program sends; ``number`` belongs to the form ``frame`` and counts from 1.

    Raises:
        ValueError: there is no such cursor.
    """

    form: CursorForm
    number: int = 0

    def __attrs_post_init__(self) -> None:
        if self.form not in get_args(CursorForm) or (self.form == "frame") != (self.number > 0):
            raise ValueError(f"there is no {self}")

    def __str__(self) -> str:
        return f"cursor:{self.form}" + (f" {self.number}" if self.number else "")


Moment: TypeAlias = AtPoint | AtStep | AtTime
"""Where a step is placed."""

StepPlace: TypeAlias = Never | Moment | After
"""A value of an axis that places a step."""

StreamPlace: TypeAlias = Never | AtByte | AtFrame
"""A value of an axis that places the fault of a link."""

Placement: TypeAlias = StepPlace | StreamPlace | AtCursor | Loses
"""A value of an axis."""


@frozen(order=True)
class Delay:
    """``turns`` other entries go before the ``nth`` (from 0) entry of ``lane``."""

    lane: str
    nth: int
    turns: int

    def __str__(self) -> str:
        return f"{self.lane}~{self.nth}+{self.turns}"


@frozen
class Action:
    """An action that the search added to the author's steps."""

    actor: str
    verb: str
    at: Moment

    def __str__(self) -> str:
        return f"{self.actor}.{self.verb}@{self.at}"


@frozen(kw_only=True)
class Case:
    """One concrete run of a scenario.

    Attributes:
        scenario: name of the scenario.
        axes: value of each sweep axis, sorted by name.
        actions: placed by the search, on top of the author's steps.
        delays: deviations from first in, first out.
    """

    scenario: str
    axes: tuple[tuple[str, Placement], ...] = ()
    actions: tuple[Action, ...] = ()
    delays: tuple[Delay, ...] = ()

    @property
    def id(self) -> str:
        """Six hexadecimal digits that name this case within its scenario."""
        return hashlib.sha256(case_to_json(self).encode()).hexdigest()[:6]

    def axis(self, name: str) -> Placement | None:
        """Returns the placement of one axis, or None when the case does not fix it."""
        return next((value for key, value in self.axes if key == name), None)

    def __str__(self) -> str:
        words: list[str] = [f"{name}={value}" for name, value in self.axes]
        words += [str(action) for action in self.actions]
        words += [f"delay {delay}" for delay in self.delays]
        return ", ".join(words) if words else "as written"


def case_to_data(case: Case) -> dict[str, Any]:
    """Returns the case as JSON data."""
    return {
        "format": CASE_FORMAT,
        "scenario": case.scenario,
        "axes": {name: placement_to_data(value) for name, value in case.axes},
        "actions": [[a.actor, a.verb, placement_to_data(a.at)] for a in case.actions],
        "delays": [[d.lane, d.nth, d.turns] for d in case.delays],
    }


def case_from_data(data: Mapping[str, Any]) -> Case:
    """Returns the case that :func:`case_to_data` wrote.

    Raises:
        ValueError: the data is not a case of this format.
    """
    if data.get("format") != CASE_FORMAT:
        raise ValueError(f"case format {data.get('format')!r} is not {CASE_FORMAT}: write it again with this version")
    scenario, axes = _expected(data, "scenario", str, "text"), _expected(data, "axes", dict, "an object")
    actions, delays = _expected(data, "actions", list, "a list"), _expected(data, "delays", list, "a list")
    if unknown := sorted(set(data) - {"format", "scenario", "axes", "actions", "delays"}):
        raise ValueError(f"not a case: it has a key {unknown[0]!a:.40}, which no case has")
    return Case(
        scenario=scenario,
        axes=_sorted((name, placement_from_data(value)) for name, value in axes.items()),
        actions=tuple(_action_from_data(action) for action in actions),
        delays=tuple(sorted(_delay_from_data(delay) for delay in delays)),
    )


def _expected(data: Mapping[str, Any], key: str, kind: type, what: str) -> Any:
    if key not in data:
        raise ValueError(f"not a case: {key} is missing")
    if not isinstance(data[key], kind):
        raise ValueError(f"not a case: expected {key} as {what}, found {data[key]!a:.60}")
    return data[key]


def _action_from_data(data: Any) -> Action:
    match data:
        case [str(actor), str(verb), at]:
            return Action(actor, verb, _moment_from_data(at))
    raise ValueError(f"not a case: expected an action as [actor, verb, placement], found {data!a:.60}")


def _delay_from_data(data: Any) -> Delay:
    match data:
        case [str(lane), int(nth), int(turns)] if lane and type(nth) is type(turns) is int and nth >= 0 and turns > 0:
            return Delay(lane, nth, turns)
    raise ValueError(f"not a case: expected a delay as [lane, nth, turns], found {data!a:.60}")


def case_to_json(case: Case) -> str:
    """Returns the case as one line of canonical JSON."""
    return json.dumps(case_to_data(case), sort_keys=True, separators=(",", ":"))


def with_axes(case: Case, axes: Iterable[tuple[str, Placement]]) -> Case:
    """Returns the case with these axis values instead of its own."""
    return evolve(case, axes=_sorted(axes))


def _sorted(axes: Iterable[tuple[str, Placement]]) -> tuple[tuple[str, Placement], ...]:
    return tuple(sorted(axes, key=lambda axis: axis[0]))


# --- placements as JSON --------------------------------------------------------------------------

_FORMS: tuple[tuple[str, type[Placement], str, str], ...] = (
    ("never", Never, "", ""),
    ("point", AtPoint, "name", ""),
    ("step", AtStep, "", "number"),
    ("time", AtTime, "", "time_ns"),
    ("after", After, "label", "delay_ns"),
    ("loss", Loses, "loss", ""),
    ("byte", AtByte, "", "number"),
    ("frame", AtFrame, "", "number"),
    ("cursor", AtCursor, "form", "number"),
)
"""A placement is written ``[kind, name, number]``: per kind its class, and which of its attributes those two are."""

_FORM_OF = {form[1]: form for form in _FORMS}
_FORM_CALLED = {form[0]: form for form in _FORMS}


def placement_to_data(value: Placement) -> list[Any]:
    """Returns a placement as JSON data."""
    kind, _, name, number = _FORM_OF[type(value)]
    return [kind, getattr(value, name) if name else "", getattr(value, number) if number else 0]


def placement_from_data(data: Any) -> Placement:
    """Returns the placement that :func:`placement_to_data` wrote.

    Raises:
        ValueError: the data is not a placement.
    """
    match data:
        case [str(kind), str(name), int(number)] if kind in _FORM_CALLED and type(number) is int and number >= 0:
            _, cls, names, numbers = _FORM_CALLED[kind]
            given: dict[str, Any] = {names: name} if names and name else {}
            given |= {numbers: number} if numbers else {}
            with suppress(TypeError, ValueError):  # a name is missing, or no cursor has it
                value = cls(**given)
                if placement_to_data(value) == data:  # nothing was left over
                    return value
    raise ValueError(f"not a case: {data!r:.60} is no placement")


def _moment_from_data(data: Any) -> Moment:
    value = placement_from_data(data)
    if isinstance(value, Moment):
        return value
    raise ValueError(f"not a case: {value} is no moment of an action")
