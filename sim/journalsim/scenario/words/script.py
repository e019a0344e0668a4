"""The script: the turns of the model, and the replies of tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import field, fields, frozen

from journalsim.scenario.shapes.derived import Converted
from journalsim.scenario.shapes.forms import Forms, Short
from journalsim.scenario.shapes.keys import AnyKey, Key
from journalsim.scenario.shapes.lists import ListOf
from journalsim.scenario.shapes.maps import MapBeside, MapOf
from journalsim.scenario.shapes.nodes import List, Node
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.one_key import Branch, OneKey
from journalsim.scenario.shapes.reading import Bad, NameKind, Reading
from journalsim.scenario.shapes.record_shapes import Record
from journalsim.scenario.shapes.scalars import Choice, Name
from journalsim.scenario.values.speech import CallFilter, StreamPart, ToolReply, Turn
from journalsim.scenario.words.casting import Script
from journalsim.scenario.words.names import AGENT, CALL, DURATION, TEXT, words_of
from journalsim.scenario.words.scenario_reading import of_scenario
from journalsim.scenario.words.turn_words import PART, REPEATS, Stream

# --- turns of the model --------------------------------------------------------------------------


@frozen
class _AfterClose:
    """What the provider does when the stream is closed early, and how much later."""

    word: Literal["cancel", "complete"] = "cancel"
    after_ns: int = 0


# A docstring would become a description in the JSON Schema.
@frozen(kw_only=True)
class _Completion:
    complete: int


_AFTER_CLOSE = Forms[_AfterClose](
    what="cancel, complete or {complete: …}",
    scalar=Short(
        shape=Choice[Literal["cancel", "complete"]](("cancel", "complete"), "what happens after a close"),
        wrap=lambda word: _AfterClose(word),
        unwrap=lambda after: after.word,
    ),
    mapping=Converted(
        written=Record(
            what="a completion after the close",
            cls=_Completion,
            keys={
                "complete": Key(DURATION, fields(_Completion).complete, required=True, doc="how long after the close")
            },
        ),
        convert=lambda completion: _AfterClose("complete", completion.complete),
        revert=lambda after: _Completion(complete=after.after_ns),
    ),
)
_FILTER = fields(CallFilter)
_WHEN = Record(
    what="when",
    cls=CallFilter,
    keys={
        "user": Key(TEXT, _FILTER.user),
        "tool_result": Key(CALL, _FILTER.tool_result),
        "agent": Key(AGENT, _FILTER.agent),
        "attempt": Key(REPEATS, _FILTER.attempt),
        "purpose": Key(Choice(words_of(CallFilter, _FILTER.purpose), "a purpose"), _FILTER.purpose),
    },
)


@frozen(kw_only=True)
class _Turn:
    """A turn as it is written, with the end of its stream in one key."""

    stream: tuple[StreamPart, ...]
    wait_ns: int = 0
    when: CallFilter = field(factory=CallFilter)
    after_close: _AfterClose = field(factory=_AfterClose)


_T = fields(_Turn)
TURN_SHAPE = Converted(
    written=Record(
        what="a turn",
        cls=_Turn,
        described=Turn,
        keys={
            "wait": Key(DURATION, _T.wait_ns),
            "when": Key(_WHEN, _T.when),
            "stream": Key(Stream(of=PART, what="a stream"), _T.stream, required=True),
            "after_close": Key(
                _AFTER_CLOSE, _T.after_close, doc="what the provider does when the stream is closed early"
            ),
        },
    ),
    convert=lambda written: Turn(
        stream=written.stream,
        wait_ns=written.wait_ns,
        when=written.when,
        after_close=written.after_close.word,
        complete_after_ns=written.after_close.after_ns,
    ),
    revert=lambda turn: _Turn(
        stream=turn.stream,
        wait_ns=turn.wait_ns,
        when=turn.when,
        after_close=_AfterClose(turn.after_close, turn.complete_after_ns),
    ),
)


class Turns(ListOf[Turn]):
    """The turns of the model. Records wrong ones too: expectations name turns by number."""

    def seen(self, values: Sequence[Turn | Bad], node: List, reading: Reading) -> None:
        of_scenario(reading).turns = values


# --- replies of tools ----------------------------------------------------------------------------

_REPLY = fields(ToolReply)
_FOR: dict[str, AnyKey[object]] = {"for": Key(CALL, _REPLY.call)}
_SAYS: dict[str, AnyKey[object]] = {"text": Key(TEXT, _REPLY.text), "duration": Key(DURATION, _REPLY.duration_ns)}


def _reply(kind: Literal["result", "failure", "hang"], keys: dict[str, AnyKey[object]]) -> Record[ToolReply]:
    return Record(what=f"a {kind}", cls=ToolReply, given={"kind": kind}, keys=keys)


def _text_reply(kind: Literal["result", "failure"]) -> Forms[ToolReply]:
    return Forms[ToolReply](
        what="a text or a mapping",
        scalar=Short(shape=TEXT, wrap=lambda text: ToolReply(kind=kind, text=text), unwrap=lambda reply: reply.text),
        mapping=_reply(kind, {**_FOR, **_SAYS}),
    )


REPLY = OneKey[ToolReply](
    what="a reply of a tool",
    words={
        "result": Branch(_text_reply("result"), ToolReply, lambda reply: reply.kind == "result"),
        "failure": Branch(_text_reply("failure"), ToolReply, lambda reply: reply.kind == "failure"),
        "hang": Branch(
            Forms[ToolReply](
                what="the id of a tool call or a mapping",
                scalar=Short(
                    shape=CALL,
                    wrap=lambda call: ToolReply(kind="hang", call=call),
                    unwrap=lambda reply: reply.call,
                ),
                mapping=_reply("hang", _FOR),
            ),
            ToolReply,
            lambda reply: reply.kind == "hang",
        ),
    },
)

# --- the script ----------------------------------------------------------------------------------


class ScriptShape(MapBeside[tuple[Turn, ...], tuple[ToolReply, ...]]):
    """The model's turns under ``model``, and the replies of tools under their names."""

    def read(self, node: Node, reading: Reading) -> Script | Bad:
        if not isinstance(node, MappingNode) or node.get("model") is not None:
            of_scenario(reading).turns = None  # unknown until the list has been read
        return super().read(node, reading)


SCRIPT = ScriptShape(
    word="model",
    shape=Turns(of=TURN_SHAPE, what="a list of turns"),
    others=MapOf(
        what="a script",
        name=Name(what="the name of a tool", defines=NameKind("script")),
        of=ListOf(of=REPLY, what="a list of replies"),
    ),
)
