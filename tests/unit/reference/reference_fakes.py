"""What the tests of the reference journal share: a journal without a process, and ports without a harness."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trio
import trio.testing

from journalsim.contract.disk_port import DiskPort
from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.contract.model_call import Completion, LateCompletion, ModelEvent, ModelRequest, ToolCall, ToolTraits
from journalsim_reference.batch import Stamp
from journalsim_reference.calls import decide_answer, decide_ask, decide_tool_end, decide_tool_start
from journalsim_reference.content import Content
from journalsim_reference.events import Event
from journalsim_reference.journal import (
    Decision,
    Refused,
    decide_accept,
    decide_complete,
    decide_end,
    decide_open,
    decide_start,
    decide_stop,
)
from journalsim_reference.projections import context, history
from journalsim_reference.server import Server
from journalsim_reference.state import State
from journalsim_reference.stores.memory import Folder, MemoryStore


class Book:
    """A journal in a test's hands: takes decisions, folds their rows in, and remembers them."""

    def __init__(self, epoch: int = 1) -> None:
        self.state = State()
        self.rows: list[Event] = []
        self.epoch = epoch
        self.buffers: dict[str, Content] = {}

    def take(self, decide: Callable[..., Decision], *arguments: Any, **named: Any) -> Decision:
        """Takes a decision and, if it has rows, folds them in."""
        decision = decide(self.state, Stamp(self.epoch, len(self.rows)), *arguments, **named)
        if not isinstance(decision, Refused):
            for event in decision:
                self.state.apply(event)
                self.rows.append(event)
        return decision

    def kinds(self, run: str = "r1") -> list[str]:
        """Returns the kinds of a run's rows."""
        return [event.kind for event in self.rows if event.run_id == run]

    def buffered(self, message_id: str) -> Content:
        return self.buffers.get(message_id, Content())

    # --- the usual ways through a run, in short

    def accept(self, run: str = "r1", text: str = "Hi", session: str = "s1", **named: Any) -> Decision:
        key = named.pop("key", f"key-{run}")
        return self.take(decide_accept, session_id=session, run_id=run, key=key, text=text, **named)

    def started(self, run: str = "r1", **named: Any) -> Book:
        self.accept(run, **named)
        self.take(decide_start, run)
        return self

    def open(self, run: str = "r1", text: str = "", **named: Any) -> str:
        """Opens a message, buffers its text, and returns its id."""
        decision = self.take(decide_open, run, **named)
        assert not isinstance(decision, Refused)
        message_id: str = decision[-1].payload["message_id"]
        self.buffers[message_id] = Content(text=text)
        return message_id

    def complete(self, run: str = "r1", message: str | None = None, text: str = "Answer", *calls: ToolCall) -> Decision:
        return self.take(decide_complete, run, message, Content(text=text, calls=calls))

    def tool(self, call: str, text: str | None = None, run: str = "r1") -> None:
        """Starts a tool and, if it has a text to return, lets it return."""
        self.take(decide_tool_start, run, call)
        if text is not None:
            self.take(decide_tool_end, run, call, "tool.completed", text)

    def ask(self, call: str, run: str = "r1") -> Decision:
        return self.take(decide_ask, run, call)

    def answer(self, call: str, approved: bool = True, run: str = "r1", session: str = "s1") -> Decision:
        return self.take(decide_answer, session, run, call, approved=approved)

    def stop(self, run: str = "r1", session: str = "s1", **named: Any) -> Decision:
        return self.take(decide_stop, session, run, buffered=self.buffered, **named)

    def end(self, run: str = "r1", kind: str = "run.completed", cause: str | None = None, **named: Any) -> Decision:
        named = {"closures": True, "buffered": self.buffered} | named
        return self.take(decide_end, run, kind, cause, **named)

    def history(self, session: str = "s1", **policies: str) -> tuple[Item, ...]:
        return history(self.state, session, policies, self.buffered)

    def context(self, session: str = "s1", **policies: str) -> tuple[Item, ...]:
        return context(self.state, session, policies)


def call(call_id: str, arguments: str = "{}", name: str = "search") -> ToolCall:
    return ToolCall(call_id=call_id, name=name, arguments=arguments)


def shape(items: Sequence[Item]) -> list[str]:
    """Returns items as short words: kind, what it says, and its state unless it is completed."""
    words = []
    for item in items:
        says = item.call_id or item.text
        if item.kind == "marker":
            says = item.cause or ""
        words.append(
            " ".join(part for part in (item.kind, says, item.state if item.state != "completed" else "") if part)
        )
    return words


# --- ports -------------------------------------------------------------------------------------


Move = ModelEvent | Exception | trio.Event


