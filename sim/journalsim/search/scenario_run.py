"""Runs all cases of one scenario and makes one result of them.

The cases that the sweep spells out come first and are judged in full.  A deeper
profile then explores other schedules of the same cases; those are judged by the
invariants alone, because an author's expectations speak of the schedule that the
author wrote.
"""

from __future__ import annotations

import random  # seeded: chooses pauses when a case is made; the case holds what was chosen
from collections.abc import Callable, Iterator

import trio
from attrs import define, field

from journalsim.case import NEVER, AtTime, Case, with_axes
from journalsim.contract.capabilities import Capabilities
from journalsim.engine.hosting import Host, host
from journalsim.engine.schedules import CountChoices, portfolio
from journalsim.errors import BlockedInRealTimeError, UsageError
from journalsim.history import trace_hash
from journalsim.hosts.loading import LoadedAdapter
from journalsim.hosts.process import describe, leaves
from journalsim.oracle.invariants.verdict import Violation
from journalsim.scenario.disk_needs import asks_for_disk
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, audited, workspace
from journalsim.search.reduce import Cause, with_fewer_delays
from journalsim.search.results import CaseResult, Failure, Neighbour, ScenarioResult, Tally
from journalsim.search.sweep import Swept, baseline, neighbours, operations
from journalsim.search.workers import Stop

EXPLORED = {"quick": 0, "ci": 60, "deep": 1500}  # further schedules per scenario; ci stays near a second each
TROUBLE_MAX = 3  # cases in which an adapter may fail before the rest of the scenario is left out


@define
class _Book:
    """What is known so far about the cases of one scenario."""

    scenario: Scenario
    tallies: dict[str, Tally] = field(factory=dict)
    cases: int = 0
    failed: int = 0
    explored: int = 0
    virtual_ns: int = 0
    first: dict[Cause, tuple[CaseResult, Violation]] = field(factory=dict)
    failing: dict[Cause, list[Case]] = field(factory=dict)
    held: dict[Case, bool] = field(factory=dict)
    reached: dict[tuple[str, str], None] = field(factory=dict)
    met: list[bool] = field(factory=list)
    trouble: dict[str, int] = field(factory=dict)
    troubled: int = 0
    stopped: bool = False
    raced: bool = False

    def enter(self, result: CaseResult, asked: Case, *, explored: bool) -> None:
        """Adds one judged case."""
        self.cases += 1
        self.explored += explored
        self.virtual_ns += result.virtual_ns
        self.held[asked] = not result.violations
        self.failed += bool(result.violations)
        for verdict in result.verdicts:
            self.tallies[verdict.invariant] = self.tallies.get(verdict.invariant, Tally()).add(verdict.status)
        for violation in result.violations:
            self._enter_violation(result, violation)
        self.raced = self.raced or result.reached
        if result.reached:
            self.reached |= {(name, str(value)): None for name, value in asked.axes}
        if result.met:
            self.met = [a or b for a, b in zip(self.met or [False] * len(result.met), result.met, strict=True)]
        if result.trouble is not None:
            self.trouble[result.trouble] = self.trouble.get(result.trouble, 0) + 1
            self.troubled += 1
            self.stopped = self.troubled >= TROUBLE_MAX

    def _enter_violation(self, result: CaseResult, violation: Violation) -> None:
        cause = (violation.invariant, violation.line)
        cases = self.failing.setdefault(cause, [])
        if not cases or cases[-1] is not result.case:
            cases.append(result.case)
        if cause not in self.first or _size(result.case) < _size(self.first[cause][0].case):
            self.first[cause] = (result, violation)


