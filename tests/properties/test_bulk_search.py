"""The search of ``journalsim explore``: repeatable, grouped by promise, and down to small failures."""

from __future__ import annotations

import pytest

from journalsim.case import Case
from journalsim.errors import Exit, UsageError
from journalsim.history import trace_hash
from journalsim.hosts.loading import load_adapter
from journalsim.oracle.invariants.verdict import Status, Violation
from journalsim.scenario.dump import checked, dump_scenario
from journalsim.scenario.values.moves import Step
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.bulk import CASES_EACH, TROUBLE_MAX, Book, Found, search_batch
from journalsim.search.checking import run_case
from journalsim.search.exploration import Exploration, Search, explore

FORGETFUL = "ref:bug-stop-keeps-no-partial"


@pytest.fixture(scope="module")
def explored() -> Exploration:
    """A search that finds a bug."""
    return explore(Search(adapter=FORGETFUL, cases=60))


def told(book: Book) -> dict[str, tuple[int, int]]:
    return {invariant: (found.number, found.times) for invariant, found in book.found.items()}


def test_a_search_runs_exactly_as_many_cases_as_it_is_asked_for(explored: Exploration) -> None:
    assert explored.book.cases == 60
    assert explored.book.scenarios == 60 // CASES_EACH


def test_a_broken_promise_is_found_and_is_one_failure(explored: Exploration) -> None:
    assert [failure.violation.invariant for failure in explored.failures] == ["partial-is-prefix"]
    assert explored.exit is Exit.BROKEN
    assert explored.failures[0].deviation == ""


def test_the_failure_is_a_small_scenario_that_a_file_can_say(explored: Exploration) -> None:
    (failure,) = explored.failures
    assert checked(failure.scenario) == failure.scenario
    assert len(dump_scenario(failure.scenario).splitlines()) <= 25
    assert not failure.scenario.sweep.axes
    assert failure.scenario.name.startswith("generated-")


def test_the_failure_takes_the_same_trace_when_it_is_run_again(explored: Exploration) -> None:
    (failure,) = explored.failures
    again = run_case((failure.scenario, failure.case), FORGETFUL)
    assert trace_hash(again.result.history.events) == failure.trace_hash
    assert [violation.invariant for violation in again.violations] == ["partial-is-prefix"]


def test_two_processes_find_what_one_does() -> None:
    wanted = Search(adapter=FORGETFUL, seed=5, cases=130)
    one = explore(wanted)
    two = explore(Search(adapter=FORGETFUL, seed=5, cases=130, jobs=2))
    assert told(one.book) == told(two.book)
    assert one.tallies == two.tallies
    assert [failure.id for failure in one.failures] == [failure.id for failure in two.failures]


def test_another_seed_is_another_search() -> None:
    adapter = load_adapter("ref:memory")
    first, second = search_batch(adapter, 0, 0, cases=40), search_batch(adapter, 1, 0, cases=40)
    assert first.virtual_ns != second.virtual_ns


def test_a_journal_that_does_not_repeat_is_found_and_shown() -> None:
    found = explore(Search(adapter="ref:bug-ids-from-entropy", cases=12))
    (failure,) = found.failures
    assert failure.violation.invariant == "deterministic"
    assert failure.deviation
    assert len(failure.scenario.steps) == 1
    assert found.exit is Exit.NONDETERMINISTIC


def test_an_adapter_that_only_fails_is_given_up_on() -> None:
    found = explore(Search(adapter="python:tests.adapters.broken:RaisesOnOpen", cases=1000))
    assert found.book.cases == TROUBLE_MAX
    assert found.exit is Exit.ADAPTER
    assert all("no such database" in trouble for trouble in found.book.trouble)


def test_a_wrong_name_is_said_before_anything_runs() -> None:
    with pytest.raises(UsageError, match="unknown adapter"):
        explore(Search(adapter="rev"))


def test_the_time_ends_a_search_that_has_no_number_of_cases() -> None:
    found = explore(Search(adapter="ref:memory", for_s=0.2))
    assert 0 < found.book.cases < 1000
    assert not found.interrupted


# --- what is known -----------------------------------------------------------------------------

SCENARIO = Scenario(name="s", steps=(Step(actor="client", verb="send", label="send", text="Hi"),))
VIOLATION = Violation(invariant="no-duplicate-message", promised="one", found="two")


def found(events: int, number: int, times: int = 1) -> Found:
    case = Case(scenario="s")
    return Found(scenario=SCENARIO, case=case, violation=VIOLATION, events=events, number=number, times=times)


def test_of_two_failing_cases_the_smaller_is_kept_and_the_earlier_number() -> None:
    both = found(events=90, number=3, times=2).plus(found(events=40, number=8))
    assert (both.events, both.number, both.times) == (40, 3, 3)


def test_a_later_part_counts_on_from_the_parts_before_it() -> None:
    book = Book(scenarios=2, cases=24, failed=1, answers={("x", Status.HOLDS): 24}, trouble={"read: boom": 1})
    later = Book(scenarios=1, cases=12, failed=3, answers={("x", Status.HOLDS): 9, ("x", Status.VIOLATED): 3})
    later.found["no-duplicate-message"] = found(events=40, number=5)
    later.trouble["read: boom"] = 2
    book.merge(later)
    assert (book.scenarios, book.cases, book.failed) == (3, 36, 4)
    assert book.found["no-duplicate-message"].number == 29
    assert book.answers == {("x", Status.HOLDS): 33, ("x", Status.VIOLATED): 3}
    assert book.trouble == {"read: boom": 3}
