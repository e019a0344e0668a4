"""Streams: what the model says within one turn, chunk by chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import fields

from journalsim.scenario.shapes.forms import Forms, Short
from journalsim.scenario.shapes.keys import Key
from journalsim.scenario.shapes.lists import ListOf
from journalsim.scenario.shapes.nodes import List
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.one_key import AnyBranch, Branch, OneKey
from journalsim.scenario.shapes.reading import Bad, NameKind, Reading
from journalsim.scenario.shapes.record_shapes import Record
from journalsim.scenario.shapes.scalars import Choice, Name, Number
from journalsim.scenario.values.speech import (
    Break,
    CallTool,
    Finish,
    NewMessage,
    Ping,
    RenameMessage,
    SilentEnd,
    Stall,
    StreamPart,
    Text,
    Wait,
)
from journalsim.scenario.words.call_words import CHUNKS, TOOL_CALL
from journalsim.scenario.words.names import COUNT_MAX, DURATION, LINE, TEXT, words_of

ENDS = ("finish", "error", "end", "stall")
"""Stream entries after which nothing follows."""

TEXT_BYTES_MAX = 1_000_000  # a book
REPEATS = Number(min=1, max=1000)

# --- texts ---------------------------------------------------------------------------------------

_TEXT = fields(Text)


def _text(reasoning: bool) -> Branch[Text]:
    shape = Forms[Text](
        what="a text, a list of chunks, or a mapping",
        scalar=Short(
            shape=TEXT,
            wrap=lambda text: Text(reasoning=reasoning, chunks=(text,)),
            unwrap=lambda text: "".join(text.chunks),
        ),
        list=Short(
            shape=CHUNKS,
            wrap=lambda chunks: Text(reasoning=reasoning, chunks=chunks),
            unwrap=lambda text: text.chunks or None,
        ),
        mapping=Record(
            what="a text",
            cls=Text,
            given={"reasoning": reasoning},
            keys={
                "chunks": Key(CHUNKS, _TEXT.chunks),
                "words": Key(Number(min=1, max=COUNT_MAX), _TEXT.words),
                "bytes": Key(Number(min=1, max=TEXT_BYTES_MAX), _TEXT.bytes, doc="how long all words are together"),
                "every": Key(DURATION, _TEXT.every_ns),
                "label": Key(Name(what="a label", defines=NameKind("text", "label of a text")), _TEXT.label),
            },
            exclusive=(("chunks", "words"), ("chunks", "bytes")),
            one_of=("chunks", "words"),
        ),
    )
    return Branch[Text](shape, Text, lambda text: text.reasoning == reasoning)


# --- all parts of a stream -----------------------------------------------------------------------

_PING, _BREAK, _FINISH = fields(Ping), fields(Break), fields(Finish)
_REASON = Choice(words_of(Finish, _FINISH.reason), "a reason")
_PARTS: Mapping[str, AnyBranch[StreamPart]] = {
    "text": _text(reasoning=False),
    "reasoning": _text(reasoning=True),
    "tool_call": Branch[CallTool](TOOL_CALL, CallTool),
    "message": Branch[NewMessage](
        Forms[NewMessage](
            what="next, or {id: …}",
            scalar=Short(shape=Choice(("next",), "next"), wrap=lambda _: NewMessage(), unwrap=lambda _: "next"),
            mapping=Record(
                what="a message",
                cls=NewMessage,
                keys={"id": Key(LINE, fields(NewMessage).id, required=True)},
            ),
        ),
        NewMessage,
    ),
    "rename": Branch[RenameMessage](
        Forms[RenameMessage](
            what="an id",
            scalar=Short(shape=LINE, wrap=lambda id: RenameMessage(id=id), unwrap=lambda rename: rename.id),
        ),
        RenameMessage,
    ),
    "wait": Branch[Wait](
        Forms[Wait](
            what="a time",
            scalar=Short(shape=DURATION, wrap=lambda time_ns: Wait(for_ns=time_ns), unwrap=lambda wait: wait.for_ns),
        ),
        Wait,
    ),
    "ping": Branch[Ping](
        Forms[Ping](
            what="how many, or a mapping",
            scalar=Short(shape=REPEATS, wrap=lambda times: Ping(times=times), unwrap=lambda ping: ping.times),
            mapping=Record(
                what="a ping",
                cls=Ping,
                keys={"times": Key(REPEATS, _PING.times), "every": Key(DURATION, _PING.every_ns)},
            ),
        ),
        Ping,
    ),
    "stall": Branch[Stall](
        Forms[Stall](
            what="forever",
            scalar=Short(shape=Choice(("forever",), "forever"), wrap=lambda _: Stall(), unwrap=lambda _: "forever"),
        ),
        Stall,
    ),
    "end": Branch[SilentEnd](
        Forms[SilentEnd](
            what="silent",
            scalar=Short(shape=Choice(("silent",), "silent"), wrap=lambda _: SilentEnd(), unwrap=lambda _: "silent"),
        ),
        SilentEnd,
    ),
    "error": Branch[Break](
        Forms[Break](
            what="a kind of error, or a mapping",
            scalar=Short(
                shape=Name(what="a kind of error"),
                wrap=lambda kind: Break(kind=kind),
                unwrap=lambda error: error.kind,
            ),
            mapping=Record(
                what="an error",
                cls=Break,
                keys={"kind": Key(Name(what="a kind"), _BREAK.kind), "message": Key(TEXT, _BREAK.message)},
            ),
        ),
        Break,
    ),
    "finish": Branch[Finish](
        Forms[Finish](
            what="a reason, or a mapping",
            scalar=Short(shape=_REASON, wrap=lambda reason: Finish(reason=reason), unwrap=lambda finish: finish.reason),
            mapping=Record(
                what="a finish",
                cls=Finish,
                keys={
                    "reason": Key(_REASON, _FINISH.reason),
                    "times": Key(REPEATS, _FINISH.times),
                    "after": Key(DURATION, _FINISH.after_ns),
                },
            ),
        ),
        Finish,
    ),
}

PART = OneKey[StreamPart](what="an entry of a stream", words=_PARTS)


class Stream(ListOf[StreamPart]):
    """The stream of a turn; it ends once, and nothing follows the end."""

    def seen(self, values: Sequence[StreamPart | Bad], node: List, reading: Reading) -> Bad | None:
        ends = [n for n, item in enumerate(node.items) if isinstance(item, MappingNode) and _first_key(item) in ENDS]
        if not ends:
            help = "add - finish: end_turn, or end: silent, stall: forever or error: overloaded"
            return reading.error(
                "E211", node.items[-1].at, "the turn has no end", note="nothing ends the stream", help=help
            )
        if ends[0] < len(node.items) - 1:
            help = "finish: {times: 2} reports the end twice" if len(ends) > 1 else ""
            return reading.error("E211", node.items[ends[0] + 1].at, "nothing follows the end of a turn", help=help)
        return None


def _first_key(node: MappingNode) -> str:
    return node.entries[0][0].text if node.entries else ""
