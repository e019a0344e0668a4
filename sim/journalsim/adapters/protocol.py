"""What an adapter and the harness promise each other.

An adapter is how journalsim reaches a journal.  There are two levels, and an
adapter implements one of them:

* **store level** (:class:`StoreAdapter`): the harness drives the run, calls the
  model and the tools, and the journal only keeps rows;
* **runner level** (:class:`RunnerAdapter`): the system runs its own loop, and
  the harness plants the model, the tools and the points through :class:`Ports`.

Every verb may be ``def`` or (trio) ``async def``.  A verb ends in one of three
ways: it returns (*ok*), it raises (*failed*: certainly not done), or it raises
:class:`OutcomeUnknown` (*unknown*: done or not, only a later read can tell).

An adapter, and the reference journal, import this, the disk protocol, and nothing else of ``sim``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from attrs import field, frozen

from journalsim.adapters.disk_protocol import DiskPort

PROTOCOL_VERSION = 1

ItemKind = Literal["user", "assistant", "tool_call", "tool_result", "marker", "summary"]
ItemState = Literal["open", "completed", "interrupted", "failed", "aborted"]
Cause = Literal["stopped", "crashed", "timed_out", "lost_lease", "shut_down", "failed", "disconnected", "rolled_back"]
Origin = Literal["user", "model", "tool", "synthetic"]
StopMode = Literal["interrupt", "rollback"]

POLICIES: Mapping[str, tuple[str, ...]] = {
    "busy": ("refuse", "queue", "cancel_earlier"),
    "disconnect": ("continue", "cancel"),
    "partial_in_context": ("text", "none"),
    "partial_form": ("state", "flag"),
    "stopped_turn": ("marker", "user_only"),
    "orphans": ("on_write", "on_read"),
    "sync": ("every_event", "barriers"),
    "reattach": ("suffix", "whole_turn"),
    "bad_cursor": ("restart", "gap"),
    "retention": ("long", "short"),
}
"""Questions on which public systems disagree, the default first; what a Stop keeps is its own ``mode``."""

HIDDEN_FROM_MODEL = "hidden_from_model"
"""The one metadata flag with a meaning of its own: true keeps an item out of the model's context."""

T = TypeVar("T")
MaybeAwaitable: TypeAlias = T | Awaitable[T]


class OutcomeUnknown(Exception):
    """Raised by a verb whose effect may or may not have happened."""


class RunBusy(Exception):
    """Raised by ``start``, or by a rewrite of the history, that an active run does not allow: refused, nothing done."""