def run_scenario(
    scenario: Scenario,
    adapter: LoadedAdapter,
    *,
    profile: str = "quick",
    seed: int = 0,
    stop: Stop = lambda: False,
) -> ScenarioResult:
    """Runs a scenario against an adapter.

    Args:
        scenario: what to run.
        adapter: against what.
        profile: ``quick`` runs the spelled-out cases; ``ci`` and ``deep`` explore further schedules.
        seed: of the exploration.
        stop: called between cases; True ends the scenario early.

    A sweep that is larger than its limit, or has an axis without a place, is refused in the result.
    """
    missing = unclaimed(scenario, adapter)
    if missing:
        return ScenarioResult(scenario=scenario, not_claimed=missing)
    with workspace() as folder:
        executor = Executor(scenario, adapter, folder)
        book = _Book(scenario)
        try:
            swept = host(lambda it: _search(it, executor, book, EXPLORED[profile], seed, stop))
        except UsageError as error:
            return ScenarioResult(scenario=scenario, refused=str(error))
        except (trio.TrioInternalError, BlockedInRealTimeError) as error:
            return ScenarioResult(scenario=scenario, cases=book.cases, trouble=(_lost_control(error),))
        causes = sorted(book.first, key=_cause_order(book))
        failures = tuple(_failure(executor, book, swept, cause, stop) for cause in causes)
    return ScenarioResult(
        scenario=scenario,
        cases=book.cases,
        failed=book.failed,
        points_swept=sum((name, str(p)) in book.reached for name, places in swept.places.items() for p in places),
        points_total=swept.places_total,
        operations_swept=len(operations(swept, book.reached)),
        operations_total=len(operations(swept)),
        swept=swept.nouns(book.reached),
        explored=book.explored,
        tallies=dict(sorted(book.tallies.items())),
        failures=failures,
        inconclusive=tuple(_inconclusive(scenario, book)),
        trouble=tuple(f"{what} ({count} {'case' if count == 1 else 'cases'})" for what, count in book.trouble.items()),
        virtual_ns=book.virtual_ns,
    )


def _lost_control(error: BaseException) -> str:
    """Says what code under test did to trio itself; a Ctrl-C that arrived in there stays one."""
    cause: BaseException | None = error
    while cause is not None:
        if any(isinstance(leaf, KeyboardInterrupt) for leaf in leaves(cause)):
            raise KeyboardInterrupt from None
        error, cause = cause, cause.__cause__ or cause.__context__
    return f"the rest was not run, because trio itself broke: {describe(error)}"


def unclaimed(scenario: Scenario, adapter: LoadedAdapter) -> str:
    """Returns why the adapter is not asked at all, or nothing."""
    claimed = adapter.capabilities
    lacks = [need for need in scenario.needs if not _claims(claimed, need)]
    lacks += ["replay"] if scenario.uses_wire and claimed.replay == "none" else []
    lacks += [f"the policy {name}" for name in scenario.policies if name not in claimed.policies]
    verbs = {step.verb for step in scenario.steps if step.actor == "maintenance"}
    lacks += sorted(f"maintenance {verb}" for verb in verbs if verb not in claimed.maintenance)
    if claimed.crash == "none" and any(step.actor == "server" and step.verb == "crash" for step in scenario.steps):
        lacks.append("crash")
    if asks_for_disk(scenario) and not claimed.disk:
        lacks.append("disk")
    if any(tool.approval for tool in scenario.tools) and not claimed.approvals:
        lacks.append("approvals")
    if any(tool.agent for tool in scenario.tools) and not claimed.sub_agents:
        lacks.append("sub-agents")
    limits = {"tool": scenario.limits.tool_ns, "run": scenario.limits.run_ns}
    lacks += [f"the limit {name}" for name, limit_ns in limits.items() if limit_ns and name not in claimed.limits]
    modes = {step.mode for step in scenario.steps if step.verb == "stop"}
    lacks += sorted(f"stop mode {mode}" for mode in modes if mode not in claimed.stop_modes)
    return f"the adapter does not declare {', '.join(dict.fromkeys(lacks))}" if lacks else ""


def _claims(claimed: Capabilities, need: str) -> bool:
    """Returns whether a need is claimed: ``crash``, or with one of its values ``maintenance.compact``."""
    name, _, value = need.partition(".")
    has = getattr(claimed, name, None)
    if value:
        return value == has or (isinstance(has, tuple) and value in has)
    return has not in (False, (), "none", "undefined", None)


async def _search(it: Host, executor: Executor, book: _Book, explore: int, seed: int, stop: Stop) -> Swept:
    base = baseline(executor.scenario)
    counter = CountChoices()
    measured = await executor.baseline(it, counter)
    if executor.adapter.capabilities.clock == "real":
        first = second = measured  # which costs real seconds, and shows nothing: it does not repeat to the bit
    else:
        first, second = await executor.baseline(it), await executor.baseline(it)
    result = executor.verdict(audited(first, second), expect=False)
    if not executor.scenario.sweep.axes or result.violations or result.trouble:
        result = executor.verdict(audited(first, second))
    _enter_audit(book, result, base)
    if result.trouble:
        book.stopped = True  # its baseline run says nothing about where a sweep could place anything
        return Swept(cases=(), places={})
    swept = executor.spell_out(first)
    for case in swept.cases:
        if stop() or book.stopped:
            return swept
        if case != base or case not in book.held:
            book.enter(await executor.judge(it, case), case, explored=False)
    for case, number in _sample(swept, explore):
        if stop() or book.stopped:
            break
        makers = portfolio(max(counter.choices, measured.steps))
        strategy = makers[number % len(makers)][1](seed * 1_000_003 + number)
        case = _with_pauses(case, executor.scenario, seed * 1_000_003 + number)
        book.enter(await executor.judge(it, case, strategy, expect=False), case, explored=True)
    return swept


