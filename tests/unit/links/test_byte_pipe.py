"""One direction of a connection: what arrives when, in which chunks, and what a fault leaves of it."""

from __future__ import annotations

import pytest

from journalsim.actors.wire.byte_pipe import Arrival, BytePipe, Fault, Place, Shape

FRAMES = (b"id: 1\ndata: a\n\n", b"id: 2\ndata: b\n\n", b"id: 3\ndata: c\n\n")
WIRE = b"".join(FRAMES)


def drain(pipe: BytePipe) -> list[tuple[int, Arrival]]:
    """Everything that arrives, with its time."""
    arrived = []
    while (due := pipe.next_due_ns()) is not None:
        arrived += [(due, arrival) for arrival in pipe.advance(due)]
    return arrived


def written(shape: Shape | None = None, *faults: Fault, gap_ns: int = 10) -> BytePipe:
    """A pipe into which a frame went every ``gap_ns``, and then the end."""
    pipe = BytePipe(shape or Shape(), faults)
    pipe.strike(0)
    for number, frame in enumerate(FRAMES):
        pipe.write(number * gap_ns, frame)
    pipe.finish(len(FRAMES) * gap_ns)
    return pipe


def received(pipe: BytePipe) -> tuple[bytes, str]:
    """The bytes that arrived, and what came after them."""
    arrivals = [arrival for _, arrival in drain(pipe)]
    data = b"".join(arrival.data for arrival in arrivals)
    return data, " ".join(arrival.kind for arrival in arrivals if arrival.kind != "bytes")


def chunks(pipe: BytePipe) -> list[tuple[int, bytes]]:
    return [(due, arrival.data) for due, arrival in drain(pipe) if arrival.kind == "bytes"]


# --- the way


def test_without_faults_each_frame_arrives_at_once_and_then_the_end() -> None:
    assert drain(written()) == [
        *((10 * number, Arrival("bytes", frame)) for number, frame in enumerate(FRAMES)),
        (30, Arrival("end")),
    ]


def test_latency_delays_and_keeps_the_order() -> None:
    assert [due for due, _ in drain(written(Shape(latency_ns=25)))] == [25, 35, 45, 55]


def test_a_slow_reader_gets_each_chunk_when_it_has_read_it() -> None:
    assert [due for due, _ in drain(written(Shape(ns_per_byte=2)))] == [30, 60, 90, 90]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (Shape(gather_ns=15), [(15, FRAMES[0] + FRAMES[1]), (30, FRAMES[2])]),
        (Shape(gather_ns=None), [(30, WIRE)]),
        (Shape(gather_ns=None, gather_bytes=20), [(10, FRAMES[0] + FRAMES[1]), (30, FRAMES[2])]),
        (Shape(gather_ns=None, capacity_bytes=16), [(10, FRAMES[0] + FRAMES[1]), (30, FRAMES[2])]),
        (Shape(gather_ns=None, gather_bytes=99, capacity_bytes=16), [(10, FRAMES[0] + FRAMES[1]), (30, FRAMES[2])]),
    ],
)
def test_a_proxy_gathers_frames(shape: Shape, expected: list[tuple[int, bytes]]) -> None:
    pipe = BytePipe(shape)
    arrived = []
    for number, frame in enumerate(FRAMES):
        arrived += [(10 * number, arrival) for arrival in pipe.advance(10 * number)]
        pipe.write(10 * number, frame)
        while (due := pipe.next_due_ns()) is not None and due < 10 * (number + 1):
            arrived += [(due, arrival) for arrival in pipe.advance(due)]
    pipe.finish(30)
    arrived += drain(pipe)
    assert [(due, arrival.data) for due, arrival in arrived if arrival.kind == "bytes"] == expected


def test_chunks_can_be_cut_at_every_multiple_and_at_given_offsets() -> None:
    pipe = written(Shape(chunk_bytes=10, split_at=(37, 3, 99)))
    lengths = [len(data) for _, data in chunks(pipe)]
    assert lengths == [3, 7, 5, 5, 10, 7, 3, 5]
    offsets = [sum(lengths[:n]) for n in range(len(lengths) + 1)]
    assert {3, 10, 15, 20, 30, 37, 40} < set(offsets)


