"""Faults and shapes of the link between a client and the server."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import fields, frozen

from journalsim.contract.docstrings import attribute_docs
from journalsim.scenario.shapes.derived import WordOr
from journalsim.scenario.shapes.keys import AnyKey, Key
from journalsim.scenario.shapes.nodes import Node, Scalar
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.record_shapes import Record
from journalsim.scenario.shapes.scalars import DOLLAR_PATTERN, Flag, Number, dollar_name
from journalsim.scenario.shapes.shape import Shape
from journalsim.scenario.values.links import LINK_FAULTS, LinkFault, LinkFaultKind, LinkShape, Spot
from journalsim.scenario.words.names import CLIENT, COUNT_MAX, DURATION

BYTES_MAX = 10_000_000  # beyond the largest stream of one case
_UNTIL_CLOSE_NS = -1  # how long a proxy holds bytes back that waits for the close

_SPOT = Record(
    what="a place in a stream",
    cls=Spot,
    keys={
        "after_frames": Key(Number(max=COUNT_MAX), fields(Spot).after_frames),
        "after_bytes": Key(Number(max=BYTES_MAX), fields(Spot).after_bytes),
        "after_lines": Key(Number(max=COUNT_MAX), fields(Spot).after_lines),
        "mid_frame": Key(Flag(), fields(Spot).mid_frame),
    },
    exclusive=(("after_bytes", "after_lines"), ("after_bytes", "mid_frame"), ("after_lines", "mid_frame")),
    nullable=True,
)


class SpotOrAxis(Shape[Spot]):
    """A place in a stream, or ``$axis`` of the sweep."""

    what: str = "a place in a stream or $axis"

    def read(self, node: Node, reading: Reading) -> Spot | Bad:
        name = dollar_name(node.text) if isinstance(node, Scalar) else None
        if name is None:
            return _SPOT.read(node, reading)
        reading.refer("axis", name, node.at)
        return Spot(axis=name)

    def write(self, value: Spot) -> Data:
        return f"${value.axis}" if value.axis is not None else _SPOT.write(value)

    def schema(self) -> Schema:
        return {"anyOf": [_SPOT.schema(), {"type": "string", "pattern": DOLLAR_PATTERN}]}


# --- one entry of the list, as it is written -----------------------------------------------------


# Docstrings of these two classes would become descriptions in the JSON Schema.


@frozen(kw_only=True)
class _Link:
    sender: str
    receiver: str

    @property
    def up(self) -> bool:
        """Whether this is the direction to the server."""
        return self.receiver == "server"

    @property
    def client(self) -> str:
        """The client at one end."""
        return self.sender if self.up else self.receiver


@frozen(kw_only=True)
class _Written:
    link: _Link
    cut: Spot | None = None
    reset: Spot | None = None
    end: Spot | None = None
    half_open: Spot | None = None
    restore_ns: int = 0
    connection: int = 1
    latency_ns: int | None = None
    gather_ns: int | None = None
    chunk_bytes: int | None = None
    slow_ns: int | None = None
    buffer_bytes: int | None = None

    def faults(self) -> list[tuple[LinkFaultKind, Spot]]:
        """Returns the faults, each with its place."""
        spots: Mapping[LinkFaultKind, Spot | None] = {
            "cut": self.cut,
            "reset": self.reset,
            "end": self.end,
            "half_open": self.half_open,
        }
        return [(kind, spot) for kind, spot in spots.items() if spot is not None]

    def shaped(self) -> bool:
        """Returns whether something shapes every byte."""
        sizes = (self.latency_ns, self.gather_ns, self.chunk_bytes, self.slow_ns, self.buffer_bytes)
        return any(size is not None for size in sizes)


_END = WordOr(word="server", means="server", other=CLIENT, what="server or a client")
_LINK = Record(
    what="a link",
    cls=_Link,
    keys={
        "from": Key(_END, fields(_Link).sender, required=True, doc="server, or the client for the other direction"),
        "to": Key(_END, fields(_Link).receiver, required=True, doc="the client, or server for the other direction"),
    },
)
_W = fields(_Written)
_SPOT_OR_AXIS = SpotOrAxis()
_ABOUT_FAULTS = attribute_docs(LinkFault)
_ABOUT_SHAPES = attribute_docs(LinkShape)
_FAULTS: Mapping[str, AnyKey[object]] = {
    "cut": Key(_SPOT_OR_AXIS, _W.cut, doc="where it breaks; what was sent before arrives"),
    "reset": Key(_SPOT_OR_AXIS, _W.reset, doc="where it breaks; what has not arrived is lost"),
    "end": Key(_SPOT_OR_AXIS, _W.end, doc="where the answer ends cleanly, before its time"),
    "half_open": Key(_SPOT_OR_AXIS, _W.half_open, doc="from where on nothing comes through, without an error"),
}
_SHAPES: Mapping[str, AnyKey[object]] = {
    "latency": Key(DURATION, _W.latency_ns, doc=_ABOUT_SHAPES["latency_ns"]),
    "gather": Key(
        WordOr(word="close", means=_UNTIL_CLOSE_NS, other=DURATION, what="a time or close"),
        _W.gather_ns,
        doc="a proxy holds bytes back for so long, or until the close of the answer",
    ),
    "chunk": Key(Number(min=1, max=BYTES_MAX), _W.chunk_bytes, doc=_ABOUT_SHAPES["chunk_bytes"]),
    "slow": Key(DURATION, _W.slow_ns, doc=_ABOUT_SHAPES["slow_ns"]),
    "buffer": Key(Number(min=1, max=BYTES_MAX), _W.buffer_bytes, doc=_ABOUT_SHAPES["buffer_bytes"]),
}
_ENTRY = Record(
    what="a fault of a link",
    cls=_Written,
    keys={
        "link": Key(_LINK, _W.link, required=True, doc="which link and direction"),
        **_FAULTS,
        "restore": Key(DURATION, _W.restore_ns, doc=_ABOUT_FAULTS["restore_ns"]),
        "connection": Key(
            WordOr(word="each", means=0, other=Number(min=1, max=COUNT_MAX), what="a number or each"),
            _W.connection,
            doc="which connection of the client, from 1, or each",
        ),
        **_SHAPES,
    },
    exclusive=tuple((a, b) for n, a in enumerate(LINK_FAULTS) for b in LINK_FAULTS[n + 1 :]),
    one_of=(*LINK_FAULTS, *_SHAPES),
)


class LinkFaultShape(Shape[LinkFault | LinkShape]):
    """One fault or shape of a link, with its line."""

    def read(self, node: Node, reading: Reading) -> LinkFault | LinkShape | Bad:
        written = _ENTRY.read(node, reading)
        if isinstance(written, Bad):
            return BAD
        faults = written.faults()
        if (written.link.sender == "server") == (written.link.receiver == "server"):
            return reading.error("E031", node.at, "a link has the server at one end and a client at the other")
        if faults and written.shaped():
            return reading.error("E031", node.at, "a fault and a shape of a link are two entries")
        return self._fault(written, *faults[0], node.at.line) if faults else self._shape(written, node.at.line)

    def _fault(self, written: _Written, kind: LinkFaultKind, spot: Spot, line: int) -> LinkFault:
        return LinkFault(
            client=written.link.client,
            up=written.link.up,
            kind=kind,
            spot=spot,
            restore_ns=written.restore_ns,
            connection=written.connection,
            line=line,
        )

    def _shape(self, written: _Written, line: int) -> LinkShape:
        return LinkShape(
            client=written.link.client,
            up=written.link.up,
            latency_ns=written.latency_ns or 0,
            gather_ns=None if written.gather_ns == _UNTIL_CLOSE_NS else written.gather_ns or 0,
            chunk_bytes=written.chunk_bytes or 0,
            slow_ns=written.slow_ns or 0,
            buffer_bytes=written.buffer_bytes or 0,
            line=line,
        )

    def write(self, value: LinkFault | LinkShape) -> Data:
        ends = (value.client, "server") if value.up else ("server", value.client)
        link = _Link(sender=ends[0], receiver=ends[1])
        if isinstance(value, LinkFault):
            written = _Written(
                link=link,
                cut=value.spot if value.kind == "cut" else None,
                reset=value.spot if value.kind == "reset" else None,
                end=value.spot if value.kind == "end" else None,
                half_open=value.spot if value.kind == "half_open" else None,
                restore_ns=value.restore_ns,
                connection=value.connection,
            )
        else:
            written = _Written(
                link=link,
                latency_ns=value.latency_ns or None,
                gather_ns=_UNTIL_CLOSE_NS if value.gather_ns is None else value.gather_ns or None,
                chunk_bytes=value.chunk_bytes or None,
                slow_ns=value.slow_ns or None,
                buffer_bytes=value.buffer_bytes or None,
            )
        return _ENTRY.write(written)

    def schema(self) -> Schema:
        return _ENTRY.schema()


LINK_FAULT = LinkFaultShape()
