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
from typing import Any, Literal

from attrs import evolve, frozen

CASE_FORMAT = 1


@frozen(order=True)
class Placement:
    """Where an action goes.

    Attributes:
        kind: ``never``; ``point`` (a named point); ``step`` (a scheduler step);
            ``after`` (follows another step of the scenario); ``time`` (virtual time);
            ``loss`` (no place: what a crash loses, on an axis of losses);
            ``byte`` and ``frame`` (of a connection); ``cursor`` (that a program sends).
        name: the point, the label of the step that it follows, the loss, or the form of a cursor.
        number: the scheduler step; for ``after`` and ``time`` nanoseconds; the byte, frame or cursor.
    """

    kind: Literal["never", "point", "step", "after", "time", "loss", "byte", "frame", "cursor"]
    name: str = ""
    number: int = 0

    def __str__(self) -> str:
        if self.kind == "never":
            return "never"
        if self.kind in ("point", "loss"):
            return self.name
        if self.kind == "after":
            return f"after:{self.name}" + (f"+{self.number}ns" if self.number else "")
        if self.kind == "cursor":
            return f"cursor:{self.name}" + (f" {self.number}" if self.number else "")
        return f"{self.kind}:{self.number}"


NEVER = Placement("never")


@frozen(order=True)
class Delay:
    """``turns`` other entries go before the ``nth`` (from 0) entry of ``lane``."""

    lane: str
    nth: int
    turns: int

    def __str__(self) -> str:
        return f"{self.lane}~{self.nth}+{self.turns}"


@frozen(order=True)
class Action:
    """An action that the search added to the author's steps."""

    actor: str
    verb: str
    at: Placement

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
        "axes": {name: _placement_to_data(value) for name, value in case.axes},
        "actions": [[a.actor, a.verb, _placement_to_data(a.at)] for a in case.actions],
        "delays": [[d.lane, d.nth, d.turns] for d in case.delays],
    }


def case_from_data(data: Mapping[str, Any]) -> Case:
    """Returns the case that :func:`case_to_data` wrote.

    Raises:
        ValueError: the data is not a case of this format.
    """
    if data.get("format") != CASE_FORMAT:
        raise ValueError(f"case format {data.get('format')!r} is not {CASE_FORMAT}: write it again with this version")
    try:
        return Case(
            scenario=data["scenario"],
            axes=tuple(sorted((name, Placement(*value)) for name, value in data["axes"].items())),
            actions=tuple(Action(actor, verb, Placement(*at)) for actor, verb, at in data["actions"]),
            delays=tuple(sorted(Delay(*d) for d in data["delays"])),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a case: {error}") from None


def case_to_json(case: Case) -> str:
    """Returns the case as one line of canonical JSON."""
    return json.dumps(case_to_data(case), sort_keys=True, separators=(",", ":"))


def with_axes(case: Case, axes: Iterable[tuple[str, Placement]]) -> Case:
    """Returns the case with these axis values instead of its own."""
    return evolve(case, axes=tuple(sorted(axes)))


def _placement_to_data(value: Placement) -> list[Any]:
    return [value.kind, value.name, value.number]
