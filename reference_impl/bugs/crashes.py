"""Mistakes that show only after a crash: what was not on the disk, and what recovery made of the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

from attrs import evolve

from reference_impl.batch import Stamp
from reference_impl.bugs.bug import Bug, with_parts
from reference_impl.bugs.views import Retells
from reference_impl.events import Event, from_json
from reference_impl.journal import Decision, Refused, decide_end
from reference_impl.lifecycle import TERMINALS
from reference_impl.server import Server
from reference_impl.stores.base import StoreError
from reference_impl.stores.log import LogStore
from reference_impl.stores.log_lines import Line, whole_lines
from reference_impl.stores.opening import OpenStore, as_asked
from reference_impl.writer import Writer
from sim.adapters.disk_protocol import DiskFile, DiskPort
from sim.adapters.protocol import Item, OutcomeUnknown

Build = Callable[[DiskPort], LogStore]


def _log(build: Build) -> OpenStore:
    """Returns what opens a log store where its power can fail; anywhere else the mistake could not show."""
    return lambda where, ports: as_asked(where, ports) if ports.disk is None else build(ports.disk)


class _FirstWholeLines(LogStore):
    """Reads up to the first line that is not whole, and writes on behind whatever is there."""

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


class _SyncsAtTheEnd(LogStore):
    """Hands every batch to the operating system and takes it for stored; only the end of a run is synced."""

    def append(self, events: Sequence[Event], *, barrier: bool = True) -> None:
        super().append(events, barrier=any(event.kind in TERMINALS for event in events))


class _WithoutFolders:
    """A disk port for those who do not know that names have to be synced too."""

    def __init__(self, port: DiskPort) -> None:
        self._port = port
        self.open, self.exists, self.list = port.open, port.exists, port.list
        self.rename, self.unlink = port.rename, port.unlink

    def sync_folder(self) -> None:
        """Does nothing."""


class _SwallowsFailures(Writer):
    """Takes a failed save for a matter of the log."""

    def _keep(self, rows: tuple[Event, ...]) -> None:
        with suppress(StoreError, OutcomeUnknown):
            self.store.append(rows)


class _NoticeAgain(Retells):
    """Adds its notice to every run that crashed, whenever it starts."""

    def retell(self, items: tuple[Item, ...]) -> Iterator[Item]:
        notice = " The server was restarted." * (self.store.epoch - 1)
        for item in items:
            yield evolve(item, text=item.text + notice) if item.kind == "marker" and item.cause == "crashed" else item


class _CallsItDone(Server):
    """Ends whatever it finds open after a start, as the end of a run is always written."""

    async def recover(self) -> None:
        async with self.ports.step("store.load"):
            for event in self.writer.store.load():
                self.state.apply(event)
        for run in self.state.active_runs():
            async with self.ports.step("store.append"):
                self.writer.commit(partial(self._done, run.run_id))

    def _done(self, run_id: str, stamp: Stamp) -> Decision:
        done = decide_end(self.state, stamp, run_id, "run.completed", None)
        if not isinstance(done, Refused):
            return done
        return decide_end(self.state, stamp, run_id, "run.aborted", "crashed")  # it had not begun


CRASHES = (
    Bug(
        name="torn-line-ends-the-journal",
        summary="A line that a power cut has torn stays, and what is written behind it is never read again.",
        failure_mode="HW-32",
        trips=("acknowledged-is-durable",),
        build=with_parts(store=_log(_FirstWholeLines)),
    ),
    Bug(
        name="acknowledged-before-it-is-synced",
        summary="A row is acknowledged when the operating system has it, and a power cut takes it.",
        failure_mode="",
        trips=("acknowledged-is-durable",),
        build=with_parts(store=_log(_SyncsAtTheEnd)),
    ),
    Bug(
        name="folder-never-synced",
        summary="The log file is synced and its folder is not, so a power cut takes the whole file.",
        failure_mode="",
        trips=("acknowledged-is-durable",),
        build=with_parts(store=_log(lambda port: LogStore(_WithoutFolders(port)))),
    ),
    Bug(
        name="failed-save-is-swallowed",
        summary="A save that fails is logged, and what it should have stored is announced all the same.",
        failure_mode="CL-2",
        trips=("acknowledged-is-durable",),
        build=with_parts(writer=_SwallowsFailures),
    ),
    Bug(
        name="notice-at-every-restart",
        summary="Each restart adds its notice to a run that crashed, although it is there already.",
        failure_mode="",
        trips=("recovery-is-idempotent",),
        build=with_parts(writer=_NoticeAgain),
    ),
    Bug(
        name="recovery-calls-it-done",
        summary="Recovery ends a run that a crash cut off as if its answer had been finished.",
        failure_mode="CX-14",
        trips=("recovery-adds-only-proven",),
        build=with_parts(server=_CallsItDone),
    ),
)
