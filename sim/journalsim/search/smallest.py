"""From the smallest failing case of a search to a failure that a person can read.

One change after the other is tried, and kept when the same promise still breaks:
:func:`journalsim.search.shrink.simpler` takes parts out, :func:`journalsim.search.plainer.plainer`
puts settings back.  An action that stands at a counted point, such as
``store.append#21.after``, loses its place when something before it is taken out; then
it is tried at the number that is as far from the last as it was.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from attrs import define, evolve

from journalsim.case import Case
from journalsim.engine.hosting import Host, host
from journalsim.history import trace_hash
from journalsim.hosts.loading import LoadedAdapter
from journalsim.scenario.dump import checked, dump_scenario
from journalsim.scenario.resolve import concrete
from journalsim.scenario.shapes.problems import ScenarioError
from journalsim.scenario.values.moves import Step
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.bulk import Found
from journalsim.search.execute import Executor, audited, workspace
from journalsim.search.plainer import plainer
from journalsim.search.results import CaseResult, Failure
from journalsim.search.shrink import simpler

RUNS_MAX = 1500  # a generated scenario is larger than one that somebody wrote: a few seconds per broken promise
REPEATS_MAX = 60  # of a case that does not repeat; each is two runs, and what is learnt is little
NEAR = (0, -1, 1)  # around the number that is as far from the last one as before

Judge = Callable[[Scenario], Awaitable[CaseResult]]


def failure_of(adapter: LoadedAdapter, found: Found, stop: Callable[[], bool] = lambda: False) -> Failure:
    """Returns the smallest case that breaks the promise as ``found`` does, confirmed in a fresh run.

    Args:
        adapter: under test.
        found: by the search.
        stop: asked between runs; True leaves the case as small as it has become.
    """
    with workspace() as folder:
        scenario, result = host(lambda it: _smallest(it, adapter, folder, found, stop))
        scenario = _named(scenario)
        case = evolve(result.case, scenario=scenario.name)
        again = host(lambda it: Executor(scenario, adapter, folder).judge(it, case))
    return _failure(scenario, case, found, result, again)


async def _smallest(
    it: Host, adapter: LoadedAdapter, folder: Path, found: Found, stop: Callable[[], bool]
) -> tuple[Scenario, CaseResult]:
    invariant = found.violation.invariant
    unsteady = invariant == "deterministic"
    judge = partial(_judge_twice if unsteady else _judge, it, adapter, folder)
    scenario = concrete(found.scenario, found.case)
    result = await judge(scenario)
    if not _breaks(result, invariant):
        return scenario, result
    reduction = _Reduction(invariant, judge, stop, REPEATS_MAX if unsteady else RUNS_MAX, scenario, result)
    await reduction.run()
    return reduction.scenario, reduction.result


async def _judge(it: Host, adapter: LoadedAdapter, folder: Path, scenario: Scenario) -> CaseResult:
    return await Executor(scenario, adapter, folder).judge(it, _case(scenario))


async def _judge_twice(it: Host, adapter: LoadedAdapter, folder: Path, scenario: Scenario) -> CaseResult:
    executor = Executor(scenario, adapter, folder)
    case = _case(scenario)
    return executor.verdict(audited(await executor.run(it, case), await executor.run(it, case)))


def _case(scenario: Scenario) -> Case:
    return Case(scenario=scenario.name, delays=scenario.schedule)


def _breaks(result: CaseResult, invariant: str) -> bool:
    return any(violation.invariant == invariant for violation in result.violations)


@define
class _Reduction:
    """Tries one change after the other, round and round, until none is left that helps."""

    invariant: str
    judge: Judge
    stop: Callable[[], bool]
    runs_left: int
    scenario: Scenario
    result: CaseResult

    async def run(self) -> None:
        """Makes the scenario as small as it gets."""
        changes, position, fruitless = _changes(self.scenario), 0, 0
        while fruitless < len(changes) and self.runs_left > 0 and not self.stop():
            if await self._try(changes[position % len(changes)]):
                changes, fruitless = _changes(self.scenario), 0
            else:
                position, fruitless = position + 1, fruitless + 1

    async def _try(self, candidate: Scenario) -> bool:
        """Takes a candidate that still fails, perhaps with its actions at other counts."""
        tried = await self._judged(candidate)
        if self._take(candidate, tried):
            return True
        for moved in _recounted(candidate, self.result.points, tried.points):
            if self._take(moved, await self._judged(moved)):
                return True
        return False

    async def _judged(self, candidate: Scenario) -> CaseResult:
        self.runs_left -= 1
        return await self.judge(candidate)

    def _take(self, candidate: Scenario, tried: CaseResult) -> bool:
        new_trouble = tried.trouble is not None and self.result.trouble is None
        if new_trouble or not _breaks(tried, self.invariant) or not _sayable(candidate):
            return False
        self.scenario, self.result = candidate, tried
        return True


def _changes(scenario: Scenario) -> list[Scenario]:
    return [*simpler(scenario), *plainer(scenario)]


def _sayable(scenario: Scenario) -> bool:
    """Returns whether a file can say this: a step may be placed at a point that went with its turn."""
    try:
        checked(scenario)
    except ScenarioError:
        return False
    return True


# --- counted points ----------------------------------------------------------------------------

_COUNTED = re.compile(r"(.+)#(\d+)\.(before|after)")


def _recounted(scenario: Scenario, before: Iterable[str], now: Iterable[str]) -> Iterator[Scenario]:
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
    found = _COUNTED.fullmatch(at.name) if at is not None else None
    if at is None or found is None:
        return step
    number = max(int(found[2]) - fewer.get(found[1], 0) + near, 1)
    return evolve(step, timing=evolve(step.timing, at=evolve(at, name=f"{found[1]}#{number}.{found[3]}")))


# --- the failure -------------------------------------------------------------------------------


def _named(scenario: Scenario) -> Scenario:
    """Returns the scenario under a name that only its content can have."""
    digest = hashlib.sha256(dump_scenario(scenario).encode()).hexdigest()
    return evolve(scenario, name=f"{scenario.name}-{digest[:6]}")


def _failure(scenario: Scenario, case: Case, found: Found, result: CaseResult, again: CaseResult) -> Failure:
    ours, theirs = trace_hash(result.history.events), trace_hash(again.history.events)
    broke = next((v for v in result.violations if v.invariant == found.violation.invariant), None)
    deviation = "" if ours == theirs else f"a fresh run of the same case gave trace {theirs} instead of {ours}"
    if broke is None:
        deviation = "it failed in the search, and not when it was run again"
    return Failure(
        scenario=scenario,
        violation=broke or evolve(found.violation, evidence=()),
        case=case,
        also=(found.case,) * (found.times - 1),
        history=result.history,
        trace_hash=ours,
        deviation=deviation,
    )
