"""The cases that a scenario spells out: every combination of its axes.

An axis that says ``every: point`` is filled from the *baseline* run, in which
no swept action happens: its points are the moments at which an action can be
placed.  The baseline run itself is measured, never counted as a case, unless
the scenario has no axes at all.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from typing import get_args

from attrs import evolve, frozen

from journalsim.case import NEVER, AtByte, AtCursor, AtFrame, AtPoint, AtStep, Case, CursorForm, Placement
from journalsim.contract.events.client_events import ClientApplied
from journalsim.contract.events.harness_events import StepTaken
from journalsim.contract.events.stream_events import StreamSent
from journalsim.errors import UsageError
from journalsim.history import Event
from journalsim.scenario.values.axes import Axis
from journalsim.scenario.values.links import LinkFault
from journalsim.scenario.values.scenario import Scenario

_NOUNS: dict[type[Placement], str] = {AtByte: "bytes", AtFrame: "frames", AtCursor: "cursors"}


@frozen(kw_only=True)
class Swept:
    """The cases of a scenario.

    Attributes:
        cases: in the order of the axes, the last axis fastest.
        places: per axis, the placements that ``every`` asked for.
    """

    cases: tuple[Case, ...]
    places: dict[str, tuple[Placement, ...]]

    def nouns(self, reached: Iterable[tuple[str, str]]) -> tuple[tuple[str, int, int], ...]:
        """Returns what was swept: noun, how many of them really happened, and how many there are."""
        known = set(reached)  # membership only
        done: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for name, places in self.places.items():
            for place in places:
                noun = _NOUNS.get(type(place), "points")
                total[noun] += 1
                done[noun] += (name, str(place)) in known
        return tuple((noun, done[noun], count) for noun, count in total.items())

    @property
    def places_total(self) -> int:
        """How many places the sweep asked for, over all axes."""
        return sum(len(places) for places in self.places.values())


def baseline(scenario: Scenario) -> Case:
    """Returns the case in which no swept action happens."""
    axes = tuple(sorted((axis.name, NEVER) for axis in scenario.sweep.axes))
    return Case(scenario=scenario.name, axes=axes, delays=scenario.schedule)


def spell_out(scenario: Scenario, points: Iterable[str], steps: int, events: tuple[Event, ...] = ()) -> Swept:
    """Returns the cases of a scenario.

    Args:
        scenario: with its sweep.
        points: that the baseline run passed, in order.
        steps: that it took.
        events: of its history, for axes of cursors, bytes and frames.

    Raises:
        UsageError: the sweep has more cases than its limit.
    """
    listed = tuple(points)
    places = {
        axis.name: _places(axis, listed, steps) or _on_the_wire(axis, scenario, events) for axis in scenario.sweep.axes
    }
    values = {axis.name: axis.values + places[axis.name] for axis in scenario.sweep.axes}
    for axis in scenario.sweep.axes:
        if not values[axis.name]:
            raise UsageError(
                f"{scenario.path or scenario.name}: axis ${axis.name} is empty: {_why_empty(axis, scenario)}"
            )
    count = math.prod(len(v) for v in values.values())
    if count > scenario.sweep.limit:
        sizes = " x ".join(f"{len(v)} ({name})" for name, v in values.items())
        raise UsageError(
            f"{scenario.path or scenario.name}: the sweep has {sizes} = {count} cases, over its limit of "
            f"{scenario.sweep.limit}: raise sweep.limit, or narrow an axis with in: [...]"
        )
    names = list(values)
    cases = tuple(
        Case(
            scenario=scenario.name,
            axes=tuple(sorted(zip(names, combination, strict=True))),
            delays=scenario.schedule,
        )
        for combination in itertools.product(*values.values())
    )
    return Swept(cases=cases, places={name: p for name, p in places.items() if p})


def operations(swept: Swept, reached: Container[tuple[str, str]] | None = None) -> set[str]:
    """Returns the disk operations that a sweep is about; none if it is about anything else too.

    Args:
        swept: the cases.
        reached: axes and places at which the action really happened; an operation counts if it did at all of its own.
    """
    placed = [(name, str(place)) for name, places in swept.places.items() for place in places]
    if not all(point.startswith("disk.") for _, point in placed):
        return set()
    missed = {_operation(pair[1]) for pair in placed if reached is not None and pair not in reached}
    return {_operation(point) for _, point in placed} - missed


def _operation(point: str) -> str:
    return point.rpartition(".")[0]


def _places(axis: Axis, points: tuple[str, ...], steps: int) -> tuple[Placement, ...]:
    if axis.every == "point":
        window = _window(axis, points)
        return tuple(AtPoint(name) for name in window if _inside(name, axis.inside))
    if axis.every == "step":
        return tuple(AtStep(number) for number in range(1, steps))
    return ()


def _window(axis: Axis, points: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the points from ``since`` to ``until``; none if one of them was not passed."""
    if not {axis.since, axis.until} - {""} <= set(points):
        return ()
    begin = points.index(axis.since) if axis.since else 0
    end = points.index(axis.until) + 1 if axis.until else len(points)
    return points[begin:end]


