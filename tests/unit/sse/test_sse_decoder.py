"""What the standard makes of bytes, rule by rule."""

from __future__ import annotations

import pytest

from journalsim.contract.sse import BOM, RETRY_MS_MAX, Decoder, EventTooLargeError, SseEvent, encode_event


def read(*chunks: bytes) -> list[SseEvent]:
    decoder = Decoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)]


def data_of(wire: bytes) -> list[str]:
    return [event.data for event in read(wire)]


@pytest.mark.parametrize(
    ("wire", "data"),
    [
        (b"data: a\n\n", ["a"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data:\ta\n\n", ["\ta"]),
        (b"data\n\n", [""]),
        (b"data:\n\n", [""]),
        (b"data\ndata\n\n", ["\n"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data: a\n\n\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a: b\n\n", ["a: b"]),
        (b"data: data: a\n\n", ["data: a"]),
        (b"Data: a\nDATA: b\n\n", []),
        (b" data: a\n\n", []),
        (b"data : a\n\n", []),
        (b"foo: a\nbar\ndata: b\n\n", ["b"]),
        (b": data: a\n:\n:::\ndata: b\n\n", ["b"]),
        (b":\n\n", []),
        (b"data: a\n", []),
        (b"data: a", []),
        (b"data: a\0b\n\n", ["a\0b"]),
        ("data: a\u2028b\u0085c\x0bd\x0ce\x1cf\n\n".encode(), ["a\u2028b\u0085c\x0bd\x0ce\x1cf"]),
        (b"data: a\r\rdata: b\r\n\r\ndata: c\n\n", ["a", "b", "c"]),
        (b"data: a\n\rdata: b\r\n\n", ["a", "b"]),
        (b"data: a\r\n\ndata: b\n\r\n", ["a", "b"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b"data: \xe2\x82\n\n", ["\ufffd"]),
        (b"data: \xf0\x9f\x98\r\rdata: b\r\r", ["\ufffd", "b"]),
        (b"data: \xed\xa0\x80\n\n", ["\ufffd\ufffd\ufffd"]),
        (b"data: \xc0\x80\n\n", ["\ufffd\ufffd"]),
        (b"\xffdata: a\n\n", []),
    ],
)
def test_data_follows_the_rules(wire: bytes, data: list[str]) -> None:
    assert data_of(wire) == data


@pytest.mark.parametrize(
    ("wire", "data"),
    [
        (BOM + b"data: a\n\n", ["a"]),
        (BOM + BOM + b"data: a\n\ndata: b\n\n", ["b"]),
        (b"data: a\n\n" + BOM + b"data: b\n\n", ["a"]),
        (b"\n" + BOM + b"data: a\n\n", []),
        (BOM + b"\ndata: a\n\n", ["a"]),
        (BOM[:2] + b"data: a\n\n", []),
        (b"data: " + BOM + b"a\n\n", ["\ufeffa"]),
    ],
)
def test_one_byte_order_mark_is_stripped_at_the_very_start(wire: bytes, data: list[str]) -> None:
    assert data_of(wire) == data


@pytest.mark.parametrize(
    ("wire", "kinds"),
    [
        (b"event: x\ndata: a\n\ndata: b\n\n", ["x", "message"]),
        (b"event: x\nevent: y\ndata: a\n\n", ["y"]),
        (b"event: x\nevent\ndata: a\n\n", ["message"]),
        (b"event: x\n\ndata: a\n\n", ["message"]),
    ],
)
def test_the_type_holds_for_one_event(wire: bytes, kinds: list[str]) -> None:
    assert [event.type for event in read(wire)] == kinds


@pytest.mark.parametrize(
    ("wire", "ids"),
    [
        (b"id: 1\ndata: a\n\ndata: b\n\n", ["1", "1"]),
        (b"id: 1\ndata: a\n\nid\ndata: b\n\n", ["1", ""]),
        (b"id: 1\ndata: a\n\nid:\ndata: b\n\n", ["1", ""]),
        (b"id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n", ["1", "1"]),
        (b"id: 1\nid: 2\ndata: a\n\n", ["2"]),
        (b"id: 1\nid: 2\0\ndata: a\n\n", ["1"]),
        (b"id:  1 \ndata: a\n\n", [" 1 "]),
        (b"data: a\nid: 1\n\n", ["1"]),
        (b"id: 1\n\ndata: a\n\n", ["1"]),
        ("id: …\ndata: a\n\n".encode(), ["…"]),
    ],
)
def test_the_last_id_stays_until_another_valid_one(wire: bytes, ids: list[str]) -> None:
    assert [event.last_event_id for event in read(wire)] == ids


def test_an_event_says_whether_the_id_is_its_own() -> None:
    assert [event.id for event in read(b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n")] == ["1", None, ""]


def test_an_id_is_seen_at_its_line_and_dispatched_at_the_blank_line() -> None:
    decoder = Decoder()
    decoder.feed(b"id: 1\ndata: a\n\nid: 2\ndata: b\n")
    assert (decoder.last_id_seen, decoder.last_id_dispatched) == ("2", "1")
    decoder.feed(b"\n")
    assert (decoder.last_id_seen, decoder.last_id_dispatched) == ("2", "2")


def test_a_block_with_nothing_but_an_id_moves_the_cursor_without_an_event() -> None:
    decoder = Decoder()
    assert decoder.feed(b"id: 7\n\n") == []
    assert decoder.last_id_dispatched == "7"


def test_the_cursor_of_the_connection_before_is_carried_over() -> None:
    decoder = Decoder("6")
    assert decoder.feed(b"data: a\n\n") == [SseEvent("a", last_event_id="6")]


@pytest.mark.parametrize(
    ("value", "retry_ms"),
    [
        ("1500", 1500),
        ("0", 0),
        ("007", 7),
        ("0" * 5000 + "7", 7),
        ("9" * 5000, RETRY_MS_MAX),
        (str(RETRY_MS_MAX), RETRY_MS_MAX),
        (str(RETRY_MS_MAX + 1), RETRY_MS_MAX),
        ("", None),
        ("-1", None),
        ("+1", None),
        ("1.5", None),
        ("5s", None),
        ("1_000", None),
        ("٣", None),
        ("²", None),
        (" 5", None),
    ],
)
def test_retry_takes_ascii_digits_alone(value: str, retry_ms: int | None) -> None:
    decoder = Decoder()
    assert decoder.feed(f"retry: {value}\n\n".encode()) == []
    assert decoder.retry_ms == retry_ms


def test_retry_counts_from_its_line_on() -> None:
    decoder = Decoder()
    decoder.feed(b"retry: 5\n")
    assert decoder.retry_ms == 5


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n"])
def test_an_event_is_due_with_the_last_byte_that_it_needs(end: bytes) -> None:
    decoder = Decoder()
    wire = b"data: a" + end + end[:1]
    got = [decoder.feed(wire[i : i + 1]) for i in range(len(wire))]
    assert [len(events) for events in got] == [0] * (len(wire) - 1) + [1]


@pytest.mark.parametrize(
    ("chunks", "data"),
    [
        ((b"data: a\r", b"\ndata: b\n\n"), ["a\nb"]),
        ((b"data: a\r", b"", b"\n\r\n"), ["a"]),
        ((b"data: a\r", b"\r"), ["a"]),
        ((b"data: a\rdata: b", b"\ndata: c\n\n"), ["a\nb\nc"]),
        ((b"data: \xf0\x9f", b"\x98", b"\x80\n", b"\n"), ["😀"]),
        ((b"\xef", b"\xbb", b"\xbfda", b"ta: a\n\n"), ["a"]),
    ],
)
def test_chunks_may_be_cut_anywhere(chunks: tuple[bytes, ...], data: list[str]) -> None:
    assert [event.data for event in read(*chunks)] == data


@pytest.mark.parametrize(
    ("wire", "inside"),
    [
        (b"", False),
        (b"data: a\n\n", False),
        (b": hb\n", False),
        (b"retry: 5\n", False),
        (b"d", True),
        (b"data: a\n", True),
        (b"event: x\n", True),
        (b"id\n", True),
        (b"id: 1\n\n", False),
    ],
)
def test_a_stream_that_ends_inside_an_event_can_be_told(wire: bytes, inside: bool) -> None:
    decoder = Decoder()
    decoder.feed(wire)
    assert decoder.inside_event is inside


def test_a_line_without_end_is_refused_at_the_bound() -> None:
    decoder = Decoder(event_bytes_max=10)
    assert decoder.feed(b"data: aaaa") == []
    with pytest.raises(EventTooLargeError, match="an event of the stream is longer than 10 bytes: reading has stopped"):
        decoder.feed(b"a")


def test_the_lines_of_one_event_count_together() -> None:
    decoder = Decoder(event_bytes_max=10)
    decoder.feed(b"data:\ndata:")
    with pytest.raises(EventTooLargeError):
        decoder.feed(b"\ndata:\n")


def test_events_and_comments_in_good_size_may_go_on_for_ever() -> None:
    decoder = Decoder(event_bytes_max=10)
    assert sum(len(decoder.feed(b": beat\ndata: a\n\n: beat\n")) for _ in range(50)) == 50


def test_what_came_before_the_bound_is_not_lost_and_nothing_comes_after_it() -> None:
    decoder = Decoder(event_bytes_max=10)
    with pytest.raises(EventTooLargeError) as caught:
        decoder.feed(b"data: a\n\n" + encode_event("long" * 9) + b"data: b\n\n")
    assert [event.data for event in caught.value.events] == ["a"]
    with pytest.raises(EventTooLargeError) as caught:
        decoder.feed(b"\n\ndata: c\n\n")
    assert caught.value.events == ()
