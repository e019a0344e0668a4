"""When an author's steps happen."""

from __future__ import annotations

import pytest

from journalsim.case import NEVER, Action, After, AtByte, AtPoint, AtStep, AtTime, Case, Delay, Placement
from journalsim.contract.events.client_events import ClientSent
from journalsim.contract.events.harness_events import StepSkipped, StepTaken
from journalsim.contract.events.journal_events import JournalRead
from journalsim.engine.hosting import host
from journalsim.history import History, trace_hash
from journalsim.hosts.loading import load_adapter
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.resolve import resolve
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, Ran, workspace
from journalsim.search.sweep import baseline

HEAD = """
version: 1
name: timing
actors: {alice: {is: client}}
script: {model: [{stream: [{text: [a, b]}, {finish: end_turn}]}, {stream: [{text: [c]}, {finish: end_turn}]}]}
"""


def play(steps: str, case: Case | None = None) -> History:
    return run(load_scenario((HEAD + steps).encode(), "timing.race.yaml"), case or Case(scenario="timing"))


def run(scenario: Scenario, case: Case) -> History:
    return ran(scenario, case).history


def ran(scenario: Scenario, case: Case, adapter: str = "ref:memory") -> Ran:
    with workspace() as folder:
        executor = Executor(scenario, load_adapter(adapter), folder)
        return host(lambda it: executor.run(it, case))


def taken(history: History) -> list[tuple[str, int]]:
    return [(event.data.label, event.time_ns // 1_000_000) for event in history.of(StepTaken)]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("steps: [{alice.send: Hi}, {alice.reload: {after: send, delay: 30ms}}]", [("send", 0), ("reload", 30)]),
        ("steps: [{alice.send: Hi}, {alice.reload: {at: 15ms}}]", [("send", 0), ("reload", 15)]),
        (
            "steps: [{alice.send: Hi}, {alice.reload: {at: model.turn1.c1.before, delay: 5ms}}]",
            [("send", 0), ("reload", 25)],
        ),
        (
            "steps: [{alice.send: Hi}, {alice.send: {text: Again, delay: 1s, as: second}}]",
            [("send", 0), ("second", 1040)],
        ),
        ("steps: [{alice.send: Hi}, {alice.reload: {after: send, within: 1s}}]", [("send", 0), ("reload", 0)]),
    ],
)
def test_a_step_happens_when_its_timing_says(steps: str, expected: list[tuple[str, int]]) -> None:
    assert taken(play(steps)) == expected


def test_a_case_says_how_long_a_step_with_within_waits() -> None:
    steps = "steps: [{alice.send: Hi}, {alice.reload: {after: send, within: 1s}}]"
    case = Case(scenario="timing", axes=(("reload.within", AtTime(7_000_000)),))
    assert taken(play(steps, case)) == [("send", 0), ("reload", 7)]


def test_a_step_that_is_left_out_takes_what_follows_it_along() -> None:
    history = play(
        "steps: [{alice.send: Hi}, {alice.stop: {at: never}}, {alice.reload: {after: stop}}, {alice.detach: }, "
        "{alice.send: {text: Again, as: second}}]"
    )
    assert [label for label, _ in taken(history)] == ["send", "second"]
    assert [(event.data.label, event.data.reason) for event in history.of(StepSkipped)] == [
        ("reload", "its moment never came: stop"),
        ("detach", "its moment never came: the step above"),
    ]


C1 = AtPoint("model.turn1.c1.after")
SWEPT = """
steps:
  - alice.stop: {at: $first}
  - alice.send: Hi
  - alice.stop: {at: $second, delay: 1ms, as: second}
  - alice.stop: {at: model.turn1.c2.before}
  - alice.reload: {after: stop, within: 1s}
  - alice.detach:
  - alice.send: {text: Again, as: more}
sweep: {first: [never, 0ms, {every: step}], second: [never, {every: point}, {after: send}]}
"""


