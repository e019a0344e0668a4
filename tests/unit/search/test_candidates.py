"""What a reducer tries: each subject by itself, and that going round them comes to an end."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from journalsim.case import NEVER, AtPoint, Delay
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.values.cast import ClientSpec, Limits, ModelSpec, StoreSpec, ToolSpec
from journalsim.scenario.values.disk_fault import DiskFault
from journalsim.scenario.values.links import Cursor
from journalsim.scenario.values.moves import Step, Timing, Travel
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import CallTool, Finish, Ping, Text, ToolReply, Turn
from journalsim.search import candidates
from journalsim.search.bulk import drawn_tape
from journalsim.search.candidates import CANDIDATES, OF_GENERATED
from journalsim.search.generate.tape import scenario_from_tape

ANSWER = Turn(stream=(Text(words=1), Finish()))
SEND = Step(actor="client", verb="send", label="send", text="Hi")


def step(verb: str, at: str = "", **settings: Any) -> Step:
    timing = settings.pop("timing", Timing(at=AtPoint(at) if at else None))
    return Step(actor="client", verb=verb, label=settings.pop("label", verb), timing=timing, **settings)


def scenario(*steps: Step, turns: tuple[Turn, ...] = (ANSWER,), **settings: Any) -> Scenario:
    return Scenario(name="one", model=ModelSpec(turns=turns), steps=steps or (SEND,), **settings)


# --- parts that may go -------------------------------------------------------------------------


def test_delays_go_together_then_by_halves_then_singly_and_get_shorter() -> None:
    delays = tuple(Delay(f"lane-{number}", 0, turns=1 + number // 3) for number in range(4))
    a, b, c, d = delays
    tried = [found.schedule for found in candidates.fewer_delays(scenario(schedule=delays))]
    assert tried == [(), (c, d), (a, b), (b, c, d), (a, c, d), (a, b, d), (a, b, c), (a, b, c, evolve(d, turns=1))]


def test_a_step_goes_with_those_that_hang_on_it_and_the_first_one_stays() -> None:
    after = step("reload", timing=Timing(after="stop"))
    tried = [found.steps for found in candidates.fewer_steps(scenario(SEND, step("stop"), after))]
    assert tried == [(SEND, step("stop")), (SEND,)]


def test_steps_that_never_happen_go_first_and_all_at_once() -> None:
    gone, more, look = step("stop", timing=Timing(at=NEVER)), step("detach"), step("reload", at="model.turn1.c1.after")
    tried = [found.steps for found in candidates.fewer_steps(scenario(SEND, gone, more, look))]
    assert tried[0] == (SEND, look)


def test_a_step_that_is_repeated_is_repeated_less() -> None:
    twice = step("stop", times=3)
    assert [found.steps for found in candidates.fewer_steps(scenario(SEND, twice))] == [
        (SEND,),
        (SEND, evolve(twice, times=2)),
    ]


def test_people_who_act_or_are_watched_stay() -> None:
    people = (ClientSpec(name="client"), ClientSpec(name="bob"), ClientSpec(name="eve", observes="bob"))
    tried = [found.clients for found in candidates.fewer_clients(scenario(clients=people))]
    assert tried == [people[:2]]
    assert list(candidates.fewer_clients(scenario(clients=people[1:2]))) == []


def test_a_script_loses_its_last_turn_a_part_or_a_word() -> None:
    turn = Turn(stream=(Text(words=3), Ping(), Finish()), wait_ns=5)
    first, *rest = [found.model.turns for found in candidates.shorter_script(scenario(turns=(turn, ANSWER)))]
    assert first == (turn,)
    assert [changed[1] for changed in rest] == [ANSWER] * 5 + [evolve(ANSWER, stream=(Finish(),))]
    assert [changed[0] for changed in rest][:5] == [
        evolve(turn, stream=(Ping(), Finish())),
        evolve(turn, stream=(Text(words=3), Finish())),
        evolve(turn, stream=(Text(words=1), Ping(), Finish())),
        evolve(turn, stream=(Text(words=2), Ping(), Finish())),
        evolve(turn, wait_ns=0),
    ]


def test_somebodys_words_lose_their_end() -> None:
    turn = Turn(stream=(Text(chunks=("I ", "would ", "not.")), Finish()))
    tried = [found.model.turns[0].stream[0] for found in candidates.shorter_script(scenario(turns=(turn,)))]
    assert tried == [Finish(), Text(chunks=("I ",)), Text(chunks=("I ", "would "))]


def test_tools_that_are_not_called_go() -> None:
    turn = Turn(stream=(CallTool(id="c1", name="used"), Finish(reason="tool_use")))
    tools = (ToolSpec(name="used"), ToolSpec(name="idle"))
    (found,) = candidates.only_called_tools(scenario(turns=(turn,), tools=tools))
    assert found.tools == tools[:1]
    assert list(candidates.only_called_tools(found)) == []


def test_the_first_message_goes_with_its_turns_and_what_stands_at_later_ones_moves() -> None:
    steps = (
        SEND,
        step("send", label="again"),
        step("stop", "model.turn3.c1.after"),
        step("annotate", message="model.turn3"),
    )
    one, two = candidates.without_first_message(scenario(*steps, turns=(ANSWER,) * 3))
    assert [len(found.model.turns) for found in (one, two)] == [2, 1]
    assert [found.steps[1].timing.at for found in (one, two)] == [
        AtPoint("model.turn2.c1.after"),
        AtPoint("model.turn1.c1.after"),
    ]
    assert [found.steps[2].message for found in (one, two)] == ["model.turn2", "model.turn1"]


@pytest.mark.parametrize("steps", [(SEND, step("stop")), (step("reload"), SEND)])
def test_the_only_message_stays(steps: tuple[Step, ...]) -> None:
    assert list(candidates.without_first_message(scenario(*steps, turns=(ANSWER,) * 2))) == []


def test_each_turn_but_the_last_goes_by_itself() -> None:
    turns = tuple(evolve(ANSWER, wait_ns=number) for number in range(3))
    tried = [found.model.turns for found in candidates.without_a_turn(scenario(turns=turns))]
    assert tried == [(turns[1], turns[2]), (turns[0], turns[2])]


def test_each_fault_goes() -> None:
    faults = (DiskFault(at="disk.sync#1", kind="error"), DiskFault(at="disk.write#1", kind="full"))
    assert [found.faults for found in candidates.fewer_faults(scenario(faults=faults))] == [faults[1:], faults[:1]]


# --- settings ----------------------------------------------------------------------------------


def test_policies_go_together_and_one_by_one() -> None:
    policies = {"busy": "queue", "partial": "drop"}
    tried = [dict(found.policies) for found in candidates.fewer_policies(scenario(policies=policies))]
    assert tried == [{}, {"partial": "drop"}, {"busy": "queue"}]


def test_ids_store_and_limits_become_plain() -> None:
    given = evolve(
        scenario(store=StoreSpec(latency_ns=5), limits=Limits(run_ns=9)), model=ModelSpec(ids="none", turns=(ANSWER,))
    )
    assert list(candidates.plain_circumstances(given)) == [
        evolve(given, model=ModelSpec(turns=(ANSWER,))),
        evolve(given, store=StoreSpec()),
        evolve(given, limits=Limits()),
    ]


@pytest.mark.parametrize(
    ("setting", "plain"),
    [
        ({"travel": Travel(lost=True)}, {"travel": Travel()}),
        ({"mode": "rollback"}, {"mode": "interrupt"}),
        ({"lose": "unsynced"}, {"lose": "memory"}),
        ({"cursor": Cursor(form="equal")}, {"cursor": None}),
        ({"timing": Timing(after="send", delay_ns=5)}, {"timing": Timing(after="send")}),
    ],
    ids=lambda setting: "+".join(setting),
)
def test_a_setting_of_a_step_becomes_plain(setting: dict[str, Any], plain: dict[str, Any]) -> None:
    given = step("stop", **setting)
    (found,) = candidates.plainer_steps(scenario(SEND, given))
    assert found.steps == (SEND, evolve(given, **plain))


def test_settings_become_plain_together_and_then_one_by_one() -> None:
    bob = ClientSpec(name="bob", kind="cli", latency_ns=5, session="s2")
    tried = [found.clients[0] for found in candidates.plainer_clients(scenario(clients=(bob,)))]
    plain = ClientSpec(name="bob", session="s2")
    assert tried == [plain, evolve(plain, latency_ns=5), evolve(plain, kind="cli")]


def test_what_the_model_says_becomes_plain_and_keeps_its_words() -> None:
    turn = Turn(stream=(Text(chunks=("a ", "b"), reasoning=True), Finish(times=2)), after_close="complete")
    tried = [found.model.turns[0] for found in candidates.plainer_script(scenario(turns=(turn,)))]
    assert tried == [
        evolve(turn, after_close="cancel"),
        evolve(turn, stream=(Text(chunks=("a ", "b")), Finish(times=2))),
        evolve(turn, stream=(Text(chunks=("a ", "b"), reasoning=True), Finish())),
    ]


def test_texts_become_generated_words_where_they_are_nobodys_own() -> None:
    turn = Turn(stream=(Text(chunks=("a ", "b"), reasoning=True), Finish()))
    (found,) = candidates.generated_words(scenario(turns=(turn,)))
    assert found.model.turns == (evolve(turn, stream=(Text(words=2, reasoning=True), Finish())),)
    assert list(candidates.generated_words(found)) == []
    assert set(OF_GENERATED) - set(CANDIDATES) == {candidates.generated_words}


def test_a_tool_loses_replies_and_settings() -> None:
    tool = ToolSpec(name="t", approval=True, replies=(ToolReply(text="a"), ToolReply(text="b")))
    tried = [found.tools[0] for found in candidates.plainer_tools(scenario(tools=(tool,)))]
    assert tried == [
        evolve(tool, replies=tool.replies[1:]),
        evolve(tool, replies=tool.replies[:1]),
        evolve(tool, approval=False),
    ]


# --- all of them -------------------------------------------------------------------------------


def test_the_plainest_scenario_has_nothing_to_take_out_but_its_only_text() -> None:
    plainest = scenario_from_tape([])
    tried = [found for make in CANDIDATES for found in make(plainest)]
    assert [found.model.turns[0].stream for found in tried] == [(Finish(),)]


@pytest.mark.parametrize("number", range(20))
def test_no_candidate_is_what_it_was_made_from(number: int) -> None:
    """Otherwise a round that only runs in a circle would look like progress."""
    given = scenario_from_tape(drawn_tape(3, number))
    assert [make.__name__ for make in OF_GENERATED for found in make(given) if found == given] == []


@pytest.mark.parametrize("number", range(5))
def test_taking_every_candidate_comes_to_an_end(number: int) -> None:
    given, taken = scenario_from_tape(drawn_tape(4, number)), 0
    while (smaller := next((found for make in OF_GENERATED for found in make(given)), None)) is not None:
        given, taken = smaller, taken + 1
        assert taken < 500
    assert len(given.steps) == 1
    assert len(dump_scenario(given).splitlines()) <= 9
