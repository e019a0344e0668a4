"""Encodes and decodes server-sent events, as pure functions of bytes.

The rules are those of the HTML standard, "9.2 Server-sent events"
(https://html.spec.whatwg.org/multipage/server-sent-events.html); numbers in comments are its sections. Programs that
read by other rules are in :mod:`journalsim.actors.programs.dialects`.

Three facts of the format shape this module:

* CR, LF and CRLF all end a line, and UTF-8 never uses those bytes inside a
  longer character. So bytes are cut into lines first and decoded line by line,
  which gives the same text as decoding the stream, wherever the chunks are cut.
* A CR ends its line at once; a LF that follows it, perhaps in the next chunk,
  belongs to it. The reader dispatches a line without waiting for a further byte.
* Two "last ids" are distinct. The ``id`` line moves the last id *seen*; the
  blank line moves the last id *dispatched*. Only the second may be sent back to
  the server: between the two lies an event that no reader has received.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from attrs import define, field, frozen

EVENT_BYTES_MAX = 8 * 1024 * 1024  # a whole-turn snapshot: the largest replay of the public systems is 4 MiB
RETRY_MS_MAX = 2**63 - 1  # browsers store it in 64 bits; a longer number means "practically never"

BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(r"\r\n|\r|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
# characters that JSON allows, but the wire does not (surrogates) or some clients read as a line end
_NOT_PLAIN = re.compile("[\ud800-\udfff\u0085\u2028\u2029]")


# --- writing -----------------------------------------------------------------------------------


def encode_event(
    data: str | None, *, event: str | None = None, id: str | None = None, retry_ms: int | None = None
) -> bytes:
    """Returns one event as bytes, its blank line included.

    The lines are ``id``, ``event``, ``retry``, ``data``, in this order, each that is given.

    Args:
        data: the text. Each line of it becomes a ``data`` line, so a reader gets LF for every CR
            and CRLF; text that must survive to the last character goes through :func:`encode_json`.
            None sends no ``data`` line: a reader then applies ``id`` and ``retry`` and dispatches no event.
        event: the type; without it readers see ``message``.
        id: the cursor that a reader sends back. An empty one makes readers forget theirs. It
            comes back in an HTTP header, which trims blanks at both ends and is Latin-1 in some clients.
        retry_ms: the time that readers wait before they reconnect, milliseconds.

    Raises:
        ValueError: a field cannot be sent, or would never be delivered.
    """
    if data is None and event is not None:
        raise ValueError(f"an event without data is never delivered (type {event!r}): give data, even an empty one")
    if data is None and id is None and retry_ms is None:
        raise ValueError("nothing to send: give data, id or retry_ms")
    lines = []
    if id is not None:
        lines.append(f"id: {_one_line('id', id, forbidden=_CR_LF_NUL)}\n")
    if event is not None:
        lines.append(f"event: {_one_line('event', event, forbidden=_CR_LF)}\n")
    if retry_ms is not None:
        lines.append(f"retry: {_milliseconds(retry_ms)}\n")
    if data is not None:
        lines += [f"data: {line}\n" for line in _LINE_END.split(_no_surrogate("data", data))]
    return "".join([*lines, "\n"]).encode()


def encode_json(payload: Any, *, event: str | None = None, id: str | None = None) -> bytes:
    """Returns one event whose data is ``payload`` as JSON on a single line; every text survives it.

    Raises:
        ValueError: ``payload`` is not JSON (NaN, for one), or ``event`` or ``id`` cannot be sent.
    """
    return encode_event(json_line(payload), event=event, id=id)


def encode_comment(text: str = "") -> bytes:
    """Returns a comment: bytes that every reader ignores, as a heartbeat.

    The comment is a line without a blank line after it, on purpose. By the rules a blank line there does nothing, but
    httpx-sse, and SDKs that decode like it, read it as an empty event once they have seen an id
    (florimondmanca/httpx-sse#35), and fetch-event-source always does.
    """
    return "".join(f": {line}\n" for line in _LINE_END.split(_no_surrogate("comment", text))).encode()


def json_line(payload: Any) -> str:
    """Returns ``payload`` as JSON without line ends, in a form that UTF-8 can carry.

    Lone surrogates (half of a split emoji) and the rarer Unicode line ends are escaped; all
    other text stays readable.
    """
    text = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _NOT_PLAIN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def join_surrogates(text: str) -> str:
    """Returns ``text`` with adjacent halves of a character joined, as JavaScript does.

    A character that was split between two events is whole again once the texts are joined.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


_CR_LF = {"\r": "a carriage return", "\n": "a line feed"}
_CR_LF_NUL = {**_CR_LF, "\0": "a NUL character"}


def _one_line(name: str, value: str, forbidden: dict[str, str]) -> str:
    for character, called in forbidden.items():
        if character in value:
            raise ValueError(f"{name} {value!r} cannot be sent: it holds {called}")
    return _no_surrogate(name, value)


def _no_surrogate(name: str, value: str) -> str:
    found = _SURROGATE.search(value)
    if found is not None:
        raise ValueError(
            f"{name} cannot be sent: UTF-8 has no form for the lone surrogate U+{ord(found[0]):04X} "
            f"at position {found.start()}; send it as JSON"
        )
    return value


def _milliseconds(retry_ms: int) -> int:
    if retry_ms < 0:
        raise ValueError(f"retry_ms cannot be negative (got {retry_ms})")
    return retry_ms


# --- reading -----------------------------------------------------------------------------------


@frozen
class SseEvent:
    """One dispatched event.

    Attributes:
        data: its lines, joined by LF.
        type: ``message`` unless the server named one.
        last_event_id: the last id dispatched, including the id of this event; the empty string is "none".
        id: the id of this event itself; None if it had none.
    """

    data: str
    type: str = "message"
    last_event_id: str = ""
    id: str | None = None


class EventTooLargeError(ValueError):
    """A line, or its event, is longer than the reader allows; the reader refuses all further bytes.

    Attributes:
        events: the events that the failing call had already dispatched, so that they are not lost.
    """

    def __init__(self, limit: int, events: tuple[SseEvent, ...] = ()) -> None:
        super().__init__(f"an event of the stream is longer than {limit} bytes: reading has stopped")
        self.events = events


def split_field(line: str) -> tuple[str, str]:
    """Returns name and value of a line (9.2.6); a comment has the name ``""``."""
    name, _, value = line.partition(":")
    return name, value.removeprefix(" ")


@define
class Block:
    """The meaningful lines since the last blank line."""

    data: list[str] = field(factory=list)
    type: str = ""
    id: str | None = None
    bytes: int = 0


class LineReader(ABC):
    """Cuts a stream of bytes into lines, each as soon as its end has arrived, within a bound.

    Base of every decoder: a subclass interprets lines, and counts the bytes that it holds in ``_block.bytes``.
    """

    def __init__(self, event_bytes_max: int) -> None:
        self._block = Block()
        self._part = bytearray()
        self._after_cr = False
        self._failed = False
        self._event_bytes_max = event_bytes_max

    def feed(self, data: bytes) -> list[SseEvent]:
        """Takes the next bytes, cut anywhere, and returns the events that they complete.

        Raises:
            EventTooLargeError: an event needs more than ``event_bytes_max`` bytes.
        """
        events: list[SseEvent] = []
        if not self._failed:
            for line in self._split(data):
                if self._exceeds(line):
                    break
                events += self._take(line)
        if self._failed or self._exceeds(self._part):
            raise EventTooLargeError(self._event_bytes_max, tuple(events))
        return events

    @abstractmethod
    def _take(self, line: bytes) -> list[SseEvent]:
        """Takes one line, without its end, and returns the event that it completes, if any."""

    def _split(self, data: bytes) -> Iterator[bytes]:
        rest = data[1:] if self._after_cr and data.startswith(b"\n") else data
        if data:
            self._after_cr = data.endswith(b"\r")
        for piece in rest.splitlines(keepends=True):  # of bytes, this splits at CR, LF and CRLF alone
            content = piece.rstrip(b"\r\n")
            self._part += content
            if len(content) < len(piece):
                line = bytes(self._part)
                self._part.clear()
                yield line

    def _exceeds(self, line: bytes | bytearray) -> bool:
        self._failed = self._block.bytes + len(line) > self._event_bytes_max
        return self._failed


class Decoder(LineReader):
    """Reads a stream by the rules of the standard; one object per connection.

    Attributes:
        last_id_seen: value of the last valid ``id`` line. It is no cursor: its event may never arrive.
        last_id_dispatched: the last id whose block was complete; a reconnect sends this one.
        retry_ms: the reconnection time that the server last set, milliseconds; None if it never did.
    """

    def __init__(self, last_event_id: str = "", *, event_bytes_max: int = EVENT_BYTES_MAX) -> None:
        """Begins a connection.

        Args:
            last_event_id: the last id that the previous connection dispatched. The standard starts each stream with an
                empty id; browsers carry the last one over, and so does this class: an event without an id must not make
                a reader forget its place.
            event_bytes_max: the most bytes to hold for one event.
        """
        super().__init__(event_bytes_max)
        self.last_id_seen = last_event_id
        self.last_id_dispatched = last_event_id
        self.retry_ms: int | None = None
        self._at_start = True

    @property
    def inside_event(self) -> bool:
        """True if the stream has delivered part of an event, which is dropped if the stream ends here."""
        return bool(self._part or self._block != Block())

    def _take(self, line: bytes) -> list[SseEvent]:
        if self._at_start:
            line = line.removeprefix(BOM)
            self._at_start = False
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
        elif name == "retry" and value.isascii() and value.isdigit():
            # twenty digits are more than the bound, and Python refuses to read very long numbers
            self.retry_ms = min(int(value.lstrip("0")[:20] or "0"), RETRY_MS_MAX)
        return []

    def _dispatch(self) -> list[SseEvent]:
        self.last_id_dispatched = self.last_id_seen
        block, self._block = self._block, Block()
        if not block.data:
            return []
        return [SseEvent("\n".join(block.data), block.type or "message", self.last_id_dispatched, block.id)]
