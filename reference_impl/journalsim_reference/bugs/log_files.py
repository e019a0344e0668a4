"""Seeded bugs of log files: torn lines, replaced files, and syncs that did not happen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from journalsim.contract.disk_port import DiskFile, DiskPort
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.events import Event, from_json
from journalsim_reference.lifecycle import TERMINALS
from journalsim_reference.stores.files import write_all
from journalsim_reference.stores.log import FILE, LogStore
from journalsim_reference.stores.log_lines import Line, to_line, whole_lines
from journalsim_reference.stores.opening import OpenStore, as_asked

Build = Callable[[DiskPort], LogStore]


def _log(build: Build) -> OpenStore:
    """Returns an opener of a log store on disks whose power can fail; on any other the bug could not show."""
    return lambda where, ports: as_asked(where, ports) if ports.disk is None else build(ports.disk)


class _FirstWholeLines(LogStore):
    """Reads up to the first line that is not whole, and appends behind all bytes of the file."""

    def load(self) -> tuple[Event, ...]:
        lines = _until_torn(self._open_file().read(0, self._end))
        return tuple(from_json(row) for line in lines for row in line.rows)

    def _recover(self, file: DiskFile) -> int:
        data = file.read(0, file.size())
        self._end = self._synced = len(data)
        lines = list(_until_torn(data))
        self._ids = dict.fromkeys(from_json(row).event_id for line in lines for row in line.rows)
        return max((line.epoch for line in whole_lines(data)), default=0)


def _until_torn(data: bytes) -> Iterator[Line]:
    end = 0
    for line in whole_lines(data):
        if line.start != end:
            return
        end = line.end
        yield line


class _RetriesBehindTheHalf(LogStore):
    """Writes a line again behind its half from a failed write, and reads by line feeds."""

    def load(self) -> tuple[Event, ...]:
        lines = _by_line_feeds(self._open_file().read(0, self._end))
        return tuple(from_json(row) for line in lines for row in line.rows)

    def _recover(self, file: DiskFile) -> int:
        data = file.read(0, file.size())
        lines = list(_by_line_feeds(data))
        self._ids = dict.fromkeys(from_json(row).event_id for line in lines for row in line.rows)
        self._end = max((line.end for line in lines), default=0)
        self._settle(file)
        return max((line.epoch for line in lines), default=0)

    def _add(self, file: DiskFile, rows: Sequence[str], *, barrier: bool) -> None:
        line = to_line(rows, self._end, epoch=self.epoch, synced=self._synced)
        try:
            write_all(file, self._end, line)
        except OSError:
            self._end = file.size()
            raise
        self._end += len(line)
        file.sync()


def _by_line_feeds(data: bytes) -> Iterator[Line]:
    at = 0
    for piece in data.splitlines(keepends=True):
        found = next(whole_lines(piece, at), None)
        if found is not None and found.start == at:
            yield found
        at += len(piece)


class _TrustsLineFeeds(LogStore):
    """Treats every text up to a line feed as a whole line."""

    def load(self) -> tuple[Event, ...]:
        lines = _on_trust(self._open_file().read(0, self._end))
        return tuple(from_json(row) for line in lines for row in line.rows)

    def _recover(self, file: DiskFile) -> int:
        lines = list(_on_trust(file.read(0, file.size())))
        self._ids = dict.fromkeys(from_json(row).event_id for line in lines for row in line.rows)
        self._end = max((line.end for line in lines), default=0)
        self._settle(file)
        return max((line.epoch for line in lines), default=0)


def _on_trust(data: bytes) -> Iterator[Line]:
    at = 0
    for piece in data.split(b"\n")[:-1]:
        _, _, synced, epoch, rows = json.loads(piece.decode("latin-1"))
        end = at + len(piece) + 1
        yield Line(at, end, synced, epoch, tuple(map(json.dumps, rows)))
        at = end


class _SyncsAtTheEnd(LogStore):
    """Hands every batch to the operating system and treats it as stored; syncs only the end of a run."""

    def append(self, events: Sequence[Event], *, barrier: bool = True) -> None:
        super().append(events, barrier=any(event.kind in TERMINALS for event in events))


class _BelievesTheSecondSync(LogStore):
    """Repeats a failed sync, and trusts the second one."""

    def _add(self, file: DiskFile, rows: Sequence[str], *, barrier: bool) -> None:
        line = to_line(rows, self._end, epoch=self.epoch, synced=self._synced)
        write_all(file, self._end, line)
        try:
            file.sync()
        except OSError:
            file.sync()
        self._end += len(line)
        self._synced = self._end


class _WithoutFolders:
    """A disk port for writers that never sync the folder."""

    def __init__(self, port: DiskPort) -> None:
        self._port = port
        self.open, self.exists, self.list = port.open, port.exists, port.list
        self.rename, self.unlink = port.rename, port.unlink

    def sync_folder(self) -> None:
        """Does nothing."""


class _SavesTheWholeFile(LogStore):
    """Saves the whole conversation when a run has been completed."""

    def __init__(self, port: DiskPort) -> None:
        super().__init__(port)
        self.port = port

    def append(self, events: Sequence[Event], *, barrier: bool = True) -> None:
        super().append(events, barrier=barrier)
        if any(event.kind == "run.completed" for event in events):
            file = self._open_file()
            self.save(file, file.read(0, self._end))

    def save(self, file: DiskFile, data: bytes) -> None:
        """Saves the whole file."""
        raise NotImplementedError


class _InPlace(_SavesTheWholeFile):
    def save(self, file: DiskFile, data: bytes) -> None:
        file.truncate(0)
        write_all(file, 0, data)
        file.sync()


class _InAnother(_SavesTheWholeFile):
    """Writes another file and renames it, which is right, but does not sync its bytes first."""

    def save(self, file: DiskFile, data: bytes) -> None:
        new = self.port.open(f"{FILE}.new", create=True)
        write_all(new, 0, data)
        self.port.rename(f"{FILE}.new", FILE)
        self.port.sync_folder()
        self._file = new
        file.close()


LOG_FILES = (
    Bug(
        name="torn-line-ends-the-journal",
        summary="A line that a power cut has torn stays, and all lines behind it are never read again.",
        failure_mode="HW-32",
        trips=("acknowledged-is-durable",),
        build=with_parts(store=_log(_FirstWholeLines)),
    ),
    Bug(
        name="half-a-line-swallows-its-retry",
        summary="Half a line of a failed write stays, and forms one line with the second try.",
        failure_mode="CX-8",
        trips=("acknowledged-is-durable",),
        build=with_parts(store=_log(_RetriesBehindTheHalf)),
    ),
    Bug(
        name="lines-without-a-checksum",
        summary="A line with a hole counts as whole, and the journal becomes unreadable.",
        failure_mode="",
        trips=("acknowledged-is-durable",),
        build=with_parts(store=_log(_TrustsLineFeeds)),
    ),
    Bug(
        name="acknowledged-before-it-is-synced",
        summary="A row is acknowledged when the operating system has it, and a power cut takes it.",
        failure_mode="",
        # One lost row recorded that a tool began; recovery then states that this tool was not started.
        trips=("acknowledged-is-durable", "honest-provenance"),
        build=with_parts(store=_log(_SyncsAtTheEnd)),
    ),
    Bug(
        name="second-sync-believed",
        summary="A failed sync is repeated, and its success counts for both.",
        failure_mode="",
        trips=("acknowledged-is-durable",),
        build=with_parts(store=_log(_BelievesTheSecondSync)),
    ),
    Bug(
        name="folder-never-synced",
        summary="The log file is synced and its folder is not, so a power cut takes the whole file.",
        failure_mode="",
        trips=("acknowledged-is-durable",),
        build=with_parts(store=_log(lambda port: LogStore(_WithoutFolders(port)))),
    ),
    Bug(
        name="file-replaced-in-place",
        summary="The whole conversation is written over the old one in place, and is gone if that is cut off.",
        failure_mode="CL-3",
        trips=("acknowledged-is-durable",),
        build=with_parts(store=_log(_InPlace)),
    ),
    Bug(
        name="renamed-before-it-is-synced",
        summary="A new file replaces the old one before its bytes are on the disk.",
        failure_mode="",
        trips=("acknowledged-is-durable",),
        build=with_parts(store=_log(_InAnother)),
    ),
)