@pytest.mark.parametrize(
    ("first", "second", "pause_ns"),
    [
        (NEVER, NEVER, None),
        (AtTime(0), C1, 5),
        (AtStep(7), After("send", 3), 0),
        (AtStep(9000), After("stop"), 1),
        (NEVER, After("stop", 2), 900_000_000),
    ],
)
def test_a_case_and_its_file_are_the_same_run(first: Placement, second: Placement, pause_ns: int | None) -> None:
    pause = () if pause_ns is None else (("reload.within", AtTime(pause_ns)),)
    case = Case(
        scenario="timing",
        axes=(("first", first), *pause, ("second", second)),
        actions=(Action("alice", "stop", AtTime(21_000_000)), Action("alice", "reload", AtStep(9000))),
        delays=(Delay("person.alice", 1, 2),),
    )
    history = play(SWEPT, case)
    assert ("extra-stop-1", 21) in taken(history)
    resolved = resolve(load_scenario((HEAD + SWEPT).encode(), "timing.race.yaml"), case)
    written = load_scenario(dump_scenario(resolved).encode(), "written.race.yaml")
    assert written == resolved
    assert trace_hash(run(written, baseline(written)).events) == trace_hash(history.events)


def test_an_action_of_a_search_that_never_happens_is_noted() -> None:
    case = Case(scenario="timing", actions=(Action("alice", "stop", AtStep(9000)),))
    history = play("steps: [{alice.send: Hi}]", case)
    assert [event.data.reason for event in history.of(StepSkipped)] == ["its moment never came: step:9000"]


def test_reloads_and_resubmits_happen_as_often_as_they_say() -> None:
    history = play("steps: [{alice.send: Hi}, {alice.resubmit: {times: 2}}, {alice.reload: {times: 3, after: send}}]")
    assert len(list(history.of(ClientSent))) == 3
    assert len([event for event in history.of(JournalRead) if event.data.reason == "reload"]) == 3


def test_a_step_whose_moment_never_comes_is_noted() -> None:
    history = play("steps: [{alice.send: Hi}, {alice.stop: {at: store.append#99.before}}]")
    assert [event.data.label for event in history.of(StepSkipped)] == ["stop"]


# --- did everything that a case places happen ----------------------------------------------------

LATE = AtPoint("model.turn1.c99.after")


@pytest.mark.parametrize(
    ("place", "reached"),
    [(NEVER, True), (AtPoint("model.turn1.c1.after"), True), (LATE, False), (AtTime(0), True), (AtStep(9000), False)],
)
def test_a_case_is_reached_when_its_placed_steps_happened(place: Placement, reached: bool) -> None:
    steps = "steps: [{alice.send: Hi}, {alice.stop: {at: $stop}}, {alice.reload: }]\nsweep: {stop: [never]}\n"
    scenario = load_scenario((HEAD + steps).encode(), "timing.race.yaml")
    assert ran(scenario, Case(scenario="timing", axes=(("stop", place),))).reached is reached


@pytest.mark.parametrize(("behind", "reached"), [("send", True), ("reload", False)])
def test_a_case_is_not_reached_when_a_step_that_it_puts_behind_another_was_skipped(behind: str, reached: bool) -> None:
    """The reload never comes, so a stop behind it raced with nothing."""
    steps = "steps: [{alice.send: Hi}, {alice.reload: {at: $reload}}, {alice.stop: {at: $stop}}]\n"
    sweep = "sweep: {reload: [never], stop: [never]}\n"
    scenario = load_scenario((HEAD + steps + sweep).encode(), "timing.race.yaml")
    axes = (("reload", NEVER), ("stop", After(behind)))
    assert ran(scenario, Case(scenario="timing", axes=axes)).reached is reached


CUTS = """
faults:
  - {link: {from: server, to: alice}, cut: $cut}
  - {link: {from: server, to: alice}, end: {after_frames: 99}}
steps: [{alice.send: Hi}]
sweep: {cut: {every: byte}}
"""


@pytest.mark.parametrize(("place", "reached"), [(NEVER, True), (AtByte(3), True), (AtByte(999_999), False)])
def test_a_case_is_reached_when_its_placed_faults_happened(place: Placement, reached: bool) -> None:
    """A fault at a place of its author's need not happen in every case."""
    scenario = load_scenario((HEAD + CUTS).encode(), "timing.race.yaml")
    assert ran(scenario, Case(scenario="timing", axes=(("cut", place),)), "ref").reached is reached
