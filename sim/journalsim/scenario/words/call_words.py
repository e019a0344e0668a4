"""Tool calls in a stream, with their arguments in one chunk or split anywhere."""

from __future__ import annotations

import json

from attrs import fields, frozen

from journalsim.scenario.shapes.derived import Converted
from journalsim.scenario.shapes.free_data import FreeData, can_write
from journalsim.scenario.shapes.keys import Key
from journalsim.scenario.shapes.lists import ListOf
from journalsim.scenario.shapes.nodes import List, Node, Scalar
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import BAD, Bad, NameKind, Reading
from journalsim.scenario.shapes.record_shapes import Record
from journalsim.scenario.shapes.scalars import Name
from journalsim.scenario.shapes.shape import Shape
from journalsim.scenario.values.speech import DEFAULT_CHUNK_GAP_NS, CallTool
from journalsim.scenario.words.names import CALL_ID, DURATION, TEXT

CHUNKS_MAX = 10_000  # as many as one case may last in steps
BRACKETS_MAX = 10  # beyond that the text is shorter than the mapping

CHUNKS = ListOf(of=TEXT, what="a list of chunks", max=CHUNKS_MAX)
_CHUNKS_OR_NONE = ListOf(of=TEXT, what="a list of chunks", min=0, max=CHUNKS_MAX)


class CallArguments(Shape[str]):
    """Arguments of a tool call in one chunk: a mapping becomes JSON, a text is taken as it stands."""

    what: str = "a mapping or a text"

    def read(self, node: Node, reading: Reading) -> str | Bad:
        if isinstance(node, Scalar):
            return TEXT.read(node, reading)
        if isinstance(node, List):
            return self.wrong(node, reading)
        data = FreeData().read(node, reading)
        return BAD if isinstance(data, Bad) else json.dumps(data, ensure_ascii=False)

    def write(self, value: str) -> Data:
        data = _mapping_behind(value)
        return TEXT.write(value) if data is None else FreeData().write(data)

    def schema(self) -> Schema:
        return {"type": ["object", "string"]}


def _mapping_behind(text: str) -> dict[str, Data] | None:
    """Returns the mapping that reads as exactly this text, if one does and is not too deep to be readable."""
    if text.count("{") + text.count("[") > BRACKETS_MAX:
        return None
    try:
        data = json.loads(text)
    except ValueError:
        return None
    same = isinstance(data, dict) and can_write(data) and json.dumps(data, ensure_ascii=False) == text
    return data if same else None


@frozen(kw_only=True)
class _Call:
    """A tool call as it is written: its arguments are in one of two keys, or ``{}``."""

    id: str
    name: str
    args: str | None = None
    args_chunks: tuple[str, ...] | None = None
    every_ns: int = DEFAULT_CHUNK_GAP_NS


_NO_ARGS = ("{}",)


def _called(written: _Call) -> CallTool:
    chunks = written.args_chunks if written.args is None else (written.args,)
    return CallTool(
        id=written.id, name=written.name, args_chunks=_NO_ARGS if chunks is None else chunks, every_ns=written.every_ns
    )


def _written_call(call: CallTool) -> _Call:
    one = call.args_chunks[0] if len(call.args_chunks) == 1 else None
    return _Call(
        id=call.id,
        name=call.name,
        args=None if call.args_chunks == _NO_ARGS else one,
        args_chunks=call.args_chunks if one is None else None,
        every_ns=call.every_ns,
    )


_CALL = fields(_Call)
TOOL_CALL = Converted(
    written=Record(
        what="a tool call",
        cls=_Call,
        described=CallTool,
        keys={
            "id": Key(
                Name(
                    what="the id of a tool call",
                    pattern=CALL_ID,
                    defines=NameKind("call", "id of a tool call", code="E205"),
                ),
                _CALL.id,
                required=True,
            ),
            "name": Key(Name(what="the name of a tool", refers="tool"), _CALL.name, required=True),
            "args": Key(CallArguments(), _CALL.args, doc="its arguments, in one chunk"),
            "args_chunks": Key(_CHUNKS_OR_NONE, _CALL.args_chunks, doc="its arguments, split"),
            "every": Key(DURATION, _CALL.every_ns),
        },
        exclusive=(("args", "args_chunks"),),
    ),
    convert=_called,
    revert=_written_call,
)
