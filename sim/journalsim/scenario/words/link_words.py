"""Faults and shapes of the way between a client and the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from journalsim.scenario.shapes.composites import Key, Record, attribute_docs
from journalsim.scenario.shapes.forms import WordOr
from journalsim.scenario.shapes.nodes import Node, Scalar
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.scalars import Data, Flag, Number, Schema, Shape, dollar_name
from journalsim.scenario.values.links import LINK_FAULTS, LinkFault, LinkShape, Spot
from journalsim.scenario.words.names import CLIENT, COUNT_MAX, DURATION

BYTES_MAX = 10_000_000  # beyond the largest stream of one case

_END = WordOr(word="server", other=CLIENT, what="server or a client")
_LINK = Record(
    what="a link",
    keys={
        "from": Key(_END, "sender", required=True, doc="server, or the client for the other direction"),
        "to": Key(_END, "receiver", required=True, doc="the client, or server for the other direction"),
    },
)
_SPOT = Record(
    what="a place in a stream",
    cls=Spot,
    keys={
        "after_frames": Key(Number(max=COUNT_MAX)),
        "after_bytes": Key(Number(max=BYTES_MAX)),
        "after_lines": Key(Number(max=COUNT_MAX)),
        "mid_frame": Key(Flag()),
    },
    exclusive=(("after_bytes", "after_lines"), ("after_bytes", "mid_frame"), ("after_lines", "mid_frame")),
    nullable=True,
)


@frozen(kw_only=True)
class SpotOrAxis(Shape):
    """A place, or ``$axis`` of the sweep."""

    what: str = "a place in a stream or $axis"

    def read(self, node: Node, reading: Reading) -> Any:
        name = dollar_name(node.text) if isinstance(node, Scalar) else None
        if name is None:
            return _SPOT.read(node, reading)
        reading.refer("axis", name, node.at)
        return Spot(axis=name)

    def write(self, value: Any) -> Data:
        return f"${value.axis}" if value.axis is not None else _SPOT.write(value)

    def schema(self) -> Schema:
        return {"anyOf": [_SPOT.schema(), {"type": "string", "pattern": r"^\$[a-z][a-z0-9_-]*$"}]}


_FAULT_DOCS = {
    "cut": "where it breaks; what was sent before arrives",
    "reset": "where it breaks; what has not arrived is lost",
    "end": "where the answer ends cleanly, before its time",
    "half_open": "from where on nothing comes through, and nobody is told",
}
_ABOUT_FAULTS = attribute_docs(LinkFault)
_ABOUT_SHAPES = attribute_docs(LinkShape)
_SHAPES: Mapping[str, Key] = {
    "latency": Key(DURATION, "latency_ns", default=0, doc=_ABOUT_SHAPES["latency_ns"]),
    "gather": Key(
        WordOr(word="close", other=DURATION, what="a time or close"),
        "gather_ns",
        default=0,
        doc="a proxy holds bytes back for so long, or until the close of the answer",
    ),
    "chunk": Key(Number(min=1, max=BYTES_MAX), "chunk_bytes", default=0, doc=_ABOUT_SHAPES["chunk_bytes"]),
    "slow": Key(DURATION, "slow_ns", default=0, doc=_ABOUT_SHAPES["slow_ns"]),
    "buffer": Key(Number(min=1, max=BYTES_MAX), "buffer_bytes", default=0, doc=_ABOUT_SHAPES["buffer_bytes"]),
}
_SHAPE_ATTRIBUTES = tuple(key.attribute for key in _SHAPES.values())


@frozen(kw_only=True)
class LinkFaultShape(Record):
    """One fault or shape of a link, with its line."""

    def read(self, node: Node, reading: Reading) -> Any:
        values = super().read(node, reading)
        if isinstance(values, Bad):
            return BAD
        sender, receiver = values["link"]["sender"], values["link"]["receiver"]
        if (sender == "server") == (receiver == "server"):
            return reading.error("E031", node.at, "a link has the server at one end and a client at the other")
        up = receiver == "server"
        common = {"client": sender if up else receiver, "up": up, "line": node.at.line}
        kind = next((kind for kind in LINK_FAULTS if kind in values), None)
        shaped = {name: values[name] for name in _SHAPE_ATTRIBUTES if name in values}
        if kind is None:
            gather = {"gather_ns": None} if shaped.get("gather_ns") == "close" else {}
            return LinkShape(**{**shaped, **gather}, **common)
        if shaped:
            return reading.error("E031", node.at, "a fault and a shape of a link are two entries")
        rest = {name: values[name] for name in ("restore_ns", "connection") if name in values}
        if rest.get("connection") == "each":
            rest["connection"] = 0
        return LinkFault(kind=kind, spot=values[kind], **rest, **common)  # type: ignore[arg-type]  # one of LINK_FAULTS


def _take(value: LinkFault | LinkShape) -> Mapping[str, Any]:
    ends = (value.client, "server") if value.up else ("server", value.client)
    taken: dict[str, Any] = {"link": {"sender": ends[0], "receiver": ends[1]}}
    if isinstance(value, LinkShape):
        shaped = {name: getattr(value, name) for name in _SHAPE_ATTRIBUTES}
        return {**taken, **shaped, "gather_ns": "close" if value.gather_ns is None else value.gather_ns}
    connection = value.connection or "each"
    return {**taken, value.kind: value.spot, "restore_ns": value.restore_ns, "connection": connection}


LINK_FAULT = LinkFaultShape(
    what="a fault of a link",
    keys={
        "link": Key(_LINK, required=True, doc="which link and direction"),
        **{kind: Key(SpotOrAxis(), default=None, doc=_FAULT_DOCS[kind]) for kind in LINK_FAULTS},
        "restore": Key(DURATION, "restore_ns", default=0, doc=_ABOUT_FAULTS["restore_ns"]),
        "connection": Key(
            WordOr(word="each", other=Number(min=1, max=COUNT_MAX), what="a number or each"),
            default=1,
            doc="which connection of the client, from 1, or each",
        ),
        **_SHAPES,
    },
    take=_take,
    exclusive=tuple((a, b) for n, a in enumerate(LINK_FAULTS) for b in LINK_FAULTS[n + 1 :]),
    one_of=(*LINK_FAULTS, *_SHAPES),
)
