"""httpx-sse reads the same bytes: as the standard where it follows it, and as our copy of its ways everywhere."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from journalsim.actors.programs.dialects import HttpxSseDecoder
from journalsim.contract.sse import BOM, Decoder, SseEvent, encode_comment, encode_event, encode_json

sys.path.insert(0, str(Path(__file__).parents[1] / "properties"))
from sse_rules import cut_up, hostile_wire

httpx = pytest.importorskip("httpx", reason="httpx and httpx-sse are not installed: pip install 'journalsim[test]'")
httpx_sse = pytest.importorskip("httpx_sse", reason="httpx-sse is not installed: pip install 'journalsim[test]'")

Told = list[tuple[str, str, str]]


class Chunks(httpx.SyncByteStream):
    """A response body that arrives in exactly these chunks."""

    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        yield from (chunk for chunk in self._chunks if chunk)


def read_by_httpx(chunks: list[bytes]) -> Told:
    response = httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Chunks(chunks))
    return [(event.event, event.data, event.id) for event in httpx_sse.EventSource(response).iter_sse()]


def told(events: list[SseEvent]) -> Told:
    return [(event.type, event.data, event.last_event_id) for event in events]


def test_it_reads_hostile_streams_as_its_copy_does() -> None:
    """Ten thousand streams, each cut up, the invalid ones too."""
    chance = random.Random(5)
    seen = 0
    for _ in range(10_000):
        wire = hostile_wire(chance)
        expected = told(HttpxSseDecoder().feed(wire))
        assert read_by_httpx(cut_up(chance, wire)) == expected, wire
        seen += len(expected)
    assert seen > 5_000


def test_it_reads_what_our_encoder_writes_as_the_standard_does() -> None:
    """Events with data, ids that stay, comments without a blank line: nothing of it is taken differently."""
    chance = random.Random(6)
    texts = ("", "a", "a\n\nb", "\n", "\u2028\u0085\x0b\x0c", "data: x\nid: 9", "😀", "\ufeff", "\0")
    for _ in range(2_000):
        wire = b""
        for number in range(chance.randrange(1, 6)):
            text, id = chance.choice(texts), chance.choice((None, f"r1:{number}"))
            event = chance.choice((None, "gap"))
            wire += chance.choice((encode_event, encode_json))(text, id=id, event=event)
            wire += chance.choice((b"", encode_comment(text)))
        assert read_by_httpx(cut_up(chance, wire)) == told(Decoder().feed(wire)), wire


@pytest.mark.parametrize(
    "wire",
    [
        BOM + b"data: a\n\n",
        b"id: 1\ndata: a\n\n: heartbeat\n\n",
        b"id: 7\n\n",
        b"event: x\n\n",
        b"retry: 5\n\n",
    ],
)
def test_where_it_departs_from_the_standard_its_copy_does_too(wire: bytes) -> None:
    """A failure means that the library has changed: see the table in ``journalsim.actors.programs.dialects``."""
    assert read_by_httpx([wire]) == told(HttpxSseDecoder().feed(wire)) != told(Decoder().feed(wire))
