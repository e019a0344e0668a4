"""The words for disks: what a crash loses, losses as values of an axis, and faults of disk operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from journalsim.case import Placement
from journalsim.contract.disk_faults import FAULTS, LOSSES, Fault, Loss
from journalsim.scenario.shapes.composites import Key, Record
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.nodes import Node, Scalar, describe
from journalsim.scenario.shapes.problems import nearest, quoted
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.scalars import Choice, Data, Name, Number, ScalarShape, Schema, Shape, dollar_name
from journalsim.scenario.values.disk_fault import MEMORY, DiskFault
from journalsim.scenario.words.names import COUNT_MAX, DURATION, Place

_WORDS = (MEMORY, *LOSSES)
_NUMBERED = r"drawn#[1-9][0-9]{0,8}"
_NOTE = "memory, or what a power cut takes: unsynced, last_tail, drawn#17 … see: journalsim list losses"
_SCHEMA: Schema = {
    "anyOf": [{"enum": [word for word in _WORDS if word != "drawn"]}, {"type": "string", "pattern": f"^{_NUMBERED}$"}]
}


def _loss(text: str) -> str | None:
    """Returns a loss as it is written, or None if it is none."""
    try:
        return text if text == MEMORY or str(Loss.parse(text)) == text else None
    except ValueError:
        return None


@frozen
class Lost(ScalarShape):
    """What a crash loses: ``memory``, a loss of the disk, or ``$axis``."""

    what: str = "what is lost"

    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        axis = dollar_name(node.text)
        if axis is not None:
            reading.refer("loss axis", axis, node.at)
            return node.text
        return _read_loss(node, reading, self.what)

    def schema(self) -> Schema:
        return {"anyOf": [*_SCHEMA["anyOf"], {"type": "string", "pattern": r"^\$[a-z][a-z0-9_-]*$"}]}


def _read_loss(node: Scalar, reading: Reading, what: str) -> Any:
    found = _loss(node.text)
    if found is not None:
        return found
    message = f"expected {what}, found {describe(node)}"
    return reading.error("E025", node.at, message, note=_NOTE, near=_WORDS, word=node.text.partition("#")[0])


@frozen(kw_only=True)
class AxisValue(Place):
    """One value of an axis: a place, or a loss."""

    what: str = "a place, such as never, a point, or {after: label}, or a loss"
    fixed: bool = True

    def read(self, node: Node, reading: Reading) -> Any:
        word = node.text.partition("#")[0] if isinstance(node, Scalar) else ""
        if isinstance(node, Scalar) and node.text != "never" and "." not in word and nearest(word, _WORDS):
            found = _read_loss(node, reading, "a place or a loss")
            return found if isinstance(found, Bad) else Placement("loss", found)
        return super().read(node, reading)

    def schema(self) -> Schema:
        return {"anyOf": [*super().schema()["anyOf"], *_SCHEMA["anyOf"]]}


def losses_of(values: tuple[Placement, ...]) -> bool | None:
    """Returns whether the values of an axis are losses rather than places; None if they are mixed."""
    kinds = {value.kind == "loss" for value in values}
    return None if len(kinds) > 1 else True in kinds


# --- faults

_AT = Name(
    what="an operation of the disk",
    pattern=r"disk\.(open|read|create|write|truncate|sync|rename|unlink|sync_folder)#[1-9][0-9]{0,5}",
    form="such as disk.sync#3; journalsim show NAME --points lists those that change something",
)
_KINDS = tuple(kind for kind in FAULTS if kind != "crash")  # that one is a step: the server goes down with its machine
_DISK = Record(
    what="a fault of the disk",
    cls=DiskFault,
    keys={
        "at": Key(_AT, required=True),
        "kind": Key(Choice(_KINDS, "what goes wrong"), required=True),
        "times": Key(Number(max=COUNT_MAX)),
        "kept": Key(Number(max=2**20)),
        "for": Key(DURATION, "duration_ns"),
    },
)


def disk_faults() -> Mapping[str, str]:
    """Returns what can go wrong with an operation, and what that means."""
    return {kind: FAULTS[kind][1].replace("`", "") for kind in _KINDS}


def fault_of(fault: DiskFault) -> Fault:
    """Returns a fault as the disk takes it.

    Raises:
        ValueError: such a fault does not happen there.
    """
    return Fault(fault.kind, fault.at, times=fault.times, kept=fault.kept, duration_ns=fault.duration_ns)


@frozen(kw_only=True)
class FaultShape(Shape):
    """A fault of a disk, or of what ``other`` describes."""

    other: Shape
    what: str = "a fault"

    def read(self, node: Node, reading: Reading) -> Any:
        inner = node.get("disk") if isinstance(node, MappingNode) else None
        if inner is None or not isinstance(node, MappingNode):
            return self.other.read(node, reading)
        value = _DISK.read(inner, reading)
        extra = [key for key, _ in node.entries if key.text != "disk"]
        if extra:
            return reading.error("E031", extra[0].at, f"a fault of the disk has no {quoted(extra[0].text)} beside it")
        if isinstance(value, Bad):
            return BAD
        fault = DiskFault(**{**_values(value), "line": node.at.line})
        try:
            fault_of(fault)
        except ValueError as error:
            return reading.error("E031", inner.at, str(error))
        return fault

    def write(self, value: Any) -> Data:
        return {"disk": _DISK.write(value)} if isinstance(value, DiskFault) else self.other.write(value)

    def schema(self) -> Schema:
        disk = {
            "type": "object",
            "properties": {"disk": _DISK.schema()},
            "required": ["disk"],
            "additionalProperties": False,
        }
        return {"anyOf": [self.other.schema(), disk]}


def _values(fault: DiskFault) -> Mapping[str, Any]:
    return {name: getattr(fault, name) for name in ("at", "kind", "times", "kept", "duration_ns")}
