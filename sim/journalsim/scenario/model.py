"""A scenario as values: what an author writes, after every check.

The YAML loader, the Python builder and the generator all make these classes;
``dump`` prints them in canonical form.  The loader refuses what breaks a rule of
the language, and :func:`journalsim.scenario.dump.checked` holds a scenario that was
built in Python to the same rules.  Durations are integer nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from attrs import field, frozen

from journalsim.adapters.protocol import StopMode
from journalsim.case import Delay, Placement
from journalsim.scenario.disk_values import MEMORY, DiskFault
from journalsim.scenario.wire import Cursor, LinkFault, LinkShape

LANGUAGE_VERSION = 1
MS = 1_000_000
DEFAULT_CHUNK_GAP_NS = 20 * MS
CASES_MAX = 20_000  # a sweep beyond this takes longer than anybody waits for one file


# --- what a model says -------------------------------------------------------------------------


@frozen(kw_only=True)
class Text:
    """Visible or reasoning text, chunk by chunk.

    Attributes:
        chunks: the chunks as written; empty when ``words`` generates them.
        words: how many one-word chunks to generate.
        bytes: how long they are together, each as long as any other; 0 for short words.
        every_ns: gap before each chunk.
        label: name by which expectations refer to the whole text.
        reasoning: hidden thinking instead of visible text.
    """

    chunks: tuple[str, ...] = ()
    words: int = 0
    bytes: int = 0
    every_ns: int = DEFAULT_CHUNK_GAP_NS
    label: str | None = None
    reasoning: bool = False

    def pieces(self, turn: int) -> tuple[str, ...]:
        """Returns the chunks; generated words name their turn, so that texts differ between turns."""
        length = self.bytes // self.words - 1 if self.words else 0
        return self.chunks or tuple(f"t{turn}w{n}".ljust(length, "-") + " " for n in range(1, self.words + 1))


@frozen(kw_only=True)
class CallTool:
    """A request for a tool, its arguments split anywhere."""

    id: str
    name: str
    args_chunks: tuple[str, ...] = ("{}",)
    every_ns: int = DEFAULT_CHUNK_GAP_NS


@frozen(kw_only=True)
class NewMessage:
    """A further message begins within the same response."""

    id: str | None = None


@frozen(kw_only=True)
class RenameMessage:
    """From here on the provider gives the same message another id."""

    id: str


@frozen(kw_only=True)
class Wait:
    """A pause in the stream."""

    for_ns: int


@frozen(kw_only=True)
class Ping:
    """Keep-alive events that carry nothing."""

    times: int = 1
    every_ns: int = DEFAULT_CHUNK_GAP_NS


@frozen(kw_only=True)
class Stall:
    """The stream goes silent for ever, without ending."""


@frozen(kw_only=True)
class SilentEnd:
    """The stream ends without a finish: the provider's connection closed."""


@frozen(kw_only=True)
class Break:
    """The stream ends with an error of the provider."""

    kind: str = "overloaded"
    message: str = ""


@frozen(kw_only=True)
class Finish:
    """The response is complete; ``times`` above 1 reports it more than once."""

    reason: Literal["end_turn", "tool_use", "max_tokens", "refusal"] = "end_turn"
    times: int = 1
    after_ns: int = 0


StreamPart = Text | CallTool | NewMessage | RenameMessage | Wait | Ping | Stall | SilentEnd | Break | Finish


@frozen(kw_only=True)
class CallFilter:
    """Which model call a turn answers; every given field must fit.

    Attributes:
        user: the last user message is exactly this.
        tool_result: the context ends with results, this call's among them.
        agent: the sub-agent of this name asks; without it, the lead does.
        attempt: the retry number, from 1.
        purpose: what the call is for.
    """

    user: str | None = None
    tool_result: str | None = None
    agent: str | None = None
    attempt: int | None = None
    purpose: Literal["turn", "compaction"] = "turn"


@frozen(kw_only=True)
class Turn:
    """One response of the model.

    Attributes:
        stream: what it streams.
        wait_ns: time to the first chunk's own gap.
        when: which call it answers.
        after_close: what the provider does when the system closes the stream early:
            ``cancel`` the call, or ``complete`` it and report the whole message.
        complete_after_ns: for ``complete``, how long after the close.
    """

    stream: tuple[StreamPart, ...]
    wait_ns: int = 0
    when: CallFilter = field(factory=CallFilter)
    after_close: Literal["cancel", "complete"] = "cancel"
    complete_after_ns: int = 0


@frozen(kw_only=True)
class ToolReply:
    """What a tool does with one call.

    Attributes:
        kind: ``result`` returns, ``failure`` raises, ``hang`` never ends.
        call: the call it answers; None fits any.
        text: the output or the error.
        duration_ns: how long it takes; None means the tool's own duration.
    """

    kind: Literal["result", "failure", "hang"] = "result"
    call: str | None = None
    text: str = ""
    duration_ns: int | None = None


# --- actors ------------------------------------------------------------------------------------


