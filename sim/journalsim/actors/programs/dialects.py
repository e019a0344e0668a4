"""Decodes event streams as well-known programs do, where they depart from the standard.

Each class follows the decoder of one public program, checked against it byte for byte in ``tests/unit/sse``; a server's
stream must survive all of them. The standard's own reading is :class:`journalsim.contract.sse.Decoder`.

===============================================  ==========  ====================  ==================
bytes                                            standard    httpx-sse             fetch-event-source
===============================================  ==========  ====================  ==================
byte order mark before the first field           stripped    first line lost       stripped
byte order mark at the start of a value          preserved   preserved             stripped
a block without data                             no event    an event if a field   an event, always
                                                             or an earlier id
a comment and a blank line                       no event    an event after an id  an event
first data line is empty                         preserved   preserved             dropped
a field name without a colon                     applied     applied               ignored
``id`` with NUL                                  ignored     ignored               applied
``retry: 5s``                                    ignored     ignored               5
cursor moves                                     at the      at the id line        at the id line
                                                 blank line
===============================================  ==========  ====================  ==================
"""

from __future__ import annotations

import re
from collections.abc import Callable

from journalsim.contract.sse import BOM, EVENT_BYTES_MAX, Block, LineReader, SseEvent, split_field

SET_TIMEOUT_MS_MAX = 2**31 - 1  # a longer setTimeout fires at once, in every JavaScript engine

_JS_BLANK = "[\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*"
_PARSE_INT = re.compile(rf"{_JS_BLANK}([+-]?)0*([0-9]+)")


class HttpxSseDecoder(LineReader):
    """Decodes as httpx-sse 0.4.3 does; the decoders of the openai and anthropic SDKs descend from it.

    A blank line yields an event whenever there was a field or, ever since, an id: a heartbeat that ends in a blank line
    becomes an event with empty data. httpx-sse holds a CR at the end of a chunk back until the next byte, which no
    server of today would notice; this class does not.
    """

    def __init__(self, *, event_bytes_max: int = EVENT_BYTES_MAX) -> None:
        super().__init__(event_bytes_max)
        self.last_id_seen = ""
        self.last_id_dispatched = ""
        self.retry_ms: int | None = None
        self._retried = False

    def _take(self, line: bytes) -> list[SseEvent]:
        if not line:
            return self._dispatch()
        name, value = split_field(line.decode("utf-8", "replace"))
        if name == "data":
            self._block.data.append(value)
            self._block.bytes += len(line)
        elif name == "event":
            self._block.type = value
        elif name == "id" and "\0" not in value:
            self.last_id_seen = self._block.id = value
        elif name == "retry":
            self._take_retry(value)
        return []

    def _take_retry(self, value: str) -> None:
        try:
            self.retry_ms = int(value)
        except ValueError:
            return
        self._retried = True

    def _dispatch(self) -> list[SseEvent]:
        block = self._block
        if not (block.type or block.data or self.last_id_seen or self._retried):
            return []
        self._block, self._retried = Block(), False
        self.last_id_dispatched = self.last_id_seen
        return [SseEvent("\n".join(block.data), block.type or "message", self.last_id_seen, block.id)]


class FetchEventSourceDecoder(LineReader):
    """Decodes as @microsoft/fetch-event-source 2.0.1 does: every blank line is an event, and an id counts at once."""

    def __init__(self, on_id: Callable[[str], None], *, event_bytes_max: int = EVENT_BYTES_MAX) -> None:
        """Begins a connection.

        Args:
            on_id: called with each id as soon as its line has ended.
            event_bytes_max: the most bytes to hold for one event.
        """
        super().__init__(event_bytes_max)
        self.retry_ms: int | None = None
        self._on_id = on_id

    def _take(self, line: bytes) -> list[SseEvent]:
        if not line:
            block, self._block = self._block, Block()
            return [SseEvent("\n".join(block.data), block.type or "message", block.id or "", block.id)]
        name, colon, rest = line.partition(b":")
        if colon:
            self._take_field(_text(name), _text(rest.removeprefix(b" ")))
        return []

    def _take_field(self, name: str, value: str) -> None:
        block = self._block
        if name == "data" and (value or block.data):  # the library tests for text, not for a line
            block.data.append(value)
            block.bytes += len(value) + 1
        elif name == "event":
            block.type = value
        elif name == "id":
            block.id = value
            self._on_id(value)
        elif name == "retry":
            self.retry_ms = parse_int(value, self.retry_ms)


def parse_int(text: str, otherwise: int | None) -> int | None:
    """Returns the result of JavaScript's ``parseInt(text, 10)``, with ``otherwise`` for NaN."""
    found = _PARSE_INT.match(text)
    if found is None:
        return otherwise
    return int(found[1] + found[2][:20])  # more digits make no difference to any timer


def timer_ms(wanted_ms: int) -> int:
    """Returns the time that JavaScript's ``setTimeout`` really waits, milliseconds."""
    return wanted_ms if 0 <= wanted_ms <= SET_TIMEOUT_MS_MAX else 0


def _text(data: bytes) -> str:
    return data.removeprefix(BOM).decode("utf-8", "replace")
