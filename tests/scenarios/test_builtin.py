"""Every scenario that ships with journalsim: held by the reference, failed by some bug, and readable."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from builtin import FILES, everything, load
from judged import share

from journalsim.engine.hosting import Host, host
from journalsim.errors import Exit, UsageError
from journalsim.hosts.loading import LoadedAdapter, load_adapter, zoo
from journalsim.scenario.dump import format_text
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, workspace
from journalsim.search.scenario_run import run_scenario, unclaimed

LINES_MAX = 55  # one screen; the convention is 15 to 40
PER_FILE = pytest.mark.parametrize("path", FILES, ids=[path.name.removesuffix(".race.yaml") for path in FILES])
SHARES = (3, 30, None)  # few cases of each bug find most; all cases of one bug can take long
OF_THE_RUN = ("no-deadlock", "deterministic")  # these hold of a run in which nothing happens, too


@PER_FILE
def test_the_reference_holds_it_and_the_race_really_happens(path: Path) -> None:
    scenario = load(path)
    result = run_scenario(scenario, load_adapter("ref"))
    said = [f"{f.violation.invariant}: {f.violation.found} in {f.case}" for f in result.failures]
    assert result.exit is Exit.HELD, [*said, *result.inconclusive, *result.trouble]
    assert result.not_claimed == ""
    assert result.cases > 0
    assert result.points_swept == result.points_total
    assert any(tally.holds for name, tally in result.tallies.items() if name not in OF_THE_RUN)
    assert all(result.tallies[name].holds for name in scenario.expect.exercises)


@PER_FILE
def test_some_bug_of_the_zoo_fails_it(path: Path) -> None:
    """A scenario that no known bug fails is not yet worth its place."""
    scenario = load(path)
    bugs = [bug for bug in zoo() if bug.trips != ("deterministic",)]
    bugs.sort(  # the ones that it is about go first, then those that break what it exercises
        key=lambda bug: (bug.failure_mode not in scenario.covers, set(bug.trips).isdisjoint(scenario.expect.exercises))
    )
    assert any(_fails(scenario, load_adapter(f"ref:bug-{bug.name}"), most) for most in SHARES for bug in bugs)


def _fails(scenario: Scenario, adapter: LoadedAdapter, most: int | None) -> bool:
    async def search(it: Host) -> bool:
        first = await executor.baseline(it)
        try:
            cases = executor.spell_out(first).cases
        except UsageError:
            return False  # the bug takes the points away that the sweep is about
        for case in share(cases, most):
            if (await executor.judge(it, case)).violations:
                return True
        return False

    if unclaimed(scenario, adapter):
        return False
    with workspace() as folder:
        executor = Executor(scenario, adapter, folder)
        return host(search)


@PER_FILE
def test_it_is_in_canonical_form(path: Path) -> None:
    data = path.read_bytes()
    assert format_text(data, path.name) == data.decode()


@PER_FILE
def test_it_can_be_read_at_a_glance(path: Path) -> None:
    scenario = load(path)
    assert scenario.name == path.name.removesuffix(".race.yaml")
    assert 10 < len(scenario.summary) < 70
    assert not scenario.summary.endswith(".")
    assert len(scenario.why.split()) > 5
    assert scenario.tags
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES_MAX


@PER_FILE
def test_what_it_covers_is_well_formed(path: Path) -> None:
    covers = load(path).covers
    assert len(covers) == len(set(covers))
    assert all(re.fullmatch(r"(AS|CL|CX|DF|GO|HW|SSE|TC)-[1-9][0-9]*", entry) for entry in covers)


def test_names_summaries_and_reasons_are_unique() -> None:
    for texts in zip(*((s.name, s.summary, s.why) for s in everything()), strict=True):
        assert [text for text, times in Counter(texts).items() if times > 1] == []


def test_optional_behaviour_says_what_it_needs() -> None:
    optional = [scenario for scenario in everything() if "/optional/" in scenario.path]
    assert [scenario.path for scenario in optional if not scenario.needs and not scenario.policies] == []


@pytest.mark.parametrize("path", [path for path in FILES if path.parent.name == "reports"], ids=lambda path: path.name)
def test_a_retold_report_says_where_it_was_made(path: Path) -> None:
    assert re.search(r"[\w./-]+ ?#\d+", load(path).why)
