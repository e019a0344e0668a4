"""Seeded bugs of stops: their stored text, and the run that they stop."""

from __future__ import annotations

import trio

from journalsim.contract.capabilities import StopMode
from journalsim.contract.items import Item
from journalsim_reference.bugs.bug import BufferedWriter, Bug, with_parts
from journalsim_reference.content import NOTHING, Content
from journalsim_reference.journal import Refused, decide_stop
from journalsim_reference.server import Server
from journalsim_reference.worker import Worker
from journalsim_reference.writer import Writer


class _KeepsNoPartial(BufferedWriter):
    def snapshot(self, message_id: str) -> Content:
        # Only the completion callback writes messages, and a stopped run never reaches it.
        return NOTHING if _unwritten(self, message_id) else super().snapshot(message_id)


def _unwritten(writer: Writer, message_id: str) -> bool:
    """Returns True if no text of a message was spilled into the journal; half a text would be another bug."""
    return writer.state.messages[message_id].content.empty


class _CopiesTooLate(Server):
    async def stop(
        self, session_id: str, run_id: str, mode: StopMode = "interrupt", cause: str = "stopped", by: str = "person"
    ) -> str:
        # Signals the worker first; the buffers are to be copied when it has unwound.
        decision = await self.writer.append(
            session_id,
            lambda stamp: decide_stop(
                self.state, stamp, session_id, run_id, cause=cause, mode=mode, by=by, buffered=self._spilled
            ),
        )
        if isinstance(decision, Refused):
            return "ended" if decision.reason == "ended" else "unknown"
        return "stopping"

    def _spilled(self, message_id: str) -> Content:
        return NOTHING if _unwritten(self.writer, message_id) else self.writer.snapshot(message_id)


class _TidiesUp(Worker):
    async def work(self) -> None:
        try:
            await super().work()
        except trio.Cancelled:
            self.writer.partials.clear(self.run_state.run_id)
            raise


class _StopsWhoeverRuns(Server):
    async def stop(
        self, session_id: str, run_id: str, mode: StopMode = "interrupt", cause: str = "stopped", by: str = "person"
    ) -> str:
        run = self.state.runs.get(run_id)
        active = self.state.session(session_id).active_runs()
        if run is not None and run.ended and active:
            run_id = active[0].run_id  # the handle belongs to the session, not to the run
        return await super().stop(session_id, run_id, mode, cause, by)


class _WritesNoMarker(Writer):
    def shown(self, session_id: str) -> tuple[Item, ...]:
        return _without_markers(super().shown(session_id))

    def given(self, session_id: str) -> tuple[Item, ...]:
        return _without_markers(super().given(session_id))


def _without_markers(items: tuple[Item, ...]) -> tuple[Item, ...]:
    return tuple(item for item in items if item.kind != "marker" or item.state != "interrupted")


STOP = (
    Bug(
        name="stop-keeps-no-partial",
        summary="A stop drops the message that was streaming.",
        failure_mode="DF-1",
        trips=("partial-is-prefix",),
        build=with_parts(writer=_KeepsNoPartial),
    ),
    Bug(
        name="buffer-emptied-before-snapshot",
        summary="A stop signals the worker, whose clean-up empties the buffers before they are copied.",
        failure_mode="HW-8",
        trips=("partial-is-prefix",),
        build=with_parts(server=_CopiesTooLate, writer=BufferedWriter, worker=_TidiesUp),
    ),
    Bug(
        name="late-stop-hits-next-run",
        summary="A stop that names a run which has ended stops whichever run is active.",
        failure_mode="GO-12",
        trips=("stop-ends-run",),
        build=with_parts(server=_StopsWhoeverRuns),
    ),
    Bug(
        name="no-abort-marker",
        summary="An interrupted run has no marker, for people or for the model.",
        failure_mode="CX-1",
        # An end announced before a crash counts as lost with it: no observation shows that it was never stored.
        trips=("one-terminal-per-run", "acknowledged-is-durable"),
        build=with_parts(writer=_WritesNoMarker),
    ),
)
