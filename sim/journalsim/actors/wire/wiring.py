"""The way between a client and the server, as a scenario and a case have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import evolve

from journalsim.actors.wire.byte_link import ByteLink
from journalsim.actors.wire.byte_pipe import Fault, Place, Shape
from journalsim.case import NEVER, Case
from journalsim.contract.events.stream_events import LinkBroke
from journalsim.history import Event
from journalsim.scenario.resolve import with_spots
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.links import LinkFault, LinkShape
from journalsim.scenario.values.scenario import Scenario


def link_of(scenario: Scenario, spec: ClientSpec, case: Case) -> ByteLink:
    """Returns the link of one client with its faults placed."""
    plain = Shape(latency_ns=spec.latency_ns)
    down, up = plain, plain
    for shape in scenario.faults:
        if isinstance(shape, LinkShape) and shape.client == spec.name:
            up, down = (_shaped(up, shape), down) if shape.up else (up, _shaped(down, shape))
    return ByteLink(down=down, up=up, faults=tuple(_faults(scenario, spec, case)))


def faults_met(scenario: Scenario, case: Case, events: Iterable[Event]) -> bool:
    """Tells whether every fault that the case places really happened."""
    broke = {
        (event.actor, event.data.fault) for event in events if isinstance(event.data, LinkBroke)
    }  # membership only
    placed = [f for f in scenario.faults if isinstance(f, LinkFault) and f.spot.axis is not None]
    wanted = [f for f in placed if (case.axis(f.spot.axis or "") or NEVER).kind != "never"]
    return all((fault.client, fault.kind) in broke for fault in wanted)


def _faults(scenario: Scenario, spec: ClientSpec, case: Case) -> Iterator[Fault]:
    for fault in with_spots(scenario.faults, case):
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
