"""Where known programs depart from the standard: the table of ``journalsim.actors.programs.dialects``, row by row."""

from __future__ import annotations

import pytest

from journalsim.actors.programs.dialects import (
    SET_TIMEOUT_MS_MAX,
    FetchEventSourceDecoder,
    HttpxSseDecoder,
    parse_int,
    timer_ms,
)
from journalsim.contract.sse import BOM, Decoder, EventTooLargeError, LineReader


def fetch_event_source() -> FetchEventSourceDecoder:
    return FetchEventSourceDecoder(lambda id: None)


def read(decoder: LineReader, wire: bytes) -> list[tuple[str, str]]:
    return [(event.type, event.data) for event in decoder.feed(wire)]


def message(*data: str) -> list[tuple[str, str]]:
    return [("message", text) for text in data]


@pytest.mark.parametrize(
    ("wire", "standard", "httpx_sse", "fetch"),
    [
        (BOM + b"data: a\n\ndata: b\n\n", message("a", "b"), message("b"), message("a", "b")),
        (b"data: " + BOM + b"a\n\n", message("\ufeffa"), message("\ufeffa"), message("a")),
        (b"data\n\n", message(""), message(""), message("")),
        (b"data\ndata: a\n\n", message("\na"), message("\na"), message("a")),
        (b"data: \ndata: a\n\n", message("\na"), message("\na"), message("a")),
        (b"data: a\ndata: \ndata: b\n\n", message("a\n\nb"), message("a\n\nb"), message("a\n\nb")),
        (b"\n\n", [], [], message("", "")),
        (b": hb\n\n", [], [], message("")),
        (b"id: 7\n\n", [], message(""), message("")),
        (b"id: 7\ndata: a\n\n: hb\n\n", message("a"), message("a", ""), message("a", "")),
        (b"event: x\n\n", [], [("x", "")], [("x", "")]),
        (b"retry: 5\n\n\n", [], message(""), message("", "")),
        (b"retry: 5s\n\n", [], [], message("")),
        (b"foo: x\n\n", [], [], message("")),
        (b"data: a\r\rdata: b", message("a"), message("a"), message("a")),
        (b"data: \xff\n\n", message("\ufffd"), message("\ufffd"), message("\ufffd")),
    ],
)
def test_three_decoders_read_the_same_bytes(
    wire: bytes, standard: list[tuple[str, str]], httpx_sse: list[tuple[str, str]], fetch: list[tuple[str, str]]
) -> None:
    assert read(Decoder(), wire) == standard
    assert read(HttpxSseDecoder(), wire) == httpx_sse
    assert read(fetch_event_source(), wire) == fetch


def test_fetch_event_source_takes_an_id_at_its_line_and_with_a_nul_too() -> None:
    ids: list[str] = []
    FetchEventSourceDecoder(ids.append).feed(b"id: 1\ndata: a\n\nid: 2\0\nid:\nid: half")
    assert ids == ["1", "2\0", ""]


def test_fetch_event_source_reports_the_id_of_the_event_alone() -> None:
    events = fetch_event_source().feed(b"id: 1\ndata: a\n\ndata: b\n\n")
    assert [event.last_event_id for event in events] == ["1", ""]


def test_httpx_sse_keeps_the_id_and_ignores_one_with_a_nul() -> None:
    decoder = HttpxSseDecoder()
    events = decoder.feed(b"id: 1\ndata: a\n\nid: 2\0\ndata: b\n\nid: 3\n")
    assert [event.last_event_id for event in events] == ["1", "1"]
    assert (decoder.last_id_dispatched, decoder.last_id_seen) == ("1", "3")


@pytest.mark.parametrize(("value", "retry_ms"), [("15", 15), (" 15", 15), ("-4", -4), ("1_0", 10), ("5s", None)])
def test_httpx_sse_takes_as_retry_what_python_takes_for_a_number(value: str, retry_ms: int | None) -> None:
    decoder = HttpxSseDecoder()
    decoder.feed(f"retry: {value}\n\n".encode())
    assert decoder.retry_ms == retry_ms


def test_fetch_event_source_keeps_its_retry_when_the_new_one_is_no_number() -> None:
    decoder = fetch_event_source()
    decoder.feed(b"retry: 5s\nretry: soon\n")
    assert decoder.retry_ms == 5


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("\ufeff 12abc", 12), ("-3", -3), ("+3", 3), ("000", 0), ("0x10", 0), ("", None), ("x", None)],
)
def test_parse_int_reads_digits_up_to_the_first_other_character(text: str, number: int | None) -> None:
    assert parse_int(text, None) == number


def test_a_timer_longer_than_javascript_can_count_fires_at_once() -> None:
    waits = [timer_ms(SET_TIMEOUT_MS_MAX), timer_ms(SET_TIMEOUT_MS_MAX + 1), timer_ms(-1)]
    assert waits == [SET_TIMEOUT_MS_MAX, 0, 0]


@pytest.mark.parametrize("wire", [b"data: " + b"a" * 20, b"data: a\n" * 20])
@pytest.mark.parametrize(
    "decoder", [HttpxSseDecoder(event_bytes_max=10), FetchEventSourceDecoder(lambda id: None, event_bytes_max=10)]
)
def test_every_decoder_has_a_bound(decoder: LineReader, wire: bytes) -> None:
    with pytest.raises(EventTooLargeError):
        decoder.feed(wire)
