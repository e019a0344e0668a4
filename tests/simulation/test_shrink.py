"""Failing cases shrink to something a person reads, and fail in the same way afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from journalsim.cli.selection import select
from journalsim.engine.hosting import host
from journalsim.hosts.loading import load_adapter, zoo
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.loader import load_scenario
from journalsim.search.execute import workspace
from journalsim.search.results import Failure
from journalsim.search.scenario_run import run_scenario
from journalsim.search.shrink import Shrinker, Shrunk

BUGS = [bug for bug in zoo() if bug.trips != ("deterministic",)][:12]


def first_failure(bug: str, trips: tuple[str, ...]) -> Failure:
    adapter = load_adapter(f"ref:bug-{bug}")
    for scenario in select(()):
        for failure in run_scenario(scenario, adapter).failures:
            if failure.violation.invariant in trips:
                return failure
    raise AssertionError(f"no built-in scenario finds {bug}")


def shrink(failure: Failure, spec: str) -> Shrunk:
    with workspace() as folder:
        shrinker = Shrinker(load_adapter(spec), folder, (failure.violation.invariant, failure.violation.line))
        shrunk = host(lambda it: shrinker.shrink(it, failure.scenario, failure.case))
    assert shrunk is not None
    return shrunk


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: str(bug.name))
def test_a_pinned_case_is_short_and_fails_in_the_same_way(bug: Any) -> None:
    spec = f"ref:bug-{bug.name}"
    failure = first_failure(bug.name, bug.trips)
    shrunk = shrink(failure, spec)
    text = dump_scenario(evolve(shrunk.scenario, summary="", why=""))
    assert len(text.splitlines()) - 2 <= 20, text  # version and name are the header
    result = run_scenario(load_scenario(text.encode(), "pinned.race.yaml"), load_adapter(spec))
    assert failure.violation.invariant in {f.violation.invariant for f in result.failures}
