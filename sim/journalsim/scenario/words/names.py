"""The small words of the language: names, references, points and placements."""

from __future__ import annotations

import re
from typing import Any, get_args, get_type_hints

from attrs import frozen

from journalsim.case import NEVER, Placement
from journalsim.contract.capabilities import POLICIES, Capabilities
from journalsim.scenario.shapes.composites import Key, Record
from journalsim.scenario.shapes.forms import Forms, Short
from journalsim.scenario.shapes.nodes import List, Node, Scalar, describe
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.problems import quoted
from journalsim.scenario.shapes.reading import BAD, Reading
from journalsim.scenario.shapes.scalars import (
    Choice,
    Data,
    Duration,
    Name,
    Number,
    ScalarShape,
    Schema,
    Shape,
    Text,
    dollar_name,
    duration_text,
)

KEBAB = r"[a-z0-9]+(-[a-z0-9]+)*"
CALL_ID = r"[A-Za-z0-9][A-Za-z0-9_-]*"
_WORD = r"[a-z][a-z0-9_-]*"
_KEBAB_FORM = "small letters and digits, words joined by -"

TEXT = Text()
LINE = Text(what="a line of text", one_line=True)
DURATION = Duration()
COUNT_MAX = 100_000  # ten times what one case may last in steps

WORD = Name(what="a name")
TAG = Name(what="a tag", pattern=KEBAB, form=_KEBAB_FORM)
SCENARIO_NAME = Name(what="the name of a scenario", pattern=KEBAB, form=_KEBAB_FORM)
CATALOGUE_ID = Name(what="an entry of the failure catalogue", pattern="[A-Z]{2,5}-[1-9][0-9]*", form="such as DF-2")
CLIENT = Name(what="a client", refers="client")
AGENT = Name(what="the name of a sub-agent", refers="tool")
CALL = Name(what="the id of a tool call", pattern=CALL_ID, form="letters, digits, - and _", refers="call")
INVARIANT = Name(what="the id of an invariant", pattern=KEBAB, form=_KEBAB_FORM, refers="invariant")
AFTER = Name(what="the label of a step", refers="label")
SEND = Name(what="the label of a send", refers="send")
RUN = Name(what="a run", pattern="run[1-9][0-9]*", form="run1 is the first accepted run", refers="run")
TURN = Name(what="a turn of the model", pattern=r"model\.turn[1-9][0-9]*", form="such as model.turn1", refers="message")
MESSAGE = Name(
    what="a message",
    pattern=r"model\.turn[1-9][0-9]*(\.m([2-9]|[1-9][0-9]+))?|user[1-9][0-9]*",
    form="model.turn2, its second message model.turn2.m2, or user1",
    refers="message",
)
PREFIX = Name(
    what="the beginning of a point's name",
    pattern=r"[a-z][a-z0-9_-]*([.#][A-Za-z0-9_-]+)*[.#]?",
    form="such as model.turn2 or store.append",
    refers="prefix",
)


def words_of(cls: type, attribute: str) -> tuple[str, ...]:
    """Returns the words that a ``Literal`` attribute of a model class may be."""
    return get_args(get_type_hints(cls)[attribute])


def capability_words() -> tuple[str, ...]:
    """Returns what a scenario can need: a capability, or ``capability.value`` for one that has several."""
    words: list[str] = []
    for name, hint in get_type_hints(Capabilities).items():
        values = [value for part in (hint, *get_args(hint)) for value in get_args(part) if isinstance(value, str)]
        words += [name, *(f"{name}.{value}" for value in values if value not in ("none", "undefined"))]
    words += [f"policies.{policy}" for policy in POLICIES]
    return tuple(words)


CAPABILITY = Choice(capability_words(), "a capability", "E105")

# --- points ------------------------------------------------------------------------------------

MODEL_POINT = re.compile(
    r"model\.turn([1-9][0-9]*)\.((call|finish|c([1-9][0-9]*))\.(before|after)|(error|end)\.before)"
)
TOOL_POINT = re.compile(rf"tool\.({CALL_ID})\.(start|result)\.(before|after)")
_OTHER_POINT = re.compile(rf"(?!(model|tool)\.){_WORD}(\.{_WORD})+#[1-9][0-9]*\.(before|after)")
_POINT_NOTE = "points are model.turn1.c2.after, tool.t1.result.before, store.append#1.before …"
_POINT_SCHEMA = r"^[a-z][A-Za-z0-9_.#-]*\.(before|after)$"