@frozen(kw_only=True)
class ModelSpec:
    """The scripted model. ``ids``: does the provider name its messages, and do names change per chunk."""

    name: str = "model"
    ids: Literal["stable", "none", "per_chunk"] = "stable"
    turns: tuple[Turn, ...] = ()


@frozen(kw_only=True)
class ToolSpec:
    """A scripted tool.

    Attributes:
        name: by which the model calls it.
        duration_ns: how long a call takes, unless the reply says otherwise.
        approval: a person must agree before it runs.
        agent: calling it runs a sub-agent, which asks the model on its own behalf.
        replies: what it answers.
    """

    name: str
    duration_ns: int = 0
    approval: bool = False
    agent: bool = False
    replies: tuple[ToolReply, ...] = ()


@frozen(kw_only=True)
class ClientSpec:
    """A person and the program in front of them.

    Attributes:
        name: how steps call it.
        kind: which client program it is.
        observes: watches this other client's session instead of one of its own.
        session: the conversation it opens; a client that observes takes the other's.
        latency_ns: one way, for requests and frames.
        retry_ns: how long before it reattaches by itself.
        wire: it watches over the wire, byte by byte, also where nothing else of the scenario asks for that.
    """

    name: str
    kind: Literal["browser", "fetch-sse", "fetch-event-source", "ai-sdk-ui", "cli", "poller"] = "browser"
    observes: str | None = None
    session: str = "s1"
    latency_ns: int = 0
    retry_ns: int = 1000 * MS
    wire: bool = False


@frozen(kw_only=True)
class StoreSpec:
    """The storage below the journal.

    Attributes:
        latency_ns: how long each operation on it takes before it is done.
        engine: which kind of store a system that has both is asked to use on the simulated disk; empty for its own.
    """

    name: str = "store"
    latency_ns: int = 0
    engine: Literal["", "sqlite", "log"] = ""


# --- steps -------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Timing:
    """When a step happens.

    With nothing given, ``send``, ``approve`` and ``deny`` wait until all is quiet, and any other
    step follows the step above it at once.

    Attributes:
        at: a fixed point, step or time.
        axis: name of the sweep axis that says where.
        after: label of the step that it follows.
        delay_ns: pause after that.
        within_ns: it may happen any time up to this later; the search chooses, at once by default.
    """

    at: Placement | None = None
    axis: str | None = None
    after: str | None = None
    delay_ns: int = 0
    within_ns: int = 0


@frozen(kw_only=True)
class Travel:
    """What befalls the request of a step on its way to the server."""

    late_ns: int = 0
    lost: bool = False
    doubled: bool = False
    double_after_ns: int = 0


VERBS: Mapping[str, tuple[str, ...]] = {
    "client": ("send", "resubmit", "stop", "approve", "deny", "reload", "detach", "attach", "hide", "show", "switch"),
    "server": ("shutdown", "crash", "restart"),
    "maintenance": ("annotate", "compact", "clear"),
    "clock": ("jump",),
}
"""Which steps each kind of actor can take."""


@frozen(kw_only=True)
class Step:
    """One step of a scenario: ``actor.verb: argument``.

    Attributes:
        actor: who acts: a client's name, ``server``, ``maintenance`` or ``clock``.
        verb: a word of :data:`VERBS`.
        label: other steps refer to it by this; the verb, unless the author named it.
        timing: when.
        text: what a ``send`` says.
        key: idempotency key of a ``send``; made from its position when not given.
        of: for ``resubmit`` and ``stop`` the label of the send whose request or run is meant;
            None means the client's latest.
        mode: how a ``stop`` stops.
        times: how often in a row, at the same instant.
        travel: what befalls the request.
        call: for ``approve`` and ``deny``, which tool call.
        message: for ``annotate``, which message (``model.turn1``, ``user1`` …).
        metadata: for ``annotate``, the flags to set.
        lose: for ``crash``, what is lost: ``memory``, a loss of :data:`journalsim.actors.disk_faults.LOSSES`, or ``$axis``.
        cursor: for ``attach``, which cursor the program sends instead of its own.
        away_ns: for ``switch``, how long the person looks at another session.
        by_ns: for ``jump``, how far, negative for backwards.
        session: for maintenance, which conversation.
        line: line of the file, from 1; 0 if there is none.
    """

    actor: str
    verb: str
    label: str
    timing: Timing = field(factory=Timing)
    text: str = ""
    key: str | None = None
    of: str | None = None
    mode: StopMode = "interrupt"
    times: int = 1
    travel: Travel = field(factory=Travel)
    call: str | None = None
    message: str | None = None
    metadata: Mapping[str, Any] = field(factory=dict)
    lose: str = MEMORY
    cursor: Cursor | None = None
    away_ns: int = 0
    by_ns: int = 0
    session: str = "s1"
    line: int = field(default=0, eq=False)


