"""Implements the ports of one server process: the scripted model, the tools, points and ids."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType

import trio

from journalsim.actors.disk.mount import Mount
from journalsim.actors.disk.simulated import Disk
from journalsim.actors.model import ScriptedModel
from journalsim.actors.tool import ScriptedTool
from journalsim.contract.events.model_events import ToolCancelled, ToolEffect, ToolFailed, ToolReturned, ToolStarted
from journalsim.contract.frames import Frame
from journalsim.contract.model_call import LateCompletion, ModelRequest, ToolCall, ToolError, ToolTraits
from journalsim.engine.world import World
from journalsim.hosts.model_stream import OpenCall
from journalsim.hosts.process import Process
from journalsim.scenario.values.scenario import Scenario


class Cast:
    """The scripted outside world of a case; it outlives every server process."""

    def __init__(self, scenario: Scenario) -> None:
        self.model = ScriptedModel(scenario.model)
        self._scenario = scenario
        self._tools: dict[str, ScriptedTool] = {}

    def tool(self, name: str) -> ScriptedTool:
        """Returns the tool of this name."""
        if name not in self._tools:
            self._tools[name] = ScriptedTool(self._scenario.tool(name))
        return self._tools[name]

    def traits(self, name: str) -> ToolTraits:
        """Returns the properties of a tool that a system must know."""
        spec = self._scenario.tool(name)
        return ToolTraits(approval=spec.approval, agent=spec.agent)


class WorldPorts:
    """Implements :class:`journalsim.contract.ports.Ports` on a world.

    Args:
        world: the case's world.
        process: the process whose tasks may use these ports.
        cast: model and tools.
        policies: options of the scenario.
        limits_ns: time limits of the scenario, nanoseconds.
        store_latency_ns: time that each operation of :meth:`step` takes before its body, nanoseconds.
        relay: hands every published frame to the readers.
        watch: called after every chunk, to look at statistics.
        disk: the disk for the files of the process; None if the scenario has none.
        engine: the kind of store that the scenario names.
    """

    def __init__(
        self,
        world: World,
        process: Process,
        cast: Cast,
        policies: Mapping[str, str],
        limits_ns: Mapping[str, int],
        store_latency_ns: int,
        relay: Callable[[str, Frame], None],
        watch: Callable[[], None],
        disk: Disk | None = None,
        engine: str = "",
    ) -> None:
        self.policies = policies
        self.limits_ns = limits_ns
        self.disk = None if disk is None else Mount(disk)
        self.engine = engine
        self._take_delay_ns = (lambda: 0) if disk is None else disk.take_delay_ns
        self._world = world
        self._process = process
        self._cast = cast
        self._store_latency_ns = store_latency_ns
        self._relay = relay
        self._watch = watch

    def model(self, request: ModelRequest, on_late: LateCompletion | None = None) -> OpenCall:
        """Calls the scripted model."""
        self._process.enter()
        return OpenCall(self._world, self._process, self._cast.model, request, on_late, self._watch)

    async def call_tool(self, run_id: str, call: ToolCall) -> str:
        """Runs a scripted tool."""
        world, process = self._world, self._process
        tool = self._cast.tool(call.name)
        name = f"tool.{call.call_id}"
        await process.point(f"{name}.start.before")
        reply, duration_ns = tool.reply(call)
        world.record(call.name, ToolStarted(run=run_id, call_id=call.call_id, name=call.name, arguments=call.arguments))
        try:
            await process.point(f"{name}.start.after")
            if reply.kind == "hang":
                await process.hang(f"tool call {call.call_id}")
            if duration_ns:
                await process.sleep(duration_ns, name)
            tool.effects += 1
            world.record(call.name, ToolEffect(run=run_id, call_id=call.call_id, count=tool.effects))
            await process.point(f"{name}.result.before")
        except trio.Cancelled:
            world.record(call.name, ToolCancelled(run=run_id, call_id=call.call_id))
            raise
        failed = reply.kind == "failure"
        ended = ToolFailed if failed else ToolReturned
        world.record(call.name, ended(run=run_id, call_id=call.call_id, text=reply.text))
        world.passed(f"{name}.result.after")
        if failed:
            raise ToolError(reply.text)
        return reply.text

    def tool_traits(self, name: str) -> ToolTraits:
        """Returns the properties of a tool that matter before it runs."""
        return self._cast.traits(name)

    def step(self, name: str, touches: tuple[str, ...] = ()) -> AbstractAsyncContextManager[None]:
        """Returns a numbered operation with a point before and one after."""
        latency_ns = self._store_latency_ns if name.startswith("store.") else 0
        number = self._world.number(name)
        return _Operation(self._process, f"{name}#{number}", touches, latency_ns, self._take_delay_ns)

    async def sleep(self, duration_ns: int) -> None:
        """Waits ``duration_ns`` nanoseconds of virtual time."""
        await self._process.sleep(duration_ns, "sleep")

    def publish(self, session_id: str, frame: Frame) -> None:
        """Hands a live event to the readers; drops an event of a dead process."""
        if self._process.alive:
            self._relay(session_id, frame)

    def spawn(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        """Starts a background task of the process."""
        self._process.spawn(name, task)

    def spawn_waiting(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        """Starts a task that may wait for ever; for our own adapters, not part of the protocol."""
        self._process.spawn(name, task, waits=True)

    def mint(self, prefix: str) -> str:
        """Returns a fresh id."""
        return self._world.mint(prefix)

    def now_ns(self) -> int:
        """Returns virtual time in nanoseconds."""
        return self._world.now_ns()

    def wall_ns(self) -> int:
        """Returns the time of the wall clock in nanoseconds."""
        return self._world.wall_ns()


class _Operation:
    __slots__ = ("_latency_ns", "_name", "_process", "_take_delay_ns", "_touches")

    def __init__(
        self,
        process: Process,
        name: str,
        touches: tuple[str, ...],
        latency_ns: int,
        take_delay_ns: Callable[[], int],
    ) -> None:
        self._process = process
        self._name = name
        self._touches = touches
        self._latency_ns = latency_ns
        self._take_delay_ns = take_delay_ns

    async def __aenter__(self) -> None:
        await self._process.point(f"{self._name}.before", self._touches)
        if self._latency_ns:
            await self._process.sleep(self._latency_ns, "store")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        delay_ns = self._take_delay_ns()
        if error is None:  # an operation that raised did not happen
            if delay_ns:
                await self._process.sleep(delay_ns, "disk")
            await self._process.point(f"{self._name}.after", self._touches)
