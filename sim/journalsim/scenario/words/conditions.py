"""What a scenario can expect: the names of conditions and the shapes of their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from attrs import fields

from journalsim.contract.items import Cause, ItemKind, ItemState
from journalsim.scenario.shapes.derived import Defined, WordOr
from journalsim.scenario.shapes.forms import Forms, Short
from journalsim.scenario.shapes.keys import AnyKey, Key
from journalsim.scenario.shapes.lists import ListOf
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.nodes import Node, Scalar
from journalsim.scenario.shapes.one_key import AnyBranch, Branch, only_entry
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.problems import quoted
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.record_shapes import R, Record
from journalsim.scenario.shapes.scalars import Choice, Number, Text, dollar_name
from journalsim.scenario.shapes.shape import Shape
from journalsim.scenario.values.expect import (
    Arguments,
    EqualViews,
    Expectation,
    ItemAbsence,
    ItemCount,
    ItemMatch,
    ItemView,
    MessageOrder,
    ModelCalls,
    Refusal,
    RunEnd,
    TextMatch,
    ToolExecutions,
)
from journalsim.scenario.words.names import CALL, CLIENT, COUNT_MAX, MESSAGE, RUN, SEND, TURN

_COUNT = Number(max=COUNT_MAX)
_CLIENTS = Forms[tuple[str, ...]](
    what="a client or a list of clients",
    scalar=Short(shape=CLIENT, wrap=lambda name: (name,), unwrap=lambda names: names[0] if len(names) == 1 else None),
    list=Short(shape=ListOf(of=CLIENT, what="a list of clients"), wrap=tuple, unwrap=tuple),
)
_JOURNAL_OR_CLIENT = WordOr(what="journal or a client", word="journal", means="journal", other=CLIENT)

# --- texts ---------------------------------------------------------------------------------------


class TextOrLabel(Text):
    """A text, or ``$label`` for the whole text of that label."""

    def read_scalar(self, node: Scalar, reading: Reading) -> str | Bad:
        label = dollar_name(node.text)
        if label is None:
            return super().read_scalar(node, reading)
        reading.refer("text", label, node.at)
        return node.text

    def write(self, value: str) -> Data:
        return value if dollar_name(value) else super().write(value)


_TEXT_OR_LABEL = TextOrLabel(what="a text or $label")
_MATCH = fields(TextMatch)

_TEXT_MATCH = Forms[TextMatch](
    what="a text, {equals: …} or {prefix_of: …}",
    scalar=Short(shape=_TEXT_OR_LABEL, wrap=lambda text: TextMatch(equals=text), unwrap=lambda match: match.equals),
    mapping=Record(
        what="a comparison of texts",
        cls=TextMatch,
        keys={
            "equals": Key(_TEXT_OR_LABEL, _MATCH.equals, doc="exactly this text"),
            "prefix_of": Key(_TEXT_OR_LABEL, _MATCH.prefix_of, doc="this text or a beginning of it"),
        },
        exclusive=(("equals", "prefix_of"),),
        one_of=("equals", "prefix_of"),
    ),
)

# --- arguments -----------------------------------------------------------------------------------

_ITEM = fields(ItemMatch)
_SELECTORS: Mapping[str, AnyKey[object]] = {
    "message": Key(MESSAGE, _ITEM.message, doc="the message that the model or a person said"),
    "kind": Key(Choice[ItemKind](get_args(ItemKind), "the kind of an item"), _ITEM.kind, doc="items of this kind"),
    "call": Key(CALL, _ITEM.call, doc="the item of this tool call"),
    "run": Key(RUN, _ITEM.run, doc="items of this run"),
}
_STATE: Mapping[str, AnyKey[object]] = {
    "state": Key(Choice[ItemState](get_args(ItemState), "the state of an item"), _ITEM.state, doc="how the item ended"),
}
_TEXT: Mapping[str, AnyKey[object]] = {"text": Key(_TEXT_MATCH, _ITEM.text, doc="what its text is")}
_MATCH_KEYS: Mapping[str, AnyKey[object]] = {**_SELECTORS, **_STATE, **_TEXT}


def _record(
    cls: type[R],
    name: str,
    doc: str,
    keys: Mapping[str, AnyKey[object]],
    one_of: tuple[str, ...] = (),
    exclusive: tuple[tuple[str, str], ...] = (),
) -> Branch[R]:
    return Branch[R](Record(what=name, doc=doc, cls=cls, keys=keys, one_of=one_of, exclusive=exclusive), cls)


def _item(cls: type[R], name: str, doc: str, **keys: AnyKey[object]) -> Branch[R]:
    return _record(cls, name, doc, {**_MATCH_KEYS, **keys}, tuple(_SELECTORS))


_END = fields(RunEnd)
_END_STATE = Choice[Literal["completed", "interrupted", "failed"]](
    ("completed", "interrupted", "failed"), "the state of a run"
)

EXPECTATIONS: Mapping[str, AnyBranch[Arguments]] = {
    "journal.contains": _item(ItemMatch, "journal.contains", "The journal holds such an item."),
    "journal.lacks": _item(
        ItemAbsence,
        "journal.lacks",
        "The journal holds no such item.",
        unless=Key(
            Choice[Literal["any_chunk_applied"]](("any_chunk_applied",), "an exception"),
            fields(ItemAbsence).unless,
            doc="it may be there if a client has shown any of it",
        ),
    ),
    "journal.count": _record(
        ItemCount,
        "journal.count",
        "So many items of the journal are such.",
        {
            **_SELECTORS,
            **_STATE,
            "is": Key(_COUNT, fields(ItemCount).is_, doc="exactly so many"),
            "at_least": Key(_COUNT, fields(ItemCount).at_least, doc="so many or more"),
            "at_most": Key(_COUNT, fields(ItemCount).at_most, doc="so many or fewer"),
        },
        one_of=("is", "at_least", "at_most"),
        exclusive=(("is", "at_least"), ("is", "at_most")),
    ),
    "journal.order": Branch[MessageOrder](
        Forms[MessageOrder](
            what="a list of messages",
            list=Short(
                shape=ListOf(of=MESSAGE, what="a list of messages", min=2),
                wrap=lambda messages: MessageOrder(messages=messages),
                unwrap=lambda order: order.messages,
            ),
        ),
        MessageOrder,
    ),
    "view.equals": _record(
        EqualViews,
        "view.equals",
        "What these clients show equals the journal, or what another client shows.",
        {
            "of": Key(_CLIENTS, fields(EqualViews).of, required=True, doc="whose view"),
            "to": Key(_JOURNAL_OR_CLIENT, fields(EqualViews).to, required=True, doc="journal, or a client"),
        },
    ),
    "view.contains": _record(
        ItemView,
        "view.contains",
        "What each of these clients shows holds such a message.",
        {"of": Key(_CLIENTS, fields(ItemView).of, required=True, doc="whose view"), **_MATCH_KEYS},
        one_of=tuple(_SELECTORS),
    ),
    "context.contains": _item(ItemMatch, "context.contains", "What the model was last given holds such an item."),
    "context.lacks": _item(ItemMatch, "context.lacks", "What the model was last given holds no such item."),
    "run.ended": _record(
        RunEnd,
        "run.ended",
        "The end of a run was announced.",
        {
            "run": Key(RUN, _END.run, required=True, doc="run1 is the first accepted run"),
            "state": Key(_END_STATE, _END.state, doc="how it ended"),
            "cause": Key(Choice[Cause](get_args(Cause), "a cause"), _END.cause, doc="why it was interrupted"),
        },
    ),
    "tool.executed": _record(
        ToolExecutions,
        "tool.executed",
        "A tool call was carried out so many times.",
        {
            "call": Key(CALL, fields(ToolExecutions).call, required=True, doc="the call"),
            "times": Key(_COUNT, fields(ToolExecutions).times, required=True, doc="how often"),
        },
    ),
    "model.called": _record(
        ModelCalls,
        "model.called",
        "The model was called for a turn so many times.",
        {
            "turn": Key(TURN, fields(ModelCalls).turn, required=True, doc="the turn"),
            "times": Key(_COUNT, fields(ModelCalls).times, required=True, doc="how often"),
        },
    ),
    "request.refused": _record(
        Refusal,
        "request.refused",
        "The server refused the request of a send.",
        {"of": Key(SEND, fields(Refusal).of, required=True, doc="label of the send")},
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


class Condition(Shape[Expectation]):
    """One expectation: a mapping with one key, or short ``{message: …, state: …}`` for ``journal.contains``."""

    what: str = "an expectation"

    def read(self, node: Node, reading: Reading) -> Expectation | Bad:
        if not isinstance(node, MappingNode):
            return self.wrong(node, reading)
        if any(key.text in _MATCH_KEYS for key, _ in node.entries):
            return self._condition("journal.contains", node, node, reading)
        entry = only_entry(node, self.what, reading)
        if isinstance(entry, Bad):
            return BAD
        key, value = entry
        if key.text in COMBINATORS:
            parts = CONDITIONS.read(value, reading)
            return BAD if isinstance(parts, Bad) else Expectation(name=key.text, parts=parts, line=node.at.line)
        if key.text in EXPECTATIONS:
            return self._condition(key.text, value, node, reading)
        message = f"unknown expectation {quoted(key.text)}"
        known = [*EXPECTATIONS, *COMBINATORS, *_MATCH_KEYS]
        return reading.error("E104", key.at, message, note="see: journalsim schema", near=known, word=key.text)

    def _condition(self, name: str, value: Node, node: MappingNode, reading: Reading) -> Expectation | Bad:
        arguments = EXPECTATIONS[name].read(value, reading)
        return BAD if isinstance(arguments, Bad) else Expectation(name=name, arguments=arguments, line=node.at.line)

    def write(self, value: Expectation) -> Data:
        if value.name in COMBINATORS:
            return {value.name: CONDITIONS.write(value.parts)}
        written = EXPECTATIONS[value.name].write(value.arguments)
        assert not isinstance(written, Bad), value
        return {value.name: written}

    def schema(self) -> Schema:
        words: Schema = {name: branch.schema() for name, branch in EXPECTATIONS.items()}
        for name, doc in COMBINATORS.items():
            words[name] = {"description": doc, **CONDITIONS.schema()}
        one: Schema = {
            "type": "object",
            "properties": words,
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        }
        return {"anyOf": [one, EXPECTATIONS["journal.contains"].schema()]}


CONDITION = Condition()
CONDITIONS = ListOf(of=Defined("expectation", lambda: CONDITION), what="a list of expectations")
