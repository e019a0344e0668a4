"""Calls the verbs of an adapter.

Each call has a point before it and one after it.  Whatever an adapter raises is
recorded with the verb and never ends the case.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from journalsim.contract.events.harness_events import AdapterRaised
from journalsim.engine.world import World
from journalsim.hosts.process import describe


class Verbs:
    """The verbs of the adapters of one server.

    Args:
        world: the case's world.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    async def attempt(self, name: str, verb: Callable[..., Any], *arguments: Any) -> Any:
        """Returns what a verb returns, awaited if it can be; what it raises goes on to the caller.

        Args:
            name: of the verb, for its points.
            verb: the method.
            arguments: for it.
        """
        world = self._world
        point = f"adapter.{name}#{world.number(f'adapter.{name}')}"
        world.passed(f"{point}.before")
        result = verb(*arguments)
        if inspect.isawaitable(result):
            result = await result
        world.passed(f"{point}.after")
        return result

    async def succeeds(self, name: str, verb: Callable[..., Any], *arguments: Any) -> bool:
        """Calls a verb, and returns whether it raised nothing; what it raised is recorded."""
        try:
            await self.attempt(name, verb, *arguments)
        except Exception as error:
            self.raised(name, error)
            return False
        return True

    def raised(self, name: str, error: Exception) -> None:
        """Records what a verb raised."""
        self._world.record("server", AdapterRaised(verb=name, error=describe(error)))
