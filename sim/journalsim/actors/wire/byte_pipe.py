"""Simulates one direction of a connection: bytes enter at one end and, later or never, leave at the other.

The pipe is an event source without a clock. The time is an argument; after every call, ``next_due_ns`` returns the
time of the next ``advance``. Written bytes pass, in this order,

1. the *faults*: at a given place of the stream something happens to the
   connection;
2. the *gatherer*: a proxy that sends on only when it has enough, when some time
   has passed, or when the stream closes;
3. the *way*: a fixed latency, in order, cut into chunks at given offsets;
4. the *reader*, who takes some time per byte and can pause.

All of it together holds at most ``capacity_bytes`` and one frame; beyond that the writer has to wait until it receives
``writable``.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import Literal

from attrs import field, frozen

CAPACITY_BYTES = 64 * 1024  # a usual socket buffer

FaultKind = Literal["cut", "reset", "end", "half_open"]


@frozen(kw_only=True)
class Place:
    """A place in a stream: a number of whole frames, and an offset behind them.

    Attributes:
        frames: whole frames before it.
        byte: a number of bytes behind the frames, which may reach beyond the next frame.
        lines: instead, a number of lines of the next frame; 1 is after its ``id`` line.
        half: instead, half of the next frame.
    """

    frames: int = 0
    byte: int = 0
    lines: int = 0
    half: bool = False

    def __attrs_post_init__(self) -> None:
        if min(self.frames, self.byte, self.lines) < 0:
            raise ValueError(f"a place cannot be negative: {self}")
        if (self.byte > 0) + (self.lines > 0) + self.half > 1:
            raise ValueError(f"give one of byte, lines and half: {self}")

    @property
    def within(self) -> bool:
        """True if the place depends on the content of the next frame."""
        return self.lines > 0 or self.half

    def offset(self, frame: bytes) -> int:
        """Returns the distance in bytes from the start of ``frame``, the one after ``frames`` whole ones."""
        if self.half:
            return len(frame) // 2
        if self.lines:
            return len(b"".join(frame.splitlines(keepends=True)[: self.lines]))
        return self.byte


@frozen(kw_only=True)
class Fault:
    """A fault of a connection when its stream has reached a place.

    Attributes:
        at: the place, in the direction of the fault.
        kind: ``cut``: earlier bytes arrive, then an error; ``reset``: an error, and bytes that have not arrived before
            this instant are lost; ``end``: earlier bytes arrive, then a clean end that is not the writer's;
            ``half_open``: no more bytes arrive, and neither side receives an error.
        direction: ``down`` is from the server to the client.
        lasts_ns: the time during which no connection succeeds, nanoseconds; a ``half_open`` way delivers its held
            bytes after that time, or never if the time is 0.
        connection: number of the connection in the order of connecting, from 1; 0 means each.
    """

    at: Place = field(factory=Place)
    kind: FaultKind = "cut"
    direction: Literal["down", "up"] = "down"
    lasts_ns: int = 0
    connection: int = 1


def _in_order(offsets: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(offsets))


@frozen(kw_only=True)
class Shape:
    """The effect of a direction on every stream, apart from faults.

    Attributes:
        latency_ns: time under way, nanoseconds.
        gather_ns: how long bytes wait for others to join them, nanoseconds; None: until the stream closes.
        gather_bytes: the number of bytes that go on at once; 0 means ``capacity_bytes``, which is the most.
        chunk_bytes: the reader gets no chunk that crosses a multiple of this; 0: as sent.
        split_at: further offsets that no chunk crosses.
        ns_per_byte: time that the reader takes per byte, nanoseconds.
        capacity_bytes: the number of held bytes from which the writer has to wait.
    """

    latency_ns: int = 0
    gather_ns: int | None = 0
    gather_bytes: int = 0
    chunk_bytes: int = 0
    split_at: tuple[int, ...] = field(default=(), converter=_in_order)
    ns_per_byte: int = 0
    capacity_bytes: int = CAPACITY_BYTES


@frozen
class Arrival:
    """A message to one end of a pipe: ``bytes``, ``end`` or ``error`` to its reader, ``writable`` to its writer."""

    kind: Literal["bytes", "end", "error", "writable"]
    data: bytes = b""


class BytePipe:
    """One direction of one connection.

    Attributes:
        sent: bytes written so far.
        frames: frames written so far.
        paused: the reader takes nothing.
    """

    def __init__(self, shape: Shape, faults: tuple[Fault, ...] = ()) -> None:
        self.sent = 0
        self.frames = 0
        self.paused = False
        self._shape = shape
        self._to_place = list(faults)
        self._placed: list[tuple[int, Fault]] = []
        self._gathered = bytearray()
        self._gather_due_ns: int | None = None
        self._under_way: deque[tuple[int, Arrival]] = deque()
        self._held = 0
        self._flown = 0
        self._last_due_ns = 0
        self._stalled_until_ns: int | None = 0  # None: for ever
        self._over = False
        self._waiting = False

    @property
    def over(self) -> bool:
        """True once the stream has ended and nothing is under way."""
        return self._over and not self._under_way

    @property
    def dead(self) -> bool:
        """True if the way is half-open for ever: new bytes never arrive."""
        return self._stalled_until_ns is None

    @property
    def writable(self) -> bool:
        """True if a frame may be written now; after the end of the stream a frame may be written, and is lost."""
        return self._over or self._held < self._shape.capacity_bytes

    def write(self, now_ns: int, frame: bytes) -> tuple[Fault, ...]:
        """Takes one frame, and returns the faults that it met.

        Raises:
            ValueError: the pipe is full; the writer has to wait for ``writable``.
        """
        if not self.writable:
            raise ValueError(f"the pipe holds {self._held} bytes and is full: wait until it is writable")
        if self._over:
            return ()
        self._place(frame)
        met = self._write_around_faults(now_ns, frame)
        self.frames += 1
        return (*met, *self.strike(now_ns))

    def strike(self, now_ns: int) -> tuple[Fault, ...]:
        """Triggers the faults that lie exactly here; call it once when the connection opens."""
        self._place(None)
        met = []
        while not self._over and self._placed and self._placed[0][0] <= self.sent:
            fault = self._placed.pop(0)[1]
            self._happen(now_ns, fault)
            met.append(fault)
        return tuple(met)

    def finish(self, now_ns: int) -> None:
        """Ends the writer's stream in good order."""
        self._close(now_ns, "end")

    def fail(self, now_ns: int, *, lose: bool = False) -> None:
        """Breaks the connection; with ``lose``, bytes that have not arrived before this instant are lost."""
        if lose and not self._over:
            self._drop([(due, arrival) for due, arrival in self._under_way if due < now_ns])
        self._close(now_ns, "error")

    def abandon(self, *, unnoticed: bool = False) -> None:
        """Removes the reader: nothing more arrives, and further bytes are lost.

        With ``unnoticed`` the writer's side does not know: its bytes pile up there, up to the capacity.
        """
        if unnoticed and not self._over:
            self._stalled_until_ns = None
            self._under_way.clear()
        else:
            self._drop([])
            self._over = True

    def next_due_ns(self) -> int | None:
        """Returns the time of the next event, nanoseconds, 0 if it is past; None if there is none."""
        if self._waiting and self.writable:
            return 0
        dues = [] if self._gather_due_ns is None else [self._gather_due_ns]
        if self._under_way and not self.paused:
            dues.append(self._under_way[0][0])
        return min(dues, default=None)

    def advance(self, now_ns: int) -> tuple[Arrival, ...]:
        """Returns the arrivals up to now, in order, and last ``writable`` if the writer may write again."""
        if self._gather_due_ns is not None and self._gather_due_ns <= now_ns:
            self._send_on(self._gather_due_ns)
        arrived = []
        while self._under_way and not self.paused and self._under_way[0][0] <= now_ns:
            arrival = self._under_way.popleft()[1]
            self._held -= len(arrival.data)
            arrived.append(arrival)
        if self._waiting and self.writable:
            self._waiting = False
            arrived.append(Arrival("writable"))
        return tuple(arrived)

    # --- faults

    def _place(self, frame: bytes | None) -> None:
        """Turns the places that are known by now into offsets."""
        later = []
        for fault in self._to_place:
            if fault.at.frames > self.frames or (frame is None and fault.at.within):
                later.append(fault)
            else:
                self._placed.append((self.sent + fault.at.offset(frame or b""), fault))
        self._to_place = later
        self._placed.sort(key=lambda placed: placed[0])

    def _write_around_faults(self, now_ns: int, frame: bytes) -> list[Fault]:
        met: list[Fault] = []
        end = self.sent + len(frame)
        while not self._over:
            upto = min(end, self._placed[0][0]) if self._placed else end
            start = len(frame) - (end - self.sent)
            self._accept(now_ns, frame[start : start + upto - self.sent])
            met += self.strike(now_ns)
            if self.sent == end:
                break
        return met

    def _happen(self, now_ns: int, fault: Fault) -> None:
        if fault.kind == "half_open":
            self._send_on(now_ns)
            self._stall(now_ns, fault.lasts_ns)
        elif fault.kind == "end":
            self.finish(now_ns)
        else:
            self.fail(now_ns, lose=fault.kind == "reset")

    def _stall(self, now_ns: int, lasts_ns: int) -> None:
        """Holds back all later bytes; a dead way stays dead, or there would be a hole in the middle of a stream."""
        if self._stalled_until_ns is not None:
            self._stalled_until_ns = max(self._stalled_until_ns, now_ns + lasts_ns) if lasts_ns else None

    # --- the way of the bytes

    def _accept(self, now_ns: int, data: bytes) -> None:
        if not data:
            return
        shape = self._shape
        self.sent += len(data)
        self._held += len(data)
        self._waiting = not self.writable
        self._gathered += data
        enough = min(shape.gather_bytes or shape.capacity_bytes, shape.capacity_bytes)
        if shape.gather_ns == 0 or len(self._gathered) >= enough:
            self._send_on(now_ns)
        elif self._gather_due_ns is None and shape.gather_ns is not None:
            self._gather_due_ns = now_ns + shape.gather_ns

    def _send_on(self, now_ns: int) -> None:
        data = bytes(self._gathered)
        self._gathered.clear()
        self._gather_due_ns = None
        if self.dead:
            return  # the bytes stay in the writer's buffer for ever
        for chunk in self._chunks(data):
            self._set_out(now_ns, Arrival("bytes", chunk))

    def _set_out(self, now_ns: int, arrival: Arrival) -> None:
        shape = self._shape
        assert self._stalled_until_ns is not None
        starts = max(now_ns, self._stalled_until_ns) + shape.latency_ns
        self._last_due_ns = max(self._last_due_ns, starts) + len(arrival.data) * shape.ns_per_byte
        self._under_way.append((self._last_due_ns, arrival))

    def _chunks(self, data: bytes) -> list[bytes]:
        start, end = self._flown, self._flown + len(data)
        self._flown = end
        size = self._shape.chunk_bytes
        cuts = {offset for offset in self._shape.split_at if start < offset < end}
        if size:
            cuts.update(range((start // size + 1) * size, end, size))
        edges = [start, *sorted(cuts), end]
        return [data[a - start : b - start] for a, b in pairwise(edges) if a < b]

    def _close(self, now_ns: int, kind: Literal["end", "error"]) -> None:
        if self._over:
            return
        self._send_on(now_ns)
        self._over = True
        if not self.dead:
            self._set_out(now_ns, Arrival(kind))

    def _drop(self, but: list[tuple[int, Arrival]]) -> None:
        self._gathered.clear()
        self._gather_due_ns = None
        self._under_way = deque(but)
        self._held = sum(len(arrival.data) for _, arrival in but)
