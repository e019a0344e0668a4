"""The zoo measures the harness: each known bug breaks the promises that it declares, and no others."""

from __future__ import annotations

from typing import Any

import pytest
from builtin import everything
from judged import judge_bug

from journalsim.hosts.loading import zoo
from journalsim.oracle.invariants.judge import INVARIANTS
from journalsim.scenario.values.scenario import Scenario

BUGS = tuple(zoo())
STRIDE = 20
FEW = 4  # cases of a scenario; with all of all, the zoo would take two hours
PER_BUG = pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])


def _about(bug: Any) -> tuple[list[Scenario], list[Scenario]]:
    """Returns the scenarios that name the failure mode of a bug, and the others."""
    about = [s for s in everything() if bug.failure_mode in s.covers]
    return about, [s for s in everything() if s not in about]


@pytest.mark.zoo
@PER_BUG
def test_a_bug_is_found_and_breaks_nothing_else_in_a_sample(bug: Any) -> None:
    """A share of the scenarios that are about it, and of every twentieth of the others; bugs take different ones."""
    about, others = _about(bug)
    sample = others[len(bug.name) % STRIDE :: STRIDE]
    found = judge_bug(bug, about, cases_max=30)
    few = judge_bug(bug, sample, cases_max=3)
    assert found.trouble + few.trouble == []
    broken = found.broken | few.broken
    if not broken:  # it shows in few cases, or no scenario is about it by name: whichever finds it first
        exercising = [s for s in others if set(s.expect.exercises) & set(bug.trips)]
        tries = (judge_bug(bug, (s,)).broken for s in (*about, *exercising, *others))
        broken = next(result for result in tries if result)
    assert set(broken) <= set(bug.trips), broken


@pytest.mark.campaign
@pytest.mark.zoo
@PER_BUG
def test_a_bug_breaks_exactly_the_promises_that_it_declares(bug: Any) -> None:
    """Every scenario: all cases of those that are about the bug, and a few of each of the others.

    A declared promise that this share does not break is looked for in all cases of whatever exercises it.
    """
    about, others = _about(bug)
    found = judge_bug(bug, about)
    rest = judge_bug(bug, others, cases_max=FEW)
    assert found.trouble + rest.trouble == []
    broken = {**found.broken, **rest.broken}
    for scenario in others:
        missing = set(bug.trips) - set(broken)
        if missing & set(scenario.expect.exercises):
            broken |= judge_bug(bug, (scenario,)).broken
    assert set(broken) == set(bug.trips), broken


def test_every_bug_declares_itself() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) > 10
    assert len({bug.summary for bug in BUGS}) == len(BUGS)
    assert {promise for bug in BUGS for promise in bug.trips} <= set(INVARIANTS)
    assert all(bug.trips and bug.summary.endswith(".") for bug in BUGS)


def test_every_promise_has_been_seen_to_fail_alone() -> None:
    """A check that nobody has seen fail is not yet a check."""
    alone = {promise for bug in BUGS for promise in bug.trips if len(bug.trips) == 1}
    assert set(INVARIANTS) - alone == set()
