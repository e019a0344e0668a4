"""Streams: what the model says within one turn, chunk by chunk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from journalsim.scenario.shapes.composites import Key, ListOf, OneKey, Record
from journalsim.scenario.shapes.forms import Forms, Short
from journalsim.scenario.shapes.nodes import List, Node, Scalar
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.reading import BAD, Reading
from journalsim.scenario.shapes.scalars import Choice, Data, Json, Name, Number, Schema, Shape, can_write_json
from journalsim.scenario.values.speech import (
    Break,
    CallTool,
    Finish,
    NewMessage,
    Ping,
    RenameMessage,
    SilentEnd,
    Stall,
    Text,
    Wait,
)
from journalsim.scenario.words.names import CALL_ID, COUNT_MAX, DURATION, LINE, TEXT, words_of

ENDS = ("finish", "error", "end", "stall")
"""Stream entries after which nothing follows."""

CHUNKS_MAX = 10_000  # as many as one case may last in steps
TEXT_BYTES_MAX = 1_000_000  # a book
BRACKETS_MAX = 10  # beyond that the text is shorter than the mapping
REPEATS = Number(min=1, max=1000)
_CHUNKS = ListOf(of=TEXT, what="a list of chunks", max=CHUNKS_MAX)
_EVERY = Key(DURATION, "every_ns")


def _text(reasoning: bool) -> Forms:
    def build(**values: Any) -> Text:
        return Text(reasoning=reasoning, **values)

    return Forms(
        what="a text, a list of chunks, or a mapping",
        scalar=Short(shape=TEXT, wrap=lambda text: build(chunks=(text,)), unwrap=lambda value: "".join(value.chunks)),
        list=Short(shape=_CHUNKS, wrap=lambda chunks: build(chunks=chunks), unwrap=lambda value: value.chunks or None),
        mapping=Record(
            what="a text",
            cls=Text,
            build=build,
            keys={
                "chunks": Key(_CHUNKS),
                "words": Key(Number(min=1, max=COUNT_MAX)),
                "bytes": Key(Number(min=1, max=TEXT_BYTES_MAX), doc="how long all words are together"),
                "every": _EVERY,
                "label": Key(Name(what="a label", defines="text")),
            },
            exclusive=(("chunks", "words"), ("chunks", "bytes")),
            one_of=("chunks", "words"),
        ),
    )


@frozen
class Arguments(Shape):
    """Arguments of a tool call in one chunk: a mapping becomes JSON, a text is taken as it stands."""

    what: str = "a mapping or a text"

    def read(self, node: Node, reading: Reading) -> Any:
        if isinstance(node, Scalar):
            return TEXT.read(node, reading)
        if isinstance(node, List):
            return self.wrong(node, reading)
        data = Json().read(node, reading)
        return data if data is BAD else json.dumps(data, ensure_ascii=False)

    def write(self, value: Any) -> Data:
        data = _mapping_behind(value)
        return TEXT.write(value) if data is None else Json().write(data)

    def schema(self) -> Schema:
        return {"type": ["object", "string"]}


def _mapping_behind(text: str) -> dict[str, Any] | None:
    """Returns the mapping that reads as exactly this text, if one does and is not too deep to be readable."""
    if text.count("{") + text.count("[") > BRACKETS_MAX:
        return None
    try:
        data = json.loads(text)
    except ValueError:
        return None
    same = isinstance(data, dict) and can_write_json(data) and json.dumps(data, ensure_ascii=False) == text
    return data if same else None


def _call_tool(args: str | None = None, args_chunks: tuple[str, ...] | None = None, **values: Any) -> CallTool:
    if args is not None:
        args_chunks = (args,)
    return CallTool(**values) if args_chunks is None else CallTool(args_chunks=args_chunks, **values)


def _take_call(call: CallTool) -> Mapping[str, Any]:
    one = len(call.args_chunks) == 1
    return {
        "id": call.id,
        "name": call.name,
        "args": call.args_chunks[0] if one else None,
        "args_chunks": None if one else call.args_chunks,
        "every_ns": call.every_ns,
    }


_TOOL_CALL = Record(
    what="a tool call",
    cls=CallTool,
    build=_call_tool,
    take=_take_call,
    keys={
        "id": Key(Name(what="the id of a tool call", pattern=CALL_ID, defines="call"), required=True),
        "name": Key(Name(what="the name of a tool", refers="tool"), required=True),
        "args": Key(Arguments(), default="{}", doc="its arguments, in one chunk"),
        "args_chunks": Key(
            ListOf(of=TEXT, what="a list of chunks", min=0, max=CHUNKS_MAX), default=None, doc="its arguments, split"
        ),
        "every": _EVERY,
    },
    exclusive=(("args", "args_chunks"),),
)

_PARTS: Mapping[str, Shape] = {
    "text": _text(reasoning=False),
    "reasoning": _text(reasoning=True),
    "tool_call": _TOOL_CALL,
    "message": Forms(
        what="next, or {id: …}",
        scalar=Short(shape=Choice(("next",), "next"), wrap=lambda _: NewMessage(), unwrap=lambda _: "next"),
        mapping=Record(what="a message", cls=NewMessage, keys={"id": Key(LINE, required=True)}),
    ),
    "rename": Forms(
        what="an id",
        scalar=Short(shape=LINE, wrap=lambda id: RenameMessage(id=id), unwrap=lambda value: value.id),
    ),
    "wait": Forms(
        what="a time",
        scalar=Short(shape=DURATION, wrap=lambda time_ns: Wait(for_ns=time_ns), unwrap=lambda value: value.for_ns),
    ),
    "ping": Forms(
        what="how many, or a mapping",
        scalar=Short(shape=REPEATS, wrap=lambda times: Ping(times=times), unwrap=lambda value: value.times),
        mapping=Record(what="a ping", cls=Ping, keys={"times": Key(REPEATS), "every": _EVERY}),
    ),
    "stall": Forms(
        what="forever",
        scalar=Short(shape=Choice(("forever",), "forever"), wrap=lambda _: Stall(), unwrap=lambda _: "forever"),
    ),
    "end": Forms(
        what="silent",
        scalar=Short(shape=Choice(("silent",), "silent"), wrap=lambda _: SilentEnd(), unwrap=lambda _: "silent"),
    ),
    "error": Forms(
        what="a kind of error, or a mapping",
        scalar=Short(
            shape=Name(what="a kind of error"), wrap=lambda kind: Break(kind=kind), unwrap=lambda value: value.kind
        ),
        mapping=Record(what="an error", cls=Break, keys={"kind": Key(Name(what="a kind")), "message": Key(TEXT)}),
    ),
    "finish": Forms(
        what="a reason, or a mapping",
        scalar=Short(
            shape=Choice(words_of(Finish, "reason"), "a reason"),
            wrap=lambda reason: Finish(reason=reason),
            unwrap=lambda value: value.reason,
        ),
        mapping=Record(
            what="a finish",
            cls=Finish,
            keys={
                "reason": Key(Choice(words_of(Finish, "reason"), "a reason")),
                "times": Key(REPEATS),
                "after": Key(DURATION, "after_ns"),
            },
        ),
    ),
}

_KEY_OF: Mapping[type, str] = {
    Text: "text",
    CallTool: "tool_call",
    NewMessage: "message",
    RenameMessage: "rename",
    Wait: "wait",
    Ping: "ping",
    Stall: "stall",
    SilentEnd: "end",
    Break: "error",
    Finish: "finish",
}

PART = OneKey(
    what="an entry of a stream",
    words=_PARTS,
    key_of=lambda part: "reasoning" if getattr(part, "reasoning", False) else _KEY_OF[type(part)],
)


@frozen(kw_only=True)
class Stream(ListOf):
    """What a turn streams; it ends once, and nothing follows the end."""

    def seen(self, values: list[Any], node: List, reading: Reading) -> Any:
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
