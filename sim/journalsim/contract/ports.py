"""What the harness gives to the code under test: model, tools, points, time, ids and the simulated disk."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from journalsim.contract.disk_port import DiskPort
from journalsim.contract.frames import Frame
from journalsim.contract.model_call import LateCompletion, ModelRequest, ModelStream, ToolCall, ToolTraits


class Ports(Protocol):
    """What the harness gives to the code under test, one object per server process.

    Waiting on a port, and only there, lets virtual time pass and other tasks run.
    Any port may raise ``trio.Cancelled``, like every trio checkpoint.

    Attributes:
        policies: the options that the scenario sets, of those in :data:`POLICIES`.
        limits_ns: time limits to keep, by ``tool`` (one call) and ``run``; what is not there has none.
        disk: the simulated folder for this process's files, where the scenario has one; else None.
        engine: ``sqlite`` or ``log`` if the scenario asks a system that has both for one of them; else empty.
    """

    policies: Mapping[str, str]
    limits_ns: Mapping[str, int]
    disk: DiskPort | None
    engine: str

    def tool_traits(self, name: str) -> ToolTraits:
        """What there is to know of a tool before it runs."""
        ...

    def model(self, request: ModelRequest, on_late: LateCompletion | None = None) -> ModelStream:
        """Calls the scripted model.

        Args:
            request: what the model is given.
            on_late: awaited with the whole message if the provider finishes the call after it was closed early.
        """
        ...

    async def call_tool(self, run_id: str, call: ToolCall) -> str:
        """Runs a scripted tool and returns its output.

        Raises:
            ToolError: the tool ran and failed.
        """
        ...

    def step(self, name: str, touches: tuple[str, ...] = ()) -> AbstractAsyncContextManager[None]:
        """A named operation: a point before, the body, a point after.

        The harness numbers it: the fourth ``store.append`` has the points
        ``store.append#4.before`` and ``store.append#4.after``.

        Args:
            name: dotted lower-case name without number.
            touches: the resources that the next step reads or writes; empty means everything.
        """
        ...

    async def sleep(self, duration_ns: int) -> None:
        """Waits in virtual time, nanoseconds."""
        ...

    def publish(self, session_id: str, frame: Frame) -> None:
        """Hands a live event to everybody who watches ``session_id``; never waits."""
        ...

    def spawn(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        """Starts a background task that dies with this server process."""
        ...

    def mint(self, prefix: str) -> str:
        """A fresh id, ``<prefix><number>``, the same in every rerun of the case."""
        ...

    def now_ns(self) -> int:
        """Monotonic virtual time, nanoseconds since the case began."""
        ...

    def wall_ns(self) -> int:
        """What a wall clock shows: virtual time plus every scripted clock jump, nanoseconds."""
        ...
