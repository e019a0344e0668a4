"""Seeded bugs after a failed write: rows that are announced nevertheless, and the next writes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from journalsim.contract.adapters import OutcomeUnknown
from journalsim.contract.frames import Frame
from journalsim.contract.ports import Ports
from journalsim_reference.batch import Batch, Stamp
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.content import Content
from journalsim_reference.events import Event
from journalsim_reference.journal import Decision, Refused
from journalsim_reference.stores.base import Store, StoreError
from journalsim_reference.worker import Worker
from journalsim_reference.writer import Writer


class _Overlooks(Writer):
    """Announces some rows although the store has refused them."""

    def _store_rows(self, rows: tuple[Event, ...]) -> None:
        try:
            super()._store_rows(rows)
        except StoreError:
            if self.fenced or not self.overlooks(rows):
                raise

    def overlooks(self, rows: tuple[Event, ...]) -> bool:
        """Returns True if the failure is only logged, and all goes on."""
        raise NotImplementedError


class _SwallowsFailures(Writer):
    """Only logs a failed save."""

    def _store_rows(self, rows: tuple[Event, ...]) -> None:
        with suppress(StoreError, OutcomeUnknown):
            self.store.append(rows)


class _LosesItsRecorder(_Overlooks):
    """Has a task that writes, and that ends with the first error."""

    recording = True

    def _store_rows(self, rows: tuple[Event, ...]) -> None:
        if self.recording:
            super()._store_rows(rows)

    def overlooks(self, rows: tuple[Event, ...]) -> bool:
        self.recording = False
        return True


class _SaysStoppedAnyway(_Overlooks):
    """Sends the end of a stopped run, also when it could not be written."""

    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.adrift: dict[str, bool] = {}

    def _store_rows(self, rows: tuple[Event, ...]) -> None:
        if rows[0].run_id not in self.adrift:
            super()._store_rows(rows)

    def overlooks(self, rows: tuple[Event, ...]) -> bool:
        if all(row.kind not in ("run.stop_requested", "run.aborted") for row in rows):
            return False
        self.adrift[rows[0].run_id] = True
        return True


class _GivesNumbersAway(_Overlooks):
    """Counts a number as used when it has been reserved."""

    def overlooks(self, rows: tuple[Event, ...]) -> bool:
        run = self.state.runs.get(rows[0].run_id)
        if run is not None:
            run.seq += 1
        return False


class _ShowsItAnyway(Worker):
    """Delivers text whose row could not be written, under the newest id."""

    def spill(self, message_id: str, piece: Content) -> None:
        run, writer = self.run_state, self.writer
        try:
            super().spill(message_id, piece)
        except StoreError:
            if writer.fenced:
                raise
            writer.partials.add(run.run_id, message_id, piece)
            newest = f"{run.run_id}:{run.seq}"
            delta = Frame("message.delta", run.run_id, message_id, piece.text, piece.reasoning, event_id=newest)
            writer.send(run.session_id, delta)


class _DropsWhatAgentsWrite(Writer):
    """Removes the rows of a sub-agent from its list before it writes them."""

    def commit(self, decide: Callable[[Stamp], Decision]) -> Decision:
        taken: list[Event] = []

        def noted(stamp: Stamp) -> Decision:
            decision = decide(stamp)
            taken.extend(() if isinstance(decision, Refused) else decision)
            return decision

        try:
            return super().commit(noted)
        except StoreError:
            if self.fenced or not any(row.actor.startswith("sub:") for row in taken):
                raise
            return Refused("not_open")


class _WritesAgainUnseen(Writer):
    """Writes a message again, under ids of its own, when the outcome of the first write is unknown."""

    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.doubted: tuple[Event, ...] = ()

    def _are_there(self, rows: tuple[Event, ...], unknown: OutcomeUnknown) -> bool:
        self.doubted = rows if super()._are_there(rows, unknown) else ()
        return bool(self.doubted)

    def commit(self, decide: Callable[[Stamp], Decision]) -> Decision:
        decision = super().commit(decide)
        doubted, self.doubted = self.doubted, ()
        for row in doubted:
            if row.kind == "message.completed":
                super().commit(lambda stamp, row=row: self.again(stamp, row))  # type: ignore[misc]
        return decision

    def again(self, stamp: Stamp, row: Event) -> Decision:
        """Returns the rows of the same message as a new one."""
        run, batch = self.state.runs[row.run_id], Batch(stamp)
        data: dict[str, Any] = {**row.payload, "message_id": f"{run.run_id}/m{len(run.messages)}"}
        batch.add(run, "message.opened", "model", message_id=data["message_id"], source=None)
        batch.add(run, "message.completed", "model", **data)
        return batch.rows()


FAILING_DISKS = (
    Bug(
        name="failed-save-is-swallowed",
        summary="A failed save is only logged, and its rows are announced as stored.",
        failure_mode="CL-2",
        trips=("acknowledged-is-durable",),
        build=with_parts(writer=_SwallowsFailures),
    ),
    Bug(
        name="recorder-dies-with-an-error",
        summary="The task that writes ends with the first error, and the session goes on unrecorded.",
        failure_mode="CX-7",
        trips=("acknowledged-is-durable",),
        build=with_parts(writer=_LosesItsRecorder),
    ),
    Bug(
        name="stopped-said-and-not-kept",
        summary="A run is announced as stopped although its marker could not be written.",
        failure_mode="CX-6",
        trips=("acknowledged-is-durable",),
        build=with_parts(writer=_SaysStoppedAnyway),
    ),
    Bug(
        name="failed-append-uses-a-number",
        summary="A failed append leaves a hole in the numbers, and the journal becomes unreadable.",
        failure_mode="HW-31",
        trips=("acknowledged-is-durable",),
        build=with_parts(writer=_GivesNumbersAway),
    ),
    Bug(
        name="unwritten-text-under-the-last-id",
        summary="Text whose row could not be written is sent under the id of the row before it.",
        failure_mode="HW-33",
        trips=("acknowledged-is-durable",),
        build=with_parts(worker=_ShowsItAnyway),
    ),
    Bug(
        name="failed-agent-rows-dropped",
        summary="Rows of a sub-agent are dropped when the store refuses them.",
        failure_mode="DF-19",
        trips=("executed-tool-recorded",),
        build=with_parts(writer=_DropsWhatAgentsWrite),
    ),
    Bug(
        name="doubtful-commit-written-again",
        summary="A message whose commit was not confirmed is written again under new ids.",
        failure_mode="DF-17",
        trips=("no-duplicate-message",),
        build=with_parts(writer=_WritesAgainUnseen),
    ),
)
