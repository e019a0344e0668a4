"""Implements a store in one log file, ``journal.jsonl``: a line per batch, appended and never changed.

One line is one batch, so a batch is stored whole or not at all; see :mod:`journalsim_reference.stores.log_lines` for
the test of a whole line.

When the file is opened it is read from the start. The largest ``synced`` of all whole lines divides it. Behind that
point no row was acknowledged as durable: the first bytes there that are no whole line end the journal, and are cut off
together with everything that overtook them. Before that point every row was, so a bad line is damage: the good lines
after it are still read, :attr:`LogStore.damage` reports it, and nothing is cut.

The lines behind that point are written once more and synced before any process acts on them. A killed process leaves
lines which can be read and are not on the disk; a process whose sync has failed leaves lines which no sync will write.

A failed append is cut off again. If the cut cannot be made durable either, the outcome of the append is unknown, and
the next call begins with the cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from journalsim.contract.adapters import OutcomeUnknown
from journalsim.contract.disk_port import DiskFile, DiskPort
from journalsim_reference.events import Event, from_json, to_json
from journalsim_reference.stores.base import DuplicateRow, StaleWriter, StoreClosed, StoreError
from journalsim_reference.stores.files import write_all
from journalsim_reference.stores.log_lines import Line, to_line, whole_lines

FILE = "journal.jsonl"


class LogStore:
    """Implements :class:`journalsim_reference.stores.base.Store` on a disk port.

    Args:
        port: the folder, as this process sees it.

    Attributes:
        epoch: this writer's fencing token.
        damage: one sentence for each synced place that cannot be read.
    """

    def __init__(self, port: DiskPort) -> None:
        self.damage: tuple[str, ...] = ()
        self._end = 0  # length of the journal in the file; bytes behind it are not part of it
        self._synced = 0  # length of the prefix that is certainly on the disk
        self._doubtful = False  # whether there may be bytes behind the end, or bytes missing before it
        self._ids: dict[str, None] = {}  # one per row; the rows themselves are a hundred times longer
        self._file: DiskFile | None = None
        try:
            file = port.open(FILE, create=True)
            try:
                self._lock(file)
                self.epoch = self._recover(file) + 1
                self._add(file, (), barrier=True)
                port.sync_folder()
            except BaseException:
                file.close()
                raise
        except (OSError, OutcomeUnknown, ValueError) as error:
            raise StoreError(f"{FILE}: {error}") from error
        file.unlock()
        self._file = file

    def load(self) -> tuple[Event, ...]:
        """Returns all rows, oldest first.

        Raises:
            StoreError: the disk fails, or has failed and does not recover enough to read the rows.
        """
        file = self._open_file()
        try:
            if self._doubtful:
                self._lock(file)
                try:
                    self._check_end(file)
                finally:
                    file.unlock()
            data = file.read(0, self._end)
        except (OSError, OutcomeUnknown) as error:
            raise StoreError(f"{FILE}: {error}") from error
        return tuple(from_json(row) for line in whole_lines(data) for row in line.rows)

    def append(self, events: Sequence[Event], *, barrier: bool = True) -> None:
        """Stores all of ``events`` or none, as one line.

        Raises:
            OutcomeUnknown: the disk failed so that only a later call, or the next process, can decide.
        """
        file = self._open_file()
        rows = {event.event_id: to_json(event) for event in events}
        known = [event_id for event_id in rows if event_id in self._ids]
        if known or len(rows) != len(events):
            raise DuplicateRow(f"rows that are already there: {', '.join(known) or 'within the batch'}")
        self._lock(file)
        try:
            self._check_end(file)
            self._add(file, tuple(rows.values()), barrier=barrier)
        except OSError as error:  # the same rows may be left from an earlier append, while that one is in doubt
            raise (OutcomeUnknown if self._doubtful else StoreError)(f"{FILE}: {error}") from error
        finally:
            file.unlock()
        self._ids.update(dict.fromkeys(rows))

    def close(self) -> None:
        """Makes everything durable and closes the file."""
        file, self._file = self._file, None
        if file is not None:
            try:
                file.sync()
                file.close()
            except OSError as error:
                raise StoreError(f"{FILE}: {error}") from error

    def crash(self) -> None:
        """Releases the file as a killed process does."""
        file, self._file = self._file, None
        if file is not None:
            file.close()  # unbuffered: nothing is written here

    # --- reading

    def _recover(self, file: DiskFile) -> int:
        """Finds the end of the journal, makes it durable, and returns the last epoch."""
        data = file.read(0, file.size())
        lines = list(whole_lines(data))
        certain = max((line.synced for line in lines), default=0)
        gaps = _gaps(lines, len(data))
        self.damage = tuple(f"bytes {a} to {b} were synced and are no line" for a, b in gaps if a < certain)
        self._end = next((a for a, _ in gaps if a >= certain), len(data))
        within = [line for line in lines if line.end <= self._end]
        self._ids = dict.fromkeys(from_json(row).event_id for line in within for row in line.rows)
        self._synced = certain
        if data:
            self._settle(file)
        return max((line.epoch for line in within), default=0)

    def _check_end(self, file: DiskFile) -> None:
        """Ensures that the file ends where this writer left it."""
        size = file.size()
        if size != self._end:
            tail = file.read(self._end, max(size - self._end, 0))
            newer = [line.epoch for line in whole_lines(tail, self._end) if line.epoch > self.epoch]
            if newer or size < self._end:
                raise StaleWriter(f"epoch {self.epoch} was replaced by {max(newer, default='another')}")
        if size != self._end or self._doubtful:
            try:
                self._settle(file)
            except OSError as error:
                raise OutcomeUnknown(f"{FILE}: {error}") from error

    # --- writing

    def _add(self, file: DiskFile, rows: Sequence[str], *, barrier: bool) -> None:
        """Adds a line, or leaves the file without it."""
        line = to_line(rows, self._end, epoch=self.epoch, synced=self._synced)
        try:
            write_all(file, self._end, line)
            if barrier:
                file.sync()
        except OSError as error:
            try:
                self._settle(file)
            except OSError as second:
                raise OutcomeUnknown(f"{FILE}: {error}, and then {second}") from error
            raise
        self._end += len(line)
        if barrier:
            self._synced = self._end

    def _settle(self, file: DiskFile) -> None:
        """Cuts the file behind the journal, and makes the journal durable.

        The lines that are not yet durable are written again: the disk may mark them as written when they are not.
        """
        self._doubtful = True
        write_all(file, self._synced, file.read(self._synced, self._end - self._synced))
        file.truncate(self._end)
        file.sync()
        self._synced, self._doubtful = self._end, False

    def _lock(self, file: DiskFile) -> None:
        if not file.lock():
            raise StoreError(f"{FILE}: another process is writing")

    def _open_file(self) -> DiskFile:
        if self._file is None:
            raise StoreClosed("this store was closed")
        return self._file


def _gaps(lines: Sequence[Line], size: int) -> list[tuple[int, int]]:
    """Returns the places that belong to no whole line."""
    edges = [0, *(edge for line in lines for edge in (line.start, line.end)), size]
    return [(a, b) for a, b in list(pairwise(edges))[::2] if a < b]
