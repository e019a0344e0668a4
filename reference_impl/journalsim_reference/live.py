"""Implements ports of the real world: trio's clock and a scripted model that answers slowly.

This is the one place of the reference where time is real. On a virtual clock it is virtual: every wait is trio's.
"""

from __future__ import annotations

import time  # the wall clock of LivePorts
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager

import trio
from attrs import frozen

from journalsim.contract.disk_port import DiskPort
from journalsim.contract.frames import Frame
from journalsim.contract.model_call import LateCompletion, ModelEvent, ModelRequest, ToolCall, ToolError, ToolTraits

SECOND = 1_000_000_000  # nanoseconds

ANSWER = (
    "You wrote: {prompt}\n\n"
    "I am a script, and I speak slowly on purpose, so that you have time to press Stop while I do. "
    "Press it now, and what you have read so far stays: reload the page, and the partial is there, once, "
    "with a line that says why it ends. Reload it while I speak, or cut the connection, and the text goes on "
    "where it was, without a gap and without a word twice. "
    "If you let me finish, the whole answer takes the place of every partial there ever was."
)


class ScriptedStream:
    """Implements :class:`journalsim.contract.model_call.ModelStream`: streams a text, a word at a time.

    Args:
        text: the answer.
        pace_ns: pause before each word and before the end, nanoseconds.
        provider_id: the provider's id of the message.
    """

    def __init__(self, text: str, pace_ns: int, provider_id: str) -> None:
        self._words = words(text)
        self._pace_ns = pace_ns
        self._provider_id = provider_id
        self._finished = False

    async def __aenter__(self) -> ScriptedStream:
        await trio.lowlevel.checkpoint()
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Does nothing: the stream holds nothing open."""

    def __aiter__(self) -> ScriptedStream:
        return self

    async def __anext__(self) -> ModelEvent:
        await trio.sleep(self._pace_ns / SECOND)
        word = next(self._words, None)
        if word is not None:
            return ModelEvent("text", text=word, provider_id=self._provider_id)
        if self._finished:
            raise StopAsyncIteration
        self._finished = True
        return ModelEvent("finish", reason="end_turn", provider_id=self._provider_id)


def words(text: str) -> Iterator[str]:
    """Yields the words of a text, each with the blanks before it; together they are the text."""
    begin = 0
    for end in range(1, len(text)):
        if text[end].isspace() and not text[end - 1].isspace():
            yield text[begin:end]
            begin = end
    if text:
        yield text[begin:]


@frozen(kw_only=True)
class Script:
    """The model's answer and its pace.

    Attributes:
        answer: the text, with ``{prompt}`` in the place of the person's words.
        pace_ns: pause before each word, nanoseconds.
    """

    answer: str = ANSWER
    pace_ns: int = 150_000_000

    def reply(self, request: ModelRequest, number: int) -> ScriptedStream:
        """Answers a call of the model."""
        prompt = next((item.text for item in reversed(request.context) if item.kind == "user"), "")
        return ScriptedStream(self.answer.replace("{prompt}", prompt), self.pace_ns, f"msg-{number}")


class LivePorts:
    """Implements :class:`journalsim.contract.ports.Ports` for a running server.

    Args:
        nursery: the nursery of the background tasks; they end with it.
        script: script of the model.
        ids: infix behind the prefix of every id, which differs between processes.
        policies: options of the journal.
    """

    def __init__(
        self, nursery: trio.Nursery, script: Script, ids: str = "", policies: Mapping[str, str] | None = None
    ) -> None:
        self.policies: Mapping[str, str] = policies or {}
        self.limits_ns: Mapping[str, int] = {}
        self.disk: DiskPort | None = None
        self.engine = ""
        self._nursery = nursery
        self._script = script
        self._ids = ids
        self._minted = 0
        self._calls = 0

    def tool_traits(self, name: str) -> ToolTraits:
        """Returns the default traits: no approval, no sub-agent."""
        return ToolTraits()

    def model(self, request: ModelRequest, on_late: LateCompletion | None = None) -> ScriptedStream:
        """Calls the scripted model."""
        self._calls += 1
        return self._script.reply(request, self._calls)

    async def call_tool(self, run_id: str, call: ToolCall) -> str:
        """Fails: there are no tools.

        Raises:
            ToolError: always.
        """
        await trio.lowlevel.checkpoint()
        raise ToolError(f"there is no tool {call.name!r} here")

    @asynccontextmanager
    async def step(self, name: str, touches: tuple[str, ...] = ()) -> AsyncIterator[None]:
        """Lets others run before an operation of the journal, and after it."""
        await trio.lowlevel.checkpoint()
        yield
        await trio.lowlevel.checkpoint()

    async def sleep(self, duration_ns: int) -> None:
        """Waits ``duration_ns`` nanoseconds."""
        await trio.sleep(duration_ns / SECOND)

    def publish(self, session_id: str, frame: Frame) -> None:
        """Does nothing: readers receive frames by the stream."""

    def spawn(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        """Starts a background task."""
        self._nursery.start_soon(task, name=name)

    def mint(self, prefix: str) -> str:
        """Returns a fresh id."""
        self._minted += 1
        return f"{prefix}{self._ids}{self._minted}"

    def now_ns(self) -> int:
        """Returns trio's time in nanoseconds."""
        return round(trio.current_time() * SECOND)

    def wall_ns(self) -> int:
        """Returns the time of the wall clock in nanoseconds."""
        return time.time_ns()
