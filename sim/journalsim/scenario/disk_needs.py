"""What a scenario wants of a simulated disk."""

from __future__ import annotations

from journalsim.case import Case
from journalsim.scenario.values.disk_fault import MEMORY, DiskFault
from journalsim.scenario.values.moves import Step
from journalsim.scenario.values.scenario import Scenario


def asks_for_disk(scenario: Scenario) -> bool:
    """Returns whether a scenario is about a disk: what a crash loses of it, its operations, or the store on it."""
    axes = scenario.sweep.axes
    return (
        scenario.store.disk
        or bool(scenario.store.engine)
        or any(isinstance(fault, DiskFault) for fault in scenario.faults)
        or any(step.lose != MEMORY for step in scenario.steps)
        or any(_of_disk(name) for axis in axes for name in (*axis.inside, *(value.name for value in axis.values)))
        or any(step.timing.at is not None and _of_disk(step.timing.at.name) for step in scenario.steps)
    )


def _of_disk(name: str) -> bool:
    return name == "disk" or name.startswith("disk.")


def loss_of(step: Step, case: Case) -> str:
    """Returns what a crash loses in a case."""
    if not step.lose.startswith("$"):
        return step.lose
    value = case.axis(step.lose[1:])
    return value.name if value is not None and value.kind == "loss" else MEMORY
