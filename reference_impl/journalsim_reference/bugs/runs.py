"""Seeded bugs in the life of runs, their readers and their memory."""

from __future__ import annotations

from journalsim_reference.bugs.bug import BufferedWriter, Bug, with_parts
from journalsim_reference.content import Content
from journalsim_reference.events import Event
from journalsim_reference.journal import Terminal
from journalsim_reference.partials import Partials
from journalsim_reference.server import Server
from journalsim_reference.worker import Worker
from journalsim_reference.writer import Control, Writer


class _StopsOnDisconnect(Server):
    async def disconnected(self, session_id: str, client: str) -> None:
        for run in self.state.session(session_id).active_runs():  # under every policy
            await self.stop(session_id, run.run_id, cause="disconnected", by=client)


class _Hoard(Partials):
    """Remembers every message that it ever held."""

    def fits(self, message_id: str, piece: Content) -> bool:
        return True

    def evict(self, message_id: str) -> None:
        if message_id in self._buffers:
            self._buffers[f"{message_id} (done)"] = self._buffers.pop(message_id)

    def clear(self, run_id: str) -> None:
        """Forgets nothing."""


class _Hoards(BufferedWriter):
    partials_class = _Hoard


class _KeepsTheSlot(Writer):
    def release(self, control: Control, event: Event) -> None:
        super().release(Control() if event.kind == "run.failed" else control, event)


class _TidiesUpAfterTheLimit(Worker):
    async def end(self, kind: Terminal, cause: str | None, reason: str = "") -> None:
        if kind == "run.expired":
            self.writer.partials.clear(self.run_state.run_id)  # no person pressed Stop, so the text is dropped
        await super().end(kind, cause, reason)


RUNS = (
    Bug(
        name="disconnect-runs-stop-hook",
        summary="A reader that disconnects stops the runs of its session.",
        failure_mode="GO-4",
        trips=("disconnect-is-not-stop",),
        build=with_parts(server=_StopsOnDisconnect),
    ),
    Bug(
        name="buffers-never-dropped",
        summary="Text of finished messages stays in memory.",
        failure_mode="DF-6",
        trips=("bounded-partials",),
        build=with_parts(writer=_Hoards),
    ),
    Bug(
        name="session-lock-kept-after-failure",
        summary="A run that fails never releases its session, and the prompt behind it waits for ever.",
        failure_mode="HW-18",
        trips=("no-deadlock",),
        build=with_parts(writer=_KeepsTheSlot),
    ),
    Bug(
        name="time-limit-loses-partial",
        summary="A run that reaches its time limit drops the message that was streaming.",
        failure_mode="HW-7",
        trips=("partial-is-prefix",),
        build=with_parts(writer=BufferedWriter, worker=_TidiesUpAfterTheLimit),
    ),
)
