"""The standard's rules once more, read off its text for a whole stream at once: what the decoder is compared with."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from typing import NamedTuple

from journalsim.contract.sse import BOM, RETRY_MS_MAX, Decoder, SseEvent


class Reading(NamedTuple):
    """Everything that a stream leaves behind in a reader."""

    events: list[SseEvent]
    dispatched: str
    seen: str
    retry_ms: int | None


def by_the_rules(wire: bytes) -> Reading:
    """9.2.5 and 9.2.6 of the HTML standard, step by step, without any thought of chunks."""
    text = wire.removeprefix(BOM).decode("utf-8", "replace")
    lines = re.split("\r\n|\r|\n", text)[:-1]  # what follows the last line end is no line
    events = []
    data, kind, id_buffer, last_id, own_id, retry = "", "", "", "", None, None
    for line in lines:
        if line == "":
            last_id = id_buffer
            if data != "":
                events.append(SseEvent(data[:-1], kind or "message", last_id, own_id))
            data, kind, own_id = "", "", None
        elif not line.startswith(":"):
            name, value = re.fullmatch(r"([^:]*)(?::\x20?(.*))?", line, re.DOTALL).groups("")  # type: ignore[union-attr]
            if name == "event":
                kind = value
            elif name == "data":
                data += value + "\n"
            elif name == "id" and "\0" not in value:
                id_buffer = own_id = value
            elif name == "retry" and re.fullmatch("[0-9]+", value):
                retry = min(int(value), RETRY_MS_MAX)
    return Reading(events, last_id, id_buffer, retry)


def by_the_decoder(chunks: list[bytes]) -> Reading:
    """What the decoder makes of the chunks, fed one after the other."""
    decoder = Decoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return Reading(events, decoder.last_id_dispatched, decoder.last_id_seen, decoder.retry_ms)


_FIELDS = (b"data: ", b"data: ", b"data:", b"data", b"id: ", b"id", b"event: ", b"retry: ", b": ", b":")
_ENDS = (b"\n", b"\r", b"\r\n")
_PIECES = (
    *_FIELDS,
    *(b"\n", b"\n", b"\n\n", b"\r", b"\r\r", b"\r\n", b"\r\n\r\n"),
    *(b"a", b"7", b"12", b" ", b"\0", b"\t", b"\x0b", b"x\x1cy"),
    *("é\u2028\u0085😀".encode(), BOM, BOM[:2], BOM[2:], b"\xf0\x9f", b"\x98\x80", b"\xed\xa0\x80", b"\xff", b"\xc3"),
)


def hostile_wire(chance: random.Random) -> bytes:
    """Bytes that are an event stream, or nearly one, and now and then anything at all."""
    manner = chance.random()
    if manner < 0.05:
        return chance.randbytes(chance.randrange(40))
    if manner < 0.5:
        return b"".join(chance.choices(_PIECES, k=chance.randrange(14)))
    lines = []
    for _ in range(chance.randrange(1, 4)):
        for _ in range(chance.randrange(1, 4)):
            lines.append(b"".join((chance.choice(_FIELDS), *chance.choices(_PIECES, k=chance.randrange(3)))))
        lines.append(b"")
    end = chance.choice(_ENDS)
    return b"".join(line + (end if chance.random() < 0.9 else chance.choice(_ENDS)) for line in lines)


def cut_up(chance: random.Random, wire: bytes) -> list[bytes]:
    """The same bytes in chunks: one by one, or cut at a few places."""
    if chance.random() < 0.2:
        return [wire[i : i + 1] for i in range(len(wire))]
    cuts = sorted(chance.randrange(len(wire) + 1) for _ in range(chance.randrange(1, 5)))
    edges = [0, *cuts, len(wire)]
    return [wire[a:b] for a, b in pairwise(edges)]
