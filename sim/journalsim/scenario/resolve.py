"""A case of a scenario as a scenario of its own, in which every action has its place.

A case is read here and nowhere else.  Whatever runs a case runs the scenario that
:func:`resolve` returns, and that scenario can be written as a file, so a pinned file
runs exactly what the case ran.

* A swept step stands at its moment, or behind the step that its axis names.
* A step that its axis leaves out stays in the list, placed at ``never``: other steps
  may follow it, and they are then skipped.
* A swept link fault stands at its byte or frame; one that its axis leaves out is missing.
* A swept cursor or loss is the chosen one; left out, it is the usual one.
* The pause chosen for ``within`` is part of the delay; without a choice there is none.
* Actions that a search added are steps at the end of the list.
* The delays of the case are the schedule.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from attrs import evolve

from journalsim.case import (
    NEVER,
    Action,
    After,
    AtByte,
    AtCursor,
    AtFrame,
    AtTime,
    Case,
    Loses,
    Moment,
    Never,
    Placement,
    StepPlace,
    StreamPlace,
)
from journalsim.errors import UsageError
from journalsim.scenario.disk_needs import asks_for_disk
from journalsim.scenario.values.axes import Sweep
from journalsim.scenario.values.disk_fault import MEMORY
from journalsim.scenario.values.links import Cursor, LinkFault, Spot
from journalsim.scenario.values.moves import VERBS, Step, Timing
from journalsim.scenario.values.scenario import AnyFault, Scenario
from journalsim.scenario.words.cursor_words import cursor_of


def resolve(scenario: Scenario, case: Case) -> Scenario:
    """Returns the scenario that runs exactly this case: no sweep, every action placed, every delay scheduled.

    Raises:
        UsageError: the axes of the case are not those of the scenario, one has a value that cannot stand there, or
            nobody in the scenario can take an action of the case.
    """
    axes = _Axes(scenario, case)
    steps = [_placed(step, axes) for step in scenario.steps]
    steps += _added(case.actions, scenario, axes.labels)
    resolved = evolve(
        scenario,
        steps=tuple(steps),
        faults=tuple(_placed_faults(scenario.faults, axes)),
        sweep=Sweep(),
        schedule=case.delays,
    )
    return _on_the_same_ground(scenario, resolved)


def with_live_anchors(steps: Iterable[Step]) -> Iterator[Step]:
    """Yields the steps, without those that never happen and those that follow a step which is not there."""
    labels: set[str] = set()  # membership only
    above_is_left_out = False
    for step in steps:
        anchored = step.timing.after is not None or step.timing.at is not None or step.waits_for_quiet
        above_is_left_out = step.timing.at == NEVER or (above_is_left_out and not anchored)
        anchors = {step.timing.after, step.of} - {None}
        if not above_is_left_out and anchors <= labels:
            labels.add(step.label)
            yield step


class _Axes:
    """What a case says of each axis, as the kind of value that is asked for."""

    def __init__(self, scenario: Scenario, case: Case) -> None:
        self._name = scenario.name
        self._values = dict(case.axes)
        self.labels: set[str] = set()  # of the steps placed so far; membership only
        swept = {axis.name for axis in scenario.sweep.axes}  # membership only
        pauses = {_pause_axis(step) for step in scenario.steps if step.timing.within_ns}
        for name in self._values:
            if name not in swept | pauses:
                raise UsageError(f"{scenario.name} has no axis ${name}, of which the case speaks")

    def step_place(self, name: str) -> StepPlace:
        value = self._value(name)
        if isinstance(value, Never | Moment) or (isinstance(value, After) and value.label in self.labels):
            return value
        raise self._misplaced(name, value, "a moment")

    def stream_place(self, name: str) -> StreamPlace:
        value = self._value(name)
        if isinstance(value, StreamPlace):
            return value
        raise self._misplaced(name, value, "a place in a stream")

    def cursor(self, name: str) -> Cursor:
        value = self._value(name)
        if isinstance(value, AtCursor):
            return cursor_of(value)
        if value == NEVER:
            return Cursor(form="equal")
        raise self._misplaced(name, value, "a cursor")

    def loss(self, name: str) -> str:
        value = self._value(name)
        if isinstance(value, Loses):
            return value.loss
        if value == NEVER:
            return MEMORY
        raise self._misplaced(name, value, "a loss")

    def pause_ns(self, step: Step) -> int:
        value = self._values.get(_pause_axis(step), NEVER) if step.timing.within_ns else NEVER
        if isinstance(value, AtTime):
            return value.time_ns
        if value == NEVER:
            return 0
        raise self._misplaced(_pause_axis(step), value, "a pause")

    def _value(self, name: str) -> Placement:
        if name not in self._values:
            raise UsageError(f"the case says nothing of the axis ${name} of {self._name}")
        return self._values[name]

    def _misplaced(self, name: str, value: Placement, wanted: str) -> UsageError:
        return UsageError(f"{self._name}: the axis ${name} needs {wanted}, and {value} is none")


def _pause_axis(step: Step) -> str:
    return f"{step.label}.within"


def _placed(step: Step, axes: _Axes) -> Step:
    """Returns a step with its moment, its cursor and its loss."""
    written = step.timing
    swept_loss = step.lose.startswith("$")
    swept_cursor = step.cursor.axis if step.cursor is not None else None
    fixed = written.axis is None and not written.within_ns and not swept_loss and swept_cursor is None
    timing = written if fixed else _timing(step, axes)
    axes.labels.add(step.label)
    return (
        step
        if fixed
        else evolve(
            step,
            timing=timing,
            lose=axes.loss(step.lose[1:]) if swept_loss else step.lose,
            cursor=axes.cursor(swept_cursor) if swept_cursor is not None else step.cursor,
        )
    )


def _timing(step: Step, axes: _Axes) -> Timing:
    written = step.timing
    delay_ns = written.delay_ns + axes.pause_ns(step)
    if written.axis is None:
        return evolve(written, delay_ns=delay_ns, within_ns=0)
    place = axes.step_place(written.axis)
    if isinstance(place, After):
        return Timing(after=place.label, delay_ns=delay_ns + place.delay_ns)
    return Timing(at=place, delay_ns=delay_ns)


def _added(actions: Iterable[Action], scenario: Scenario, taken: set[str]) -> Iterator[Step]:
    """Yields a step for each action of a search, under a label that no other step has."""
    verbs = {actor: able for actor, able in VERBS.items() if actor != "client"}
    verbs |= {client.name: VERBS["client"] for client in scenario.clients}
    for action in actions:
        if action.verb not in verbs.get(action.actor, ()):
            raise UsageError(f"nobody in {scenario.name} can do {action.actor}.{action.verb}")
        label = next(name for n in itertools.count(1) if (name := f"extra-{action.verb}-{n}") not in taken)
        taken.add(label)
        yield Step(actor=action.actor, verb=action.verb, label=label, timing=Timing(at=action.at))


def _placed_faults(faults: Iterable[AnyFault], axes: _Axes) -> Iterator[AnyFault]:
    """Yields the faults at fixed places, without those that their axis leaves out."""
    for fault in faults:
        if not isinstance(fault, LinkFault) or fault.spot.axis is None:
            yield fault
            continue
        place = axes.stream_place(fault.spot.axis)
        if isinstance(place, AtByte):
            yield evolve(fault, spot=Spot(after_bytes=place.number))
        elif isinstance(place, AtFrame):
            yield evolve(fault, spot=Spot(after_frames=place.number))


def _on_the_same_ground(scenario: Scenario, resolved: Scenario) -> Scenario:
    """Keeps wire and disk, also where what asked for them is in none of its places."""
    if scenario.uses_wire and not resolved.uses_wire:
        resolved = evolve(resolved, clients=tuple(evolve(client, wire=True) for client in resolved.clients))
    if asks_for_disk(scenario) and not asks_for_disk(resolved):
        resolved = evolve(resolved, store=evolve(resolved.store, disk=True))
    return resolved
