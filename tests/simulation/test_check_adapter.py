"""``check_adapter``: judging an adapter from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from journalsim import check_adapter, load_scenario
from journalsim.errors import AdapterError, Exit
from journalsim.oracle.invariants.judge import INVARIANTS
from journalsim.scenario.known_failures import load_known_failures
from journalsim.scenario.values.scenario import Scenario
from tests.adapters import broken, little_agent, plain_table

ROOT = Path(__file__).parents[2]
FILE = ROOT / "scenarios/completion/arrives-while-unwinding.race.yaml"


def race() -> tuple:  # type: ignore[type-arg]
    return (load_scenario(FILE.read_bytes(), str(FILE)),)


def scenarios(*names: str) -> tuple[Scenario, ...]:
    files = [ROOT / "scenarios" / f"{name}.race.yaml" for name in names]
    return tuple(load_scenario(file.read_bytes(), str(file)) for file in files)


def test_it_names_the_promise_that_the_plain_table_breaks() -> None:
    with pytest.raises(AssertionError, match="completed-wins in arrives-while-unwinding") as caught:
        check_adapter(plain_table.make, race())
    assert "the journal holds it interrupted and completed" in str(caught.value)


def test_a_system_with_a_loop_of_its_own_is_driven_through_its_ports() -> None:
    held = ("stop/anywhere-in-one-answer", "tools/stop-during-parallel-calls", "runs/graceful-shutdown")
    results = check_adapter(little_agent.make, scenarios(*held))
    assert [result.exit for result in results] == [Exit.HELD] * 3
    assert all(result.points_swept == result.points_total > 10 for result in results)
    assert results[1].tallies["paired-tool-calls"].holds > 30


def test_a_loop_that_knows_one_message_per_response_loses_the_second() -> None:
    with pytest.raises(AssertionError, match="no-lost-completed-message in second-message-of-a-turn"):
        check_adapter(little_agent.make, scenarios("stop/second-message-of-a-turn"))


def test_known_failures_do_not_count() -> None:
    known = load_known_failures(ROOT / "tests/adapters/expected-failures.yaml", frozenset(INVARIANTS))
    (result,) = check_adapter(plain_table.make, race(), expected=known.expected)
    assert {failure.violation.invariant for failure in result.known} == {"completed-wins", "expect"}
    assert not result.failures


def test_what_an_adapter_raises_is_named() -> None:
    with pytest.raises(AssertionError, match="adapter error in arrives-while-unwinding"):
        check_adapter(broken.Raises, race())


def test_a_factory_that_makes_no_adapter_is_an_error() -> None:
    with pytest.raises(AdapterError, match="needs an attribute 'capabilities'"):
        check_adapter(broken.NoCapabilities, race())
