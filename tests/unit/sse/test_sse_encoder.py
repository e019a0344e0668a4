"""The exact bytes that a server writes, and what it refuses to write."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from journalsim.contract.sse import Decoder, encode_comment, encode_event, encode_json, join_surrogates, json_line

HOSTILE = {
    "nothing": "",
    "a blank first": " indented",
    "line ends": "a\nb\rc\r\nd\n",
    "only line ends": "\r\n\r\n",
    "fields inside": "data: x\nid: 9\nevent: y\nretry: 1\n\n: comment",
    "Unicode line ends": "a\u2028b\u2029c\u0085d\x0be\x0cf",
    "byte order marks": "\ufeffa\n\ufeffb",
    "NUL": "a\0b",
    "lone halves": "\ud83d then \ude00",
    "beyond the basic plane": "😀👩‍👩‍👧",
    "half a flag": "\U0001f1e9",
}


@pytest.mark.parametrize(
    ("arguments", "wire"),
    [
        ({"data": "Hello"}, b"data: Hello\n\n"),
        ({"data": ""}, b"data: \n\n"),
        ({"data": "é", "id": "r1:7"}, b"id: r1:7\ndata: \xc3\xa9\n\n"),
        ({"data": "a\nb\r\nc\rd"}, b"data: a\ndata: b\ndata: c\ndata: d\n\n"),
        ({"data": "a\n"}, b"data: a\ndata: \n\n"),
        ({"data": "\u2028"}, b"data: \xe2\x80\xa8\n\n"),
        ({"data": "x", "event": "gap"}, b"event: gap\ndata: x\n\n"),
        ({"data": None, "id": "7"}, b"id: 7\n\n"),
        ({"data": None, "id": ""}, b"id: \n\n"),
        ({"data": None, "retry_ms": 0}, b"retry: 0\n\n"),
        (
            {"data": "x", "event": "e", "id": "i", "retry_ms": 1500},
            b"id: i\nevent: e\nretry: 1500\ndata: x\n\n",
        ),
    ],
)
def test_an_event_is_written_as_exactly_these_bytes(arguments: dict[str, Any], wire: bytes) -> None:
    assert encode_event(**arguments) == wire


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"data": "x", "id": "a\0b"}, r"id 'a\\x00b' cannot be sent: it holds a NUL character"),
        ({"data": "x", "id": "a\nb"}, r"id 'a\\nb' cannot be sent: it holds a line feed"),
        ({"data": "x", "id": "a\rb"}, r"id 'a\\rb' cannot be sent: it holds a carriage return"),
        ({"data": "x", "id": "\ud800"}, r"id cannot be sent: UTF-8 has no form for the lone surrogate U\+D800"),
        ({"data": "x", "event": "a\nb"}, r"event 'a\\nb' cannot be sent: it holds a line feed"),
        ({"data": "x\udfff"}, r"data cannot be sent: .* U\+DFFF at position 1; send it as JSON"),
        ({"data": "x", "retry_ms": -1}, r"retry_ms cannot be negative \(got -1\)"),
        ({"data": None, "event": "gap"}, r"an event without data is never delivered \(type 'gap'\)"),
        ({"data": None}, "nothing to send"),
    ],
)
def test_what_cannot_be_sent_is_refused(arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        encode_event(**arguments)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_any_text_survives_as_json(text: str) -> None:
    wire = encode_json({"text": text}, event="delta", id="r1:1")
    (event,) = Decoder().feed(wire)
    assert json.loads(event.data) == {"text": text}
    assert (event.type, event.id) == ("delta", "r1:1")
    assert wire.count(b"\n") == 4


@pytest.mark.parametrize("text", [text for name, text in HOSTILE.items() if name != "lone halves"])
def test_raw_text_survives_but_for_the_kind_of_its_line_ends(text: str) -> None:
    (event,) = Decoder().feed(encode_event(text))
    assert event.data == text.replace("\r\n", "\n").replace("\r", "\n")


def test_json_holds_nothing_that_any_client_takes_for_a_line_end() -> None:
    assert len(json_line(dict(HOSTILE)).splitlines()) == 1


def test_json_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode_json({"share": math.nan})


def test_a_character_split_between_two_events_is_whole_once_joined() -> None:
    halves = "\ud83d", "\ude00"
    events = Decoder().feed(b"".join(encode_json(half) for half in halves))
    assert join_surrogates("".join(json.loads(event.data) for event in events)) == "😀"


def test_a_half_that_stays_alone_stays_as_it_is() -> None:
    assert join_surrogates("a\ude00\ud83d") == "a\ude00\ud83d"


@pytest.mark.parametrize(
    ("text", "wire"), [("", b": \n"), ("keep-alive", b": keep-alive\n"), ("a\nid: 9\r\rb", b": a\n: id: 9\n: \n: b\n")]
)
def test_a_comment_is_lines_that_nobody_reads(text: str, wire: bytes) -> None:
    assert encode_comment(text) == wire
    assert Decoder().feed(wire + b"\n\n") == []


def test_a_comment_between_the_lines_of_two_events_changes_neither() -> None:
    wire = encode_event("a", id="1") + encode_comment("hb") + encode_comment() + encode_event("b")
    assert [(event.data, event.last_event_id) for event in Decoder().feed(wire)] == [("a", "1"), ("b", "1")]
