"""Programs on links that break at every byte, against a server that replays exactly what a cursor asks for."""

from __future__ import annotations

import pytest
from little_world import PATIENCE, LittleWorld, frames_of

from journalsim.actors.programs.profiles import program_for
from journalsim.actors.wire.byte_link import ByteLink
from journalsim.actors.wire.byte_pipe import Fault, FaultKind, Place, Shape

FRAMES = frames_of(3)
WIRE = b"".join(FRAMES)
ALL = ["é1", "é2", "é3"]
BYTES = range(len(WIRE) + 1)


def watch(kind: str, *faults: Fault, shape: Shape | None = None) -> LittleWorld:
    program = program_for(kind, retry_ns=100)
    return LittleWorld(program, ByteLink(down=shape, faults=faults), FRAMES).run(program.attach())


def after_id_line(byte: int) -> bool:
    """Whether a cut at this byte falls between the end of an ``id`` line and the end of its event."""
    starts = [sum(map(len, FRAMES[:number])) for number in range(len(FRAMES))]
    return any(
        start + frame.index(b"\n") < byte < start + len(frame) for start, frame in zip(starts, FRAMES, strict=True)
    )


@pytest.mark.parametrize("kind", ["browser", "fetch-sse"])
@pytest.mark.parametrize("fault", ["cut", "reset", "end"])
def test_wherever_the_stream_breaks_the_view_is_whole(kind: str, fault: FaultKind) -> None:
    views = [watch(kind, Fault(at=Place(byte=byte), kind=fault)).view for byte in BYTES]
    assert views == [ALL] * len(BYTES)


@pytest.mark.parametrize("chunk_bytes", [1, 2, 7])
@pytest.mark.parametrize("kind", ["browser", "fetch-sse", "fetch-event-source", "ai-sdk-ui", "cli"])
def test_however_the_stream_is_cut_into_chunks_the_view_is_the_same(kind: str, chunk_bytes: int) -> None:
    assert watch(kind, shape=Shape(chunk_bytes=chunk_bytes, latency_ns=3, ns_per_byte=1)).view == ALL
    assert watch(kind, shape=Shape(chunk_bytes=chunk_bytes, gather_ns=None)).view == ALL


def test_fetch_event_source_loses_an_event_exactly_when_the_cut_falls_after_its_id_line() -> None:
    lossy = [byte for byte in BYTES if watch("fetch-event-source", Fault(at=Place(byte=byte))).view != ALL]
    assert lossy == [byte for byte in BYTES if after_id_line(byte)]


def test_fetch_event_source_asks_for_ever_when_there_is_nothing_left_to_send() -> None:
    world = watch("fetch-event-source", Fault(at=Place(frames=3)))
    assert world.requests == [("GET", None), *[("GET", "r1:3")] * PATIENCE]
    assert world.reasons == ["closed"]


def test_the_same_cut_by_frame_and_line_loses_the_second_event_of_fetch_event_source_alone() -> None:
    fault = Fault(at=Place(frames=1, lines=1))
    assert watch("fetch-event-source", fault).view == ["é1", "é3"]
    assert watch("browser", fault).view == ALL


@pytest.mark.parametrize("kind", ["ai-sdk-ui", "cli", "fetch-event-source"])
def test_a_clean_end_that_comes_early_is_the_end_for_programs_that_trust_it(kind: str) -> None:
    for byte in BYTES:
        world = watch(kind, Fault(at=Place(byte=byte), kind="end"))
        whole = sum(byte >= len(b"".join(FRAMES[: number + 1])) for number in range(len(FRAMES)))
        assert world.view == ALL[:whole]
        assert world.reasons == ["ended"]


def test_a_browser_comes_to_rest_only_at_204() -> None:
    world = watch("browser")
    assert world.requests == [("GET", None), ("GET", "r1:3")]
    assert world.reasons == ["nothing-there"]


def test_a_link_that_is_down_for_a_while_is_tried_again_and_again() -> None:
    world = watch("fetch-sse", Fault(at=Place(frames=1), lasts_ns=950))
    assert world.view == ALL
    assert world.requests == [("GET", None), ("GET", "r1:1"), ("GET", "r1:3")]


def test_a_way_that_stalls_and_recovers_delivers_everything_late() -> None:
    assert watch("cli", Fault(at=Place(frames=1, half=True), kind="half_open", lasts_ns=500)).view == ALL


def test_breaks_on_every_connection_still_come_to_an_end() -> None:
    world = watch("browser", Fault(at=Place(frames=1, byte=3), connection=0))
    assert world.view == ALL
    assert [cursor for _, cursor in world.requests] == [None, "r1:1", "r1:2", "r1:3"]
