"""Runs the journal as a server process: implements its verbs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from journalsim.contract.adapters import RunBusy
from journalsim.contract.capabilities import StopMode
from journalsim.contract.items import Item, Statistics
from journalsim.contract.model_call import ModelError, ModelRequest
from journalsim.contract.ports import Ports
from journalsim.contract.stream_port import StreamAnswer, StreamRequest
from journalsim_reference.batch import Stamp
from journalsim_reference.calls import decide_answer
from journalsim_reference.journal import (
    Decision,
    Refused,
    decide_accept,
    decide_annotate,
    decide_clear,
    decide_compact,
    decide_stop,
)
from journalsim_reference.recovery import recover
from journalsim_reference.stores.base import Store
from journalsim_reference.worker import Worker
from journalsim_reference.writer import Control, Writer


class KeyReused(RunBusy):
    """A request key came again with another text; neither run nor message was made."""


class StaleRevision(RunBusy):
    """The history has moved on since the rewrite began; nothing was rewritten."""


class Server:
    """One server process.

    Args:
        store: a store that was just opened.
        ports: the ports of the harness.
    """

    writer_class: ClassVar[type[Writer]] = Writer
    worker_class: ClassVar[type[Worker]] = Worker

    def __init__(self, store: Store, ports: Ports) -> None:
        self.ports = ports
        self.writer = self.writer_class(store, ports)
        self.state = self.writer.state

    async def recover(self) -> None:
        """Reads the store, and ends the runs that an earlier process left open."""
        async with self.ports.step("store.load"):
            for event in self.writer.store.load():
                self.state.apply(event)
                self.writer.streams.restore(event)
        if self.state.active_runs():
            async with self.ports.step("store.append"):
                self.writer.commit(lambda stamp: recover(self.state, stamp, closures=self.writer.closes_on_write))

    # --- runs

    async def start(self, session_id: str, text: str, key: str) -> str:
        """Accepts a prompt and returns the id of its run, which is durable by then.

        Raises:
            RunBusy: the session is busy, or the server is shutting down; nothing was done.
            KeyReused: the key belongs to another text.
        """
        async with self.writer.critical(session_id):
            known = self.state.session(session_id).keys.get(key)
            if self.writer.closing:
                raise RunBusy("the server is shutting down")
            run_id = known or self.mint_run()
            decision = self.writer.commit(
                lambda stamp: decide_accept(
                    self.state,
                    stamp,
                    session_id=session_id,
                    run_id=run_id,
                    key=key,
                    text=text,
                    busy=self.writer.policies["busy"],
                    buffered=self.writer.snapshot,
                )
            )
            if isinstance(decision, Refused):
                raise RunBusy(f"{session_id} has an active run") if decision.reason == "busy" else KeyReused(key)
            if known is None:
                # In the same step as the row: an accepted run without a worker would never end.
                self.writer.controls[run_id] = Control()
                self.ports.spawn(f"worker:{run_id}", self.worker_class(self.writer, self.state.runs[run_id]).run)
        return run_id

    def mint_run(self) -> str:
        """Returns the id of a new run."""
        return self.ports.mint("run")

    async def stop(
        self, session_id: str, run_id: str, mode: StopMode = "interrupt", cause: str = "stopped", by: str = "person"
    ) -> str:
        """Stops the named run in any state, and returns ``stopping``, ``ended`` or ``unknown``."""
        async with self.writer.critical(session_id):
            decision = self.writer.commit(
                lambda stamp: decide_stop(
                    self.state,
                    stamp,
                    session_id,
                    run_id,
                    cause=cause,
                    mode=mode,
                    by=by,
                    buffered=self.writer.snapshot,
                )
            )
        if isinstance(decision, Refused):
            return "ended" if decision.reason == "ended" else "unknown"
        return "stopping"

    async def answer(self, session_id: str, run_id: str, call_id: str, approved: bool) -> str:
        """Takes a person's answer about a waiting call, and returns ``resolved``, ``late`` or ``unknown``."""
        async with self.writer.critical(session_id):
            decision = self.writer.commit(
                lambda stamp: decide_answer(self.state, stamp, session_id, run_id, call_id, approved=approved)
            )
        if isinstance(decision, Refused):
            return "unknown" if decision.reason in ("unknown", "replaced") else "late"
        return "resolved"

    async def disconnected(self, session_id: str, client: str) -> None:
        """Takes a disconnection, which does nothing, unless the policy makes it a stop with a cause of its own."""
        if self.writer.policies["disconnect"] == "cancel":
            for run in self.state.session(session_id).active_runs():
                await self.stop(session_id, run.run_id, cause="disconnected", by=client)

    async def shutdown(self) -> None:
        """Ends active runs in good order and closes the store; does nothing if the process has fenced itself."""
        self.writer.closing = True
        if self.writer.fenced:
            return
        for run in self.state.active_runs():
            await self.stop(run.session_id, run.run_id, cause="shut_down", by="server")
        for control in list(self.writer.controls.values()):
            await control.done.wait()
        if not self.writer.fenced:
            self.writer.store.close()

    # --- views

    def read(self, session_id: str) -> tuple[Item, ...]:
        """Returns the items that a page opened now would display."""
        return self.writer.shown(session_id)

    def context(self, session_id: str) -> tuple[Item, ...]:
        """Returns the context of the next model call."""
        return self.writer.given(session_id)

    def attach(self, request: StreamRequest) -> StreamAnswer:
        """Answers a reader who wants to watch."""
        return self.writer.streams.attach(request)

    def cursor(self, session_id: str) -> str | None:
        """Returns the cursor of a reader that has read the history at this moment."""
        return self.writer.streams.cursor(session_id)

    def status(self, session_id: str) -> Mapping[str, Any]:
        """Returns the status of a session for pollers."""
        return self.writer.streams.status(session_id)

    def statistics(self) -> Statistics:
        """Returns the sizes of the buffers."""
        return Statistics(
            partial_messages=len(self.writer.partials),
            partial_bytes=self.writer.partials.bytes,
            partial_messages_max=self.writer.partials.messages_max,
            partial_bytes_max=self.writer.partials.bytes_max,
            active_runs=len(self.writer.controls),
            reader_bytes=self.writer.streams.reader_bytes,
            reader_bytes_max=self.writer.streams.bytes_max,
        )

    # --- maintenance

    async def annotate(self, session_id: str, message_id: str, metadata: Mapping[str, Any]) -> None:
        """Sets flags of a message.

        Raises:
            LookupError: the session has no such message.
        """
        async with self.writer.critical(session_id):
            decision = self.writer.commit(
                lambda stamp: decide_annotate(self.state, stamp, session_id, message_id, metadata)
            )
        if isinstance(decision, Refused):
            raise LookupError(f"{session_id} shows no message {message_id!r}")

    async def compact(self, session_id: str) -> None:
        """Lets the model summarise the history, and replaces the context of later calls by the summary.

        Raises:
            StaleRevision: the session is busy, or changed meanwhile; nothing was rewritten.
            ModelError: the model gave no whole summary.
        """
        session = self.state.session(session_id)
        if session.active_runs():
            raise StaleRevision(f"{session_id} is busy: nothing was rewritten")
        base = session.revision
        request = ModelRequest(
            run_id=self.ports.mint("compaction"),
            session_id=session_id,
            context=self.context(session_id),
            purpose="compaction",
        )
        text, finished = "", False
        async with self.ports.model(request) as stream:
            async for event in stream:
                text += event.text if event.kind == "text" and not finished else ""
                finished = finished or event.kind == "finish"
        if not finished:
            raise ModelError("silent_end", "the summary has no finish, nothing was rewritten")
        await self._rewrite(
            session_id, lambda stamp: decide_compact(self.state, stamp, session_id, base=base, text=text)
        )

    async def clear(self, session_id: str) -> None:
        """Empties the history; the rows stay.

        Raises:
            StaleRevision: the session is busy, or changed meanwhile; nothing was rewritten.
        """
        base = self.state.session(session_id).revision
        await self._rewrite(session_id, lambda stamp: decide_clear(self.state, stamp, session_id, base=base))

    async def _rewrite(self, session_id: str, decide: Callable[[Stamp], Decision]) -> None:
        async with self.writer.critical(session_id):
            decision = self.writer.commit(decide)
        if isinstance(decision, Refused):
            raise StaleRevision(f"{session_id} is {decision.reason}: nothing was rewritten")
