"""What the model says and what the tools do, from a tape: one round of an exchange at a time."""

from __future__ import annotations

from typing import Literal

from attrs import evolve, frozen

from journalsim.scenario.values.cast import ToolSpec
from journalsim.scenario.values.speech import (
    DEFAULT_CHUNK_GAP_NS,
    MS,
    Break,
    CallFilter,
    CallTool,
    Finish,
    NewMessage,
    Ping,
    RenameMessage,
    SilentEnd,
    Stall,
    StreamPart,
    Text,
    ToolReply,
    Turn,
    Wait,
)
from journalsim.search.generate.slots import Slots

ROUND_SLOTS = 28
CALLS_MAX = 3
ASKS, DOES = "search", "deploy"  # the tool that may be a sub-agent, and the one that may need a person's agreement
TOOLS = {ASKS: 0, DOES: 50 * MS}  # name: how long a call takes
SLOW_NS = 400 * MS
EQUAL = ("Same ", "text ", "once ", "more", ".")
HOSTILE = ("data: one\n\n", "\u2028", "id: 7\r\n", "\ufeff", "end")  # what a wire format may trip over

_ATTEMPTS = (
    ("error",),
    ("silent",),
    ("error", "error"),
    ("error", "error", "error"),  # after the third one the reference gives up
    ("silent", "error", "silent"),
)


_CLOSES: tuple[tuple[Literal["cancel", "complete"], int], ...] = (
    ("cancel", 0),
    ("complete", 0),
    ("complete", 50 * MS),
    ("complete", 3000 * MS),
)
_ANSWERS = ("approve twice", "deny", "approve placed", "both", "none", "deny placed", "approve again")


@frozen(kw_only=True)
class Manner:
    """How a turn streams, apart from what."""

    every_ns: int
    wait_ns: int
    close: tuple[Literal["cancel", "complete"], int]


@frozen(kw_only=True)
class Answer:
    """How a person answers when a tool call waits for their agreement."""

    call: str
    verb: Literal["approve", "deny"] = "approve"
    placed: bool = False
    at_once: bool = False  # after the answer before it, which it may overtake
    share: int = 0