def _with_pauses(case: Case, scenario: Scenario, seed: int) -> Case:
    """Returns the case with a pause chosen for every step that may happen ``within`` some time."""
    draw = random.Random(seed)
    pauses = {
        f"{step.label}.within": AtTime(draw.randrange(step.timing.within_ns + 1))
        for step in scenario.steps
        if step.timing.within_ns
    }
    return with_axes(case, (*case.axes, *pauses.items())) if pauses else case


def _enter_audit(book: _Book, result: CaseResult, base: Case) -> None:
    """Counts the baseline run as a case where the scenario has no axes, or where it already fails."""
    if not book.scenario.sweep.axes or result.violations or result.trouble:
        book.enter(result, base, explored=False)
        return
    for verdict in result.verdicts:
        if verdict.invariant == "deterministic":
            book.tallies["deterministic"] = Tally().add(verdict.status)


def _sample(swept: Swept, explore: int) -> Iterator[tuple[Case, int]]:
    """Spreads the exploration over the cases, every case once before any twice."""
    stride = 7919  # a prime: consecutive picks are far apart, and all cases are met
    count = len(swept.cases)
    for number in range(explore):
        yield swept.cases[(number * stride) % count if count % stride else number % count], number


def _failure(executor: Executor, book: _Book, swept: Swept, cause: Cause, stop: Stop) -> Failure:
    result, violation = book.first[cause]
    if result.case.delays:
        reduced = host(lambda it: with_fewer_delays(it, executor, result.case, cause, stop))
        if reduced.violation is not None:
            result, violation = reduced.result, reduced.violation
    ours, deviation = trace_hash(result.history.events), ""
    if executor.adapter.capabilities.clock != "real":
        theirs = trace_hash(host(lambda it: executor.run(it, result.case)).history.events)
        deviation = "" if ours == theirs else f"a fresh run of the same case gave trace {theirs} instead of {ours}"
    return Failure(
        scenario=executor.scenario,
        violation=violation,
        case=result.case,
        history=result.history,
        trace_hash=ours,
        also=tuple(case for case in book.failing[cause] if case is not book.first[cause][0].case),
        neighbours=tuple(
            Neighbour(what=what, case=case, holds=book.held[case])
            for what, case in neighbours(swept, result.case)
            if case in book.held
        ),
        deviation=deviation,
    )


def _inconclusive(scenario: Scenario, book: _Book) -> Iterator[str]:
    if book.stopped or not book.cases:
        return
    for number, met in enumerate(book.met):
        if not met:
            wanted = scenario.expect.sometimes[number]
            yield f"line {wanted.line}: a `sometimes` was never met in {_cases(book)}"
    for invariant in scenario.expect.exercises:
        tally = book.tallies.get(invariant, Tally())
        if not tally.holds and not tally.violated and not tally.not_claimed:
            yield f"{invariant} was never exercised in {_cases(book)}"
    if not book.raced:
        yield f"a step that is placed at a point or time never happened in {_cases(book)}"
    judged = [t for name, t in book.tallies.items() if name not in ("no-deadlock", "deterministic")]
    if not any(tally.holds or tally.violated for tally in judged):
        yield "no invariant was put to the test"


def _cases(book: _Book) -> str:
    return "1 case" if book.cases == 1 else f"{book.cases} cases"


def _size(case: Case) -> tuple[int, int, int, str]:
    disturbed = sum(value != NEVER for _, value in case.axes)
    return len(case.delays), len(case.actions), disturbed, ""


def _cause_order(book: _Book) -> Callable[[Cause], tuple[bool, int, str, int]]:
    """Invariants before expectations, then the most frequent first."""
    return lambda cause: (cause[0] == "expect", -len(book.failing[cause]), cause[0], cause[1])
