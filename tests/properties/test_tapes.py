"""Tapes: every one is a scenario, the empty one the plainest, and nothing unclaimed is asked for."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from attrs import evolve

from journalsim.contract.capabilities import Capabilities
from journalsim.hosts.loading import LoadedAdapter
from journalsim.scenario.disk_needs import asks_for_disk
from journalsim.scenario.dump import checked, dump_scenario
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import Break, CallTool, NewMessage, RenameMessage, SilentEnd, Text
from journalsim.search.bulk import drawn_tape
from journalsim.search.generate.plan import Plan
from journalsim.search.generate.slots import Slots
from journalsim.search.generate.tape import BLOCKS, EVERYTHING, TAPE_LENGTH, plan_from_tape, scenario_from_tape, tape_of
from journalsim.search.scenario_run import unclaimed

PLAINEST = """\
version: 1
name: generated
script:
  model:
    - stream:
        - text: {words: 1}
        - finish: end_turn
steps:
  - client.send: "Question 1"
"""


def plans(count: int) -> Iterator[Plan]:
    """Plans as a search draws them."""
    claims = evolve(EVERYTHING, replay="from_id")
    return (plan_from_tape(drawn_tape(7, number), claims) for number in range(count))


def test_the_tape_of_zeros_is_the_plainest_scenario() -> None:
    assert dump_scenario(scenario_from_tape([0] * TAPE_LENGTH)) == PLAINEST


@pytest.mark.parametrize(
    "tape",
    [
        [],
        [0, 0, 0],
        [256] * TAPE_LENGTH,
        [0] * (2 * TAPE_LENGTH),
        [0] * TAPE_LENGTH + [255] * 50,
    ],
    ids=["empty", "short", "whole turns of 256", "long", "long and busy behind the end"],
)
def test_what_a_tape_does_not_say_is_said_as_plainly_as_can_be(tape: list[int]) -> None:
    assert dump_scenario(scenario_from_tape(tape)) == PLAINEST


def test_any_integers_at_all_make_a_scenario() -> None:
    generator = random.Random(3)
    for _ in range(20):
        tape = [generator.randrange(-(10**20), 10**20) for _ in range(generator.randrange(2 * TAPE_LENGTH))]
        assert checked(scenario_from_tape(tape)) == scenario_from_tape(tape)


def test_every_scenario_could_be_a_file_placed_or_not() -> None:
    for plan in plans(40):
        assert checked(plan.scenario) == plan.scenario
        assert checked(plan.placed()) == plan.placed()


def test_no_block_of_the_tape_reads_beyond_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    read: dict[int, int] = {}
    whole = Slots.next

    def counting(slots: Slots) -> int:
        value = whole(slots)
        read[slots.length] = max(read.get(slots.length, 0), slots.asked)
        return value

    monkeypatch.setattr(Slots, "next", counting)
    for plan in plans(300):
        assert plan.scenario.steps
    assert set(read) == set(BLOCKS)
    assert all(asked <= length for length, asked in read.items()), read


def test_a_plan_prints_as_the_expression_that_makes_it() -> None:
    plan = plan_from_tape(tape_of({0: 100, 24: 250, 31: 201}))
    again = eval(repr(plan), {"plan_from_tape": plan_from_tape, "tape_of": tape_of})
    assert again == plan


@pytest.mark.parametrize(
    "claims",
    [
        Capabilities(),
        Capabilities(crash="memory"),
        Capabilities(maintenance=("compact",), policies=("busy",)),
        Capabilities(stop_modes=("interrupt", "rollback"), approvals=True),
        Capabilities(limits=("run",), sub_agents=True),
    ],
    ids=["nothing", "crash", "compact and busy", "rollback and approvals", "limits and sub-agents"],
)
def test_nothing_is_asked_for_that_the_adapter_does_not_claim(claims: Capabilities) -> None:
    adapter = LoadedAdapter(spec="python:none:none", make=object, capabilities=claims)
    for number in range(150):
        assert unclaimed(plan_from_tape(drawn_tape(1, number), claims).scenario, adapter) == ""


def features(scenario: Scenario) -> set[str]:
    """What there is to be found in a scenario."""
    found = {f"ids {scenario.model.ids}", f"{len(scenario.clients)} clients"}
    found |= {f"{name} {word}" for name, word in scenario.policies.items() if name == "busy"}
    found |= {step.verb for step in scenario.steps} | {f"mode {step.mode}" for step in scenario.steps}
    found |= {f"{sum(step.verb == 'send' for step in scenario.steps)} messages"}
    for step in scenario.steps:
        found |= {word for word in ("lost", "doubled") if getattr(step.travel, word)}
        found |= {"late"} if step.travel.late_ns else set()
    for turn in scenario.model.turns:
        found |= {f"{sum(isinstance(part, CallTool) for part in turn.stream)} calls", turn.after_close}
        found |= {type(part).__name__ for part in turn.stream} | {f"times {getattr(turn.stream[-1], 'times', 0)}"}
        found |= {f"{len(p.chunks) or p.words} chunks" for p in turn.stream if isinstance(p, Text)}
        found |= {"reasoning" for part in turn.stream if isinstance(part, Text) and part.reasoning}
        found |= {"empty"} if len(turn.stream) == 1 and not isinstance(turn.stream[0], Break | SilentEnd) else set()
    found |= {f"tool {reply.kind}" for tool in scenario.tools for reply in tool.replies}
    found |= {word for tool in scenario.tools for word in ("approval", "agent") if getattr(tool, word)}
    found |= {f"wire {client.kind}" for client in scenario.clients if client.wire}
    found |= {getattr(fault, "kind", "shape") for fault in scenario.faults}
    found |= {f"cursor {step.cursor.form}" for step in scenario.steps if step.cursor is not None}
    found |= {f"lose {step.lose.partition('#')[0]}" for step in scenario.steps} | {f"store {scenario.store.engine}"}
    return found


def test_a_few_hundred_tapes_hold_everything_that_can_happen() -> None:
    seen: set[str] = set()
    for plan in plans(400):
        seen |= features(plan.scenario)
    wanted = {"ids none", "ids per_chunk", "2 clients", "busy queue", "busy cancel_earlier", "mode rollback"}
    wanted |= {"1 messages", "4 messages", "lost", "doubled", "late", "1 calls", "3 calls", "complete", "times 2"}
    wanted |= {"5 chunks", "reasoning", "empty", "tool failure", "tool hang", "approval", "agent"}
    wanted |= {"stop", "resubmit", "reload", "detach", "attach", "crash", "restart", "shutdown", "jump"}
    wanted |= {"annotate", "compact", "clear", "approve", "deny"}
    wanted |= {part.__name__ for part in (Break, SilentEnd, NewMessage, RenameMessage)} | {"Stall", "Ping", "Wait"}
    wanted |= {"wire browser", "wire fetch-sse", "wire fetch-event-source", "wire poller", "cut", "reset", "half_open"}
    wanted |= {"end", "shape", "hide", "show", "switch", "lose unsynced", "lose drawn", "store log", "store sqlite"}
    assert not wanted - seen
    assert sum(name.startswith("cursor ") for name in seen) > 5


def test_a_system_without_streams_and_disk_is_asked_about_neither() -> None:
    for number in range(150):
        scenario = plan_from_tape(drawn_tape(1, number), Capabilities(crash="memory")).scenario
        assert not scenario.uses_wire
        assert not asks_for_disk(scenario)


def test_what_hangs_is_stopped_in_the_end() -> None:
    hanging = 0
    for plan in plans(300):
        scenario = plan.scenario
        hangs = any(reply.kind == "hang" for tool in scenario.tools for reply in tool.replies)
        if hangs or any("Stall" in type(part).__name__ for turn in scenario.model.turns for part in turn.stream):
            hanging += 1
            sends = [step.label for step in scenario.steps if step.verb == "send"]
            stopped = {step.of for step in scenario.steps if step.verb == "stop" and step.timing.after == step.of}
            assert set(sends) <= stopped
    assert hanging > 20
