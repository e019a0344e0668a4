"""``check_adapter``: judging an adapter from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim import check_adapter, load_scenario
from sim.errors import AdapterError
from sim.invariants.judge import INVARIANTS
from sim.scenario.known_failures import load_known_failures
from tests.adapters import broken, plain_table

ROOT = Path(__file__).parents[2]
FILE = ROOT / "scenarios/completion/arrives-while-unwinding.race.yaml"


def race() -> tuple:  # type: ignore[type-arg]
    return (load_scenario(FILE.read_bytes(), str(FILE)),)


def test_it_names_the_promise_that_the_plain_table_breaks() -> None:
    with pytest.raises(AssertionError, match="completed-wins in arrives-while-unwinding") as caught:
        check_adapter(plain_table.make, race())
    assert "the journal holds it interrupted and also completed" in str(caught.value)


def test_known_failures_do_not_count() -> None:
    known = load_known_failures(ROOT / "tests/adapters/expected-failures.yaml", frozenset(INVARIANTS))
    (result,) = check_adapter(plain_table.make, race(), expected=known.expected)
    assert {failure.violation.invariant for failure in result.known} == {"completed-wins", "expect"}
    assert not result.failures


def test_what_an_adapter_raises_is_named() -> None:
    with pytest.raises(AssertionError, match="adapter trouble in arrives-while-unwinding"):
        check_adapter(broken.Raises, race())


def test_a_factory_that_makes_no_adapter_is_an_error() -> None:
    with pytest.raises(AdapterError, match="needs an attribute 'capabilities'"):
        check_adapter(broken.NoCapabilities, race())
