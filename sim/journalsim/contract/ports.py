"""Defines what the harness supplies to the code under test: model, tools, points, time, ids and the simulated disk."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from journalsim.contract.disk_port import DiskPort
from journalsim.contract.frames import Frame
from journalsim.contract.model_call import LateCompletion, ModelRequest, ModelStream, ToolCall, ToolTraits


class Ports(Protocol):
    """The services of the harness for the code under test, one object per server process.

    Only a wait on a port lets virtual time pass and other tasks run. Any port may raise ``trio.Cancelled``, like every
    trio checkpoint.

    Attributes:
        policies: the options that the scenario sets, a subset of :data:`POLICIES`.
        limits_ns: time limits in nanoseconds, by ``tool`` (one call) and ``run``; an absent key means no limit.
        disk: the simulated folder for this process's files, if the scenario has one; else None.
        engine: ``sqlite`` or ``log`` if the scenario chooses one for a system that has both; else empty.
    """

    policies: Mapping[str, str]
    limits_ns: Mapping[str, int]
    disk: DiskPort | None
    engine: str

    def tool_traits(self, name: str) -> ToolTraits:
        """Returns the properties of a tool that matter before it runs."""
        ...

    def model(self, request: ModelRequest, on_late: LateCompletion | None = None) -> ModelStream:
        """Calls the scripted model.

        Args:
            request: the call, with the model's context.
            on_late: awaited with the whole message if the provider finishes the call after the system closed it.
        """
        ...

    async def call_tool(self, run_id: str, call: ToolCall) -> str:
        """Runs a scripted tool and returns its output.

        Raises:
            ToolError: the tool ran and failed.
        """
        ...

    def step(self, name: str, touches: tuple[str, ...] = ()) -> AbstractAsyncContextManager[None]:
        """Marks a named operation: a point before, the body, a point after.

        The harness numbers it: the fourth ``store.append`` has the points ``store.append#4.before`` and
        ``store.append#4.after``.

        Args:
            name: dotted lower-case name without number.
            touches: the resources that the next step reads or writes; empty means everything.
        """
        ...

    async def sleep(self, duration_ns: int) -> None:
        """Waits ``duration_ns`` nanoseconds of virtual time."""
        ...

    def publish(self, session_id: str, frame: Frame) -> None:
        """Hands a live event to every reader of ``session_id`` without waiting."""
        ...

    def spawn(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        """Starts a background task that dies with this server process."""
        ...

    def mint(self, prefix: str) -> str:
        """Returns a fresh id, ``<prefix><number>``, the same in every rerun of the case."""
        ...

    def now_ns(self) -> int:
        """Returns monotonic virtual time, in nanoseconds since the case began."""
        ...

    def wall_ns(self) -> int:
        """Returns the time of the wall clock, in nanoseconds: virtual time plus every scripted clock jump."""
        ...
