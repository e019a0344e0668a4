"""Seeded bugs of recovery, which show only after a crash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from attrs import evolve

from journalsim.contract.items import Item
from journalsim.contract.ports import Ports
from journalsim_reference.batch import Stamp
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.bugs.views import AltersViews
from journalsim_reference.events import Event
from journalsim_reference.journal import Decision, Refused, decide_end
from journalsim_reference.recovery import recover
from journalsim_reference.server import Server
from journalsim_reference.state import Run
from journalsim_reference.stores.base import Store, StoreError
from journalsim_reference.stores.opening import as_asked
from journalsim_reference.writer import Writer


class _NoticeAgain(AltersViews):
    """Adds its notice to every crashed run at every start."""

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        notice = " The server was restarted." * (self.store.epoch - 1)
        for item in items:
            yield evolve(item, text=item.text + notice) if item.kind == "marker" and item.cause == "crashed" else item


class _MarksOnly(AltersViews):
    """Restores a crashed run as its marker alone."""

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        return (item for item in items if item.kind != "assistant" or item.cause != "crashed")


class _RecoversAsItLikes(Server):
    """Ends the open runs after a start in its own way."""

    async def recover(self) -> None:
        async with self.ports.step("store.load"):
            for event in self.writer.store.load():
                self.state.apply(event)
                self.writer.streams.restore(event)
        for run in self.state.active_runs():
            async with self.ports.step("store.append"):
                self.writer.commit(partial(self.end, run))

    def end(self, run: Run, stamp: Stamp) -> Decision:
        """Returns the rows that end a run."""
        raise NotImplementedError


class _CallsItDone(_RecoversAsItLikes):
    """Ends an open run as completed."""

    def end(self, run: Run, stamp: Stamp) -> Decision:
        done = decide_end(self.state, stamp, run.run_id, "run.completed", None, closures=True)
        if not isinstance(done, Refused):
            return done
        return decide_end(self.state, stamp, run.run_id, "run.aborted", "crashed", closures=True)  # it had not begun


class _CountsFromTheLastRow(_RecoversAsItLikes):
    """Gives the first row of a recovery the number of the last row before the crash."""

    def end(self, run: Run, stamp: Stamp) -> Decision:
        run.seq -= 1
        return recover(self.state, stamp, closures=self.writer.closes_on_write)


class _InsertsOrIgnores:
    """A store that ignores a row whose number it has."""

    def __init__(self, store: Store) -> None:
        self.epoch = store.epoch
        self.load, self.close, self.crash = store.load, store.close, store.crash
        self._store = store
        self._ids = {event.event_id: True for event in store.load()}

    def append(self, events: Sequence[Event], *, barrier: bool = True) -> None:
        self._store.append([event for event in events if event.event_id not in self._ids], barrier=barrier)
        self._ids.update((event.event_id, True) for event in events)


class _WritesInTwoSteps(Writer):
    """Reserves the number of a result in one step and writes it in another, and a second writer gets in between."""

    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.reserved: tuple[Event, ...] = ()

    def _store_rows(self, rows: tuple[Event, ...]) -> None:
        reserved, self.reserved = self.reserved, ()
        if not reserved and rows[0].kind == "tool.completed":
            calls = self.state.runs[rows[0].run_id].calls
            mine = calls[rows[0].payload["call_id"]].speaker  # a task that awaits another's result would hang
            if sum(call.state == "running" and call.speaker == mine for call in calls.values()) > 1:
                self.reserved = rows
                return
        try:
            super()._store_rows(rows)
        except StoreError:
            self.reserved = reserved
            raise
        if reserved:
            super()._store_rows(reserved)


CRASHES = (
    Bug(
        name="notice-at-every-restart",
        summary="Each restart adds its notice to a crashed run that has the notice already.",
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
    Bug(
        name="recovery-restores-no-text",
        summary="Recovery marks a run as interrupted, and leaves out the text in its rows.",
        failure_mode="HW-26",
        trips=("acknowledged-is-durable",),
        build=with_parts(writer=_MarksOnly),
    ),
    Bug(
        name="number-given-twice",
        summary="The first row of a recovery gets the number of the last row before the crash, and is ignored.",
        failure_mode="CX-15",
        # After the next restart the ignored row has another content, or none; and one cursor names two rows.
        trips=("acknowledged-is-durable", "recovery-is-idempotent", "honest-cursor", "legal-wire"),
        build=with_parts(
            server=_CountsFromTheLastRow, store=lambda where, ports: _InsertsOrIgnores(as_asked(where, ports))
        ),
    ),
    Bug(
        name="number-reserved-before-the-write",
        summary="Of two rows written at once the later number comes first, and the journal becomes unreadable.",
        failure_mode="HW-30",
        trips=("acknowledged-is-durable",),
        build=with_parts(writer=_WritesInTwoSteps),
    ),
)
