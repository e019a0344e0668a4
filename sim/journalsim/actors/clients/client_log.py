"""What one client leaves in the history of a case: events, and points around what it does."""

from __future__ import annotations

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

    def act(self, verb: str) -> Act:
        """Returns a block: the client passes a point before it and, unless it raises, a point after it."""
        lane = f"{self._name}.{verb}"
        return Act(self._world, f"{lane}#{self._world.number(lane)}")


class Act:
    """A block with a point before and after it.

    A class rather than a generator: every frame that a client displays is one, and this costs a third.
    """

    __slots__ = ("_point", "_world")

    def __init__(self, world: World, point: str) -> None:
        self._world = world
        self._point = point

    def __enter__(self) -> None:
        self._world.passed(f"{self._point}.before")

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None:
            self._world.passed(f"{self._point}.after")
