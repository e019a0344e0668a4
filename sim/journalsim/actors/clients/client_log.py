"""What one client leaves in the history of a case: events, and points around what it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from journalsim.contract.events.event_record import EventRecord
from journalsim.engine.world import World


class ClientLog:
    """Writes for one client.

    Args:
        world: the case's world.
        name: of the client.
    """

    def __init__(self, world: World, name: str) -> None:
        self._world = world
        self._name = name

    def record(self, data: EventRecord) -> None:
        """Records that something happened to the client or was done by it."""
        self._world.record(self._name, data)

    @contextmanager
    def act(self, verb: str) -> Iterator[None]:
        """Passes a point before and a point after what the client does in between."""
        lane = f"{self._name}.{verb}"
        point = f"{lane}#{self._world.number(lane)}"
        self._world.passed(f"{point}.before")
        yield
        self._world.passed(f"{point}.after")
