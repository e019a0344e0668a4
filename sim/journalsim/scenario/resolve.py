"""Places the actions of one case in its scenario."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import evolve

from journalsim.case import Case
from journalsim.scenario.disk_needs import loss_of
from journalsim.scenario.values.disk_fault import DiskFault
from journalsim.scenario.values.links import Cursor, LinkFault, LinkShape, Spot
from journalsim.scenario.values.moves import Step, Timing
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.sweep import Sweep
from journalsim.scenario.words.cursor_words import cursor_of


def concrete(scenario: Scenario, case: Case) -> Scenario:
    """Returns a scenario of its own that runs exactly this case: no sweep, every action a placed step."""
    steps: list[Step] = []
    for written in scenario.steps:
        pause = case.axis(f"{written.label}.within")
        timing = evolve(written.timing, within_ns=0, delay_ns=written.timing.delay_ns + (pause.number if pause else 0))
        step = evolve(written, timing=timing) if pause is not None else written
        step = evolve(step, lose=loss_of(step, case))
        placement = case.axis(step.timing.axis) if step.timing.axis is not None else None
        if placement is None:
            steps.append(step)
        elif placement.kind == "after":
            pause_ns = placement.number + step.timing.delay_ns
            steps.append(evolve(step, timing=Timing(after=placement.name, delay_ns=pause_ns)))
        elif placement.kind != "never":
            steps.append(evolve(step, timing=Timing(at=placement, delay_ns=step.timing.delay_ns)))
    for number, action in enumerate(case.actions, start=1):
        label = f"{action.verb}-{number}"
        steps.append(Step(actor=action.actor, verb=action.verb, label=label, timing=Timing(at=action.at)))
    placed = evolve(
        scenario,
        steps=tuple(with_cursor(step, case) for step in with_live_anchors(steps)),
        faults=tuple(with_spots(scenario.faults, case)),
        sweep=Sweep(),
        schedule=case.delays,
        covers=(),
        tags=(),
    )
    if scenario.uses_wire and not placed.uses_wire:  # the fault that asked for it is in none of its places
        placed = evolve(placed, clients=tuple(evolve(client, wire=True) for client in placed.clients))
    return placed


def with_live_anchors(steps: Iterable[Step]) -> Iterator[Step]:
    """Yields the steps, without those that follow a step which is not there."""
    labels: set[str] = set()  # membership only
    for step in steps:
        anchors = {step.timing.after, step.of} - {None}
        if anchors <= labels:
            labels.add(step.label)
            yield step


def with_cursor(step: Step, case: Case) -> Step:
    """Returns a step whose cursor is the one that the case's axis says."""
    if step.cursor is None or step.cursor.axis is None:
        return step
    value = case.axis(step.cursor.axis)
    return evolve(step, cursor=Cursor(form="equal") if value is None or value.kind == "never" else cursor_of(value))


def with_spots(
    faults: Iterable[LinkFault | LinkShape | DiskFault], case: Case
) -> Iterator[LinkFault | LinkShape | DiskFault]:
    """Yields the faults of a case at fixed places; one that its axis leaves out is missing."""
    for fault in faults:
        value = case.axis(fault.spot.axis) if isinstance(fault, LinkFault) and fault.spot.axis is not None else None
        if value is None or not isinstance(fault, LinkFault):
            yield fault
        elif value.kind != "never":
            spot = Spot(after_bytes=value.number) if value.kind == "byte" else Spot(after_frames=value.number)
            yield evolve(fault, spot=spot)
