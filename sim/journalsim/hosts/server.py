"""The server: hosts one adapter process at a time and calls its verbs.

Clients reach it through requests; it answers, relays frames to whoever watches,
crashes, and is started again on the same folder.  Whatever an adapter raises is
recorded with the verb and never ends the case.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any

import trio

from journalsim.actors.client import Answer, Client
from journalsim.actors.wire.exchange import Exchange
from journalsim.contract.adapters import OutcomeUnknown, RunBusy, RunnerAdapter
from journalsim.contract.events.harness_events import AdapterRaised
from journalsim.contract.events.journal_events import JournalContext, JournalRead, RecoveryRead
from journalsim.contract.events.server_events import (
    AnswerAnswered,
    AnswerDelivered,
    FramePublished,
    MaintenanceDone,
    MaintenanceRefused,
    ReaderDisconnected,
    RunAccepted,
    RunEnded,
    RunRefused,
    ServerCrashed,
    ServerShutDown,
    ServerStarted,
    StopAnswered,
    StopDelivered,
)
from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.engine.entries import Killed
from journalsim.engine.world import World
from journalsim.errors import AdapterError
from journalsim.hosts.cache_sizes import CacheSizes
from journalsim.hosts.checks import checked_items, checked_stop_answer
from journalsim.hosts.machine import Machine
from journalsim.hosts.page_reads import HistoryRead, ShowHistory, history_and_cursor, item_of
from journalsim.hosts.process import Process, describe, leaves
from journalsim.hosts.process_ports import Cast, WorldPorts
from journalsim.hosts.stream_answers import Streams
from journalsim.scenario.values.disk_fault import MEMORY
from journalsim.scenario.values.moves import Step


class Server:
    """One server, through all its crashes and restarts.

    Args:
        world: the case's world.
        nursery: where its tasks live.
        factory: makes a fresh adapter, one per process.
        where: the folder that outlives crashes.
        cast: the scripted model and tools.
        policies: options of the scenario.
        limits_ns: time limits of the scenario.
        store_latency_ns: how long each operation of the store takes.
        machine: with the disk, if there is one.
    """

    def __init__(
        self,
        world: World,
        nursery: trio.Nursery,
        factory: Callable[[], RunnerAdapter],
        where: str,
        cast: Cast,
        policies: Mapping[str, str],
        limits_ns: Mapping[str, int],
        store_latency_ns: int,
        machine: Machine,
    ) -> None:
        self.machine = machine
        self.clients: list[Client] = []
        self.process: Process | None = None
        self._world = world
        self._nursery = nursery
        self._factory = factory
        self._where = where
        self._cast = cast
        self._policies = policies
        self._limits_ns = limits_ns
        self._store_latency_ns = store_latency_ns
        self._adapter: RunnerAdapter | None = None
        self._hosted: RunnerAdapter | None = None  # also while it is being set up
        self._repeats = 0
        self.accepted: dict[str, str] = {}  # run -> session
        self._ended: set[str] = set()  # membership only
        self._asked: dict[str, str] = {}  # call -> run, for approvals that nobody has answered
        self._open_answers: dict[int, Callable[[], None]] = {}
        self._cache = CacheSizes(world)

    # --- the process

    async def start_process(self) -> None:
        """Starts a process on the folder; does nothing if one is up."""
        if self.process is not None:
            return
        world = self._world
        self.process = process = Process(world, self._nursery)
        ports = WorldPorts(
            world,
            process,
            self._cast,
            self._policies,
            self._limits_ns,
            self._store_latency_ns,
            self._relay,
            lambda: self._cache.watch(self._adapter),
            self.machine.disk,
            self.machine.engine,
        )
        try:
            adapter = self._hosted = self._factory()
            if await self._call("setup", adapter.setup, self._where, ports) and process.alive:
                self._adapter = adapter
                if not self._repeats:
                    world.record("server", ServerStarted(incarnation=world.number("server")))
                    for client in self.clients:
                        client.server_is_back()
            elif process is self.process and self.machine.failed:
                self._give_up(process)
        except BaseException as error:
            if not all(isinstance(leaf, Killed) for leaf in leaves(error)):
                raise

    def _give_up(self, process: Process) -> None:
        """Ends a process that a failing disk did not let start; the next one may find the disk mended."""
        self.process = self._hosted = None
        self.machine.drop()
        process.kill()

    def crash(self, lose: str = MEMORY) -> None:
        """Kills the process: memory and unfinished work are gone, what the store holds stays, but for ``lose``."""
        process, adapter = self.process, self._hosted
        if process is None:
            return
        self.process = self._adapter = self._hosted = None
        self._asked.clear()
        if not self._repeats:
            self._world.record("server", ServerCrashed(lose=None if lose == MEMORY else lose))
        self.machine.crash(lose)
        crash = getattr(adapter, "crash", None)
        if crash is not None:
            try:
                crash()
            except Exception as error:
                self._trouble("crash", error)
        process.kill()
        if not self._repeats:
            self._cut_off()

    def drop(self) -> None:
        """Lets go of the process of a case that is over: its files are closed, and nothing is recorded any more."""
        hosted, self._hosted = self._hosted, None
        self.machine.drop()
        with contextlib.suppress(Exception):
            getattr(hosted, "crash", lambda: None)()

    async def repeat_recovery(self, sessions: Iterable[str]) -> None:
        """Kills the process at rest and starts it again, and records what it then shows.

        Nobody watches any more: what the new process announces goes nowhere, and the kill is no event of the case.
        """
        if self.process is None:
            return
        self._repeats += 1
        self.crash()
        await self.start_process()
        if self._adapter is not None:
            for session in sessions:
                items = checked_items("read", await self._attempt("read", self._adapter.read, session))
                self._world.record("journal", RecoveryRead(items=items, session=session, times=self._repeats))

    def _cut_off(self) -> None:
        """Breaks every connection: open requests get no answer, and clients hear nothing more."""
        answers, self._open_answers = self._open_answers, {}
        for lost in answers.values():
            lost()
        for client in self.clients:
            client.lose_connection()

    def shut_down(self) -> None:
        """Ends the process in good order."""
        process, adapter = self.process, self._adapter
        if process is None or adapter is None:
            return
        process.spawn("server.shutdown", partial(self._shut_down, process, adapter))

    async def _shut_down(self, process: Process, adapter: RunnerAdapter) -> None:
        if await self._call("shutdown", adapter.shutdown) and process.alive:
            self.process = self._adapter = None
            self._world.record("server", ServerShutDown())
            self._cut_off()
            process.kill()

    def take(self, step: Step) -> None:
        """Does a step of the author's: crash, restart, shutdown or maintenance."""
        if step.verb == "crash":
            self.crash(step.lose)
        elif step.verb == "restart":
            self._nursery.start_soon(self.start_process, name="server.restart")
        elif step.verb == "shutdown":
            self.shut_down()
        elif self.process is not None:
            self.process.spawn(f"maintenance.{step.verb}", partial(self._maintain, step))

    @property
    def active(self) -> list[str]:
        """Runs that were accepted and whose end was not announced, oldest first."""
        return [run for run in self.accepted if run not in self._ended]

    @property
    def up(self) -> bool:
        """Whether a process answers."""
        return self.process is not None and self._adapter is not None

    def running(self, session: str) -> bool:
        """Whether a run of the session has not ended."""
        return any(self.accepted[run] == session for run in self.active)

    @property
    def waits_for_people(self) -> list[str]:
        """What a person could still answer, as phrases."""
        return [f"an answer about {call}" for call in self._asked] if self.process is not None else []

    # --- requests

    def start(self, session: str, text: str, key: str, answer: Answer) -> None:
        """A client's send has arrived."""
        self._serve("start", answer, partial(self._start, session, text, key))

    def stop(self, session: str, run: str, step: Step, answer: Answer) -> None:
        """A client's stop has arrived."""
        self._serve("stop", answer, partial(self._stop, session, run, step))

    def answer(self, session: str, run: str, step: Step, answer: Answer) -> None:
        """A client's approval or denial has arrived."""
        self._serve("answer", answer, partial(self._answer, session, run, step))

    def read(self, session: str, reason: str, answer: Callable[[tuple[Item, ...]], None]) -> None:
        """A client's reload has arrived."""
        self._serve_read(session, reason, lambda items, _: answer(items))

    def read_with_cursor(self, session: str, reason: str, answer: ShowHistory) -> None:
        """A page's request for the history has arrived; it may attach with the cursor that comes with it."""
        self._serve_read(session, reason, answer, with_cursor=True)

    def _serve_read(self, session: str, reason: str, answer: ShowHistory, *, with_cursor: bool = False) -> None:
        async def work() -> None:
            read = await self._read(session, reason, with_cursor=with_cursor)
            if read is not None:
                answer(*read)

        if self.process is not None:
            self.process.spawn("serve.read", work)

    def open_stream(self, exchange: Exchange) -> None:
        """A client's request for a stream has arrived, perhaps with a message to submit first."""
        process, adapter = self.process, self._adapter
        assert process is not None, "the client asks whether the server is up"
        assert adapter is not None
        attach = partial(self._attempt, "attach", adapter.attach)  # type: ignore[attr-defined]  # claimed by replay
        streams = Streams(self._world, process, attach, self.disconnected, self._trouble)
        if exchange.key is None:
            streams.open(exchange)
        else:
            process.spawn("serve.start", partial(self._start_and_stream, streams, exchange))

    async def _start_and_stream(self, streams: Streams, exchange: Exchange) -> None:
        told: list[Any] = []

        def answer(*what: Any) -> None:
            told.extend(what)
            exchange.told(*what)

        await self._start(exchange.session, exchange.text, exchange.key or "", answer)
        if told and told[0] == "ok":
            streams.open(exchange)
        elif told:  # else the process was killed in the moment of its answer
            streams.refuse(exchange, 409 if told[2] == "busy" else 500)

    def disconnected(self, session: str, client: str) -> None:
        """The server notices that a client is gone."""
        if self.process is None:
            return
        self._world.record("server", ReaderDisconnected(client=client, active=tuple(self.active)))
        verb = getattr(self._adapter, "disconnected", None)
        if verb is not None:

            async def work() -> None:
                await self._call("disconnected", verb, session, client)

            self.process.spawn("serve.disconnected", work)

    def _serve(self, verb: str, answer: Answer, work: Callable[[Answer], Awaitable[None]]) -> None:
        if self.process is None:
            answer("failed", None, "the server is down")
            return
        number = self._world.number("serve")
        self._open_answers[number] = lambda: answer("unknown", None, "the server went away")

        def answer_once(outcome: Any, run: str | None, reason: str) -> None:
            if self._open_answers.pop(number, None) is not None:
                answer(outcome, run, reason)

        async def serve() -> None:
            await work(answer_once)

        self.process.spawn(f"serve.{verb}", serve)

    async def _start(self, session: str, text: str, key: str, answer: Answer) -> None:
        adapter, process = self._adapter, self.process
        if adapter is None or process is None:
            answer("failed", None, "the server is starting")
            return
        try:
            run = await self._attempt("start", adapter.start, session, text, key)
            if not isinstance(run, str) or not run:
                raise AdapterError(f"start returned {run!r}, expected the id of the run as text")
        except RunBusy as error:
            self._world.record("server", RunRefused(key=key, reason=str(error) or "busy", session=session))
            answer("failed", None, "busy")
        except OutcomeUnknown as error:
            answer("unknown", None, str(error))
        except Exception as error:
            self._trouble("start", error)
            answer("failed", None, describe(error))
        else:
            if not process.alive:
                return  # it was killed in the moment of its answer, which nobody hears
            again = run in self.accepted
            self.accepted.setdefault(run, session)
            self._world.record("server", RunAccepted(run=run, key=key, text=text, session=session, again=again))
            for client in self.clients:
                if client.session == session and not again:
                    client.run_began(run)
            answer("ok", run, "")

    async def _stop(self, session: str, run: str, step: Step, answer: Answer) -> None:
        adapter = self._adapter
        if adapter is None:
            answer("failed", run, "the server is starting")
            return
        world = self._world
        world.record("server", StopDelivered(run=run, named=run, mode=step.mode, active=tuple(self.active)))
        try:
            said = checked_stop_answer(await self._attempt("stop", adapter.stop, session, run, step.mode))
        except Exception as error:
            world.record("server", StopAnswered(run=run, named=run, answer="error"))
            self._trouble("stop", error)
            answer("failed", run, describe(error))
        else:
            world.record("server", StopAnswered(run=run, named=run, answer=said))
            answer("ok", run, said)

    async def _answer(self, session: str, run: str, step: Step, answer: Answer) -> None:
        verb = getattr(self._adapter, "answer", None)
        if verb is None:
            answer("failed", run, "the system asks for no approvals")
            return
        approved = step.verb == "approve"
        record = partial(self._world.record, "server")
        record(AnswerDelivered(run=run, call_id=step.call, approved=approved))
        try:
            said = await self._attempt("answer", verb, session, run, step.call, approved)
        except Exception as error:
            record(AnswerAnswered(run=run, call_id=step.call, answer="error"))
            self._trouble("answer", error)
            answer("failed", run, describe(error))
        else:
            record(AnswerAnswered(run=run, call_id=step.call, answer=said))
            answer("ok", run, said)

    async def _maintain(self, step: Step) -> None:
        verb = getattr(self._adapter, step.verb, None)
        if verb is None:
            return
        arguments: tuple[Any, ...] = (step.session,)
        if step.verb == "annotate":
            items = await self.read_items(step.session, "annotate")
            item = item_of(items or (), step.message or "")
            if item is None or item.id is None:
                return
            arguments = (step.session, item.id, dict(step.metadata))
        record = partial(self._world.record, "maintenance")
        try:
            await self._attempt(step.verb, verb, *arguments)
        except (RunBusy, LookupError) as error:  # it is busy, or the message is no longer there
            record(MaintenanceRefused(verb=step.verb, session=step.session, reason=str(error) or "busy"))
        except Exception as error:
            self._trouble(step.verb, error)
        else:
            flags = dict(step.metadata)
            record(MaintenanceDone(verb=step.verb, session=step.session, item=step.message, metadata=flags))

    # --- looking

    async def read_items(self, session: str, reason: str) -> tuple[Item, ...] | None:
        """Reads what a page would show and records it; None if the adapter could not say."""
        read = await self._read(session, reason)
        return None if read is None else read[0]

    async def _read(self, session: str, reason: str, *, with_cursor: bool = False) -> HistoryRead | None:
        adapter = self._adapter
        if adapter is None:
            return None
        begun = len(self._world.events)
        try:
            said, cursor = await self._attempt("read", history_and_cursor, adapter, session, with_cursor)
            items = checked_items("read", said)
        except Exception as error:
            self._trouble("read", error)
            return None
        since = None
        if begun < len(self._world.events):
            since = begun  # the read may show what happened in between, or not
        seen = JournalRead(items=items, reason=reason, session=session, cursor=cursor, since=since)
        self._world.record("journal", seen)
        return items, cursor

    async def look(self, session: str) -> None:
        """Records what the model would be given next, where the adapter can say."""
        context = getattr(self._adapter, "context", None)
        if context is not None:
            try:
                items = checked_items("context", await self._attempt("context", context, session))
            except Exception as error:
                self._trouble("context", error)
                return
            self._world.record("journal", JournalContext(items=items, session=session))

    async def take_statistics(self) -> None:
        """Records the sizes of the partial cache."""
        try:
            await self._cache.take(self._adapter, quiet=not self.active)
        except Exception as error:
            self._trouble("statistics", error)

    def _relay(self, session: str, frame: Frame) -> None:
        if self._repeats:
            return
        record = partial(self._world.record, "server")
        run = frame.run_id
        record(
            FramePublished(
                run=run,
                frame=frame.kind,
                message=frame.message_id,
                text=frame.text,
                source=frame.source,
                call_id=frame.call_id,
                state=frame.state,
                event_id=frame.event_id,
            )
        )
        if frame.kind == "approval.requested" and frame.call_id is not None:
            self._asked[frame.call_id] = run
        elif frame.kind == "approval.resolved":
            self._asked.pop(frame.call_id or "", None)
        if frame.kind == "run.ended":
            self._ended.add(run)
            self._asked = {call: asker for call, asker in self._asked.items() if asker != run}
            record(RunEnded(run=run, state=frame.state, cause=frame.cause))
        for client in self.clients:
            if client.session == session:
                client.frame(frame)

    # --- calling verbs

    async def _attempt(self, name: str, verb: Callable[..., Any], *arguments: Any) -> Any:
        world = self._world
        point = f"adapter.{name}#{world.number(f'adapter.{name}')}"
        world.passed(f"{point}.before")
        result = verb(*arguments)
        if inspect.isawaitable(result):
            result = await result
        world.passed(f"{point}.after")
        return result

    async def _call(self, name: str, verb: Callable[..., Any], *arguments: Any) -> bool:
        try:
            await self._attempt(name, verb, *arguments)
        except Exception as error:
            self._trouble(name, error)
            return False
        return True

    def _trouble(self, verb: str, error: Exception) -> None:
        self._world.record("server", AdapterRaised(verb=verb, error=describe(error)))
