"""A case placed in its scenario: what runs, and what a file can say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from journalsim.case import (
    NEVER,
    Action,
    After,
    AtByte,
    AtCursor,
    AtFrame,
    AtPoint,
    AtStep,
    AtTime,
    Case,
    Delay,
    Loses,
    Placement,
)
from journalsim.errors import UsageError
from journalsim.scenario.disk_needs import asks_for_disk
from journalsim.scenario.dump import checked
from journalsim.scenario.resolve import resolve, with_live_anchors
from journalsim.scenario.values.axes import Sweep
from journalsim.scenario.values.links import Cursor, LinkFault, Spot
from journalsim.scenario.values.moves import Step, Timing
from journalsim.scenario.values.scenario import Scenario

Load = Callable[[str], Scenario]
STOPPED = """
script: {model: [{stream: [{text: Hello}, {finish: end_turn}]}]}
steps:
  - client.send: Hi
  - client.stop: {at: $stop, delay: 2ms}
  - client.reload: {after: stop}
sweep:
  stop: [never, {every: point}]
"""
POINT = AtPoint("model.turn1.c1.after")


def case(*axes: tuple[str, Placement], **more: Any) -> Case:
    return Case(scenario="x", axes=axes, **more)


def timings(scenario: Scenario) -> list[Timing]:
    return [step.timing for step in scenario.steps]


@pytest.mark.parametrize(
    ("place", "timing"),
    [
        (POINT, Timing(at=POINT, delay_ns=2_000_000)),
        (AtStep(9), Timing(at=AtStep(9), delay_ns=2_000_000)),
        (AtTime(5), Timing(at=AtTime(5), delay_ns=2_000_000)),
        (After("send", 3), Timing(after="send", delay_ns=2_000_003)),
        (NEVER, Timing(at=NEVER, delay_ns=2_000_000)),
    ],
)
def test_a_swept_step_stands_where_its_axis_says(load: Load, place: Placement, timing: Timing) -> None:
    scenario = load(STOPPED)
    resolved = resolve(scenario, case(("stop", place)))
    assert timings(resolved) == [Timing(), timing, Timing(after="stop")]
    assert resolved == evolve(scenario, steps=resolved.steps, sweep=Sweep())
    assert checked(resolved) == resolved


def test_a_scenario_as_written_is_resolved_already(load: Load) -> None:
    scenario = resolve(load(STOPPED), case(("stop", POINT)))
    assert resolve(scenario, case()) == scenario


def test_the_delays_of_the_case_are_the_schedule(load: Load) -> None:
    scenario = evolve(load(STOPPED), schedule=(Delay("worker", 1, 1),))
    assert resolve(scenario, case(("stop", NEVER))).schedule == ()
    delays = (Delay("link.client", 3, 2),)
    resolved = resolve(scenario, case(("stop", NEVER), delays=delays))
    assert resolved.schedule == delays
    assert checked(resolved) == resolved


WITHIN = """
steps:
  - client.send: Hi
  - client.stop: {after: send, delay: 1ms, within: 1s}
  - client.reload: {within: 1s, as: look}