class ScriptWriter:
    """Writes the turns of a scenario, one round after the other.

    Args:
        equal: all messages have the same text, on purpose.
        approval: one of the tools needs a person's agreement.
        agent: the other is a sub-agent.

    Attributes:
        turns: written so far.
        hangs: whether something in them never ends by itself.
    """

    def __init__(self, *, equal: bool, approval: bool, agent: bool) -> None:
        self.turns: list[Turn] = []
        self.hangs = False
        self._equal = equal
        self._approval = approval
        self._agent = agent
        self._calls = 0
        self._called: dict[str, None] = {}
        self._replies: dict[str, list[ToolReply]] = {name: [] for name in TOOLS}

    def tools(self) -> tuple[ToolSpec, ...]:
        """Returns the tools that were called, as far as there is something to say about them."""
        specs = [
            ToolSpec(
                name=name,
                duration_ns=duration_ns,
                approval=self._approval and name == DOES,
                agent=self._agent and name == ASKS,
                replies=tuple(self._replies[name]),
            )
            for name, duration_ns in TOOLS.items()
            if name in self._called
        ]
        return tuple(spec for spec in specs if spec != ToolSpec(name=spec.name))

    def round(self, slots: Slots, tools: bool) -> list[Answer]:
        """Writes one finished response, and the attempts that fail before it.

        Returns:
            What a person answers to the calls that need it.
        """
        manner = Manner(
            every_ns=slots.choose(DEFAULT_CHUNK_GAP_NS, 0, MS, 100 * MS, odds=70),
            wait_ns=slots.choose(0, 300 * MS, odds=30),
            close=slots.choose(*_CLOSES, odds=80),
        )
        attempts: tuple[str, ...] = slots.choose((), *_ATTEMPTS, odds=60)
        broken, pieces = slots.choose("text", "call", "nothing", odds=100), slots.choose(1, 2, 3, odds=150)
        for ending in attempts:
            self._attempt(manner, ending, broken, pieces)
        stream = self._words(slots, manner, tools)
        calls, answers = self._tool_calls(slots) if tools else ([], [])
        self._say([*stream, *calls, self._end(slots, tools)], manner)
        for call in calls:
            if self._agent and call.name == ASKS:
                self._say([self.text(2, manner), Finish()], manner, CallFilter(agent=ASKS))
        return answers

    def compaction(self, slow: bool) -> None:
        """Writes the summary that a compaction asks for; a slow one leaves time for a whole run meanwhile."""
        gap_ns = 200 * MS if slow else DEFAULT_CHUNK_GAP_NS
        stream = (Text(words=3, every_ns=gap_ns), Finish())
        self.turns.append(Turn(stream=stream, when=CallFilter(purpose="compaction")))

    def _say(self, stream: list[StreamPart], manner: Manner, when: CallFilter | None = None) -> None:
        close, after_ns = manner.close
        turn = Turn(
            when=when or CallFilter(),
            stream=tuple(stream),
            wait_ns=manner.wait_ns,
            after_close=close,
            complete_after_ns=after_ns,
        )
        self.turns.append(turn)

    def _attempt(self, manner: Manner, ending: str, broken: str, pieces: int) -> None:
        stream: list[StreamPart] = [] if broken == "nothing" else [self.text(pieces, manner)]
        if broken == "call":
            stream.append(self._call(ASKS, ("{}",)))
        self._say([*stream, Break() if ending == "error" else SilentEnd()], manner)

    # --- text

    def _words(self, slots: Slots, manner: Manner, tools: bool) -> list[StreamPart]:
        pieces = slots.choose(1, 2, 3, 4, 5, odds=210)
        shape = slots.choose("text", *_SHAPES, odds=100)
        more = slots.choose(1, 2, 3, odds=120)
        silent = slots.flag(odds=80)
        if tools and silent:
            return []
        return _SHAPES[shape](self, pieces, more, manner) if shape != "text" else [self.text(pieces, manner)]

    def text(self, pieces: int, manner: Manner, mark: str = "", reasoning: bool = False) -> Text:
        """Returns a text of so many chunks; within one turn, texts with different marks differ."""
        if self._equal:
            chunks = EQUAL[:pieces]
        elif mark:
            chunks = tuple(f"t{self.number}{mark}{n} " for n in range(1, pieces + 1))
        else:
            return Text(words=pieces, every_ns=manner.every_ns, reasoning=reasoning)
        return Text(chunks=chunks, every_ns=manner.every_ns, reasoning=reasoning)

    @property
    def number(self) -> int:
        """The number of the turn that is being written."""
        return len(self.turns) + 1

    # --- tools

    def _tool_calls(self, slots: Slots) -> tuple[list[CallTool], list[Answer]]:
        count = slots.choose(1, 2, 3, odds=90)
        calls: list[CallTool] = []
        answers: list[Answer] = []
        for position in range(CALLS_MAX):
            name = slots.choose(*TOOLS, odds=110)
            what = slots.choose("result", "slow", "failure", "instant", "hang", odds=90)
            args = slots.choose(("{}",), ('{"q":', '"x"}'), ("", '{"q": 1}', ""), (), odds=90)
            answer, share = slots.choose("approve", *_ANSWERS, odds=150), slots.next()
            if position < count:
                calls.append(self._call(name, args))
                self._reply(name, what)
                if self._approval and name == DOES:
                    answers += self._answers(answer, share)
        return calls, answers

    def _answers(self, answer: str, share: int) -> list[Answer]:
        call = f"t{self._calls}"
        if answer == "none":
            self.hangs = True
            return []
        verb: Literal["approve", "deny"] = "deny" if answer.startswith("deny") else "approve"
        given = Answer(call=call, verb=verb, placed=answer.endswith("placed"), share=share)
        if answer == "both":
            return [given, evolve(given, verb="deny", at_once=True)]
        if answer == "approve again":
            return [given, given]
        return [given, evolve(given, at_once=True)] if answer == "approve twice" else [given]

    def _call(self, name: str, args: tuple[str, ...]) -> CallTool:
        self._calls += 1
        self._called[name] = None
        return CallTool(id=f"t{self._calls}", name=name, args_chunks=args)

    def _reply(self, name: str, what: str) -> None:
        call = f"t{self._calls}"
        if what == "hang":
            self.hangs = True
            self._replies[name].append(ToolReply(kind="hang", call=call))
        elif what == "failure":
            self._replies[name].append(ToolReply(kind="failure", call=call, text=f"{call} broke"))
        elif what != "result":
            took_ns = SLOW_NS if what == "slow" else 0
            text = f"{name} done" if self._equal else f"{call} done"
            self._replies[name].append(ToolReply(call=call, text=text, duration_ns=took_ns))

    # --- the end

    def _end(self, slots: Slots, tools: bool) -> StreamPart:
        kind = slots.choose("once", "twice", "late", "twice late", "cut", "stall", odds=70)
        if kind == "stall":
            self.hangs = True
            return Stall()
        short: Literal["max_tokens", "end_turn"] = "max_tokens" if kind == "cut" else "end_turn"
        reason: Literal["tool_use", "max_tokens", "end_turn"] = "tool_use" if tools else short
        times = 2 if kind.startswith("twice") else 1
        after_ns = DEFAULT_CHUNK_GAP_NS if kind.endswith("late") else 0
        return Finish(reason=reason, times=times, after_ns=after_ns)


