"""What the scripted model says, turn by turn, and what the scripted tools answer."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

MS = 1_000_000

DEFAULT_CHUNK_GAP_NS = 20 * MS


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
