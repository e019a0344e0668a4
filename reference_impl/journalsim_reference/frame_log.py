"""Holds the frames of a session, in order and within bounds: the one source of every reader.

A reader is a position in this log and nothing else. It reads the entries behind its position, waits at the end, and
changes nothing: readers do not wait for one another and remove nothing, and between replay and live there is no seam.
The log is bounded, in entries and in bytes. A reader whose position was dropped has missed frames, and receives a gap.

Ids. ``<run>:<seq>`` names a row that is safe on the disk. A frame that is sent before it is safe, be it text without
a row or a row that is not yet synced, is numbered behind the last safe row, ``<run>:<seq>.<part>``: a crash may take
the frame away and give its number to another row, and then no cursor names both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice

from attrs import frozen

from journalsim.contract.frames import Frame

ROWS_MAX = 256
"""The smallest log of the public systems holds 256 events; frames are missing only after a long absence."""

BYTES_MAX = 32 * 1024
"""As many bytes as that many entries of the usual size, a word or two; it bounds the cost of a few large ones."""

ENTRY_BYTES = 120
"""The size of an entry besides its text, about that of its event on the wire."""

ROWS_SHORT = 8
"""With the policy ``retention: short``: a reader that is away for a few chunks misses some."""


@frozen
class Entry:
    """One place in the log.

    Attributes:
        run_id: the run of the entry.
        seq: number of the last safe row.
        part: number of the frame behind that row; 0 for the row itself.
        frame: the frame for readers; None for a row without one.
    """

    run_id: str
    seq: int
    part: int
    frame: Frame | None

    @property
    def id(self) -> str:
        """The cursor of a reader who has applied this entry."""
        return f"{self.run_id}:{self.seq}.{self.part}" if self.part else f"{self.run_id}:{self.seq}"

    @property
    def bytes(self) -> int:
        """The bytes that the log holds for the entry; the journal holds the text of a closed message anyway."""
        frame = self.frame
        if frame is None or frame.kind != "message.delta":
            return ENTRY_BYTES
        return ENTRY_BYTES + len((frame.text + frame.reasoning).encode("utf-8", "surrogatepass"))


class FrameLog:
    """The log of one session.

    Args:
        rows_max: the largest number of entries.
        bytes_max: the largest number of bytes, without the newest entry, which stays whatever its size: a reader that
            is up to date misses nothing.

    Attributes:
        low: position of the oldest entry.
        bytes_max: as given.
    """

    def __init__(self, rows_max: int = ROWS_MAX, bytes_max: int = BYTES_MAX) -> None:
        self.low = 0
        self.bytes_max = bytes_max
        self._rows_max = rows_max
        self._entries: deque[Entry] = deque()
        self._begins: deque[int] = deque()  # for each entry, the number of bytes before it
        self._end = 0
        self._newest: dict[str, Entry] = {}

    @property
    def high(self) -> int:
        """Position behind the newest entry."""
        return self.low + len(self._entries)

    @property
    def last_id(self) -> str | None:
        """The cursor of a reader who has applied everything; None if the log is empty."""
        return self._entries[-1].id if self._entries else None

    def __getitem__(self, position: int) -> Entry:
        return self._entries[position - self.low]

    def add_row(self, run_id: str, seq: int, frame: Frame | None) -> None:
        """Adds a row that is safe."""
        self._add(Entry(run_id, seq, 0, frame))

    def add_shown(self, run_id: str, frame: Frame) -> None:
        """Adds a frame that is not safe yet, behind a safe row; the acceptance of a run is always safe first."""
        newest = self._newest[run_id]
        self._add(Entry(run_id, newest.seq, newest.part + 1, frame))

    def forget(self) -> None:
        """Drops all entries because the history was cleared."""
        self.low = self.high
        self._entries.clear()
        self._begins.clear()

    def find(self, run_id: str, seq: int, part: int) -> int | None:
        """Returns the position behind the entry of this id; None if the log does not hold it."""
        for index, entry in enumerate(self._entries):
            if entry.seq == seq and entry.part == part and entry.run_id == run_id:
                return self.low + index + 1
        return None

    def runs_from(self, position: int) -> frozenset[str]:
        """Returns the runs that have an entry behind a position."""
        return frozenset(entry.run_id for entry in self._behind(position))

    def has_frames(self, position: int) -> bool:
        """Returns True if a reader at a position has frames to receive."""
        return any(entry.frame is not None for entry in self._behind(position))

    def waiting_bytes(self, position: int) -> int:
        """Returns the number of bytes that the log holds for a reader at a position, without the newest entry."""
        behind = max(position, self.low) - self.low
        return self._begins[-1] - self._begins[behind] if behind < len(self._begins) else 0

    def _behind(self, position: int) -> Iterator[Entry]:
        return islice(self._entries, position - self.low, None)

    def _add(self, entry: Entry) -> None:
        self._newest[entry.run_id] = entry
        self._entries.append(entry)
        self._begins.append(self._end)
        self._end += entry.bytes
        while len(self._entries) > self._rows_max or self.waiting_bytes(self.low) > self.bytes_max:
            self._entries.popleft()
            self._begins.popleft()
            self.low += 1
