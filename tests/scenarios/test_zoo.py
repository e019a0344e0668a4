"""The zoo measures the harness: each known bug breaks the promises that it declares, and no others."""

from __future__ import annotations

from typing import Any

import pytest
from builtin import everything

from sim.adapters.loading import zoo
from sim.errors import Exit
from sim.invariants.expectations import EXPECT
from sim.invariants.judge import INVARIANTS
from sim.scenario.model import Scenario
from sim.search.campaign import Campaign, run_campaign

BUGS = tuple(zoo())
STRIDE = 7


@pytest.mark.zoo
@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_a_bug_is_found_and_breaks_nothing_else_in_a_sample(bug: Any) -> None:
    """The scenarios that are about it, and every seventh of the others, wherever the sample begins for this bug."""
    about = [s for s in everything() if bug.failure_mode in s.covers]
    others = [s for s in everything() if s not in about]
    sample = others[len(bug.name) % STRIDE :: STRIDE]
    broken, trouble, _ = _judged(bug, (*about, *sample))
    if not broken:  # no scenario is about it by name: whichever finds it first
        found = (s for s in others if s not in sample and _judged(bug, (s,))[0])
        broken = _judged(bug, (next(found),))[0]
    assert trouble == []
    assert broken
    assert set(broken) <= set(bug.trips), broken


@pytest.mark.campaign
@pytest.mark.zoo
@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_a_bug_breaks_exactly_the_promises_that_it_declares(bug: Any) -> None:
    """All scenarios are run to their end, since "exactly" is the point."""
    broken, trouble, code = _judged(bug, everything())
    assert trouble == []
    assert set(broken) == set(bug.trips), broken
    assert code is Exit.BROKEN


def _judged(bug: Any, scenarios: tuple[Scenario, ...]) -> tuple[dict[str, list[str]], list[str], Exit]:
    result = run_campaign(Campaign(scenarios=scenarios, adapter=f"ref:bug-{bug.name}"))
    broken: dict[str, list[str]] = {}
    for scenario in result.scenarios:
        for failure in scenario.failures:
            broken.setdefault(failure.violation.invariant, []).append(f"{scenario.scenario.name}: {failure.case}")
    broken.pop(EXPECT, None)
    return broken, [trouble for scenario in result.scenarios for trouble in scenario.trouble], result.exit


def test_every_bug_declares_itself() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) > 10
    assert len({bug.summary for bug in BUGS}) == len(BUGS)
    assert {promise for bug in BUGS for promise in bug.trips} <= set(INVARIANTS)
    assert all(bug.trips and bug.summary.endswith(".") for bug in BUGS)


def test_every_promise_has_been_seen_to_fail_alone() -> None:
    """A check that nobody has seen fail is not yet a check."""
    alone = {promise for bug in BUGS for promise in bug.trips if len(bug.trips) == 1}
    assert set(INVARIANTS) - alone == set()