class ModelError(Exception):
    """The model's stream broke: ``kind`` is the provider's word, such as ``overloaded``."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(f"{kind}: {message}" if message else kind)
        self.kind = kind


class ToolError(Exception):
    """The tool ran and failed."""


@frozen(kw_only=True)
class Item:
    """One entry of a history or of a model context, in the smallest common form.

    Attributes:
        kind: what it is.  A ``marker`` is the terminal of a run.
        text: user text, visible answer text, tool output, or marker wording.
        id: the journal's own stable id, if it has one.
        aliases: ids that the provider used for the same message, in order of appearance.
        reasoning: hidden or visible reasoning text of an assistant message.
        call_id: pairs ``tool_call`` with ``tool_result``.
        name: tool name of a ``tool_call``.
        arguments: argument text of a ``tool_call``, exactly as streamed.
        state: ``completed`` or ``interrupted`` for messages; ``completed``, ``failed`` or
            ``aborted`` for tool results; how the run ended for markers.
        outcome: of an aborted tool result, what is known: ``unknown`` or ``not_started``.
        run_id: the run that wrote it, if known.
        cause: of an interrupted marker or message, why.
        origin: who made the text.
        metadata: flags that are not text; see :data:`HIDDEN_FROM_MODEL`.
    """

    kind: ItemKind
    text: str = ""
    id: str | None = None
    aliases: tuple[str, ...] = ()
    reasoning: str = ""
    call_id: str | None = None
    name: str | None = None
    arguments: str = ""
    state: ItemState = "completed"
    outcome: Literal["", "unknown", "not_started"] = ""
    run_id: str | None = None
    cause: Cause | None = None
    origin: Origin | None = None
    metadata: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class Capabilities:
    """What an adapter claims; the default claims least.

    A promise that needs a capability which is not declared is reported as *not
    claimed*: neither kept nor broken.

    Attributes:
        level: ``store`` or ``runner``.
        partials: text of a stopped message is kept.
        tools: tool calls and results are kept as items of their own.
        terminals: the end of each run is kept as a ``marker`` item.
        stable_ids: an item's ``id`` is the same in every read.
        dedup_by_id: writing one id twice leaves one item.
        atomic_turn: an interrupted turn is dropped whole, by declared policy.
        user_first: the user message is durable before the model is called.
        concurrent_runs: what a second start in a busy session does.
        stop_modes: which ways of stopping exist.
        crash: ``memory`` when ``crash()`` drops the process state and keeps the store.
        disk: keeps its files through :attr:`Ports.disk` where there is one, so that the power can fail.
        idempotent_start: one request key never starts a second run.
        statistics: ``statistics()`` tells the sizes of the partial cache.
        maintenance: which of ``annotate``, ``compact``, ``clear`` exist.
        late_completion: a completion that arrives after the stream was closed is handed over.
        approvals: runs wait for a person's answer where a tool asks for it; the verb ``answer`` exists.
        limits: which time limits the system keeps: ``tool``, ``run``.
        sub_agents: a tool may be a sub-agent with model calls of its own.
        context: what the model is given is derived from the journal and may be judged.
        policies: scenario options that the system can follow, such as ``busy``.
        replay: how a reader reattaches.
        context_repair: where orphaned calls are closed.
        clock: ``virtual`` when every wait of the system goes through the harness.
        host: where the system runs.
    """

    level: Literal["store", "runner"] = "store"
    partials: bool = False
    tools: bool = False
    terminals: bool = False
    stable_ids: bool = False
    dedup_by_id: bool = False
    atomic_turn: bool = False
    user_first: bool = False
    concurrent_runs: Literal["undefined", "refuse", "queue", "cancel_earlier", "keep"] = "undefined"
    stop_modes: tuple[StopMode, ...] = ("interrupt",)
    crash: Literal["none", "memory", "kill"] = "none"
    disk: bool = False
    idempotent_start: bool = False
    statistics: bool = False
    maintenance: tuple[Literal["annotate", "compact", "clear"], ...] = ()
    late_completion: bool = False
    approvals: bool = False
    limits: tuple[Literal["tool", "run"], ...] = ()
    sub_agents: bool = False
    context: bool = False
    policies: tuple[str, ...] = ()
    replay: Literal["none", "from_id", "from_offset", "gap_signal"] = "none"
    context_repair: Literal["none", "on_read", "on_write"] = "none"
    clock: Literal["virtual", "real"] = "virtual"
    host: Literal["in_process", "child", "http"] = "in_process"


@frozen(kw_only=True)
class Statistics:
    """Sizes of what a journal holds in memory, at this instant.

    Attributes:
        partial_messages: messages with buffered, unfinished text.
        partial_bytes: bytes of that text, UTF-8.
        partial_messages_max: declared bound for ``partial_messages``; 0 if none is declared.
        partial_bytes_max: declared bound for ``partial_bytes``; 0 if none is declared.
        active_runs: runs without a terminal.
        reader_bytes, reader_bytes_max: the most that is held for one reader of a stream, and its bound, if declared.
    """

    partial_messages: int = 0
    partial_bytes: int = 0
    partial_messages_max: int = 0
    partial_bytes_max: int = 0
    active_runs: int = 0
    reader_bytes: int | None = None
    reader_bytes_max: int | None = None


# --- what the harness plants -------------------------------------------------------------------


@frozen(kw_only=True)
class ToolCall:
    """One request of the model for a tool."""

    call_id: str
    name: str
    arguments: str = ""


@frozen(kw_only=True)
class ToolTraits:
    """What a system must know of a tool before it runs it.

    Attributes:
        approval: a person must agree first.
        agent: the call runs a sub-agent: the system asks the model on its behalf
            (:attr:`ModelRequest.actor`), and the sub-agent's answer is the result.
    """

    approval: bool = False
    agent: bool = False


@frozen(kw_only=True)
class ModelRequest:
    """What a system asks the model.

    Attributes:
        run_id: the run on whose behalf the model is called.
        session_id: its conversation.
        attempt: 1, then 2 for the first retry within the run, and so on.
        context: what the model is given, oldest first.
        purpose: ``turn`` for an answer, ``compaction`` for a summary of the history.
        actor: ``lead``, or ``sub:NAME`` for a sub-agent.
    """

    run_id: str
    session_id: str
    attempt: int = 1
    context: tuple[Item, ...] = ()
    purpose: Literal["turn", "compaction"] = "turn"
    actor: str = "lead"


ModelEventKind = Literal["message", "text", "reasoning", "tool_call", "tool_arguments", "ping", "finish"]


@frozen
class ModelEvent:
    """One chunk of the model's stream.

    Attributes:
        kind: ``message`` opens a further message in the same response; ``text`` and
            ``reasoning`` carry ``text``; ``tool_call`` opens a call (``call_id``, ``name``);
            ``tool_arguments`` adds ``text`` to the arguments of ``call_id``; ``ping`` carries
            nothing; ``finish`` completes the response (``reason``).
        provider_id: the provider's id of the message at this moment; it may change in
            mid-message, and may be None.
    """

    kind: ModelEventKind
    text: str = ""
    provider_id: str | None = None
    call_id: str | None = None
    name: str | None = None
    reason: str | None = None


@frozen(kw_only=True)
class Completion:
    """A whole message that the provider reports as finished, as a completion callback gets it."""

    provider_id: str | None
    text: str
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reason: str = "end_turn"


LateCompletion = Callable[[Completion], Awaitable[None]]


class ModelStream(Protocol):
    """An open call of the model: iterate it, and leave the ``async with`` block to close it.

    Iteration raises :class:`ModelError` when the provider breaks off, and simply ends without a
    ``finish`` event when the connection ends silently; the second is *not* a completed message.
    """

    async def __aenter__(self) -> ModelStream: ...

    async def __aexit__(self, *exc: object) -> bool | None: ...

    def __aiter__(self) -> AsyncIterator[ModelEvent]: ...


FrameKind = Literal[
    "run.started",
    "message.opened",
    "message.delta",
    "message.completed",
    "message.interrupted",
    "message.superseded",
    "tool.requested",
    "tool.closed",
    "approval.requested",
    "approval.resolved",
    "run.ended",
]


@frozen
class Frame:
    """One live event for whoever watches the session.

    Attributes:
        kind: what happened.
        run_id: the run it belongs to.
        message_id: the journal's id of the message, for message frames.
        text: the delta of a ``message.delta``; the whole text of completed or interrupted ones.
        reasoning: like ``text``, for reasoning.
        call_id: for tool frames.
        state: for ``run.ended`` how it ended, for ``tool.closed`` the closure's state.
        cause: for interrupted runs, why.
        event_id: ``<run_id>:<seq>`` of the journal row behind it; None when nothing durable is behind it.
        source: the provider's id of the message, when the system knows it.
    """

    kind: FrameKind
    run_id: str
    message_id: str | None = None
    text: str = ""
    reasoning: str = ""
    call_id: str | None = None
    state: str | None = None
    cause: str | None = None
    event_id: str | None = None
    source: str | None = None


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


# --- the two levels ----------------------------------------------------------------------------


class StoreAdapter(Protocol):
    """A journal that only keeps rows; the harness drives the run.

    Beyond the four verbs here these are optional, found by name:
    ``append_many(session_id, run_id, items)``,
    ``partial(session_id, run_id, item)`` (what a stop keeps of an unfinished message),
    ``finish(session_id, run_id, marker)`` (the terminal of a run),
    ``annotate(session_id, item_id, metadata)``, ``replace_all(session_id, items)``,
    ``flush()``, ``statistics()``, ``crash()``.
    """

    capabilities: Capabilities

    def open(self, where: str) -> MaybeAwaitable[None]:
        """Opens the store in folder ``where``; the same folder after a crash is the same data."""
        ...

    def close(self) -> MaybeAwaitable[None]:
        """Closes it in good order."""
        ...

    def append(self, session_id: str, run_id: str, item: Item) -> MaybeAwaitable[None]:
        """Keeps one finished item; returning is the acknowledgement."""
        ...

    def read(self, session_id: str) -> MaybeAwaitable[Sequence[Item]]:
        """Everything that a page opened now would show, oldest first."""
        ...


class RunnerAdapter(Protocol):
    """A system with a loop of its own; the harness plants model, tools and points.

    Beyond the verbs here these are optional, found by name:
    ``context(session_id)``, ``annotate(session_id, item_id, metadata)`` (``LookupError`` if it is gone),
    ``compact(session_id)``, ``clear(session_id)``, ``statistics()``, ``crash()`` (also while ``setup`` is under way),
    ``disconnected(session_id, client)`` (a reader's connection went away),
    ``answer(session_id, run_id, call_id, approved)`` (a person approves or denies a tool
    call; returns ``resolved``, ``late`` when the call no longer waits, or ``unknown``).
    """

    capabilities: Capabilities

    def setup(self, where: str, ports: Ports) -> MaybeAwaitable[None]:
        """Starts the server process on folder ``where``, recovering what an earlier one left."""
        ...

    def start(self, session_id: str, text: str, key: str) -> MaybeAwaitable[str]:
        """Admits a user message and begins its run in the background.

        Args:
            session_id: the conversation.
            text: the user's words.
            key: the client's idempotency key.

        Returns:
            The run's id.  The user message is accepted once this returns.

        Raises:
            RunBusy: refused, because the session has an active run.
        """
        ...

    def stop(self, session_id: str, run_id: str, mode: StopMode = "interrupt") -> MaybeAwaitable[str]:
        """Stops the named run.

        Returns:
            ``stopping`` when the run is being stopped, ``ended`` when it already had its
            terminal, ``unknown`` when there is no such run.
        """
        ...

    def read(self, session_id: str) -> MaybeAwaitable[Sequence[Item]]:
        """Everything that a page opened now would show, oldest first."""
        ...

    def shutdown(self) -> MaybeAwaitable[None]:
        """Ends active runs in good order (cause ``shut_down``) and closes the store."""
        ...
