"""Event streams as well-known programs read them, where they depart from the standard.

Each class follows the decoder of one public program, checked against it byte
for byte in ``tests/unit/sse``; what a server sends must survive all of them.
The standard's own reading is :class:`sim.sse.Decoder`.

===============================================  ==========  ====================  ==================
bytes                                            standard    httpx-sse             fetch-event-source
===============================================  ==========  ====================  ==================
byte order mark before the first field           stripped    first line lost       stripped
byte order mark at the start of a value          kept        kept                  stripped
a block without data                             no event    an event if a field   an event, always
                                                             or an earlier id
a comment and a blank line                       no event    an event after an id  an event
first data line is empty                         kept        kept                  dropped
a field name without a colon                     taken       taken                 ignored
``id`` with NUL                                  ignored     ignored               taken
``retry: 5s``                                    ignored     ignored               5
cursor moves                                     at the      at the id line        at the id line
                                                 blank line
===============================================  ==========  ====================  ==================
"""

from __future__ import annotations

import re
from typing import Protocol

from sim.sse import BOM, LineSplitter, SseEvent, split_field

SET_TIMEOUT_MS_MAX = 2**31 - 1  # a longer setTimeout fires at once, in every JavaScript engine

_JS_BLANK = "[\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*"
_PARSE_INT = re.compile(rf"{_JS_BLANK}([+-]?)0*([0-9]+)")


class StreamDecoder(Protocol):
    """What every decoder offers; the attributes are those of :class:`sim.sse.Decoder`."""

    last_id_seen: str
    last_id_dispatched: str
    retry_ms: int | None

    def feed(self, data: bytes) -> list[SseEvent]: ...


class HttpxSseDecoder:
    """httpx-sse 0.4.3; the decoders of the openai and anthropic SDKs descend from it.

    A blank line yields an event whenever there was a field or, ever since, an id: a
    heartbeat that ends in a blank line becomes an event with empty data.
    """

    def __init__(self) -> None:
        self.last_id_seen = ""
        self.last_id_dispatched = ""
        self.retry_ms: int | None = None
        self._lines = LineSplitter()
        self._clear()

    def feed(self, data: bytes) -> list[SseEvent]:
        """Takes the next bytes, cut anywhere, and returns the events that they complete."""
        events: list[SseEvent] = []
        for line in self._lines.feed(data):
            if line:
                self._take(line)
            elif self._type or self._data or self.last_id_seen or self._retried:
                self.last_id_dispatched = self.last_id_seen
                data_text = "\n".join(self._data)
                events.append(SseEvent(data_text, self._type or "message", self.last_id_seen, self._id))
                self._clear()
        return events

    def _clear(self) -> None:
        self._data: list[str] = []
        self._type = ""
        self._id: str | None = None
        self._retried = False

    def _take(self, line: bytes) -> None:
        name, value = split_field(line.decode("utf-8", "replace"))
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._type = value
        elif name == "id" and "\0" not in value:
            self.last_id_seen = self._id = value
        elif name == "retry":
            try:
                self.retry_ms = int(value)
            except ValueError:
                return
            self._retried = True


class FetchEventSourceDecoder:
    """@microsoft/fetch-event-source 2.0.1: every blank line is an event, and the id counts at once."""

    def __init__(self, last_event_id: str = "") -> None:
        self.last_id_seen = last_event_id
        self.retry_ms: int | None = None
        self._lines = LineSplitter()
        self._clear()

    @property
    def last_id_dispatched(self) -> str:
        """The same as ``last_id_seen``: this program does not tell them apart, which loses events."""
        return self.last_id_seen

    def feed(self, data: bytes) -> list[SseEvent]:
        """Takes the next bytes, cut anywhere, and returns the events that they complete."""
        events = []
        for line in self._lines.feed(data):
            if line:
                self._take(line)
            else:
                events.append(SseEvent(self._data, self._type or "message", self._id or "", self._id))
                self._clear()
        return events

    def _clear(self) -> None:
        self._data = ""
        self._type = ""
        self._id: str | None = None

    def _take(self, line: bytes) -> None:
        name, colon, rest = line.partition(b":")
        field, value = _text(name), _text(rest.removeprefix(b" "))
        if not colon:
            return
        if field == "data":
            self._data = f"{self._data}\n{value}" if self._data else value
        elif field == "event":
            self._type = value
        elif field == "id":
            self.last_id_seen = self._id = value
        elif field == "retry":
            self.retry_ms = parse_int(value, self.retry_ms)


def parse_int(text: str, otherwise: int | None) -> int | None:
    """Returns what JavaScript's ``parseInt(text, 10)`` makes of a text, ``otherwise`` for NaN."""
    found = _PARSE_INT.match(text)
    if found is None:
        return otherwise
    return int(found[1] + found[2][:20])  # no more digits than any timer can tell apart


def timer_ms(wanted_ms: int) -> int:
    """Returns how long JavaScript's ``setTimeout`` really waits, milliseconds."""
    return wanted_ms if 0 <= wanted_ms <= SET_TIMEOUT_MS_MAX else 0


def _text(data: bytes) -> str:
    return data.removeprefix(BOM).decode("utf-8", "replace")
