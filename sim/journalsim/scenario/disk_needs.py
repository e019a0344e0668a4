"""What a scenario wants of a simulated disk."""

from __future__ import annotations

from journalsim.case import AtPoint, Placement
from journalsim.scenario.values.disk_fault import MEMORY, DiskFault
from journalsim.scenario.values.scenario import Scenario


def asks_for_disk(scenario: Scenario) -> bool:
    """Returns whether a scenario is about a disk: what a crash loses of it, its operations, or the store on it."""
    axes = scenario.sweep.axes
    return (
        scenario.store.disk
        or bool(scenario.store.engine)
        or any(isinstance(fault, DiskFault) for fault in scenario.faults)
        or any(step.lose != MEMORY for step in scenario.steps)
        or any(_of_disk(name) for axis in axes for name in axis.inside)
        or any(_at_disk(place) for axis in axes for place in axis.values)
        or any(_at_disk(step.timing.at) for step in scenario.steps)
    )


def _at_disk(place: Placement | None) -> bool:
    return isinstance(place, AtPoint) and _of_disk(place.name)


def _of_disk(name: str) -> bool:
    return name == "disk" or name.startswith("disk.")
