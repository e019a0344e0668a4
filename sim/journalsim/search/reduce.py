"""Makes a failing scenario smaller while it keeps failing in the same way.

One loop serves every command.  It goes round the candidates of
:mod:`journalsim.search.candidates`, takes each one that still breaks the same promise, and
ends after a round in which none did, or when its runs are used up.  Everything is deterministic.

An action at a counted point, such as ``store.append#21.after``, loses its place when
something before it is taken out; then it is tried at the number that is as far from the last
one as it was.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path

from attrs import define, evolve, field, frozen

from journalsim.case import AtPoint, Case
from journalsim.engine.hosting import Host
from journalsim.hosts.loading import LoadedAdapter
from journalsim.oracle.invariants.verdict import Violation
from journalsim.scenario.dump import checked
from journalsim.scenario.resolve import resolve
from journalsim.scenario.shapes.problems import ScenarioError
from journalsim.scenario.values.expect import Expect
from journalsim.scenario.values.moves import Step
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.candidates import CANDIDATES, Candidates, fewer_delays
from journalsim.search.execute import Executor, audited
from journalsim.search.results import CaseResult
from journalsim.search.workers import Stop

RUNS_MAX = 1500  # of a scenario for a person to read; a run takes milliseconds, so a few seconds
DELAY_RUNS_MAX = 400  # of a case in the report of a run, which may hold many
REPEATS_MAX = 60  # of a case that does not repeat: each is two runs, and shows little
NEAR = (0, -1, 1)  # around the number that is as far from the last one as before

Cause = tuple[str, int]
"""What broke: an invariant and, for an expectation, its line."""

Judge = Callable[[Scenario], Awaitable[CaseResult]]


@frozen(kw_only=True)
class Reduced:
    """The smallest scenario found.

    Attributes:
        scenario: its schedule holds the delays that are needed.
        result: of its run.
        violation: what broke in that run; None if the given scenario did not fail at all.
        runs: how many runs it took.
    """

    scenario: Scenario
    result: CaseResult
    violation: Violation | None
    runs: int


async def with_fewer_delays(
    it: Host, executor: Executor, case: Case, cause: Cause, stop: Stop = lambda: False
) -> Reduced:
    """Returns the same case with as few delays as possible.

    Args:
        it: the hosting run.
        executor: of the case's scenario.
        case: fails.
        cause: what broke in it.
        stop: called between runs; True leaves the case as it has become.
    """

    async def judge(scenario: Scenario) -> CaseResult:
        return await executor.judge(it, evolve(case, delays=scenario.schedule))

    reducer = Reducer(cause=cause, judge=judge, candidates=(fewer_delays,), runs_max=DELAY_RUNS_MAX, stop=stop)
    return await reducer.reduce(evolve(executor.scenario, schedule=case.delays))


async def smallest(
    it: Host,
    adapter: LoadedAdapter,
    folder: Path,
    scenario: Scenario,
    case: Case,
    cause: Cause,
    *,
    candidates: Sequence[Candidates] = CANDIDATES,
    stop: Stop = lambda: False,
) -> Reduced:
    """Returns the smallest scenario that breaks a promise as a case does, its actions placed.

    Args:
        it: the hosting run.
        adapter: under which it fails.
        folder: for the adapter's files.
        scenario: with its axes.
        case: of it; fails.
        cause: what broke in it.
        candidates: what to try; nothing if the scenario is to stay as it is.
        stop: called between runs; True leaves the scenario as small as it has become.
    """
    unsteady = cause[0] == "deterministic"

    async def judge(scenario: Scenario) -> CaseResult:
        executor = Executor(scenario, adapter, folder)
        alone = Case(scenario=scenario.name, delays=scenario.schedule)
        first = await executor.run(it, alone)
        return executor.verdict(audited(first, await executor.run(it, alone)) if unsteady else first)

    runs_max = REPEATS_MAX if unsteady else RUNS_MAX
    reducer = Reducer(cause=cause, judge=judge, candidates=candidates, runs_max=runs_max, stop=stop, recount=True)
    return await reducer.reduce(_bare(resolve(scenario, case), cause))


def _bare(scenario: Scenario, cause: Cause) -> Scenario:
    """Keeps of the expectations only the one that broke."""
    kept = tuple(e for e in scenario.expect.finally_ if cause == ("expect", e.line))
    return evolve(scenario, expect=Expect(finally_=kept, exempt=scenario.expect.exempt))


# --- the loop ----------------------------------------------------------------------------------


@define(kw_only=True)
class Reducer:
    """Tries one change after the other, round and round, until none is left that helps.

    Attributes:
        cause: what has to break.
        judge: runs a scenario.
        candidates: makes the changes, in the order in which they are tried.
        runs_max: ends the search.
        stop: ends it early.
        recount: also try the actions of a candidate at other numbers of their counted points.
        runs: so far.
    """

    cause: Cause
    judge: Judge
    candidates: Sequence[Candidates]
    runs_max: int
    stop: Stop
    recount: bool = False
    runs: int = 0
    _scenario: Scenario = field(init=False)
    _result: CaseResult = field(init=False)

    async def reduce(self, scenario: Scenario) -> Reduced:
        """Returns the scenario as small as it gets."""
        self._scenario, self._result = scenario, await self._judged(scenario)
        if self._broke(self._result) is not None:
            await self._rounds()
        return Reduced(
            scenario=self._scenario, result=self._result, violation=self._broke(self._result), runs=self.runs
        )

    async def _rounds(self) -> None:
        changes, position, fruitless = self._changes(), 0, 0
        while fruitless < len(changes) and self.runs < self.runs_max and not self.stop():
            if await self._try(changes[position % len(changes)]):
                changes, fruitless = self._changes(), 0
            else:
                position, fruitless = position + 1, fruitless + 1

    def _changes(self) -> list[Scenario]:
        return [change for make in self.candidates for change in make(self._scenario)]

    async def _try(self, candidate: Scenario) -> bool:
        """Takes a candidate that still fails, perhaps with its actions at other counts."""
        tried = await self._judged(candidate)
        if self._take(candidate, tried):
            return True
        for moved in recounted(candidate, self._result.points, tried.points) if self.recount else ():
            if self.runs >= self.runs_max:
                break
            if self._take(moved, await self._judged(moved)):
                return True
        return False

    async def _judged(self, candidate: Scenario) -> CaseResult:
        self.runs += 1
        return await self.judge(candidate)

    def _take(self, candidate: Scenario, tried: CaseResult) -> bool:
        new_trouble = tried.trouble is not None and self._result.trouble is None
        longer = len(tried.case.delays) > len(candidate.schedule)
        if new_trouble or longer or self._broke(tried) is None or not _sayable(candidate):
            return False
        self._scenario, self._result = evolve(candidate, schedule=tried.case.delays), tried
        return True

    def _broke(self, result: CaseResult) -> Violation | None:
        return next((v for v in result.violations if (v.invariant, v.line) == self.cause), None)


def _sayable(scenario: Scenario) -> bool:
    """Returns whether a file can say this: a step may be placed at a point that went with its turn."""
    try:
        checked(scenario)
    except ScenarioError:
        return False
    return True


# --- counted points ----------------------------------------------------------------------------

_COUNTED = re.compile(r"(.+)#(\d+)\.(before|after)")


def recounted(scenario: Scenario, before: Iterable[str], now: Iterable[str]) -> Iterator[Scenario]:
    """Yields the scenario with its actions at other numbers of their counted points.

    Args:
        scenario: after a change that made the failure go away.
        before: points of the run that failed.
        now: points of the run that did not.
    """
    highest_before, highest_now = _highest(before), _highest(now)
    fewer = {name: highest_before[name] - highest_now.get(name, 0) for name in highest_before}
    for near in NEAR:
        steps = tuple(_moved(step, fewer, near) for step in scenario.steps)
        if steps != scenario.steps:
            yield evolve(scenario, steps=steps)


def _highest(points: Iterable[str]) -> dict[str, int]:
    highest: dict[str, int] = {}
    for point in points:
        found = _COUNTED.fullmatch(point)
        if found:
            highest[found[1]] = max(highest.get(found[1], 0), int(found[2]))
    return highest


def _moved(step: Step, fewer: dict[str, int], near: int) -> Step:
    at = step.timing.at
    found = _COUNTED.fullmatch(at.name) if isinstance(at, AtPoint) else None
    if found is None:
        return step
    number = max(int(found[2]) - fewer.get(found[1], 0) + near, 1)
    return evolve(step, timing=evolve(step.timing, at=AtPoint(f"{found[1]}#{number}.{found[3]}")))