def test_chunks_of_one_byte_are_the_stream_byte_by_byte() -> None:
    assert [data for _, data in chunks(written(Shape(chunk_bytes=1)))] == [bytes([byte]) for byte in WIRE]


def test_a_frame_of_no_bytes_is_a_frame_all_the_same() -> None:
    pipe = BytePipe(Shape(), (Fault(at=Place(frames=1)),))
    assert len(pipe.write(0, b"")) == 1
    assert pipe.frames == 1


# --- back pressure


def test_a_paused_reader_fills_the_pipe_and_the_writer_has_to_wait() -> None:
    pipe = BytePipe(Shape(capacity_bytes=20))
    pipe.paused = True
    pipe.write(0, FRAMES[0])
    assert pipe.writable
    pipe.write(0, FRAMES[1])
    assert not pipe.writable
    with pytest.raises(ValueError, match="the pipe holds 30 bytes and is full: wait until it is writable"):
        pipe.write(0, FRAMES[2])
    assert pipe.next_due_ns() is None
    assert pipe.advance(5) == ()
    pipe.paused = False
    assert pipe.next_due_ns() == 0
    assert pipe.advance(5) == (Arrival("bytes", FRAMES[0]), Arrival("bytes", FRAMES[1]), Arrival("writable"))
    assert pipe.advance(5) == ()


def test_the_pipe_never_holds_more_than_its_capacity_and_one_frame() -> None:
    pipe = BytePipe(Shape(capacity_bytes=100, ns_per_byte=1, gather_ns=3, chunk_bytes=4))
    sent = got = 0
    for now_ns in range(3_000):
        if pipe.writable:
            pipe.write(now_ns, FRAMES[0])
            sent += len(FRAMES[0])
        got += sum(len(arrival.data) for arrival in pipe.advance(now_ns))
        assert sent - got < 100 + len(FRAMES[0])
    assert got > 2_500


# --- faults


@pytest.mark.parametrize("byte", range(len(WIRE) + 1))
def test_a_cut_at_any_byte_leaves_what_came_before_and_an_error(byte: int) -> None:
    fault = Fault(at=Place(byte=byte), kind="cut")
    assert received(written(None, fault)) == (WIRE[:byte], "error")


@pytest.mark.parametrize(
    ("at", "byte"),
    [
        (Place(), 0),
        (Place(frames=1), 15),
        (Place(frames=3), 45),
        (Place(frames=1, byte=4), 19),
        (Place(frames=1, byte=20), 35),
        (Place(frames=1, lines=1), 21),
        (Place(frames=1, lines=2), 29),
        (Place(frames=1, lines=9), 30),
        (Place(frames=1, half=True), 22),
    ],
)
def test_a_place_is_so_many_frames_and_so_much_of_the_next(at: Place, byte: int) -> None:
    assert received(written(None, Fault(at=at))) == (WIRE[:byte], "error")


def test_a_place_that_the_stream_never_reaches_changes_nothing() -> None:
    faults = (Fault(at=Place(frames=4)), Fault(at=Place(frames=3, lines=1)), Fault(at=Place(byte=46)))
    assert received(written(None, *faults)) == (WIRE, "end")


@pytest.mark.parametrize(
    ("kind", "left", "after"),
    [("cut", WIRE[:20], "error"), ("end", WIRE[:20], "end"), ("reset", b"", "error"), ("half_open", WIRE[:20], "")],
)
def test_each_fault_leaves_something_else(kind: str, left: bytes, after: str) -> None:
    fault = Fault(at=Place(byte=20), kind=kind)  # type: ignore[arg-type]
    assert received(written(Shape(latency_ns=100), fault)) == (left, after)


def test_a_reset_takes_what_arrives_at_the_same_instant_but_not_what_came_before() -> None:
    fault = Fault(at=Place(frames=2, half=True), kind="reset")
    assert received(written(Shape(latency_ns=10), fault)) == (FRAMES[0], "error")