"""


def test_the_pause_that_was_chosen_is_part_of_the_delay(load: Load) -> None:
    scenario = load(WITHIN)
    resolved = resolve(scenario, case(("stop.within", AtTime(7))))
    assert timings(resolved) == [Timing(), Timing(after="send", delay_ns=1_000_007), Timing()]
    assert timings(resolve(scenario, case(("look.within", AtTime(7)))))[2] == Timing(delay_ns=7)
    assert checked(resolved) == resolved


def test_actions_of_a_search_are_steps_of_their_own(load: Load) -> None:
    scenario = load("steps: [{client.send: Hi}, {client.stop: {at: 1s, as: extra-stop-2}}]\n")
    actions = tuple(Action("client", verb, POINT) for verb in ("stop", "stop", "reload"))
    script = load("steps: [{client.send: Hi}]\n" + STOPPED.splitlines()[1] + "\n").model
    resolved = resolve(evolve(scenario, model=script), case(actions=actions))
    assert [step.label for step in resolved.steps] == [
        "send",
        "extra-stop-2",
        "extra-stop-1",
        "extra-stop-3",
        "extra-reload-1",
    ]
    assert resolved.steps[2] == Step(actor="client", verb="stop", label="extra-stop-1", timing=Timing(at=POINT))
    assert checked(resolved) == resolved


# --- links ---------------------------------------------------------------------------------------

CUT = """
faults:
  - {link: {from: server, to: client}, latency: 1ms}
  - {link: {from: server, to: client}, cut: $cut, restore: 5ms}
  - {link: {from: server, to: client}, end: {after_frames: 2}, connection: 2}
steps: [{client.send: Hi}]
sweep: {cut: [never, {byte: 0}, {frame: 2}]}
"""


@pytest.mark.parametrize(
    ("place", "spots"),
    [
        (AtByte(0), [Spot(), Spot(after_frames=2)]),
        (AtByte(4), [Spot(after_bytes=4), Spot(after_frames=2)]),
        (AtFrame(3), [Spot(after_frames=3), Spot(after_frames=2)]),
        (NEVER, [Spot(after_frames=2)]),
    ],
)
def test_a_swept_fault_stands_where_its_axis_says(load: Load, place: Placement, spots: list[Spot]) -> None:
    resolved = resolve(load(CUT), case(("cut", place)))
    assert [fault.spot for fault in resolved.faults if isinstance(fault, LinkFault)] == spots
    assert len(resolved.faults) == 1 + len(spots)
    assert checked(resolved) == resolved


def test_without_its_only_fault_a_scenario_stays_on_the_wire(load: Load) -> None:
    scenario = load(
        "faults: [{link: {from: server, to: client}, cut: $cut}]\n"
        "steps: [{client.send: Hi}]\nsweep: {cut: {every: byte}}\n"
    )
    resolved = resolve(scenario, case(("cut", NEVER)))
    assert resolved.faults == ()
    assert resolved.uses_wire
    assert checked(resolved) == resolved


ATTACH = """
steps:
  - client.send: Hi
  - client.detach:
  - client.attach: {cursor: $cursor}
  - client.attach: {cursor: empty}
sweep: {cursor: {every: cursor}}
"""


@pytest.mark.parametrize(
    ("place", "cursor"),
    [
        (AtCursor("frame", 2), Cursor(form="frame", frame=2)),
        (AtCursor("ahead"), Cursor(form="ahead")),
        (NEVER, Cursor(form="equal")),
    ],
)
def test_a_swept_cursor_is_the_one_that_its_axis_says(load: Load, place: Placement, cursor: Cursor) -> None:
    resolved = resolve(load(ATTACH), case(("cursor", place)))
    assert [step.cursor for step in resolved.steps] == [None, None, cursor, Cursor(form="empty")]
    assert checked(resolved) == resolved


# --- disks ---------------------------------------------------------------------------------------

CRASH = """
steps:
  - client.send: Hi
  - server.crash: {at: $crash, lose: $loss}
sweep: {crash: {every: point, in: [disk]}, loss: [memory, unsynced]}
"""


LOSS = """
steps:
  - client.send: Hi
  - server.crash: {at: 1s, lose: $loss}
