"""Records the sizes of an adapter's partial cache: when the case is over, and at every new maximum."""

from __future__ import annotations

import inspect

from journalsim.contract.adapters import RunnerAdapter
from journalsim.contract.events.journal_events import StatisticsTaken
from journalsim.contract.items import Statistics
from journalsim.engine.world import World
from journalsim.errors import AdapterError


class CacheSizes:
    """The sizes of the partial cache, through all processes of a case.

    Args:
        world: the case's world.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._high_water = (0, 0, 0)

    async def take(self, adapter: RunnerAdapter | None, *, quiet: bool) -> None:
        """Records the sizes, if the adapter has ``statistics``.

        Args:
            adapter: the adapter of the running process, or None.
            quiet: whether no run is active.

        Raises:
            AdapterError: ``statistics`` returned another type.
        """
        statistics = getattr(adapter, "statistics", None)
        if statistics is None:
            return
        sizes = statistics()
        if inspect.isawaitable(sizes):
            sizes = await sizes
        if not isinstance(sizes, Statistics):
            raise AdapterError(f"statistics returned {type(sizes).__name__}, expected Statistics")
        self._world.record("journal", StatisticsTaken(statistics=sizes, quiet=quiet))

    def watch(self, adapter: RunnerAdapter | None) -> None:
        """Records a new maximum, if the adapter has a ``statistics`` that does not wait."""
        statistics = getattr(adapter, "statistics", None)
        if statistics is None or inspect.iscoroutinefunction(statistics):
            return
        sizes = statistics()
        if not isinstance(sizes, Statistics):
            return
        new = (sizes.partial_messages, sizes.partial_bytes, sizes.reader_bytes or 0)
        if new[:2] > self._high_water[:2] or new[2] > self._high_water[2]:
            self._high_water = (*max(new[:2], self._high_water[:2]), max(new[2], self._high_water[2]))
            self._world.record("journal", StatisticsTaken(statistics=sizes, quiet=False))