@pytest.mark.parametrize("kind", ["cut", "end", "half_open"])
def test_what_a_proxy_has_gathered_arrives_before_the_fault_is_felt(kind: str) -> None:
    fault = Fault(at=Place(byte=20), kind=kind)  # type: ignore[arg-type]
    assert received(written(Shape(gather_ns=None), fault))[0] == WIRE[:20]


def test_a_half_open_way_that_lasts_delivers_later_what_it_held_back() -> None:
    fault = Fault(at=Place(byte=20), kind="half_open", lasts_ns=500)
    arrived = drain(written(None, fault))
    assert [due for due, _ in arrived] == [0, 10, 510, 510, 510]
    assert b"".join(arrival.data for _, arrival in arrived) == WIRE
    assert arrived[-1][1].kind == "end"


def test_a_half_open_way_fills_up_and_never_empties() -> None:
    pipe = BytePipe(Shape(capacity_bytes=20, gather_ns=5), (Fault(kind="half_open"),))
    pipe.strike(0)
    pipe.write(0, FRAMES[0])
    pipe.write(1, FRAMES[1])
    assert drain(pipe) == []
    assert pipe.dead
    assert not pipe.writable
    pipe.fail(9)
    assert received(pipe) == (b"", "writable")


def test_several_faults_happen_in_the_order_of_their_places() -> None:
    stall = Fault(at=Place(byte=5), kind="half_open", lasts_ns=50)
    cut = Fault(at=Place(byte=9), kind="cut")
    pipe = BytePipe(Shape(), (cut, stall))
    assert pipe.write(0, FRAMES[0]) == (stall, cut)
    assert drain(pipe) == [(0, Arrival("bytes", WIRE[:5])), (50, Arrival("bytes", WIRE[5:9])), (50, Arrival("error"))]


def test_after_the_end_whatever_is_written_is_lost() -> None:
    pipe = written()
    assert pipe.write(50, b"late") == ()
    pipe.finish(50)
    pipe.fail(50, lose=True)
    assert received(pipe) == (WIRE, "end")
    assert pipe.over


def test_a_reader_that_is_gone_gets_nothing_and_frees_the_writer() -> None:
    pipe = BytePipe(Shape(latency_ns=5, capacity_bytes=10))
    pipe.write(0, FRAMES[0])
    pipe.abandon()
    assert drain(pipe) == [(0, Arrival("writable"))]
    assert pipe.write(1, FRAMES[1]) == ()
    assert drain(pipe) == []


def test_a_reader_that_is_gone_unnoticed_lets_the_pipe_fill_up() -> None:
    pipe = BytePipe(Shape(latency_ns=5, capacity_bytes=20))
    pipe.write(0, FRAMES[0])
    pipe.abandon(unnoticed=True)
    pipe.write(1, FRAMES[1])
    assert not pipe.writable
    assert drain(pipe) == []


def test_a_reader_that_is_gone_after_the_end_leaves_nothing_behind() -> None:
    pipe = written(Shape(latency_ns=5))
    pipe.abandon(unnoticed=True)
    assert drain(pipe) == []
    assert pipe.over
    assert not pipe.dead


@pytest.mark.parametrize(
    ("place", "complaint"),
    [
        ({"frames": -1}, "cannot be negative"),
        ({"byte": 1, "lines": 1}, "give one of byte, lines and half"),
        ({"lines": 1, "half": True}, "give one of byte, lines and half"),
    ],
)
def test_a_place_that_makes_no_sense_is_refused(place: dict[str, int], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Place(**place)  # type: ignore[arg-type]


def test_a_way_that_is_silent_for_ever_is_not_woken_by_a_shorter_silence() -> None:
    """Otherwise the reader would get the end of a stream without its middle, which no network does."""
    silences = (Fault(at=Place(byte=5), kind="half_open"), Fault(at=Place(byte=9), kind="half_open", lasts_ns=50))
    assert received(written(None, *silences)) == (WIRE[:5], "")


def test_the_longer_of_two_silences_counts() -> None:
    silences = (
        Fault(at=Place(byte=5), kind="half_open", lasts_ns=500),
        Fault(at=Place(byte=9), kind="half_open", lasts_ns=1),
    )
    assert [due for due, _ in drain(written(None, *silences))][1:3] == [500, 500]