sweep: {loss: [memory, unsynced]}
"""


@pytest.mark.parametrize("place", [NEVER, POINT, AtPoint("disk.sync#3.before")])
@pytest.mark.parametrize("loss", [NEVER, Loses("memory"), Loses("unsynced")])
def test_a_scenario_stays_on_its_disk_whatever_the_case(load: Load, place: Placement, loss: Placement) -> None:
    script = STOPPED.splitlines()[1] + "\n"
    resolved = resolve(load(script + CRASH), case(("crash", place), ("loss", loss)))
    assert asks_for_disk(resolved)
    says_so = loss == Loses("unsynced") or place == AtPoint("disk.sync#3.before")
    assert resolved.store.disk is not says_so
    assert checked(resolved) == resolved


# --- what a case cannot say ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "value", "message"),
    [
        (STOPPED, "stop", AtByte(3), "x: the axis $stop needs a moment, and byte:3 is none"),
        (STOPPED, "stop", After("reload"), "x: the axis $stop needs a moment, and after:reload is none"),
        (CUT, "cut", POINT, "x: the axis $cut needs a place in a stream, and model.turn1.c1.after is none"),
        (ATTACH, "cursor", Loses("bytes"), "x: the axis $cursor needs a cursor, and bytes is none"),
        (LOSS, "loss", AtCursor("ahead"), "x: the axis $loss needs a loss, and cursor:ahead is none"),
        (WITHIN, "stop.within", AtStep(3), "x: the axis $stop.within needs a pause, and step:3 is none"),
        (STOPPED, "stpo", NEVER, "x has no axis $stpo, of which the case speaks"),
        (STOPPED, "stop.within", AtTime(3), "x has no axis $stop.within, of which the case speaks"),
        (WITHIN, "stop", AtTime(3), "x has no axis $stop, of which the case speaks"),
    ],
)
def test_a_value_that_cannot_stand_there_is_refused(
    load: Load, text: str, name: str, value: Placement, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(load(text), case((name, value)))
    assert str(caught.value) == message


def test_a_case_that_leaves_an_axis_open_is_refused(load: Load) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(load(STOPPED), case())
    assert str(caught.value) == "the case says nothing of the axis $stop of x"


@pytest.mark.parametrize(("actor", "verb"), [("alice", "stop"), ("client", "_record"), ("server", "stop")])
def test_an_action_that_nobody_can_take_is_refused(load: Load, actor: str, verb: str) -> None:
    actions = (Action(actor, verb, POINT),)
    with pytest.raises(UsageError, match=f"nobody in x can do {actor}.{verb}"):
        resolve(load(STOPPED), case(("stop", NEVER), actions=actions))


def test_an_action_of_a_client_that_is_not_there_is_refused(load: Load) -> None:
    scenario = load("actors: {bob: {is: client}}\nsteps: [{bob.send: Hi}]\n")
    with pytest.raises(UsageError, match=r"nobody in x can do client\.stop"):
        resolve(scenario, case(actions=(Action("client", "stop", AtTime(5)),)))


# --- without the steps that never happen ---------------------------------------------------------


def live(*steps: Step) -> list[str]:
    return [step.label for step in with_live_anchors(steps)]


def step(verb: str, label: str, of: str | None = None, **timing: Any) -> Step:
    return Step(actor="client", verb=verb, label=label, of=of, timing=Timing(**timing))


def test_what_follows_a_step_that_never_happens_goes_with_it() -> None:
    gone = step("stop", "stop", at=NEVER)
    assert live(step("send", "a"), gone, step("reload", "r")) == ["a"]
    assert live(step("send", "a"), gone, step("reload", "r"), step("detach", "d")) == ["a"]
    assert live(step("send", "a"), gone, step("reload", "r", after="stop")) == ["a"]
    assert live(step("send", "a"), gone, step("reload", "r", after="a"), step("detach", "d")) == ["a", "r", "d"]
    assert live(step("send", "a"), gone, step("send", "b"), step("detach", "d", at=POINT)) == ["a", "b", "d"]


def test_what_needs_a_step_that_is_not_there_goes_too() -> None:
    assert live(step("send", "a"), step("stop", "s", of="a"), step("stop", "t", of="b")) == ["a", "s"]
    assert live(step("send", "a"), step("reload", "r", after="b"), step("hide", "h", after="r")) == ["a"]
