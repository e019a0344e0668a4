"""Failing cases become something a person reads, and fail in the same way afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import trio
from attrs import evolve

from journalsim.case import AtPoint, Case, Delay
from journalsim.cli.selection import select
from journalsim.contract.capabilities import Capabilities
from journalsim.engine.hosting import host
from journalsim.engine.schedules import portfolio
from journalsim.history import History
from journalsim.hosts.loading import load_adapter, zoo
from journalsim.oracle.invariants.verdict import Status, Verdict, Violation
from journalsim.scenario.dump import checked, dump_scenario
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.values.cast import ModelSpec
from journalsim.scenario.values.moves import Step, Timing
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import Finish, Text, Turn
from journalsim.search.candidates import CANDIDATES, Candidates, fewer_delays, fewer_steps
from journalsim.search.execute import Executor, workspace
from journalsim.search.reduce import Reduced, Reducer, recounted, smallest, with_fewer_delays
from journalsim.search.results import CaseResult, Failure
from journalsim.search.scenario_run import run_scenario
from journalsim.search.sweep import baseline

BUGS = [bug for bug in zoo() if bug.trips != ("deterministic",)][:12]


def first_failure(name: str) -> Failure:
    """The first failure that a bug is known for; the scenarios that are about it come first."""
    (bug,) = [bug for bug in zoo() if bug.name == name]
    adapter = load_adapter(f"ref:bug-{name}")
    for scenario in sorted(select(()), key=lambda scenario: bug.failure_mode not in scenario.covers):
        for failure in run_scenario(scenario, adapter).failures:
            if failure.violation.invariant in bug.trips:
                return failure
    raise AssertionError(f"no built-in scenario finds {name}")


def reduced(failure: Failure, spec: str, **options: Any) -> Reduced:
    cause = (failure.violation.invariant, failure.violation.line)
    with workspace() as folder:
        return host(
            lambda it: smallest(it, load_adapter(spec), folder, failure.scenario, failure.case, cause, **options)
        )


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: str(bug.name))
def test_a_pinned_case_is_short_and_fails_in_the_same_way(bug: Any) -> None:
    spec = f"ref:bug-{bug.name}"
    failure = first_failure(bug.name)
    shrunk = reduced(failure, spec)
    assert shrunk.violation is not None
    text = dump_scenario(evolve(shrunk.scenario, summary="", why=""))
    assert len(text.splitlines()) - 2 <= 20, text  # version and name are the header
    result = run_scenario(load_scenario(text.encode(), "pinned.race.yaml"), load_adapter(spec))
    assert failure.violation.invariant in {f.violation.invariant for f in result.failures}


def test_nothing_can_be_taken_out_of_what_was_reduced() -> None:
    """One more round of candidates finds none that still fails."""
    spec = "ref:bug-stop-keeps-no-partial"
    once = reduced(first_failure("stop-keeps-no-partial"), spec)
    case = Case(scenario=once.scenario.name, delays=once.scenario.schedule)
    failure = Failure(
        scenario=once.scenario, violation=once.violation, case=case, history=once.result.history, trace_hash=""
    )
    assert reduced(failure, spec).scenario == once.scenario


def test_without_candidates_the_actions_are_placed_and_everything_else_stays() -> None:
    spec = "ref:bug-stop-keeps-no-partial"
    failure = first_failure("stop-keeps-no-partial")
    whole = reduced(failure, spec, candidates=())
    assert whole.runs == 1
    assert whole.violation is not None
    assert whole.scenario.model == failure.scenario.model
    assert not whole.scenario.sweep.axes


def test_a_case_that_holds_is_not_reduced_and_says_so() -> None:
    failure = first_failure("stop-keeps-no-partial")
    held = reduced(failure, "ref")
    assert (held.violation, held.runs) == (None, 1)


def test_a_journal_that_does_not_repeat_is_run_twice_and_reduced() -> None:
    failure = first_failure("ids-from-entropy")
    shrunk = reduced(failure, "ref:bug-ids-from-entropy")
    assert shrunk.violation is not None
    assert [step.verb for step in shrunk.scenario.steps] == ["send"]


def test_a_random_schedule_is_reported_with_the_delays_that_it_needs() -> None:
    """Most of the delays of a random order have nothing to do with the failure."""
    scenario = Scenario(name="any", model=TOLD, steps=(SEND, STOP))
    with workspace() as folder:
        executor = Executor(scenario, load_adapter("ref:bug-stop-keeps-no-partial"), folder)
        before = host(lambda it: executor.judge(it, baseline(scenario), portfolio(50)[0][1](1)))
        after = host(lambda it: with_fewer_delays(it, executor, before.case, ("partial-is-prefix", 0)))
    assert len(before.case.delays) == 3
    assert after.violation is not None
    assert after.result.case.delays == ()
    assert after.result.case.axes == before.case.axes


# --- the loop, with a judge that is made up -----------------------------------------------------

CAUSE = ("no-duplicate-message", 0)
SEND = Step(actor="client", verb="send", label="send", text="Hi")
STOP = Step(actor="client", verb="stop", label="stop", timing=Timing(at=AtPoint("model.turn1.c1.after")))


def reload(number: int, at: str = "adapter.start#1.after") -> Step:
    return Step(actor="client", verb="reload", label=f"reload-{number}", timing=Timing(at=AtPoint(at)))


TOLD = ModelSpec(turns=(Turn(stream=(Text(words=1), Finish())),))
MANY = Scenario(name="many", model=TOLD, steps=(SEND, STOP, *(reload(number) for number in range(6))))


class Judge:
    """Says that a scenario fails if it has all of these verbs, or the point that it needs; counts its runs."""

    def __init__(self, *verbs: str, needs_point: str = "", points: Sequence[str] = (), trouble_below: int = 0) -> None:
        self.verbs = verbs
        self.needs_point = needs_point
        self.points = tuple(points)
        self.trouble_below = trouble_below
        self.runs = 0

    async def __call__(self, scenario: Scenario) -> CaseResult:
        self.runs += 1
        places = [str(step.timing.at) for step in scenario.steps if step.timing.at is not None]
        fails = {*self.verbs} <= {step.verb for step in scenario.steps}
        fails = fails and (not self.needs_point or self.needs_point in places)
        violation = Violation(invariant=CAUSE[0], promised="one", found="two")
        status = Status.VIOLATED if fails else Status.HOLDS
        return CaseResult(
            case=Case(scenario=scenario.name, delays=scenario.schedule),
            verdicts=(Verdict(invariant=CAUSE[0], status=status, violations=(violation,) if fails else ()),),
            history=History(events=(), capabilities=Capabilities(level="store"), policies={}),
            points=self.points,
            trouble="read: boom" if len(scenario.steps) < self.trouble_below else None,
        )


def reduce(
    scenario: Scenario, judge: Any, candidates: Sequence[Candidates] = CANDIDATES, runs_max: int = 100, **options: Any
) -> Reduced:
    options = {"stop": lambda: False, **options}
    reducer = Reducer(cause=CAUSE, judge=judge, candidates=candidates, runs_max=runs_max, **options)
    return trio.run(reducer.reduce, scenario)


def test_what_is_not_needed_is_taken_out() -> None:
    judge = Judge("send", "stop")
    found = reduce(MANY, judge)
    assert [step.verb for step in found.scenario.steps] == ["send", "stop"]
    assert found.runs == judge.runs


def test_the_runs_are_bounded() -> None:
    judge = Judge("send")
    found = reduce(MANY, judge, runs_max=3)
    assert found.runs == judge.runs == 3
    assert found.violation is not None
    assert len(found.scenario.steps) == len(MANY.steps) - 2


def test_a_user_who_stops_it_keeps_what_it_has_become() -> None:
    judge = Judge("send")
    found = reduce(MANY, judge, stop=lambda: judge.runs == 4)
    assert (found.runs, len(found.scenario.steps)) == (4, len(MANY.steps) - 3)


def test_a_candidate_that_brings_trouble_is_not_taken() -> None:
    assert len(reduce(MANY, Judge("send", trouble_below=5)).scenario.steps) == 5


def test_trouble_that_was_there_from_the_beginning_is_no_obstacle() -> None:
    assert len(reduce(MANY, Judge("send", trouble_below=99)).scenario.steps) == 1


def test_a_candidate_that_no_file_can_say_is_not_taken() -> None:
    def unsayable(scenario: Scenario) -> Iterator[Scenario]:
        yield evolve(scenario, steps=(SEND, evolve(STOP, timing=Timing(after="nothing"))))

    assert reduce(MANY, Judge("send"), candidates=(unsayable,)).scenario == MANY
    assert checked(reduce(MANY, Judge("send")).scenario)


def test_the_schedule_is_the_one_that_was_taken() -> None:
    """A delay that nothing took is gone at once, and a run that took more than was asked for is no improvement."""

    class Takes(Judge):
        async def __call__(self, scenario: Scenario) -> CaseResult:
            result = await super().__call__(scenario)
            taken = delays[:1] if len(scenario.schedule) > 1 else (*scenario.schedule, delays[2])
            return evolve(result, case=evolve(result.case, delays=taken))

    delays = tuple(Delay(f"task-{number}", 0, 1) for number in range(4))
    found = reduce(evolve(MANY, schedule=delays), Takes("send"), candidates=(fewer_delays,))
    assert found.scenario.schedule == delays[:1]


def test_an_action_at_a_counted_point_is_tried_at_the_number_that_is_as_far_from_the_last() -> None:
    """With two appends less before it, ``#9`` of nine has become ``#7`` of seven."""
    placed = (SEND, STOP, reload(1, "store.append#9.after"))

    class Counts(Judge):
        async def __call__(self, scenario: Scenario) -> CaseResult:
            appends = 9 if any(step.verb == "stop" for step in scenario.steps) else 7
            self.points = tuple(f"store.append#{number}.after" for number in range(1, appends + 1))
            self.needs_point = f"store.append#{appends}.after"
            return await super().__call__(scenario)

    scenario = evolve(MANY, steps=placed)
    found = reduce(scenario, Counts("send"), candidates=(fewer_steps,), recount=True)
    assert [str(step.timing.at) for step in found.scenario.steps] == [
        "None",
        "store.append#7.after",
    ]
    assert len(reduce(scenario, Counts("send"), candidates=(fewer_steps,)).scenario.steps) == 3


def test_counted_points_are_never_below_one_and_others_stay() -> None:
    steps = (SEND, STOP, reload(1, "store.append#2.before"))
    moved = list(recounted(evolve(MANY, steps=steps), ["store.append#5.before"], ["store.append#1.before"]))
    places = [[str(step.timing.at) for step in scenario.steps if step.timing.at] for scenario in moved]
    assert places == [["model.turn1.c1.after", "store.append#1.before"]] * 3
