"""When an author's steps happen."""

from __future__ import annotations

import pytest

from journalsim.case import Case, Placement
from journalsim.contract.events.client_events import ClientSent
from journalsim.contract.events.harness_events import StepSkipped, StepTaken
from journalsim.contract.events.journal_events import JournalRead
from journalsim.engine.hosting import host
from journalsim.history import History
from journalsim.hosts.loading import load_adapter
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.resolve import concrete
from journalsim.search.execute import Executor, workspace

HEAD = """
version: 1
name: timing
actors: {alice: {is: client}}
script: {model: [{stream: [{text: [a, b]}, {finish: end_turn}]}, {stream: [{text: [c]}, {finish: end_turn}]}]}
"""


def play(steps: str, case: Case | None = None) -> History:
    scenario = load_scenario((HEAD + steps).encode(), "timing.race.yaml")
    with workspace() as folder:
        executor = Executor(scenario, load_adapter("ref:memory"), folder)
        return host(lambda it: executor.run(it, case or Case(scenario="timing"))).history


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
    case = Case(scenario="timing", axes=(("reload.within", Placement("time", number=7_000_000)),))
    assert taken(play(steps, case)) == [("send", 0), ("reload", 7)]
    scenario = load_scenario((HEAD + steps).encode(), "timing.race.yaml")
    assert concrete(scenario, case).steps[1].timing.delay_ns == 7_000_000


def test_reloads_and_resubmits_happen_as_often_as_they_say() -> None:
    history = play("steps: [{alice.send: Hi}, {alice.resubmit: {times: 2}}, {alice.reload: {times: 3, after: send}}]")
    assert len(list(history.of(ClientSent))) == 3
    assert len([event for event in history.of(JournalRead) if event.data.reason == "reload"]) == 3


def test_a_step_whose_moment_never_comes_is_noted() -> None:
    history = play("steps: [{alice.send: Hi}, {alice.stop: {at: store.append#99.before}}]")
    assert [event.data.label for event in history.of(StepSkipped)] == ["stop"]


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