def read_point(node: Scalar, reading: Reading) -> Any:
    """Returns the placement at a named point."""
    if any(form.fullmatch(node.text) for form in (MODEL_POINT, TOOL_POINT, _OTHER_POINT)):
        reading.refer("point", node.text, node.at)
        return Placement("point", node.text)
    both = [f"{node.text}.before", f"{node.text}.after"]
    if all(any(form.fullmatch(text) for form in (MODEL_POINT, TOOL_POINT, _OTHER_POINT)) for text in both):
        return reading.error("E026", node.at, "a point is before or after a step", note=f"write {' or '.join(both)}")
    return reading.error("E026", node.at, f"not a point: {quoted(node.text)}", note=_POINT_NOTE)


@frozen
class PointName(ScalarShape):
    """A named point, as its name."""

    what: str = "a point"

    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        found = read_point(node, reading)
        return found if found is BAD else found.name

    def schema(self) -> Schema:
        return {"type": "string", "pattern": _POINT_SCHEMA}


POINT = PointName()
STEP_NUMBER = Record(what="a scheduler step", keys={"step": Key(Number(min=1, max=10**9), required=True)})
AFTER_STEP = Record(
    what="a place after a step",
    keys={
        "after": Key(AFTER, required=True, doc="label of the step that it follows"),
        "delay": Key(DURATION, default=0, doc="pause after that"),
    },
)


@frozen(kw_only=True)
class Place(Shape):
    """Where something happens: a point, a scheduler step, a time, and what else this place allows.

    An axis is read as its name, everything else as a :class:`Placement`.

    Attributes:
        axis: ``$name`` is allowed.
        fixed: ``never`` and ``{after: label}`` are allowed: this is a value of an axis.
    """

    what: str = "a place"
    axis: bool = False
    fixed: bool = False

    def read(self, node: Node, reading: Reading) -> Any:
        if isinstance(node, List):
            return self.wrong(node, reading)
        return self._scalar(node, reading) if isinstance(node, Scalar) else self._mapping(node, reading)

    def _scalar(self, node: Scalar, reading: Reading) -> Any:
        name = dollar_name(node.text)
        if name is not None and self.axis:
            reading.refer("axis", name, node.at)
            return name
        if node.text == "never" and self.fixed:
            return NEVER
        if node.text[:1].isdigit():
            time_ns = DURATION.read(node, reading)
            return time_ns if time_ns is BAD else Placement("time", number=time_ns)
        if node.kind == "null":
            return reading.error("E026", node.at, f"expected {self.what}, found {describe(node)}", note=_POINT_NOTE)
        return read_point(node, reading)

    def _mapping(self, node: MappingNode, reading: Reading) -> Any:
        if self.fixed and node.get("after") is not None:
            found = AFTER_STEP.read(node, reading)
            return found if found is BAD else Placement("after", found["after"], found.get("delay", 0))
        found = STEP_NUMBER.read(node, reading)
        return found if found is BAD else Placement("step", number=found["step"])

    def write(self, value: Any) -> Data:
        if isinstance(value, str):
            return f"${value}"
        return place_data(value)

    def schema(self) -> Schema:
        words = [{"pattern": r"^\$[a-z][a-z0-9_-]*$"}] if self.axis else [{"enum": ["never"]}]
        scalars = [{"pattern": _POINT_SCHEMA}, {"pattern": DURATION.schema()["pattern"]}, *words]
        mappings = [STEP_NUMBER.schema(), *([AFTER_STEP.schema()] if self.fixed else [])]
        return {"anyOf": [{"type": "string", "anyOf": scalars}, *mappings]}


def place_data(value: Placement) -> Data:
    """Returns a placement as the language writes it."""
    if value.kind == "time":
        return duration_text(value.number)
    if value.kind == "step":
        return {"step": value.number}
    if value.kind == "after":
        delay = {"delay": duration_text(value.number)} if value.number else {}
        return {"after": value.name, **delay}
    return str(value)


# --- texts that an expectation compares with ---------------------------------------------------


class TextOrLabel(Text):
    """A text, or ``$label`` for the whole text of that label."""

    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        label = dollar_name(node.text)
        if label is None:
            return super().read_scalar(node, reading)
        reading.refer("text", label, node.at)
        return node.text

    def write(self, value: Any) -> Data:
        return value if dollar_name(value) else super().write(value)


_TEXT_OR_LABEL = TextOrLabel(what="a text or $label")

TEXT_MATCH = Forms(
    what="a text, {equals: …} or {prefix_of: …}",
    scalar=Short(shape=_TEXT_OR_LABEL, wrap=lambda text: {"equals": text}, unwrap=lambda value: value.get("equals")),
    mapping=Record(
        what="a comparison of texts",
        keys={
            "equals": Key(_TEXT_OR_LABEL, doc="exactly this text"),
            "prefix_of": Key(_TEXT_OR_LABEL, doc="this text or a beginning of it"),
        },
        exclusive=(("equals", "prefix_of"),),
        one_of=("equals", "prefix_of"),
    ),
)
