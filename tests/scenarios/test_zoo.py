"""The zoo measures the harness: each known bug breaks the promises that it declares, and no others."""

from __future__ import annotations

from typing import Any

import pytest
from builtin import everything

from sim.adapters.loading import zoo
from sim.errors import Exit
from sim.invariants.expectations import EXPECT
from sim.invariants.judge import INVARIANTS
from sim.search.campaign import Campaign, run_campaign

BUGS = tuple(zoo())

NOT_SEEN_TO_FAIL = {
    *("executed-tool-recorded", "fenced-writer", "honest-provenance", "no-clobber", "no-empty-message"),
    *("one-request-one-effect", "ordered-history", "prompt-first", "retry-is-atomic", "stable-identity"),
    "store-equals-context",
}
"""Promises that no bug of the zoo breaks yet.  A ratchet: take them out, add none."""


@pytest.mark.zoo
@pytest.mark.parametrize("bug", BUGS, ids=[bug.name for bug in BUGS])
def test_a_bug_breaks_exactly_the_promises_that_it_declares(bug: Any) -> None:
    """All scenarios are run to their end, since "exactly" is the point."""
    result = run_campaign(Campaign(scenarios=everything(), adapter=f"ref:bug-{bug.name}"))
    broken: dict[str, list[str]] = {}
    for scenario in result.scenarios:
        for failure in scenario.failures:
            broken.setdefault(failure.violation.invariant, []).append(f"{scenario.scenario.name}: {failure.case}")
    broken.pop(EXPECT, None)
    assert [trouble for scenario in result.scenarios for trouble in scenario.trouble] == []
    assert set(broken) == set(bug.trips), broken
    assert result.exit is (Exit.NONDETERMINISTIC if "deterministic" in bug.trips else Exit.BROKEN)


def test_every_bug_declares_itself() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) > 10
    assert len({bug.summary for bug in BUGS}) == len(BUGS)
    assert {promise for bug in BUGS for promise in bug.trips} <= set(INVARIANTS)
    assert all(bug.trips and bug.summary.endswith(".") for bug in BUGS)


def test_every_promise_has_been_seen_to_fail() -> None:
    """A check that nobody has seen fail is not yet a check."""
    assert set(INVARIANTS) - {promise for bug in BUGS for promise in bug.trips} <= NOT_SEEN_TO_FAIL