@frozen(kw_only=True)
class Limits:
    """How long things may take before the system gives up on them; 0 for no limit.

    Attributes:
        tool_ns: one tool call.
        run_ns: one run, from its acceptance.
    """

    tool_ns: int = 0
    run_ns: int = 0


# --- faults, sweeps, expectations --------------------------------------------------------------


@frozen(kw_only=True)
class Axis:
    """One dimension of a sweep.

    Attributes:
        name: steps refer to it as ``$name``.
        values: fixed placements, in order, or what a crash loses.
        every: besides, one value for every ``point`` or scheduler ``step`` of the undisturbed run, for every
            ``cursor`` that the attaching page had in it, or for every ``byte`` or ``frame`` of the connection.
        inside: for ``every``, keep only names that start with one of these; empty keeps all.
        since: for ``every`` point, the first one, of those that the undisturbed run passes.
        until: for ``every`` point, the last one.
    """

    name: str
    values: tuple[Placement, ...] = ()
    every: Literal["", "point", "step", "cursor", "byte", "frame"] = ""
    inside: tuple[str, ...] = ()
    since: str = ""
    until: str = ""


@frozen(kw_only=True)
class Sweep:
    """The cases of a scenario: every combination of its axes.

    Attributes:
        axes: in the order of the file.
        limit: an upper bound on the number of cases; more than that is an error.
    """

    axes: tuple[Axis, ...] = ()
    limit: int = 1000


@frozen(kw_only=True)
class Expectation:
    """A condition on the end of a case.

    Attributes:
        name: a key of :data:`journalsim.scenario.expectations.EXPECTATIONS`, such as ``journal.contains``,
            or one of ``exactly_one_of``, ``any_of``, ``all_of``, ``none_of``.
        arguments: its arguments, checked.
        parts: for the four combining words, the conditions that they combine.
        line: line of the file, from 1; 0 if there is none.
    """

    name: str
    arguments: Mapping[str, Any] = field(factory=dict)
    parts: tuple[Expectation, ...] = ()
    line: int = field(default=0, eq=False)


@frozen(kw_only=True)
class Exemption:
    """An invariant that this scenario does not ask for, and why."""

    invariant: str
    reason: str


@frozen(kw_only=True)
class Expect:
    """What a scenario promises beyond the invariants.

    Attributes:
        finally_: holds at the end of every case that the sweep spells out.
        sometimes: holds at the end of at least one of them; otherwise the scenario is inconclusive.
        exercises: invariants that must be exercised in at least one case, or it is inconclusive.
        exempt: invariants that are not checked here.
    """

    finally_: tuple[Expectation, ...] = ()
    sometimes: tuple[Expectation, ...] = ()
    exercises: tuple[str, ...] = ()
    exempt: tuple[Exemption, ...] = ()


@frozen(kw_only=True)
class Scenario:
    """A race, told once.

    Attributes:
        name: kebab-case, unique in a collection.
        summary: one line.
        why: what the race is about, for a reader who does not know the system.
        tags: words to select by.
        covers: entries of the failure catalogue.
        needs: capabilities without which it cannot be asked of an adapter.
        policies: options of :data:`journalsim.adapters.protocol.POLICIES`.
        limits: time limits that the system is to keep.
        model: the scripted model.
        tools: the scripted tools.
        clients: the people, in order.
        store: the storage below the journal.
        faults: faults of links and of the disk.
        steps: what happens.
        sweep: where it happens.
        schedule: deviations from first in, first out, as a search found them.
        expect: what must come out.
        path: the file, for messages; not part of the value.
    """

    name: str
    summary: str = ""
    why: str = ""
    tags: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    policies: Mapping[str, str] = field(factory=dict)
    limits: Limits = field(factory=Limits)
    model: ModelSpec = field(factory=ModelSpec)
    tools: tuple[ToolSpec, ...] = ()
    clients: tuple[ClientSpec, ...] = (ClientSpec(name="client"),)
    store: StoreSpec = field(factory=StoreSpec)
    faults: tuple[LinkFault | LinkShape | DiskFault, ...] = ()
    steps: tuple[Step, ...]
    sweep: Sweep = field(factory=Sweep)
    schedule: tuple[Delay, ...] = ()
    expect: Expect = field(factory=Expect)
    path: str = field(default="", eq=False)

    def tool(self, name: str) -> ToolSpec:
        """Returns the tool of this name; one that nobody scripted answers at once."""
        return next((tool for tool in self.tools if tool.name == name), ToolSpec(name=name))

    @property
    def uses_wire(self) -> bool:
        """Whether clients have to watch byte by byte: something here is about connections or cursors."""
        links = any(not isinstance(fault, DiskFault) for fault in self.faults)
        return links or any(client.wire for client in self.clients) or any(map(_on_wire, self.steps))

    def calls(self) -> Iterator[CallTool]:
        """Yields every tool call in the model's script."""
        for turn in self.model.turns:
            yield from (part for part in turn.stream if isinstance(part, CallTool))


def _on_wire(step: Step) -> bool:
    return step.verb in ("hide", "show", "switch") or step.cursor is not None
