"""What a scenario can expect: the names of conditions and the shapes of their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from attrs import frozen

from journalsim.contract.items import Cause, ItemKind, ItemState
from journalsim.scenario.shapes.composites import Key, ListOf, Record, only_entry
from journalsim.scenario.shapes.forms import Defined, Forms, Short, WordOr
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.nodes import Node
from journalsim.scenario.shapes.problems import quoted
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.scalars import Choice, Data, Number, Schema, Shape
from journalsim.scenario.values.expect import Expectation
from journalsim.scenario.words.names import CALL, CLIENT, COUNT_MAX, MESSAGE, RUN, SEND, TEXT_MATCH, TURN

_COUNT = Number(max=COUNT_MAX)
_ITEM_STATE = Choice(get_args(ItemState), "the state of an item")
_RUN_STATE = Choice(("completed", "interrupted", "failed"), "the state of a run")
_CLIENTS = Forms(
    what="a client or a list of clients",
    scalar=Short(shape=CLIENT, wrap=lambda name: (name,), unwrap=lambda names: names[0] if len(names) == 1 else None),
    list=Short(shape=ListOf(of=CLIENT, what="a list of clients"), wrap=tuple, unwrap=tuple),
)
_JOURNAL_OR_CLIENT = WordOr(what="journal or a client", word="journal", other=CLIENT)

_SELECTORS: Mapping[str, Key] = {
    "message": Key(MESSAGE, doc="the message that the model or a person said"),
    "kind": Key(Choice(get_args(ItemKind), "the kind of an item"), doc="items of this kind"),
    "call": Key(CALL, doc="the item of this tool call"),
    "run": Key(RUN, doc="items of this run"),
}
_STATE = {"state": Key(_ITEM_STATE, doc="how the item ended")}
_TEXT = {"text": Key(TEXT_MATCH, doc="what its text is")}
_ITEM: Mapping[str, Key] = {**_SELECTORS, **_STATE, **_TEXT}


def _arguments(what: str, doc: str, keys: Mapping[str, Key], **rules: Any) -> Record:
    return Record(what=what, doc=doc, keys=keys, **rules)


def _item(name: str, doc: str, extra: Mapping[str, Key] | None = None) -> Record:
    return _arguments(name, doc, {**_ITEM, **(extra or {})}, one_of=tuple(_SELECTORS))


_UNLESS = Key(Choice(("any_chunk_applied",), "an exception"), doc="it may be there if a client has shown any of it")

EXPECTATIONS: Mapping[str, Shape] = {
    "journal.contains": _item("journal.contains", "The journal holds such an item."),
    "journal.lacks": _item("journal.lacks", "The journal holds no such item.", {"unless": _UNLESS}),
    "journal.count": _arguments(
        "journal.count",
        "So many items of the journal are such.",
        {
            **_SELECTORS,
            **_STATE,
            "is": Key(_COUNT, doc="exactly so many"),
            "at_least": Key(_COUNT, doc="so many or more"),
            "at_most": Key(_COUNT, doc="so many or fewer"),
        },
        exclusive=(("is", "at_least"), ("is", "at_most")),
        one_of=("is", "at_least", "at_most"),
    ),
    "journal.order": Forms(
        what="a list of messages",
        list=Short(
            shape=ListOf(of=MESSAGE, what="a list of messages", min=2),
            wrap=lambda messages: {"messages": messages},
            unwrap=lambda value: value["messages"],
        ),
    ),
    "view.equals": _arguments(
        "view.equals",
        "What these clients show equals the journal, or what another client shows.",
        {
            "of": Key(_CLIENTS, required=True, doc="whose view"),
            "to": Key(_JOURNAL_OR_CLIENT, required=True, doc="journal, or a client"),
        },
    ),
    "view.contains": _arguments(
        "view.contains",
        "What each of these clients shows holds such a message.",
        {"of": Key(_CLIENTS, required=True, doc="whose view"), **_ITEM},
        one_of=tuple(_SELECTORS),
    ),
    "context.contains": _item("context.contains", "What the model was last given holds such an item."),
    "context.lacks": _item("context.lacks", "What the model was last given holds no such item."),
    "run.ended": _arguments(
        "run.ended",
        "The end of a run was announced.",
        {
            "run": Key(RUN, required=True, doc="run1 is the first accepted run"),
            "state": Key(_RUN_STATE, doc="how it ended"),
            "cause": Key(Choice(get_args(Cause), "a cause"), doc="why it was interrupted"),
        },
    ),
    "tool.executed": _arguments(
        "tool.executed",
        "A tool call was carried out so many times.",
        {"call": Key(CALL, required=True, doc="the call"), "times": Key(_COUNT, required=True, doc="how often")},
    ),
    "model.called": _arguments(
        "model.called",
        "The model was called for a turn so many times.",
        {"turn": Key(TURN, required=True, doc="the turn"), "times": Key(_COUNT, required=True, doc="how often")},
    ),
    "request.refused": _arguments(
        "request.refused",
        "The server refused the request of a send.",
        {"of": Key(SEND, required=True, doc="label of the send")},
    ),
}
"""Every condition that an expectation can state, with the shape of its arguments."""

COMBINATORS: Mapping[str, str] = {
    "exactly_one_of": "Just one of these holds.",
    "any_of": "At least one of these holds.",
    "all_of": "Every one of these holds.",
    "none_of": "Not one of these holds.",
}
"""Words that combine conditions."""


@frozen
class Condition(Shape):
    """One expectation: a mapping with one key, or short ``{message: …, state: …}`` for ``journal.contains``."""

    what: str = "an expectation"

    def read(self, node: Node, reading: Reading) -> Any:
        if not isinstance(node, MappingNode):
            return self.wrong(node, reading)
        if any(key.text in _ITEM for key, _ in node.entries):
            return self._built("journal.contains", EXPECTATIONS["journal.contains"].read(node, reading), node)
        entry = only_entry(node, self.what, reading)
        if isinstance(entry, Bad):
            return BAD
        key, value = entry
        if key.text in COMBINATORS:
            parts = CONDITIONS.read(value, reading)
            return BAD if parts is BAD else Expectation(name=key.text, parts=parts, line=node.at.line)
        if key.text in EXPECTATIONS:
            return self._built(key.text, EXPECTATIONS[key.text].read(value, reading), node)
        message = f"unknown expectation {quoted(key.text)}"
        known = [*EXPECTATIONS, *COMBINATORS, *_ITEM]
        return reading.error("E104", key.at, message, note="see: journalsim schema", near=known, word=key.text)

    def _built(self, name: str, arguments: Any, node: MappingNode) -> Any:
        return BAD if arguments is BAD else Expectation(name=name, arguments=arguments, line=node.at.line)

    def write(self, value: Any) -> Data:
        shape = CONDITIONS if value.name in COMBINATORS else EXPECTATIONS[value.name]
        return {value.name: shape.write(value.parts if value.name in COMBINATORS else value.arguments)}

    def schema(self) -> Schema:
        words = {name: shape.schema() for name, shape in EXPECTATIONS.items()}
        words |= {name: {"description": doc, **CONDITIONS.schema()} for name, doc in COMBINATORS.items()}
        one = {
            "type": "object",
            "properties": words,
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        }
        return {"anyOf": [one, EXPECTATIONS["journal.contains"].schema()]}


CONDITION = Condition()
CONDITIONS = ListOf(of=Defined("expectation", lambda: CONDITION), what="a list of expectations")