def _wanted(axis: Axis) -> str:
    words = [f"starts with {' or '.join(axis.inside)}"] if axis.inside else []
    words += [f"is between {axis.since or 'the first'} and {axis.until or 'the last'}"] * bool(axis.since or axis.until)
    return " and ".join(words)


def _why_empty(axis: Axis, scenario: Scenario) -> str:
    if axis.every in ("cursor", "byte", "frame"):
        return "nothing was sent over that link in the baseline run"
    return f"no point of the baseline run {_wanted(axis)}; journalsim show {scenario.name} --points lists them"


def _on_the_wire(axis: Axis, scenario: Scenario, events: tuple[Event, ...]) -> tuple[Placement, ...]:
    """Returns a place for every cursor that a page could attach with, or every byte or frame of a connection."""
    if axis.every == "cursor":
        step = next(s for s in scenario.steps if s.cursor is not None and s.cursor.axis == axis.name)
        known = _cursors_before(step.actor, step.label, events)
        forms = [AtCursor(form) for form in get_args(CursorForm) if form != "frame"]
        return (*forms, *(AtCursor("frame", number) for number in range(1, known + 1))) if events else ()
    if axis.every not in ("byte", "frame"):
        return ()
    fault = next(f for f in scenario.faults if isinstance(f, LinkFault) and f.spot.axis == axis.name)
    sizes = list(_sizes(fault.client, fault.connection or 1, events))
    last = sum(sizes) if axis.every == "byte" else len(sizes)
    place = AtByte if axis.every == "byte" else AtFrame
    return tuple(place(number) for number in range(last + 1)) if sizes else ()


def _cursors_before(client: str, label: str, events: tuple[Event, ...]) -> int:
    """Returns how many cursors a page had before a step was taken."""
    cursors: dict[str, None] = {}
    for event in events:
        data = event.data
        if isinstance(data, StepTaken) and event.actor == client and data.label == label:
            break
        if isinstance(data, ClientApplied) and event.actor == client and data.view is not None and data.view.cursor:
            cursors[data.view.cursor] = None
    return len(cursors)


def _sizes(client: str, connection: int, events: tuple[Event, ...]) -> Iterator[int]:
    for event in events:
        data = event.data
        if isinstance(data, StreamSent) and data.client == client and data.connection == connection:
            yield len(data.data.encode("utf-8", "surrogateescape"))


def _inside(name: str, prefixes: tuple[str, ...]) -> bool:
    return not prefixes or any(name == p or name.startswith((f"{p}.", f"{p}#")) for p in prefixes)


def neighbours(swept: Swept, case: Case) -> list[tuple[str, Case]]:
    """Returns the cases one place earlier and one later along each swept axis, with a phrase for each."""
    found = []
    known = set(swept.cases)  # membership only
    for name, places in swept.places.items():
        value = case.axis(name)
        if value not in places:
            continue
        position = places.index(value)
        for offset, word in ((-1, "earlier"), (1, "later")):
            if 0 <= position + offset < len(places):
                axes = tuple((n, places[position + offset] if n == name else v) for n, v in case.axes)
                other = evolve(case, axes=axes)
                if other in known:
                    found.append((f"{name} one {'step' if isinstance(value, AtStep) else 'point'} {word}", other))
    return found
