"""The way between a client and the server, as a resolved scenario has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import evolve

from journalsim.actors.wire.byte_link import ByteLink
from journalsim.actors.wire.byte_pipe import Fault, Place, Shape
from journalsim.contract.events.stream_events import LinkBroke
from journalsim.history import Event
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.links import LinkFault, LinkShape
from journalsim.scenario.values.scenario import AnyFault, Scenario


def link_of(scenario: Scenario, spec: ClientSpec) -> ByteLink:
    """Returns the link of one client with its faults."""
    plain = Shape(latency_ns=spec.latency_ns)
    down, up = plain, plain
    for shape in scenario.faults:
        if isinstance(shape, LinkShape) and shape.client == spec.name:
            up, down = (_shaped(up, shape), down) if shape.up else (up, _shaped(down, shape))
    return ByteLink(down=down, up=up, faults=tuple(_faults(scenario, spec)))


def faults_met(faults: Iterable[AnyFault], events: Iterable[Event]) -> bool:
    """Returns whether all these faults happened, as far as they are faults of links."""
    wanted = [(fault.client, fault.kind) for fault in faults if isinstance(fault, LinkFault)]
    broke = {(e.actor, e.data.fault) for e in events if isinstance(e.data, LinkBroke)} if wanted else ()
    return all(fault in broke for fault in wanted)


def _faults(scenario: Scenario, spec: ClientSpec) -> Iterator[Fault]:
    for fault in scenario.faults:
        if isinstance(fault, LinkFault) and fault.client == spec.name:
            spot = fault.spot
            yield Fault(
                at=Place(frames=spot.after_frames, byte=spot.after_bytes, lines=spot.after_lines, half=spot.mid_frame),
                kind=fault.kind,
                direction="up" if fault.up else "down",
                lasts_ns=fault.restore_ns,
                connection=fault.connection,
            )


def _shaped(shape: Shape, more: LinkShape) -> Shape:
    changed = evolve(
        shape,
        latency_ns=shape.latency_ns + more.latency_ns,
        gather_ns=more.gather_ns,
        chunk_bytes=more.chunk_bytes or shape.chunk_bytes,
        ns_per_byte=more.slow_ns or shape.ns_per_byte,
    )
    return evolve(changed, capacity_bytes=more.buffer_bytes) if more.buffer_bytes else changed
