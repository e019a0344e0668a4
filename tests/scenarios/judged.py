"""What a bug breaks in some scenarios: all cases of those that are about it, a share of the others'."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import Factory, frozen

from journalsim.case import Case
from journalsim.engine.hosting import Host, host
from journalsim.errors import UsageError
from journalsim.hosts.loading import load_adapter
from journalsim.oracle.expectations.judging import EXPECT
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, audited, workspace
from journalsim.search.results import CaseResult
from journalsim.search.scenario_run import unclaimed
from journalsim.search.sweep import baseline


@frozen
class Judged:
    """What came of it.

    Attributes:
        broken: per promise, where.
        trouble: what the journal under test raised.
    """

    broken: dict[str, list[str]] = Factory(dict)
    trouble: list[str] = Factory(list)

    def enter(self, scenario: Scenario, case: Case, result: CaseResult) -> None:
        for violation in result.violations:
            if violation.invariant != EXPECT:
                self.broken.setdefault(violation.invariant, []).append(f"{scenario.name}: {case}")
        if result.trouble:
            self.trouble.append(f"{scenario.name}: {result.trouble}")


def judge_bug(bug: Any, scenarios: Iterable[Scenario], cases_max: int | None = None) -> Judged:
    """Runs scenarios against a bug.

    Args:
        bug: of the zoo.
        scenarios: which.
        cases_max: of a scenario with more, every n-th case is run; where that begins depends on the bug.
    """
    found = Judged()
    adapter = load_adapter(f"ref:bug-{bug.name}")
    for scenario in scenarios:
        if unclaimed(scenario, adapter):
            continue
        with workspace() as folder:
            executor = Executor(scenario, adapter, folder)
            host(lambda it, executor=executor: _run(it, executor, found, cases_max, len(bug.name)))  # type: ignore[misc]
    return found


def share(cases: Sequence[Case], most: int | None, offset: int = 0) -> Sequence[Case]:
    """Returns every n-th case so that there are at most so many; all of them for None."""
    stride = 1 if most is None else max(1, -(-len(cases) // most))
    return cases[offset % stride :: stride]


async def _run(it: Host, executor: Executor, found: Judged, cases_max: int | None, offset: int) -> None:
    scenario = executor.scenario
    first, second = await executor.baseline(it), await executor.baseline(it)
    found.enter(scenario, baseline(scenario), executor.verdict(audited(first, second)))
    try:
        cases = executor.spell_out(first).cases
    except UsageError:
        return  # the bug takes the points away that the sweep is about
    for case in share(cases, cases_max, offset):
        found.enter(scenario, case, await executor.judge(it, case))
