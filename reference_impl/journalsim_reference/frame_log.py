"""What was told about a session, in order, as far back as it is kept: the one source of every reader.

A reader is a position in this log and nothing else.  It reads what is behind it,
waits at the end, and changes nothing: readers neither wait for one another nor
take anything away, and between replay and live there is no seam.  The log is
bounded, in entries and in bytes.  A reader whose position has been dropped has
missed something, and is told so.

Ids.  ``<run>:<seq>`` names a row that is safe on the disk.  What is told before it
is safe, be it text without a row or a row that is not yet synced, is numbered
behind the last safe row, ``<run>:<seq>.<part>``: a crash may take it away and give
its number to another row, and then nobody holds a cursor that means both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice

from attrs import frozen

from journalsim.contract.frames import Frame

ROWS_MAX = 256
"""Of the public systems, the one that keeps least keeps 256 events; more is missing only after a long absence."""

BYTES_MAX = 32 * 1024
"""That many entries of the usual size, a word or two, so that few large ones cost no more."""

ENTRY_BYTES = 120
"""What an entry takes besides its text, about as much as its event has on the wire."""

ROWS_SHORT = 8
"""With the policy ``retention: short``: whoever is away for a few chunks misses some."""


@frozen
class Entry:
    """One place in the log.

    Attributes:
        run_id: whose.
        seq: of the last safe row.
        part: counts what was told since; 0 for the row itself.
        frame: what readers are told; None for a row of which they are told nothing.
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
        """What the log holds for it; the text that closes a message is the journal's and is held there anyway."""
        told = self.frame
        if told is None or told.kind != "message.delta":
            return ENTRY_BYTES
        return ENTRY_BYTES + len((told.text + told.reasoning).encode("utf-8", "surrogatepass"))


class FrameLog:
    """The log of one session.

    Args:
        rows_max: how many entries are kept.
        bytes_max: how many bytes of them, besides the newest, which is kept however large it is: who is up to
            date misses nothing.

    Attributes:
        low: position of the oldest entry that is kept.
        bytes_max: as given.
    """

    def __init__(self, rows_max: int = ROWS_MAX, bytes_max: int = BYTES_MAX) -> None:
        self.low = 0
        self.bytes_max = bytes_max
        self._rows_max = rows_max
        self._entries: deque[Entry] = deque()
        self._begins: deque[int] = deque()  # of each entry, how many bytes there have been before it
        self._end = 0
        self._newest: dict[str, Entry] = {}

    @property
    def high(self) -> int:
        """Position behind the newest entry."""
        return self.low + len(self._entries)

    @property
    def last_id(self) -> str | None:
        """The cursor of a reader who has applied everything; None if nothing is kept."""
        return self._entries[-1].id if self._entries else None

    def __getitem__(self, position: int) -> Entry:
        return self._entries[position - self.low]

    def add_row(self, run_id: str, seq: int, frame: Frame | None) -> None:
        """Adds a row that is safe."""
        self._add(Entry(run_id, seq, 0, frame))

    def add_shown(self, run_id: str, frame: Frame) -> None:
        """Adds a frame that is not safe yet, behind a row that is: no run is told of before it is safely accepted."""
        newest = self._newest[run_id]
        self._add(Entry(run_id, newest.seq, newest.part + 1, frame))

    def forget(self) -> None:
        """Drops everything: the history was cleared."""
        self.low = self.high
        self._entries.clear()
        self._begins.clear()

    def find(self, run_id: str, seq: int, part: int) -> int | None:
        """Returns the position behind the entry of this id; None if it is not kept, or never was."""
        for index, entry in enumerate(self._entries):
            if entry.seq == seq and entry.part == part and entry.run_id == run_id:
                return self.low + index + 1
        return None

    def runs_from(self, position: int) -> frozenset[str]:
        """Returns the runs that have something behind a position."""
        return frozenset(entry.run_id for entry in self._behind(position))

    def tells(self, position: int) -> bool:
        """Returns whether a reader at a position has anything to be told."""
        return any(entry.frame is not None for entry in self._behind(position))

    def waiting_bytes(self, position: int) -> int:
        """Returns how many bytes are kept for a reader at a position, besides the newest entry."""
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
