"""Sweeps: the axes of a scenario and the places that each one tries."""

from __future__ import annotations

from math import prod

from attrs import evolve, fields, frozen

from journalsim.case import AtByte, AtCursor, AtFrame, Placement
from journalsim.scenario.shapes.keys import Key
from journalsim.scenario.shapes.lists import ListOf
from journalsim.scenario.shapes.maps import Beside, MapBeside, MapOf
from journalsim.scenario.shapes.nodes import List, Node, Scalar
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import BAD, Bad, NameKind, Reading
from journalsim.scenario.shapes.record_shapes import Record
from journalsim.scenario.shapes.scalars import Choice, Name, Number
from journalsim.scenario.shapes.shape import Shape
from journalsim.scenario.values.axes import CASES_MAX, Axis, Sweep
from journalsim.scenario.words.cursor_words import CursorPlace, is_cursor
from journalsim.scenario.words.disk_words import AxisValue, losses_of
from journalsim.scenario.words.link_words import BYTES_MAX
from journalsim.scenario.words.names import COUNT_MAX, PREFIX, words_of
from journalsim.scenario.words.place_words import POINT

_PLACE = AxisValue()
_CURSOR = CursorPlace()

# A place in a stream, as it is written. A docstring would become a description in the JSON Schema.


@frozen(kw_only=True)
class _Byte:
    byte: int


@frozen(kw_only=True)
class _Frame:
    frame: int


_BYTE = Record(
    what="a place in a stream", cls=_Byte, keys={"byte": Key(Number(max=BYTES_MAX), fields(_Byte).byte, required=True)}
)
_FRAME = Record(
    what="a place in a stream",
    cls=_Frame,
    keys={"frame": Key(Number(max=COUNT_MAX), fields(_Frame).frame, required=True)},
)


class ValueShape(Shape[Placement]):
    """One value of an axis: a moment, a cursor, or a place in a stream."""

    what: str = "a place"

    def read(self, node: Node, reading: Reading) -> Placement | Bad:
        if is_cursor(node):
            return _CURSOR.read(node, reading)
        if isinstance(node, MappingNode) and node.get("byte") is not None:
            byte = _BYTE.read(node, reading)
            return BAD if isinstance(byte, Bad) else AtByte(byte.byte)
        if isinstance(node, MappingNode) and node.get("frame") is not None:
            frame = _FRAME.read(node, reading)
            return BAD if isinstance(frame, Bad) else AtFrame(frame.frame)
        return _PLACE.read(node, reading)

    def write(self, value: Placement) -> Data:
        if isinstance(value, AtCursor):
            return _CURSOR.write(value)
        if isinstance(value, AtByte | AtFrame):
            return {"byte" if isinstance(value, AtByte) else "frame": value.number}
        return _PLACE.write(value)

    def schema(self) -> Schema:
        return {"anyOf": [shape.schema() for shape in (_PLACE, _CURSOR, _BYTE, _FRAME)]}


_VALUE = ValueShape()
_AXIS = fields(Axis)
_EVERY = Record(
    what="a sweep over everything",
    cls=Axis,
    given={"name": ""},
    keys={
        "every": Key(
            Choice(words_of(Axis, _AXIS.every), "what to sweep"),
            _AXIS.every,
            required=True,
            doc="one case for every point, step, cursor, byte or frame",
        ),
        "in": Key(ListOf(of=PREFIX, what="a list of beginnings"), _AXIS.inside, doc="only names that begin like this"),
        "since": Key(POINT, _AXIS.since, doc="the first of the points"),
        "until": Key(POINT, _AXIS.until, doc="the last of the points"),
    },
)


class AxisShape(Shape[Axis]):
    """The values of one axis: ``{every: …}``, or a list of places with at most one such entry."""

    what: str = "a list of places or {every: …}"

    def read(self, node: Node, reading: Reading) -> Axis | Bad:
        if isinstance(node, Scalar):
            return self.wrong(node, reading)
        if isinstance(node, MappingNode):
            return _EVERY.read(node, reading)
        if not node.items:
            return reading.error("E029", node.at, "an axis has no values", note="leave it out, or write [never]")
        return self._list(node, reading)

    def _list(self, node: List, reading: Reading) -> Axis | Bad:
        whole = [item for item in node.items if _is_every(item)]
        read = [_VALUE.read(item, reading) for item in node.items if not _is_every(item)]
        values = tuple(value for value in read if not isinstance(value, Bad))
        axes = [axis for axis in (_EVERY.read(item, reading) for item in whole) if not isinstance(axis, Bad)]
        if len(whole) > 1:
            return reading.error("E031", whole[1].at, "an axis has one {every: …}", note="list the beginnings in one")
        if len(values) + len(axes) < len(node.items):
            return BAD
        if losses_of(values, swept=bool(axes)) is None:
            return reading.error("E031", node.at, "an axis has places or losses, not both")
        return evolve(axes[0] if axes else Axis(name=""), values=values)

    def write(self, value: Axis) -> Data:
        every = [_EVERY.write(value)] if value.every else []
        if every and not value.values:
            return every[0]
        return [*(_VALUE.write(item) for item in value.values), *every]

    def schema(self) -> Schema:
        every = _EVERY.schema()
        return {"anyOf": [every, {"type": "array", "minItems": 1, "items": {"anyOf": [_VALUE.schema(), every]}}]}


def _is_every(node: Node) -> bool:
    return isinstance(node, MappingNode) and node.get("every") is not None


class AxesShape(MapOf[Axis]):
    """Axes by name. Each defines its name, as the axis of places or of losses."""

    def read_entry(self, key: Scalar, value: Node, reading: Reading) -> Axis | Bad:
        reading.define(NameKind("axis"), key.text, key.at)
        found = self.of.read(value, reading)
        if isinstance(found, Bad):
            return BAD
        reading.define(NameKind(f"axis of {'losses' if losses_of(found.values) else 'places'}"), key.text, key.at)
        return evolve(found, name=key.text)


_ENTRIES = MapBeside(
    word="limit",
    shape=Number(min=1, max=CASES_MAX),
    others=AxesShape(what="a sweep", name=Name(what="the name of an axis"), of=AxisShape(), nullable=True),
    last=True,
)


class SweepShape(Shape[Sweep]):
    """Axes by name, and the limit."""

    def read(self, node: Node, reading: Reading) -> Sweep | Bad:
        found = _ENTRIES.read(node, reading)
        if isinstance(found, Bad):
            return BAD
        axes = tuple(found.named.values())
        limit = Sweep().limit if found.special is None else found.special
        cases = prod(len(axis.values) + bool(axis.every) for axis in axes)
        if cases > limit:
            at = node.span_of("limit") if isinstance(node, MappingNode) else node.at
            help = f"drop some values, or raise limit (at most {CASES_MAX})"
            return reading.error("E208", at, f"the sweep has at least {cases} cases, more than {limit}", help=help)
        return Sweep(axes=axes, limit=limit)

    def write(self, value: Sweep) -> Data:
        limit = None if value.limit == Sweep().limit else value.limit
        return _ENTRIES.write(Beside(special=limit, named={axis.name: axis for axis in value.axes}))

    def schema(self) -> Schema:
        return _ENTRIES.schema()


SWEEP = SweepShape()
