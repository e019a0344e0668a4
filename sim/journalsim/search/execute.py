"""Runs one case and judges it.

A case has three phases: the steps of the author with their faults; then the
heal, in which a server that is down is started again; then the quiet phase, in
which everything must come to rest, and is looked at.
"""

from __future__ import annotations

import os  # the id of this process names its workspace, nothing of a case
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import trio
from attrs import asdict, evolve, frozen

from journalsim.actors.clients.client import Client
from journalsim.actors.clients.direct_client import DirectClient
from journalsim.actors.clients.wire_client import WireClient
from journalsim.actors.director import Director
from journalsim.actors.wire.wiring import faults_met, link_of
from journalsim.case import Case
from journalsim.contract.events.harness_events import (
    AdapterRaised,
    BoundHit,
    DeadlockFound,
    QuietReached,
    StepSkipped,
    StuckTask,
    TraceDiffers,
)
from journalsim.contract.events.journal_events import DiskFailed
from journalsim.contract.events.server_events import ServerCrashed
from journalsim.engine.entries import Strategy
from journalsim.engine.hosting import Host
from journalsim.engine.scheduler import Scheduler
from journalsim.engine.world import World
from journalsim.history import EventOf, History, of_kind, trace_hash
from journalsim.hosts.loading import LoadedAdapter, runner
from journalsim.hosts.machine import Machine
from journalsim.hosts.process_ports import Cast
from journalsim.hosts.server.server import Server
from journalsim.hosts.server.setup import Setup
from journalsim.oracle.expectations.judging import check_expectations, met_sometimes
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.invariants.judge import check_history
from journalsim.scenario.resolve import resolve
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.moves import Step
from journalsim.scenario.values.scenario import AnyFault, Scenario
from journalsim.search.results import CaseResult
from journalsim.search.sweep import Swept, baseline, spell_out

QUIET_WITHIN_NS = 3600 * 1_000_000_000  # an hour of virtual time: longer than any honest timeout of a chat
_ERRORS = ("error", "full")  # faults of a disk of which a system is told
_MEMORY_FOLDER = Path("/dev/shm")  # a journal's files need not survive this process, so memory will do
_PREFIX = "journalsim-{}-"  # of workspaces: the process that made it


@frozen(kw_only=True)
class Ran:
    """One case that was run and not yet judged."""

    case: Case
    history: History
    points: tuple[str, ...]
    steps: int
    virtual_ns: int
    reached: bool


@contextmanager
def workspace() -> Iterator[Path]:
    """Yields an empty folder for the files of journals under test, removed at the end."""
    parent = _MEMORY_FOLDER if _MEMORY_FOLDER.is_dir() else None
    try:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX.format(os.getpid()), dir=parent))
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX.format(os.getpid())))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_workspaces(process: int) -> None:
    """Removes the workspaces of a process that died and could not remove them itself.

    Args:
        process: its id.
    """
    for parent in {_MEMORY_FOLDER, Path(tempfile.gettempdir())}:
        for folder in parent.glob(_PREFIX.format(process) + "*"):
            shutil.rmtree(folder, ignore_errors=True)


class Executor:
    """Runs the cases of one scenario against one adapter.

    Args:
        scenario: what to run.
        adapter: against what.
        folder: where the adapter's files go, one folder per case.
    """

    def __init__(self, scenario: Scenario, adapter: LoadedAdapter, folder: Path) -> None:
        self.scenario = scenario
        self.adapter = adapter
        self.folder = folder
        self._exempt = tuple(exemption.invariant for exemption in scenario.expect.exempt)

    async def judge(
        self, host: Host, case: Case, strategy: Strategy | None = None, *, expect: bool = True
    ) -> CaseResult:
        """Runs a case and judges it.

        Args:
            host: the hosting run.
            case: what to run.
            strategy: explores another schedule; what it chose is recorded in the result's case.
            expect: also judge the scenario's own expectations.
        """
        return self.verdict(await self.run(host, case, strategy), expect=expect)

    async def baseline(self, host: Host, strategy: Strategy | None = None) -> Ran:
        """Runs the baseline, in which no swept action happens."""
        return await self.run(host, baseline(self.scenario), strategy)

    def spell_out(self, baseline: Ran) -> Swept:
        """Returns the cases of the scenario for this adapter.

        Args:
            baseline: the run that says what there is to sweep.

        Raises:
            UsageError: the sweep has more cases than its limit, or an axis without a place.
        """
        return spell_out(self.scenario, baseline.points, baseline.steps, baseline.history.events)

    async def run(self, host: Host, case: Case, strategy: Strategy | None = None) -> Ran:
        """Runs a case."""
        scheduler = host.next_case()
        where = Path(tempfile.mkdtemp(prefix="case-", dir=self.folder))
        try:
            resolved = resolve(self.scenario, case)
            stage = _Stage(resolved, self.adapter, str(where))
            await stage.play(scheduler, strategy)
            swept = [step.label for step in self.scenario.steps if step.timing.axis is not None]
            return stage.ran(case, swept, [fault for fault in resolved.faults if fault not in self.scenario.faults])
        finally:
            shutil.rmtree(where, ignore_errors=True)

    def verdict(self, ran: Ran, *, expect: bool = True) -> CaseResult:
        """Judges a case that was run."""
        facts = Facts(ran.history)
        verdicts = check_history(ran.history, exempt=self._exempt, facts=facts)
        met: tuple[bool, ...] = ()
        if expect:
            verdicts += check_expectations(self.scenario, ran.history, facts)
            met = met_sometimes(self.scenario, ran.history, facts)
        return CaseResult(
            case=ran.case,
            verdicts=verdicts,
            history=ran.history,
            points=ran.points,
            steps=ran.steps,
            virtual_ns=ran.virtual_ns,
            reached=ran.reached,
            trouble=_trouble(ran.history),
            met=met,
        )


