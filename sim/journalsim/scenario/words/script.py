"""The script: the turns of the model, and what tools answer."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from journalsim.scenario.shapes.composites import Key, ListOf, MapOf, OneKey, Record
from journalsim.scenario.shapes.forms import Forms, Short
from journalsim.scenario.shapes.nodes import List, Node
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.reading import Reading
from journalsim.scenario.shapes.scalars import Choice, Name
from journalsim.scenario.values.speech import CallFilter, ToolReply, Turn
from journalsim.scenario.words.names import AGENT, CALL, DURATION, TEXT, words_of
from journalsim.scenario.words.turn_words import PART, REPEATS, Stream

_AFTER_CLOSE = Forms(
    what="cancel, complete or {complete: …}",
    scalar=Short(
        shape=Choice(("cancel", "complete"), "what happens after a close"),
        wrap=lambda word: (word, 0),
        unwrap=lambda value: value[0],
    ),
    mapping=Record(
        what="a completion after the close",
        keys={"complete": Key(DURATION, required=True, doc="how long after the close")},
        build=lambda complete: ("complete", complete),
        take=lambda value: {"complete": value[1]},
    ),
)


def _turn(close: tuple[Any, int] = ("cancel", 0), **values: Any) -> Turn:
    return Turn(after_close=close[0], complete_after_ns=close[1], **values)


TURN_SHAPE = Record(
    what="a turn",
    cls=Turn,
    build=_turn,
    take=lambda turn: {
        "wait_ns": turn.wait_ns,
        "when": turn.when,
        "stream": turn.stream,
        "close": (turn.after_close, turn.complete_after_ns),
    },
    keys={
        "wait": Key(DURATION, "wait_ns"),
        "when": Key(
            Record(
                what="when",
                cls=CallFilter,
                keys={
                    "user": Key(TEXT),
                    "tool_result": Key(CALL),
                    "agent": Key(AGENT),
                    "attempt": Key(REPEATS),
                    "purpose": Key(Choice(words_of(CallFilter, "purpose"), "a purpose")),
                },
            )
        ),
        "stream": Key(Stream(of=PART, what="a stream"), required=True),
        "after_close": Key(
            _AFTER_CLOSE, "close", default=("cancel", 0), doc="what the provider does when the stream is closed early"
        ),
    },
)


@frozen(kw_only=True)
class Turns(ListOf):
    """The turns of the model, also those that are wrong: expectations name them by number."""

    def seen(self, values: list[Any], node: List, reading: Reading) -> Any:
        reading.turns = values


def _reply(kind: Any) -> Record:
    keys = {"for": Key(CALL, "call"), "text": Key(TEXT), "duration": Key(DURATION, "duration_ns")}
    if kind == "hang":
        keys = {"for": keys["for"]}
    return Record(
        what=f"a {kind}",
        cls=ToolReply,
        keys=keys,
        build=lambda **values: ToolReply(kind=kind, **values),
        nullable=False,
    )


REPLY = OneKey(
    what="a reply of a tool",
    words={
        "result": Forms(
            what="a text or a mapping",
            scalar=Short(shape=TEXT, wrap=lambda text: ToolReply(text=text), unwrap=lambda value: value.text),
            mapping=_reply("result"),
        ),
        "failure": Forms(
            what="a text or a mapping",
            scalar=Short(
                shape=TEXT, wrap=lambda text: ToolReply(kind="failure", text=text), unwrap=lambda value: value.text
            ),
            mapping=_reply("failure"),
        ),
        "hang": Forms(
            what="the id of a tool call or a mapping",
            scalar=Short(
                shape=CALL, wrap=lambda call: ToolReply(kind="hang", call=call), unwrap=lambda value: value.call
            ),
            mapping=_reply("hang"),
        ),
    },
    key_of=lambda reply: reply.kind,
)


@frozen(kw_only=True)
class Script(MapOf):
    """The model's turns under ``model``, and the replies of tools under their names."""

    def read(self, node: Node, reading: Reading) -> Any:
        if not isinstance(node, MappingNode) or node.get("model") is not None:
            reading.turns = None  # unknown until the list has been read
        return super().read(node, reading)


SCRIPT = Script(
    what="a script",
    special={"model": Turns(of=TURN_SHAPE, what="a list of turns")},
    name=Name(what="the name of a tool", defines="script"),
    of=ListOf(of=REPLY, what="a list of replies"),
)
