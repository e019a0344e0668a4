"""Strategies in a test of one's own: the reference holds, a bug is found and made plain, and nothing global changes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from journalsim.case import AtPoint, with_axes
from journalsim.errors import UsageError
from journalsim.hosts.loading import load_adapter
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.values.axes import Axis, Sweep
from journalsim.scenario.values.cast import ModelSpec
from journalsim.scenario.values.moves import Step, Timing
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import Finish, Text, Turn
from journalsim.search.checking import run_case
from journalsim.search.generate.plan import Plan
from journalsim.search.sweep import baseline
from journalsim.strategies import cases, scenarios

MEMORY = load_adapter("ref:memory")
FORGETFUL = "ref:bug-stop-keeps-no-partial"
PHASES = (Phase.generate, Phase.shrink)
FEW = settings(max_examples=15, deadline=None, database=None, derandomize=True, phases=PHASES)


@FEW
@given(cases())
def test_the_reference_holds_in_generated_cases(case: Plan) -> None:
    """Every promise holds wherever the actions of a generated scenario go."""
    run_case(case, MEMORY).check()


@FEW
@given(scenarios(MEMORY.capabilities))
def test_the_reference_holds_in_generated_scenarios(scenario: Scenario) -> None:
    """Every promise holds in generated scenarios whose actions stand at points that the script lets one expect."""
    run_case(scenario, MEMORY).check()


@pytest.mark.campaign
def test_a_bug_is_found_and_its_scenario_made_plain() -> None:
    """Hypothesis alone, by shrinking the tape, comes to one question, one answer and one stop, however it is timed."""
    adapter = load_adapter(FORGETFUL)

    def loses_the_partial(case: Plan) -> bool:
        return any(v.invariant == "partial-is-prefix" for v in run_case(case, adapter).violations)

    smallest = find(cases(), loses_the_partial, settings=settings(FEW, max_examples=300))
    text = dump_scenario(run_case(smallest, adapter).scenario)
    assert [line.split()[1] for line in text.splitlines() if "client." in line] == ["client.send:", "client.stop:"]
    assert len(text.splitlines()) <= 12
    with pytest.raises(AssertionError, match=r"partial-is-prefix\n  promised: .*\n  found: .*\nwith this scenario:\n"):
        run_case(smallest, adapter).check()


def test_one_case_gives_one_verdict_however_often_it_is_run() -> None:
    """A plan is a value: nothing is drawn while it runs."""
    seen = []

    @settings(FEW, max_examples=3, suppress_health_check=list(HealthCheck))
    @given(cases())
    def collect(case: Plan) -> None:
        seen.append((run_case(case, MEMORY).result.history, run_case(case, MEMORY).result.history))

    collect()
    assert len(seen) == 3
    assert all(first == second for first, second in seen)


# --- what run_case takes -----------------------------------------------------------------------

TOLD = ModelSpec(turns=(Turn(stream=(Text(words=3), Finish())),))


def stopped(timing: Timing, axes: tuple[Axis, ...] = ()) -> Scenario:
    steps = (
        Step(actor="client", verb="send", label="send", text="Hi"),
        Step(actor="client", verb="stop", label="stop", timing=timing),
    )
    return Scenario(name="mine", model=TOLD, steps=steps, sweep=Sweep(axes=axes))


AT = AtPoint("model.turn1.c2.after")


def test_a_scenario_is_run_as_it_is_written() -> None:
    judged = run_case(stopped(Timing(at=AT)), FORGETFUL)
    assert [violation.invariant for violation in judged.violations] == ["partial-is-prefix"]


def test_a_swept_action_happens_where_the_case_says_and_not_at_all_without_one() -> None:
    scenario = stopped(Timing(axis="stop"), (Axis(name="stop", every="point"),))
    case = baseline(scenario)
    assert run_case(scenario, FORGETFUL).violations == ()
    assert run_case((scenario, case), FORGETFUL).violations == ()
    placed = run_case((scenario, with_axes(case, [("stop", AT)])), FORGETFUL)
    assert [violation.invariant for violation in placed.violations] == ["partial-is-prefix"]
    assert "at: model.turn1.c2.after" in dump_scenario(placed.scenario)


def test_a_scenario_that_asks_for_what_is_not_claimed_is_refused() -> None:
    crash = Step(actor="server", verb="crash", label="crash")
    scenario = Scenario(name="dies", steps=(Step(actor="client", verb="send", label="send", text="Hi"), crash))
    with pytest.raises(UsageError, match="does not declare crash"):
        run_case(scenario, "python:tests.adapters.plain_table:make")


def test_an_adapter_that_raises_fails_the_check() -> None:
    never_stopped = stopped(Timing(axis="stop"), (Axis(name="stop", every="point"),))
    judged = run_case(never_stopped, "python:tests.adapters.broken:Raises")
    with pytest.raises(AssertionError, match="adapter error"):
        judged.check()


# --- what importing it does --------------------------------------------------------------------


def test_importing_the_strategies_leaves_the_settings_of_hypothesis_alone() -> None:
    code = (
        "from hypothesis import settings; before = (settings.default, settings.get_current_profile_name());"
        "import journalsim.strategies;"
        "assert before == (settings.default, settings.get_current_profile_name())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_search_of_the_command_line_does_not_import_hypothesis() -> None:
    code = "import sys, journalsim.cli.explore, journalsim.search.exploration; assert 'hypothesis' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
