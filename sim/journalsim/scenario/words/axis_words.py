"""Sweeps: the axes of a scenario and the places that each one tries."""

from __future__ import annotations

from math import prod
from typing import Any

from attrs import evolve, frozen

from journalsim.case import Placement
from journalsim.scenario.shapes.composites import Key, ListOf, MapOf, Record
from journalsim.scenario.shapes.nodes import List, Node, Scalar
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.reading import BAD, Reading
from journalsim.scenario.shapes.scalars import Choice, Data, Name, Number, Schema, Shape
from journalsim.scenario.values.sweep import CASES_MAX, Axis, Sweep
from journalsim.scenario.words.cursor_words import CursorPlace, is_cursor
from journalsim.scenario.words.disk_words import AxisValue, losses_of
from journalsim.scenario.words.link_words import BYTES_MAX
from journalsim.scenario.words.names import COUNT_MAX, POINT, PREFIX

_PLACE = AxisValue()
_CURSOR = CursorPlace()
_BYTE = Record(what="a place in a stream", keys={"byte": Key(Number(max=BYTES_MAX), required=True)})
_FRAME = Record(what="a place in a stream", keys={"frame": Key(Number(max=COUNT_MAX), required=True)})


@frozen(kw_only=True)
class ValueShape(Shape):
    """One value of an axis: a moment, a cursor, or a place in a stream."""

    what: str = "a place"

    def read(self, node: Node, reading: Reading) -> Any:
        if is_cursor(node):
            return _CURSOR.read(node, reading)
        for kind, shape in (("byte", _BYTE), ("frame", _FRAME)):
            if isinstance(node, MappingNode) and node.get(kind) is not None:
                found = shape.read(node, reading)
                return found if found is BAD else Placement(kind, number=found[kind])  # type: ignore[arg-type]
        return _PLACE.read(node, reading)

    def write(self, value: Any) -> Data:
        if value.kind == "cursor":
            return _CURSOR.write(value)
        return {value.kind: value.number} if value.kind in ("byte", "frame") else _PLACE.write(value)

    def schema(self) -> Schema:
        return {"anyOf": [shape.schema() for shape in (_PLACE, _CURSOR, _BYTE, _FRAME)]}


_VALUE = ValueShape()
_EVERY = Record(
    what="a sweep over everything",
    cls=Axis,
    build=lambda **values: Axis(name="", **values),
    keys={
        "every": Key(
            Choice(("point", "step", "cursor", "byte", "frame"), "what to sweep"),
            required=True,
            doc="one case for every point, step, cursor, byte or frame",
        ),
        "in": Key(ListOf(of=PREFIX, what="a list of beginnings"), "inside", doc="only names that begin like this"),
        "since": Key(POINT, doc="the first of the points"),
        "until": Key(POINT, doc="the last of the points"),
    },
)


@frozen(kw_only=True)
class AxisShape(Shape):
    """The values of one axis: ``{every: …}``, or a list of places with at most one such entry."""

    what: str = "a list of places or {every: …}"

    def read(self, node: Node, reading: Reading) -> Any:
        if isinstance(node, Scalar):
            return self.wrong(node, reading)
        if isinstance(node, MappingNode):
            return _EVERY.read(node, reading)
        if not node.items:
            return reading.error("E029", node.at, "an axis has no values", note="leave it out, or write [never]")
        return self._list(node, reading)

    def _list(self, node: List, reading: Reading) -> Any:
        whole = [item for item in node.items if _is_every(item)]
        values = [_VALUE.read(item, reading) for item in node.items if not _is_every(item)]
        axes = [_EVERY.read(item, reading) for item in whole]
        if len(whole) > 1:
            return reading.error("E031", whole[1].at, "an axis has one {every: …}", note="list the beginnings in one")
        if any(value is BAD for value in (*values, *axes)):
            return BAD
        if losses_of((*values, *(Placement("point") for _ in axes))) is None:
            return reading.error("E031", node.at, "an axis has places or losses, not both")
        return evolve(axes[0] if axes else Axis(name=""), values=tuple(values))

    def write(self, value: Any) -> Data:
        every = [_EVERY.write(value)] if value.every else []
        if every and not value.values:
            return every[0]
        return [*(_VALUE.write(item) for item in value.values), *every]

    def schema(self) -> Schema:
        every = _EVERY.schema()
        return {"anyOf": [every, {"type": "array", "minItems": 1, "items": {"anyOf": [_VALUE.schema(), every]}}]}


def _is_every(node: Node) -> bool:
    return isinstance(node, MappingNode) and node.get("every") is not None


@frozen(kw_only=True)
class SweepShape(MapOf):
    """Axes by name, and the limit."""

    def read(self, node: Node, reading: Reading) -> Any:
        values = super().read(node, reading)
        if values is BAD:
            return BAD
        limit = values.pop("limit", Sweep().limit)
        axes = tuple(evolve(axis, name=name) for name, axis in values.items())
        cases = prod(len(axis.values) + bool(axis.every) for axis in axes)
        if cases > limit:
            at = node.span_of("limit") if isinstance(node, MappingNode) else node.at
            help = f"drop some values, or raise limit (at most {CASES_MAX})"
            return reading.error("E208", at, f"the sweep has at least {cases} cases, more than {limit}", help=help)
        return Sweep(axes=axes, limit=limit)

    def read_entry(self, key: Scalar, value: Node, reading: Reading) -> Any:
        if key.text not in self.special:
            reading.define("axis", key.text, key.at)
        reading.axis = key.text
        found = super().read_entry(key, value, reading)
        if isinstance(found, Axis):
            reading.define(f"axis of {'losses' if losses_of(found.values) else 'places'}", key.text, key.at)
        reading.axis = ""
        return found

    def write(self, value: Any) -> Data:
        limit = {"limit": value.limit} if value.limit != Sweep().limit else {}
        return super().write({**{axis.name: axis for axis in value.axes}, **limit})


SWEEP = SweepShape(
    what="a sweep",
    special={"limit": Number(min=1, max=CASES_MAX)},
    name=Name(what="the name of an axis"),
    of=AxisShape(),
    nullable=True,
)
