"""The reference on a simulated disk: the power fails at every operation, and weak settings are found out."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from journalsim.case import NEVER, After, AtPoint, Case, Placement
from journalsim.contract.events.server_events import ServerCrashed
from journalsim.engine.hosting import host
from journalsim.errors import Exit
from journalsim.history import trace_hash
from journalsim.hosts.loading import adapter_from, load_adapter
from journalsim.oracle.invariants.verdict import Status
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, Ran, workspace
from journalsim.search.results import CaseResult, ScenarioResult
from journalsim.search.scenario_run import run_scenario
from tests.adapters import plain_table

DURABILITY = ("acknowledged-is-durable", "recovery-adds-only-proven", "recovery-is-idempotent")

ONE = """
version: 1
name: one
actors: {alice: {is: client}, store: {is: store, engine: ENGINE}}
script: {model: [{stream: [{text: [Hello, " there"]}, {finish: end_turn}]}]}
steps:
  - alice.send: Hi
  - server.crash: {at: $crash, lose: unsynced}
  - server.restart: {after: crash, delay: 100ms}
sweep:
  crash: {every: point, in: [disk], until: UNTIL}
  limit: 2000
"""


AT_ONCE = Case(scenario="one", axes=(("crash", After("send")),))


def one(engine: str = "sqlite", more: str = "", until: str = "model.turn1.finish.after") -> Scenario:
    text = ONE.replace("ENGINE", engine).replace("UNTIL", until)
    return load_scenario((text + more).encode(), "one.race.yaml")


def broken(result: ScenarioResult) -> set[str]:
    return {failure.violation.invariant for failure in result.failures}


def run_one(scenario: Scenario, adapter: str = "ref") -> CaseResult:
    with workspace() as folder:
        executor = Executor(scenario, load_adapter(adapter), folder)
        return host(lambda it: executor.judge(it, AT_ONCE))


@pytest.mark.parametrize("variant", ["ref", "ref:log", "ref:wal", "ref:delete"])
def test_a_durable_store_loses_nothing_that_was_acknowledged(variant: str) -> None:
    result = run_scenario(one(), load_adapter(variant))
    assert (result.exit, result.failures, result.trouble) == (Exit.HELD, (), ())
    assert result.operations_swept == result.operations_total == result.points_total // 2 > 5
    assert all(result.tallies[name].holds for name in DURABILITY)


@pytest.mark.parametrize("variant", ["ref:wal-normal", "ref:sqlite-off", "ref:delete-full"])
def test_a_weak_setting_is_caught_as_a_loss_and_as_nothing_else(variant: str) -> None:
    result = run_scenario(one(), load_adapter(variant))
    assert broken(result) == {"acknowledged-is-durable"}
    assert result.trouble == ()
    assert all(failure.violation.grade for failure in result.failures)


def test_a_log_without_checksums_is_caught_by_a_hole_in_a_line_and_as_a_loss() -> None:
    scenario = one("log")
    holes = evolve(scenario, steps=tuple(evolve(s, lose="last_head" if s.lose else s.lose) for s in scenario.steps))
    assert run_scenario(holes, load_adapter("ref:log")).exit is Exit.HELD
    result = run_scenario(holes, load_adapter("ref:bug-lines-without-a-checksum"))
    assert broken(result) == {"acknowledged-is-durable"}
    assert all(failure.violation.grade for failure in result.failures)


def test_durable_settings_of_sqlite_hold_where_weak_ones_lose() -> None:
    """A scenario that ships, on stores whose promise is known: see journalsim_reference.stores.disk_sqlite."""
    path = Path(__file__).parents[2] / "scenarios" / "crash" / "two-power-cuts.race.yaml"
    scenario = load_scenario(path.read_bytes(), path.name)
    for variant in ("ref:wal", "ref:delete"):
        assert run_scenario(scenario, load_adapter(variant)).exit is Exit.HELD
    for variant in ("ref:wal-normal", "ref:sqlite-off"):
        failures = run_scenario(scenario, load_adapter(variant)).failures
        assert "acknowledged-is-durable" in {failure.violation.invariant for failure in failures}


def test_a_kill_alone_finds_nothing_even_with_syncs_off() -> None:
    scenario = one()
    killed = evolve(scenario, steps=tuple(evolve(step, lose="memory") for step in scenario.steps))
    result = run_scenario(killed, load_adapter("ref:sqlite-off"))
    assert (result.exit, result.failures) == (Exit.HELD, ())


def test_the_scenario_says_which_store_and_the_variant_wins() -> None:
    totals = [run_scenario(one(engine), load_adapter("ref")).points_total for engine in ("sqlite", "log")]
    assert totals[0] != totals[1]
    assert run_scenario(one("sqlite"), load_adapter("ref:log")).points_total == totals[1]


def test_a_crash_at_an_operation_ends_the_call_that_was_in_it() -> None:
    scenario = one()
    points = [point for point in _run(scenario, NEVER).points if point.startswith("disk.write")]
    at = AtPoint(points[len(points) // 2])
    history = _run(scenario, at).history
    crashed = next(history.of(ServerCrashed))
    assert crashed.data.lose == "unsynced"
    later = [event for event in history.events if event.position > crashed.position]
    restarted = next(event for event in later if getattr(event.data, "verb", "") == "restart")
    between = {event.kind for event in later if event.position < restarted.position}
    assert between <= {"client.disconnected", "client.applied", "model.closed"}  # the dead process says nothing more
    assert trace_hash(history.events) == trace_hash(_run(scenario, at).history.events)


def _run(scenario: Scenario, at: Placement) -> Ran:
    with workspace() as folder:
        executor = Executor(scenario, load_adapter("ref"), folder)
        return host(lambda it: executor.run(it, Case(scenario=scenario.name, axes=(("crash", at),))))


def test_a_slow_disk_takes_virtual_time() -> None:
    calm = one("log")
    fault = "faults: [{disk: {at: disk.sync#2, kind: slow, for: 300ms}}]\n"
    slow = one("log", fault)
    assert run_one(slow).virtual_ns == run_one(calm).virtual_ns + 300_000_000


def test_a_lie_of_the_disk_is_told_and_nothing_is_claimed() -> None:
    text = "faults: [{disk: {at: disk.sync#1, kind: lie, times: 0}}]\n"
    result = run_scenario(one("log", text), load_adapter("ref"))
    assert not broken(result) & set(DURABILITY)
    assert all(result.tallies[name].not_claimed for name in DURABILITY)
    verdicts = {verdict.invariant: verdict for verdict in run_one(one("log", text)).verdicts}
    assert verdicts["acknowledged-is-durable"].status is Status.NOT_CLAIMED
    assert "the disk lied: disk.sync#" in verdicts["acknowledged-is-durable"].reason


def test_a_short_write_is_written_to_its_end() -> None:
    fault = "faults: [{disk: {at: disk.write#3, kind: short, kept: 5}}]\n"
    result = run_scenario(one("log", fault), load_adapter("ref"))
    assert (result.exit, result.failures) == (Exit.HELD, ())


def test_a_system_without_a_disk_is_not_asked() -> None:
    result = run_scenario(one(), adapter_from(plain_table.make))
    assert "disk" in result.not_claimed
    assert result.cases == 0


def test_a_window_that_the_run_does_not_pass_is_refused() -> None:
    result = run_scenario(one(until="adapter.start#7.after"), load_adapter("ref"))
    assert "no point of the baseline run starts with disk and is between the first and adapter.start#7.after" in (
        result.refused
    )
