"""Holds the simulated disk of a server, through all crashes of a case."""

from __future__ import annotations

from journalsim.actors.disk.simulated import Disk
from journalsim.contract.disk_faults import Loss
from journalsim.contract.events.journal_events import DiskFailed
from journalsim.engine.world import World
from journalsim.scenario.disk_needs import asks_for_disk
from journalsim.scenario.values.disk_fault import MEMORY, DiskFault
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.words.disk_words import fault_of


class Machine:
    """One machine.

    Args:
        world: the case's world; operations of the disk are points of it.
        scenario: defines whether there is a disk, and its faults.

    Attributes:
        disk: None if the scenario has none; files are then real ones, and only processes die.
        engine: the kind of store that the scenario names; empty for the system's own.
    """

    def __init__(self, world: World, scenario: Scenario) -> None:
        self.disk: Disk | None = None
        self.engine = scenario.store.engine
        self._world = world
        if asks_for_disk(scenario):
            faults = (fault_of(fault) for fault in scenario.faults if isinstance(fault, DiskFault))
            self.disk = Disk(faults=faults, observe=world.passed, report=self._note)

    def crash(self, lose: str) -> None:
        """Ends the process, and the machine too unless only memory is lost."""
        if self.disk is None:
            return
        if lose == MEMORY:
            self.disk.kill()
        else:
            self.disk.lose_power(Loss.parse(lose))

    def drop(self) -> None:
        """Ends every process at the end of the case."""
        if self.disk is not None:
            self.disk.kill()

    @property
    def failed(self) -> bool:
        """True if an operation of the disk has failed."""
        return self.disk is not None and bool(self.disk.troubles)

    def heal(self) -> None:
        """Removes every fault of the disk."""
        if self.disk is not None:
            self.disk.heal()

    def _note(self, operation: str, kind: str) -> None:
        self._world.record("disk", DiskFailed(operation=operation, fault=kind))
