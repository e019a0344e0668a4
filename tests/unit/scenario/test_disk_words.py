"""What a scenario says about disks: losses, faults, the store, and which scenarios want a disk at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from journalsim.case import NEVER, Case, Loses
from journalsim.contract.disk_faults import Fault, Loss
from journalsim.scenario.disk_needs import asks_for_disk
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.resolve import resolve
from journalsim.scenario.values.axes import Axis
from journalsim.scenario.values.cast import StoreSpec
from journalsim.scenario.values.disk_fault import DiskFault
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.words.disk_words import disk_faults, fault_of

Load = Callable[..., Scenario]
Codes = Callable[..., list[str]]
CRASH = "steps:\n  - client.send: Hi\n  - server.crash: {at: model.turn1.call.before, lose: %s}\n"
SCRIPT = "script: {model: [{stream: [{text: Hello}, {finish: end_turn}]}]}\n"


@pytest.mark.parametrize("loss", ["memory", "buffers", "unsynced", "last_tail", "drawn#17"])
def test_a_crash_loses_what_the_disk_can_lose(load: Load, loss: str) -> None:
    scenario = load(SCRIPT + CRASH % loss)
    assert scenario.steps[1].lose == loss
    assert asks_for_disk(scenario) is (loss != "memory")
    assert load_scenario(dump_scenario(scenario).encode(), "x") == scenario


@pytest.mark.parametrize("loss", ["unsyncd", "drawn", "drawn#0", "drawn#x", "drawn#01", "unsynced#2", "5"])
def test_what_is_no_loss_is_refused(codes: Codes, loss: str) -> None:
    assert codes(SCRIPT + CRASH % loss) == [f"E025 {loss}"]


def test_a_misspelt_loss_is_understood(problems: Callable[..., list[object]]) -> None:
    (problem,) = problems(SCRIPT + CRASH % "unsyncd")
    assert getattr(problem, "help", "") == "did you mean 'unsynced'?" or "unsynced" in str(problem)


def test_losses_can_be_an_axis(load: Load) -> None:
    scenario = load(SCRIPT + CRASH % "$loss" + "sweep:\n  loss: [memory, unsynced, drawn#3]\n")
    values = tuple(Loses(name) for name in ("memory", "unsynced", "drawn#3"))
    assert scenario.sweep.axes == (Axis(name="loss", values=values),)
    assert load_scenario(dump_scenario(scenario).encode(), "x") == scenario
    assert asks_for_disk(scenario)
    chosen = [resolve(scenario, Case(scenario="x", axes=(("loss", value),))) for value in (*values, NEVER)]
    assert [resolved.steps[1].lose for resolved in chosen] == ["memory", "unsynced", "drawn#3", "memory"]
    assert all(asks_for_disk(resolved) for resolved in chosen)
    fixed = load(SCRIPT + CRASH % "bytes")
    assert resolve(fixed, Case(scenario="x")) == fixed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (CRASH % "$loss", ["E201 $loss"]),
        (
            CRASH % "$loss" + "sweep: {loss: [unsynced, model.turn1.call.before]}\n",
            ["E031 [unsynced, model.turn1.call.before]"],
        ),
        (CRASH % "$loss" + "sweep: {loss: [never]}\n", ["E201 $loss"]),
        (CRASH % "$loss" + "sweep: {loss: [unsyncd]}\n", ["E025 unsyncd"]),
        ("steps: [{client.send: Hi}, {client.stop: {at: $x}}]\nsweep: {x: [unsynced]}\n", ["E201 $x"]),
        ("steps: [{client.send: Hi}, {client.stop: {at: $x}}]\nsweep: {x: {every: point, since: now}}\n", ["E026 now"]),
    ],
)
def test_axes_of_losses_and_of_places_are_told_apart(codes: Codes, text: str, found: list[str]) -> None:
    assert codes(SCRIPT + text) == found


def test_a_sweep_can_be_a_window_of_points(load: Load) -> None:
    sweep = "sweep:\n  x: {every: point, in: [disk], since: adapter.setup#2.before, until: adapter.setup#2.after}\n"
    scenario = load("steps: [{client.send: Hi}, {client.stop: {at: $x}}]\n" + sweep)
    (axis,) = scenario.sweep.axes
    assert (axis.since, axis.until) == ("adapter.setup#2.before", "adapter.setup#2.after")
    assert asks_for_disk(scenario)
    assert load_scenario(dump_scenario(scenario).encode(), "x") == scenario


def test_faults_of_the_disk_are_addressed_to_operations(load: Load) -> None:
    text = (
        "faults:\n  - disk: {at: disk.sync#3, kind: error}\n"
        "  - disk: {at: disk.write#7, kind: short, times: 0, kept: 5}\n"
        "  - disk: {at: disk.sync#1, kind: slow, for: 20ms}\n"
    )
    scenario = load(text)
    assert scenario.faults == (
        DiskFault(at="disk.sync#3", kind="error"),
        DiskFault(at="disk.write#7", kind="short", times=0, kept=5),
        DiskFault(at="disk.sync#1", kind="slow", duration_ns=20_000_000),
    )
    assert scenario.faults[0].line == 4
    assert asks_for_disk(scenario)
    assert load_scenario(dump_scenario(scenario).encode(), "x") == scenario
    faults = [fault_of(fault) for fault in scenario.faults if isinstance(fault, DiskFault)]
    assert faults[1] == Fault("short", "disk.write#7", times=0, kept=5)
    assert faults[2].loss == Loss()


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("{disk: {at: disk.sync#3}}", ["E030 {at: disk.sync#3}"]),
        ("{disk: {at: disk.sync#3, kind: eror}}", ["E025 eror"]),
        ("{disk: {at: disk.sync#3, kind: crash}}", ["E025 crash"]),
        ("{disk: {at: disk.snyc#3, kind: error}}", ["E027 disk.snyc#3"]),
        ("{disk: {at: disk.sync#3, kind: full}}", ["E031 {at: disk.sync#3, kind: full}"]),
        ("{disk: {at: disk.sync#3, kind: error}, restore: 1s}", ["E031 restore"]),
        ("x", ["E020 x"]),
    ],
)
def test_faults_that_do_not_happen_are_refused(codes: Codes, fault: str, found: list[str]) -> None:
    assert codes(f"faults: [{fault}]\n") == found


def test_the_store_can_be_of_a_kind(load: Load, codes: Codes) -> None:
    scenario = load("actors: {store: {is: store, engine: log}}\n")
    assert scenario.store == StoreSpec(engine="log")
    assert asks_for_disk(scenario)
    assert load_scenario(dump_scenario(scenario).encode(), "x") == scenario
    assert codes("actors: {store: {is: store, engine: sqlight}}\n") == ["E025 sqlight"]


def test_a_step_at_an_operation_wants_a_disk(load: Load) -> None:
    assert asks_for_disk(load("steps: [{client.send: Hi}, {client.stop: {at: disk.write#1.before}}]\n"))
    assert asks_for_disk(load("actors: {store: {is: store, disk: true}}\nsteps: [{client.send: Hi}]\n"))
    assert not asks_for_disk(load("steps: [{client.send: Hi}, {client.stop: {at: store.append#1.before}}]\n"))


def test_every_fault_has_words() -> None:
    assert {"error", "full", "lie"} < set(disk_faults())
    assert "crash" not in disk_faults()
    assert not any("`" in text for text in disk_faults().values())
