"""An adapter that raises, hangs, blocks or lies is named as such, and the run goes on."""

from __future__ import annotations

import pytest

from journalsim.engine import guards
from journalsim.errors import AdapterError, Exit, UsageError
from journalsim.hosts.loading import load_adapter
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.campaign import Campaign, run_campaign
from journalsim.search.scenario_run import run_scenario

ONE = b"""
version: 1
name: one
actors: {alice: {is: client}}
script: {model: [{stream: [{text: [Hello]}, {finish: end_turn}]}]}
steps: [{alice.send: Hi}, {alice.reload: {after: send, delay: 1s}}]
"""


def one(name: str = "one") -> Scenario:
    return load_scenario(ONE.replace(b"name: one", f"name: {name}".encode()), "one.race.yaml")


def broken(name: str) -> str:
    return f"python:tests.adapters.broken:{name}"


def test_an_append_that_raises_is_named_with_its_verb() -> None:
    result = run_scenario(one(), load_adapter(broken("Raises")))
    assert result.exit is Exit.ADAPTER
    assert "RuntimeError: the table is" in result.trouble[0]


def test_a_store_that_cannot_open_is_named() -> None:
    result = run_scenario(one(), load_adapter(broken("RaisesOnOpen")))
    assert result.exit is Exit.ADAPTER
    assert result.trouble[0].startswith("setup: OSError: no such database")


def test_a_read_that_never_returns_is_named_as_hanging_in_virtual_time() -> None:
    result = run_scenario(one(), load_adapter(broken("HangsInVirtualTime")))
    assert "hangs in virtual time" in result.trouble[0]


def test_an_append_that_blocks_the_thread_is_named_with_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "BLOCKED_AFTER_S", 0.2)
    monkeypatch.setattr(guards, "BLOCKED_AGAIN_S", 0.05)
    result = run_scenario(one(), load_adapter(broken("BlocksInRealTime")))
    assert "BlockedInRealTimeError" in result.trouble[0]
    assert "adapters/broken.py" in result.trouble[0]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Exits", "SystemExit: 3"),
        ("ReadsDicts", "read returned dict at position 0, expected an Item"),
        ("ReadsNone", "read returned an Item with text None, expected text at position 0"),
    ],
)
def test_an_adapter_that_exits_or_returns_something_else_is_named(name: str, says: str) -> None:
    result = run_scenario(one(), load_adapter(broken(name)))
    assert result.exit is Exit.ADAPTER
    assert says in result.trouble[0]


def test_a_placed_step_that_never_happens_is_inconclusive() -> None:
    never = ONE.replace(b"{after: send, delay: 1s}", b"{at: store.append#99.before}")
    result = run_scenario(load_scenario(never, "one.race.yaml"), load_adapter("ref"))
    assert result.exit is Exit.INCONCLUSIVE
    assert result.inconclusive == ("a step that is placed at a point or time never happened in 1 case",)


def test_a_sweep_over_its_limit_is_refused_and_the_rest_runs() -> None:
    wide = ONE.replace(b"{after: send, delay: 1s}", b"{at: $when}") + b"sweep: {when: {every: point}, limit: 3}\n"
    wide = wide.replace(b"name: one", b"name: wide")
    result = run_campaign(Campaign(scenarios=(load_scenario(wide, "wide.race.yaml"), one("second"))))
    assert [r.exit for r in result.scenarios] == [Exit.USAGE, Exit.HELD]
    assert "over its limit of 3" in result.scenarios[0].refused
    assert result.exit is Exit.USAGE


def test_the_other_scenarios_of_a_run_still_run() -> None:
    campaign = Campaign(scenarios=(one("first"), one("second")), adapter=broken("Raises"))
    result = run_campaign(campaign)
    assert [r.scenario.name for r in result.scenarios] == ["first", "second"]
    assert result.exit is Exit.ADAPTER


def test_a_store_that_rolls_dice_breaks_the_promise_to_be_deterministic() -> None:
    results = [run_scenario(one(), load_adapter(broken("RollsDice"))) for _ in range(12)]
    assert any(f.violation.invariant == "deterministic" for r in results for f in r.failures)


def test_a_store_that_loses_rows_breaks_a_promise_and_is_no_trouble() -> None:
    result = run_scenario(one(), load_adapter(broken("Forgets")))
    assert {f.violation.invariant for f in result.failures} == {"no-lost-completed-message"}
    assert not result.trouble


@pytest.mark.parametrize(
    ("spec", "error", "says"),
    [
        ("rf", UsageError, "did you mean 'ref'"),
        ("ref:bug-nothing", UsageError, "unknown variant"),
        ("python:tests.adapters.broken", UsageError, "write python:package.module:factory"),
        ("python:tests.adapters.nowhere:make", AdapterError, "cannot import"),
        ("python:tests.adapters.broken:Raise", AdapterError, "did you mean 'Raises'"),
        (broken("NoCapabilities"), AdapterError, "needs an attribute 'capabilities'"),
        (broken("LacksVerbs"), AdapterError, "lacks open, close, append, read"),
        (broken("factory_raises"), AdapterError, "the factory raised ValueError: no licence"),
        ("exec:./journal", UsageError, "not supported yet"),
    ],
)
def test_a_wrong_adapter_name_says_what_to_do(spec: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        load_adapter(spec)