def audited(first: Ran, second: Ran) -> Ran:
    """Returns the first of two runs of one case, its history saying whether they were the same."""
    history = evolve(first.history, policies={**first.history.policies, "audited": True})
    ours, theirs = first.history.events, second.history.events
    if trace_hash(ours) != trace_hash(theirs):
        position = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), len(ours))
        last = ours[-1]
        data = TraceDiffers(first=position, ours=_event_text(ours, position), theirs=_event_text(theirs, position))
        differs = EventOf(len(ours), last.time_ns, last.step, "harness", data)
        history = evolve(history, events=(*ours, differs))
    return evolve(first, history=history)


def _event_text(events: tuple[Any, ...], position: int) -> str:
    if position >= len(events):
        return "(nothing: the run had ended)"
    event = events[position]
    return f"{event.actor} {event.kind} {event.run or ''} {event.subject or ''}".strip()


def _trouble(history: History) -> str | None:
    event = next(history.of(AdapterRaised), None)  # the first; others mostly follow from it
    if event is None or (event.data.verb == "setup" and _after_power_cut(history, event.position)):
        return None  # a journal that cannot be opened any more has lost all: that is a verdict
    broken = next((e for e in history.of(DiskFailed) if e.data.fault in _ERRORS), None)
    if broken is not None and broken.position < event.position:
        return None  # to say that it did not do what it could not do is right
    return f"{event.data.verb}: {event.data.error}"


def _after_power_cut(history: History, position: int) -> bool:
    return any(e.position < position and e.data.lose is not None for e in history.of(ServerCrashed))


