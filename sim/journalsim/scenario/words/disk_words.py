"""The words for disks: losses of a crash, losses as values of an axis, and faults of disk operations."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, fields, frozen

from journalsim.case import After, Loses, Placement, StepPlace
from journalsim.contract.disk_faults import FAULTS, LOSSES, Fault, Loss
from journalsim.scenario.shapes.keys import Key
from journalsim.scenario.shapes.near_words import nearest
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.nodes import Node, Scalar, describe
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.problems import quoted
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.record_shapes import Record
from journalsim.scenario.shapes.scalars import DOLLAR_PATTERN, Choice, Name, Number, dollar_name
from journalsim.scenario.shapes.shape import Shape, WordShape
from journalsim.scenario.values.disk_fault import MEMORY, DiskFault
from journalsim.scenario.values.links import LinkFault, LinkShape
from journalsim.scenario.words.names import COUNT_MAX, DURATION
from journalsim.scenario.words.place_words import AFTER_STEP, place_data, place_schemas, read_place

_WORDS = (MEMORY, *LOSSES)
_NUMBERED = r"drawn#[1-9][0-9]{0,8}"
_NOTE = "memory, or what a power cut takes: unsynced, last_tail, drawn#17 … see: journalsim list losses"
_SCHEMAS: tuple[Schema, ...] = (
    {"enum": [word for word in _WORDS if word != "drawn"]},
    {"type": "string", "pattern": f"^{_NUMBERED}$"},
)


def _loss(text: str) -> str | None:
    """Returns a loss as it is written, or None if it is none."""
    try:
        return text if text == MEMORY or str(Loss.parse(text)) == text else None
    except ValueError:
        return None


class Lost(WordShape[str]):
    """A loss of a crash: ``memory``, a loss of the disk, or ``$axis``."""

    what: str = "what is lost"

    def read_scalar(self, node: Scalar, reading: Reading) -> str | Bad:
        axis = dollar_name(node.text)
        if axis is not None:
            reading.refer("loss axis", axis, node.at)
            return node.text
        return _read_loss(node, reading, self.what)

    def schema(self) -> Schema:
        return {"anyOf": [*_SCHEMAS, {"type": "string", "pattern": DOLLAR_PATTERN}]}


def _read_loss(node: Scalar, reading: Reading, what: str) -> str | Bad:
    found = _loss(node.text)
    if found is not None:
        return found
    message = f"expected {what}, found {describe(node)}"
    return reading.error("E025", node.at, message, note=_NOTE, near=_WORDS, word=node.text.partition("#")[0])


class AxisValue(Shape[StepPlace | Loses]):
    """One value of an axis: a place, ``never``, ``{after: label}``, or a loss."""

    what: str = "a place, such as never, a point, or {after: label}, or a loss"

    def read(self, node: Node, reading: Reading) -> StepPlace | Loses | Bad:
        if isinstance(node, Scalar):
            return self._scalar(node, reading)
        if isinstance(node, MappingNode) and node.get("after") is not None:
            found = AFTER_STEP.read(node, reading)
            return BAD if isinstance(found, Bad) else After(found.after, found.delay)
        return read_place(node, self.what, reading)

    def _scalar(self, node: Scalar, reading: Reading) -> StepPlace | Loses | Bad:
        word = node.text.partition("#")[0]
        if word == "never" or "." in word or nearest(word, _WORDS, reading.other_words) is None:
            return read_place(node, self.what, reading)
        found = _read_loss(node, reading, "a place or a loss")
        return BAD if isinstance(found, Bad) else Loses(found)

    def write(self, value: StepPlace | Loses) -> Data:
        return place_data(value)

    def schema(self) -> Schema:
        return {"anyOf": [*place_schemas(), AFTER_STEP.schema(), *_SCHEMAS]}


def losses_of(values: tuple[Placement, ...], *, swept: bool = False) -> bool | None:
    """Returns whether the values of an axis are losses rather than places; None if they are mixed.

    Args:
        values: of the axis.
        swept: whether places of an ``every`` come on top.
    """
    kinds = {isinstance(value, Loses) for value in values} | ({False} if swept else set())
    return None if len(kinds) > 1 else True in kinds


# --- faults

_AT = Name(
    what="an operation of the disk",
    pattern=r"disk\.(open|read|create|write|truncate|sync|rename|unlink|sync_folder)#[1-9][0-9]{0,5}",
    form="such as disk.sync#3; journalsim show NAME --points lists those that change something",
)
_KINDS = tuple(kind for kind in FAULTS if kind != "crash")  # that one is a step: the server goes down with its machine
_FAULT = fields(DiskFault)
_DISK = Record(
    what="a fault of the disk",
    cls=DiskFault,
    keys={
        "at": Key(_AT, _FAULT.at, required=True),
        "kind": Key(Choice(_KINDS, "what goes wrong"), _FAULT.kind, required=True),
        "times": Key(Number(max=COUNT_MAX), _FAULT.times),
        "kept": Key(Number(max=2**20), _FAULT.kept),
        "for": Key(DURATION, _FAULT.duration_ns),
    },
)


def disk_faults() -> Mapping[str, str]:
    """Returns the faults of disk operations, each with its meaning."""
    return {kind: FAULTS[kind][1].replace("`", "") for kind in _KINDS}


def fault_of(fault: DiskFault) -> Fault:
    """Returns a fault as the disk expects it.

    Raises:
        ValueError: such a fault does not happen there.
    """
    return Fault(fault.kind, fault.at, times=fault.times, kept=fault.kept, duration_ns=fault.duration_ns)


@frozen(kw_only=True)
class FaultShape(Shape[LinkFault | LinkShape | DiskFault]):
    """A fault of a disk, or of a link."""

    link: Shape[LinkFault | LinkShape]
    what: str = "a fault"

    def read(self, node: Node, reading: Reading) -> LinkFault | LinkShape | DiskFault | Bad:
        inner = node.get("disk") if isinstance(node, MappingNode) else None
        if inner is None or not isinstance(node, MappingNode):
            return self.link.read(node, reading)
        value = _DISK.read(inner, reading)
        extra = [key for key, _ in node.entries if key.text != "disk"]
        if extra:
            return reading.error("E031", extra[0].at, f"a fault of the disk has no {quoted(extra[0].text)} beside it")
        if isinstance(value, Bad):
            return BAD
        fault = evolve(value, line=node.at.line)
        try:
            fault_of(fault)
        except ValueError as error:
            return reading.error("E031", inner.at, str(error))
        return fault

    def write(self, value: LinkFault | LinkShape | DiskFault) -> Data:
        return {"disk": _DISK.write(value)} if isinstance(value, DiskFault) else self.link.write(value)

    def schema(self) -> Schema:
        disk: Schema = {
            "type": "object",
            "properties": {"disk": _DISK.schema()},
            "required": ["disk"],
            "additionalProperties": False,
        }
        return {"anyOf": [self.link.schema(), disk]}