class FakeStream:
    """A scripted stream: events are handed over, exceptions raised, trio events waited for."""

    def __init__(self, moves: Sequence[Move]) -> None:
        self._moves = deque(moves)
        self.closed = False

    async def __aenter__(self) -> FakeStream:
        await trio.lowlevel.checkpoint()
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.closed = True

    def __aiter__(self) -> FakeStream:
        return self

    async def __anext__(self) -> ModelEvent:
        while self._moves:
            await trio.lowlevel.checkpoint()
            move = self._moves.popleft()
            if isinstance(move, ModelEvent):
                return move
            if isinstance(move, Exception):
                raise move
            await move.wait()
        raise StopAsyncIteration


class FakePorts:
    """Ports with a scripted model and tools; keeps what was asked, announced and slept.

    Attributes:
        script: moves of each model call, in order; a call beyond it gets a short answer.
        tools: what each call does: returns a text, raises, or waits.
        at_step: called with the name of each operation just before its body.
        ids: last number of each prefix; outlives a process, as ids of the harness do.
        gates: events for which the n-th operation waits before its body.
        traits: of tools that are not like others.
    """

    def __init__(self, nursery: trio.Nursery, script: Sequence[Sequence[Move]] = (), **policies: str) -> None:
        self.policies: Mapping[str, str] = policies
        self.script = deque(script)
        self.tools: dict[str, Callable[[], Awaitable[str]]] = {}
        self.at_step: Callable[[str], None] = lambda name: None
        self.requests: list[ModelRequest] = []
        self.late: list[LateCompletion | None] = []
        self.frames: list[Frame] = []
        self.slept: list[int] = []
        self.steps: list[str] = []
        self.gates: dict[int, trio.Event] = {}
        self.limits_ns: Mapping[str, int] = {}
        self.disk: DiskPort | None = None
        self.engine = ""
        self.traits: dict[str, ToolTraits] = {}
        self._entered = 0
        self._nursery = nursery
        self.ids: dict[str, int] = {}

    def model(self, request: ModelRequest, on_late: LateCompletion | None = None) -> FakeStream:
        self.requests.append(request)
        self.late.append(on_late)
        return FakeStream(self.script.popleft() if self.script else [text("ok"), finish()])

    async def call_tool(self, run_id: str, call: ToolCall) -> str:
        await trio.lowlevel.checkpoint()
        return await self.tools[call.call_id]()

    @asynccontextmanager
    async def step(self, name: str, touches: tuple[str, ...] = ()) -> AsyncIterator[None]:
        await trio.lowlevel.checkpoint()
        self._entered += 1
        if self._entered in self.gates:
            await self.gates[self._entered].wait()
        self.steps.append(name)
        self.at_step(name)
        yield
        await trio.lowlevel.checkpoint()

    def tool_traits(self, name: str) -> ToolTraits:
        return self.traits.get(name, ToolTraits())

    async def sleep(self, duration_ns: int) -> None:
        self.slept.append(duration_ns)
        await trio.lowlevel.checkpoint()

    def publish(self, session_id: str, frame: Frame) -> None:
        self.frames.append(frame)

    def spawn(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        self._nursery.start_soon(task, name=name)

    def mint(self, prefix: str) -> str:
        self.ids[prefix] = self.ids.get(prefix, 0) + 1
        return f"{prefix}{self.ids[prefix]}"

    def now_ns(self) -> int:
        return len(self.steps)

    def wall_ns(self) -> int:
        return 0

    def kinds(self) -> list[str]:
        """Returns the kinds of the frames so far."""
        return [frame.kind for frame in self.frames]


def text(piece: str, provider_id: str | None = None) -> ModelEvent:
    return ModelEvent("text", text=piece, provider_id=provider_id)


def finish(reason: str = "end_turn", provider_id: str | None = None) -> ModelEvent:
    return ModelEvent("finish", reason=reason, provider_id=provider_id)


def asks(call_id: str, arguments: str = "{}") -> list[ModelEvent]:
    """Returns the events by which a model asks for a tool."""
    return [
        ModelEvent("tool_call", call_id=call_id, name="search"),
        ModelEvent("tool_arguments", call_id=call_id, text=arguments),
    ]


def completion(text: str, provider_id: str | None = None) -> Completion:
    return Completion(provider_id=provider_id, text=text)


@asynccontextmanager
async def serving(
    *script: Sequence[Move], folder: Folder | None = None, server_class: type[Server] = Server, **policies: str
) -> AsyncIterator[tuple[Server, FakePorts]]:
    """Runs a server on a store in memory; whatever still runs at the end of the block is cancelled."""
    async with trio.open_nursery() as nursery:
        ports = FakePorts(nursery, script, **policies)
        server = server_class(MemoryStore(folder or Folder()), ports)
        await server.recover()
        yield server, ports
        nursery.cancel_scope.cancel()


async def settle() -> None:
    """Lets every task go as far as it can."""
    await trio.testing.wait_all_tasks_blocked()