class _Stage:
    """Everything that lives for the length of one case.

    Args:
        scenario: resolved, so that every action has its place.
        adapter: against what it runs.
        where: folder of the adapter's files.
    """

    def __init__(self, scenario: Scenario, adapter: LoadedAdapter, where: str) -> None:
        self._scenario = scenario
        self._adapter = adapter
        self._where = where
        self._points: tuple[str, ...] = ()
        self._over_wire = scenario.uses_wire and adapter.capabilities.replay != "none"

    async def play(self, scheduler: Scheduler, strategy: Strategy | None) -> None:
        """Runs all phases."""
        scheduler.reset(strategy, self._scenario.schedule)
        self._scheduler = scheduler
        self._world = world = World(scheduler)
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            self._server = server = Server(world, nursery, self._setup(world), Machine(world, self._scenario))
            self._clients = self._make_clients(server)
            self._director = Director(world, self._scenario, self._take)
            await self._phases(self._director)
            scheduler.finish()
            server.drop()
            nursery.cancel_scope.cancel()

    def ran(self, case: Case, swept: Sequence[str], faults: Iterable[AnyFault]) -> Ran:
        """Returns what came of it.

        Args:
            case: that was run.
            swept: labels of the steps that the case places, at a moment or behind another step.
            faults: those that the case places; an author's own need not happen in every case.
        """
        scheduler, events = self._scheduler, self._world.events
        missed = bool(swept) and any(skipped.data.label in swept for skipped in of_kind(events, StepSkipped))
        return Ran(
            case=evolve(case, delays=tuple(sorted(scheduler.recorded))),
            history=History(
                events=tuple(events),
                capabilities=self._adapter.capabilities,
                policies=dict(self._scenario.policies),
            ),
            points=self._points,
            steps=self._steps,
            virtual_ns=scheduler.now_ns,
            reached=self._director.reached and not missed and faults_met(faults, events),
        )

    async def _phases(self, director: Director) -> None:
        world, scheduler, server = self._world, self._scheduler, self._server
        if await self._complete("setup", server.start_process):
            world.points.clear()  # a sweep places actions in the author's phase alone
            director.begin()
            more = True
            while more and scheduler.over is None:
                more = director.on_quiet()
                await scheduler.wait_quiet(QUIET_WITHIN_NS)
            director.finish()
            world.forget_placed()
            server.machine.heal()
            self._points = tuple(world.points)
            await self._heal()
        self._steps = scheduler.steps
        if scheduler.over is not None:
            limit = scheduler.steps_max if scheduler.over == "steps" else len(world.events)
            world.record("harness", BoundHit(bound=scheduler.over, limit=limit))
            return
        self._note_unfinished()
        await self._complete("statistics", server.take_statistics)
        sessions = list(dict.fromkeys(client.session for client in self._clients.values()))
        for session in sessions:
            await self._complete("read", partial(server.read_items, session, "quiet"))
            await self._complete("context", partial(server.look, session))
        if self._adapter.capabilities.crash != "none" and any(isinstance(e.data, ServerCrashed) for e in world.events):
            await self._complete("recovery", partial(server.repeat_recovery, sessions))

    async def _heal(self) -> None:
        """Undoes what the faults left broken: a server that is down, a client that does not reattach by itself."""
        if self._scheduler.over is None and self._server.process is None:
            await self._complete("setup", self._server.start_process)
        self._look("quiet")
        lost = [client for client in self._clients.values() if not client.connected]
        for client in lost:
            client.reattach()
        if lost and self._scheduler.over is None:
            await self._scheduler.wait_quiet(QUIET_WITHIN_NS)
            self._look("healed")

    def _look(self, reason: str) -> None:
        for client in self._clients.values():
            if isinstance(client, WireClient):
                client.look(reason)

    async def _complete(self, verb: str, work: Callable[[], Awaitable[Any]]) -> bool:
        """Awaits a verb in a task of its own, so that one that never returns is noticed."""
        done = False

        async def task() -> None:
            nonlocal done
            await work()
            done = True

        self._nursery.start_soon(task, name=f"harness.{verb}")
        await self._scheduler.wait_quiet(QUIET_WITHIN_NS)
        if not done and self._scheduler.over is None:
            self._world.record("server", AdapterRaised(verb=verb, error="never returned: it hangs in virtual time"))
        return done

    def _note_unfinished(self) -> None:
        process = self._server.process
        if process is None:
            return
        unfinished = tuple(process.unfinished)
        waits = (*process.hung.values(), *self._server.waits_for_people)
        if unfinished and not waits:
            tasks = tuple(StuckTask(name, self._world.last_points.get(name, "its start")) for name in unfinished)
            self._world.record("harness", DeadlockFound(tasks=tasks))
        else:
            self._world.record("harness", QuietReached(unfinished=unfinished, waits_for=waits))

    # --- who acts

    def _setup(self, world: World) -> Setup:
        scenario = self._scenario
        return Setup(
            factory=lambda: runner(self._adapter, world.record),
            where=self._where,
            cast=Cast(scenario),
            policies=scenario.policies,
            limits_ns={name.removesuffix("_ns"): ns for name, ns in asdict(scenario.limits).items() if ns},
            store_latency_ns=scenario.store.latency_ns,
        )

    def _make_clients(self, server: Server) -> dict[str, Client]:
        specs = {spec.name: spec for spec in self._scenario.clients}
        clients: list[Client] = [
            WireClient(self._world, spec, _session(spec, specs), server, link_of(self._scenario, spec))
            if self._over_wire
            else DirectClient(self._world, spec, _session(spec, specs), server)
            for spec in specs.values()
        ]
        server.clients = clients
        self._by_name = {client.name: client for client in clients}
        return self._by_name

    def _take(self, step: Step) -> None:
        if step.actor == "clock":
            self._world.jump_wall(step.by_ns)
            return
        client = self._by_name.get(step.actor)
        if client is None:
            self._server.take(step)
        elif step.verb == "send":
            client.send(step, step.key or f"k{self._world.number('key')}")
        else:
            getattr(client, step.verb)(step)


def _session(spec: ClientSpec, specs: dict[str, ClientSpec]) -> str:
    return specs[spec.observes].session if spec.observes in specs else spec.session