def _thinks_first(writer: ScriptWriter, pieces: int, more: int, manner: Manner) -> list[StreamPart]:
    return [writer.text(more, manner, "r", reasoning=True), writer.text(pieces, manner)]


def _only_thinks(writer: ScriptWriter, pieces: int, more: int, manner: Manner) -> list[StreamPart]:
    return [writer.text(pieces, manner, "r", reasoning=True)]


def _two_messages(writer: ScriptWriter, pieces: int, more: int, manner: Manner) -> list[StreamPart]:
    return [writer.text(pieces, manner), NewMessage(), writer.text(more, manner, "m2w")]


def _three_messages(writer: ScriptWriter, pieces: int, more: int, manner: Manner) -> list[StreamPart]:
    return [*_two_messages(writer, pieces, more, manner), NewMessage(), writer.text(1, manner, "m3w")]


def _renamed(writer: ScriptWriter, pieces: int, more: int, manner: Manner) -> list[StreamPart]:
    rename = RenameMessage(id=f"renamed-{writer.number}")
    return [writer.text(pieces, manner), rename, writer.text(more, manner, "m2w")]


def _pings(writer: ScriptWriter, pieces: int, more: int, manner: Manner) -> list[StreamPart]:
    return [Ping(times=more), writer.text(pieces, manner)]


def _pauses(writer: ScriptWriter, pieces: int, more: int, manner: Manner) -> list[StreamPart]:
    return [writer.text(pieces, manner), Wait(for_ns=700 * MS), writer.text(more, manner, "m2w")]


def _hostile(writer: ScriptWriter, pieces: int, more: int, manner: Manner) -> list[StreamPart]:
    return [Text(chunks=HOSTILE[-pieces:], every_ns=manner.every_ns)]


def _empty(writer: ScriptWriter, pieces: int, more: int, manner: Manner) -> list[StreamPart]:
    return []


_SHAPES = {
    "thinks first": _thinks_first,
    "two messages": _two_messages,
    "renamed": _renamed,
    "only thinks": _only_thinks,
    "pauses": _pauses,
    "empty": _empty,
    "pings": _pings,
    "hostile": _hostile,
    "three messages": _three_messages,
}
