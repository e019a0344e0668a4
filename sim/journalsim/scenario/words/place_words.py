"""Points and places: where in a run something happens."""

from __future__ import annotations

import re

from attrs import fields, frozen

from journalsim.case import NEVER, After, AtPoint, AtStep, AtTime, Loses, Moment, Never, StepPlace
from journalsim.scenario.shapes.durations import duration_text
from journalsim.scenario.shapes.keys import Key
from journalsim.scenario.shapes.nodes import List, Node, Scalar, describe
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.problems import quoted
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.record_shapes import Record
from journalsim.scenario.shapes.scalars import DOLLAR_PATTERN, Number, dollar_name
from journalsim.scenario.shapes.shape import Shape, WordShape
from journalsim.scenario.words.names import AFTER, CALL_ID, DURATION

_WORD = r"[a-z][a-z0-9_-]*"
MODEL_POINT = re.compile(
    r"model\.turn([1-9][0-9]*)\.((call|finish|c([1-9][0-9]*))\.(before|after)|(error|end)\.before)"
)
TOOL_POINT = re.compile(rf"tool\.({CALL_ID})\.(start|result)\.(before|after)")
_OTHER_POINT = re.compile(rf"(?!(model|tool)\.){_WORD}(\.{_WORD})+#[1-9][0-9]*\.(before|after)")
_POINT_NOTE = "points are model.turn1.c2.after, tool.t1.result.before, store.append#1.before …"
_POINT_SCHEMA = r"^[a-z][A-Za-z0-9_.#-]*\.(before|after)$"


def read_point(node: Scalar, reading: Reading) -> AtPoint | Bad:
    """Returns the placement at a named point, or ``BAD`` after reporting what is wrong with it."""
    if any(form.fullmatch(node.text) for form in (MODEL_POINT, TOOL_POINT, _OTHER_POINT)):
        reading.refer("point", node.text, node.at)
        return AtPoint(node.text)
    both = [f"{node.text}.before", f"{node.text}.after"]
    if all(any(form.fullmatch(text) for form in (MODEL_POINT, TOOL_POINT, _OTHER_POINT)) for text in both):
        return reading.error("E026", node.at, "a point is before or after a step", note=f"write {' or '.join(both)}")
    return reading.error("E026", node.at, f"not a point: {quoted(node.text)}", note=_POINT_NOTE)


class PointName(WordShape[str]):
    """A named point, as its name."""

    what: str = "a point"

    def read_scalar(self, node: Scalar, reading: Reading) -> str | Bad:
        found = read_point(node, reading)
        return BAD if isinstance(found, Bad) else found.name

    def schema(self) -> Schema:
        return {"type": "string", "pattern": _POINT_SCHEMA}


POINT = PointName()

# --- places ------------------------------------------------------------------------------------

# A docstring would become a description in the JSON Schema: these classes are known to this file alone.


@frozen(kw_only=True)
class _StepNumber:
    step: int


@frozen(kw_only=True)
class _AfterStep:
    after: str
    delay: int = 0


STEP_NUMBER = Record(
    what="a scheduler step",
    cls=_StepNumber,
    keys={"step": Key(Number(min=1, max=10**9), fields(_StepNumber).step, required=True)},
)
AFTER_STEP = Record(
    what="a place after a step",
    cls=_AfterStep,
    keys={
        "after": Key(AFTER, fields(_AfterStep).after, required=True, doc="label of the step that it follows"),
        "delay": Key(DURATION, fields(_AfterStep).delay, doc="pause after that"),
    },
)


def read_place(node: Node, what: str, reading: Reading) -> Never | Moment | Bad:
    """Returns ``never``, or the place at a point, a scheduler step or a time; ``BAD`` after reporting a problem.

    Args:
        node: what stands there.
        what: what may stand there, for messages.
        reading: takes the problems.
    """
    if isinstance(node, List):
        return reading.error("E020", node.at, f"expected {what}, found {describe(node)}")
    if isinstance(node, MappingNode):
        found = STEP_NUMBER.read(node, reading)
        return BAD if isinstance(found, Bad) else AtStep(found.step)
    if node.text == "never":
        return NEVER
    if node.text[:1].isdigit():
        time_ns = DURATION.read(node, reading)
        return BAD if isinstance(time_ns, Bad) else AtTime(time_ns)
    if node.kind == "null":
        return reading.error("E026", node.at, f"expected {what}, found {describe(node)}", note=_POINT_NOTE)
    return read_point(node, reading)


def place_data(value: StepPlace | Loses) -> Data:
    """Returns a place of a step, or a loss, as the language writes it."""
    if isinstance(value, AtTime):
        return duration_text(value.time_ns)
    if isinstance(value, AtStep):
        return {"step": value.number}
    if isinstance(value, After):
        delay: dict[str, Data] = {"delay": duration_text(value.delay_ns)} if value.delay_ns else {}
        return {"after": value.label, **delay}
    return str(value)


def place_schemas(*words: Data) -> list[Data]:
    """Returns the schemas of all ways to write a place, and of further words."""
    scalars: list[Data] = [{"pattern": _POINT_SCHEMA}, {"pattern": DURATION.schema()["pattern"]}, {"enum": ["never"]}]
    return [{"type": "string", "anyOf": [*scalars, *words]}, STEP_NUMBER.schema()]


@frozen(kw_only=True)
class PlaceOrAxis(Shape[Never | Moment | str]):
    """A place, or ``$name`` of an axis of the sweep, which is read as the name."""

    what: str

    def read(self, node: Node, reading: Reading) -> Never | Moment | str | Bad:
        name = dollar_name(node.text) if isinstance(node, Scalar) else None
        if name is None:
            return read_place(node, self.what, reading)
        reading.refer("axis", name, node.at)
        return name

    def write(self, value: Never | Moment | str) -> Data:
        return f"${value}" if isinstance(value, str) else place_data(value)

    def schema(self) -> Schema:
        return {"anyOf": place_schemas({"pattern": DOLLAR_PATTERN})}
