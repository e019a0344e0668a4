"""Names that mean something elsewhere in the file."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from journalsim.case import After
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.shapes.problems import Problem, ScenarioError
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.words.crosschecks import chunk_count

Load = Callable[[str], Scenario]
Problems = Callable[[str], list[Problem]]
Codes = Callable[[str], list[str]]

SCRIPT = """\
script:
  model:
    - stream:
        [{text: [a, b]}, {tool_call: {id: t1, name: s}}, {message: next}, {ping: 2}, {wait: 1ms}, {finish: tool_use}]
    - stream: [{text: {words: 3, label: answer}}, {error: overloaded}]
    - stream: [{end: silent}]
"""


def steps(*lines: str) -> str:
    return "steps:\n" + "".join(f"  - {line}\n" for line in ("client.send: Hi", *lines))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("client.stop: {after: send}", []),
        ("client.stop: {after: sned}", ["E203 sned"]),
        ("client.stop: {after: stop}", ["E203 stop"]),
        ("client.stop: {of: send}", []),
        ("client.stop: {of: reload}", ["E203 reload"]),
        ("client.stop: {at: $s}", ["E201 $s"]),
        ("client.stop: {at: model.turn1.call.before}", []),
        ("client.stop: {at: model.turn1.c7.after}", []),
        ("client.stop: {at: model.turn1.c8.after}", ["E209 model.turn1.c8.after"]),
        ("client.stop: {at: model.turn4.call.before}", ["E209 model.turn4.call.before"]),
        ("client.stop: {at: model.turn1.finish.after}", []),
        ("client.stop: {at: model.turn2.finish.after}", ["E209 model.turn2.finish.after"]),
        ("client.stop: {at: model.turn2.error.before}", []),
        ("client.stop: {at: model.turn1.error.before}", ["E209 model.turn1.error.before"]),
        ("client.stop: {at: model.turn3.end.before}", []),
        ("client.stop: {at: model.turn1.end.before}", ["E209 model.turn1.end.before"]),
        ("client.stop: {at: tool.t1.result.after}", []),
        ("client.stop: {at: tool.t2.result.after}", ["E206 tool.t2.result.after"]),
        ("maintenance.annotate: {message: model.turn1.m2, set: {a: 1}}", []),
        ("maintenance.annotate: {message: model.turn2.m2, set: {a: 1}}", ["E209 model.turn2.m2"]),
        ("maintenance.annotate: {message: model.turn9, set: {a: 1}}", ["E209 model.turn9"]),
        ("maintenance.annotate: {message: user1, set: {a: 1}}", []),
        ("maintenance.annotate: {message: user2, set: {a: 1}}", ["E209 user2"]),
    ],
)
def test_steps_name_what_is_there(codes: Codes, load: Load, line: str, found: list[str]) -> None:
    text = SCRIPT + steps("client.reload:", line)
    if found:
        assert codes(text) == found
    else:
        assert len(load(text).steps) == 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{call: t2}", ["E206 t2"]),
        ("{run: run2}", ["E209 run2"]),
        ("{kind: user, text: $answr}", ["E204 $answr"]),
        ("request.refused: {of: reload}", ["E203 reload"]),
        ("model.called: {turn: model.turn4, times: 1}", ["E209 model.turn4"]),
        ("view.equals: {of: bob, to: carol}", ["E102 bob", "E102 carol"]),
    ],
)
def test_expectations_name_what_is_there(codes: Codes, text: str, found: list[str]) -> None:
    assert codes(f"{SCRIPT}{steps('client.reload:')}expect: {{finally: [{text}]}}\n") == found


def test_later_label_is_recognised(problems: Problems) -> None:
    (problem,) = problems(steps("client.reload: {after: stop}", "client.stop:"))
    assert problem.message == 'no earlier step has the label "stop"'
    assert problem.note == "labels above: send"
    assert problem.help == "step 3 has it, but comes later"


def test_unknown_label_is_compared_with_those_above(problems: Problems) -> None:
    (problem,) = problems(steps("client.stop: {as: press}", "client.reload: {after: pres}"))
    assert problem.note == "labels above: press, send"
    assert problem.help == 'did you mean "press"?'


def test_first_step_follows_nothing(problems: Problems) -> None:
    (problem,) = problems("steps: [{client.reload: {after: send}}, {client.send: Hi}]\n")
    assert (problem.code, problem.note) == ("E203", "")


def test_steps_with_one_default_label_are_not_ambiguous(load: Load) -> None:
    assert len(load(steps("client.stop:", "client.stop:", "client.reload: {after: stop}")).steps) == 4


def test_labels_that_authors_give_are_unique(problems: Problems) -> None:
    (problem,) = problems(steps("client.stop: {as: a}", "client.reload: {as: a}"))
    assert (problem.code, problem.message) == ("E212", 'the label of a step "a" is given twice')
    assert problem.note == "first on line 5"


def test_labels_of_wrong_steps_count(codes: Codes) -> None:
    text = steps(
        "client.sotp: {as: press}",
        "client.reload: {after: press, within: 5}",
        "clock.xyz: 1",
        "client.reload: {after: xyz}",
    )
    assert codes(text) == ["E103 sotp", "E021 5", "E103 xyz"]


def test_labels_are_not_judged_without_steps(codes: Codes) -> None:
    assert codes("steps: x\nsweep: {a: [{after: stop}]}\n") == ["E020 x"]


def test_axis_may_follow_a_step_above_its_user(load: Load, problems: Problems) -> None:
    sweep = "sweep: {a: [never, {after: stop}]}\n"
    assert load(steps("client.stop:", "client.reload: {at: $a}") + sweep).sweep.axes[0].values[1] == After("stop")
    (problem,) = problems(steps("client.reload: {at: $a}", "client.stop:") + sweep)
    assert (problem.code, problem.help) == ("E203", "step 3 has it, but comes later")
    found = problems(steps("client.stop:") + "sweep: {a: [{after: sotp}]}\n")
    assert [(p.code, p.message) for p in found] == [
        ("E202", 'no step uses the axis "a"'),
        ("E203", 'no step has the label "sotp"'),
    ]


def test_unknown_axis_is_explained(problems: Problems) -> None:
    (problem,) = problems(steps("client.stop: {at: $s}"))
    assert problem.help == "add sweep: {s: {every: point}}"
    first, second = problems(steps("client.stop: {at: $stpo}") + "sweep: {stop: [never]}\n")
    assert (first.code, first.help) == ("E201", 'did you mean "stop"?')
    assert (second.code, second.help) == ("E202", "write at: $stop in a step, or leave the axis out")


def test_axes_are_not_judged_without_a_sweep(codes: Codes) -> None:
    assert codes(steps("client.stop: {at: $s}") + "sweep: x\n") == ["E020 x"]


def test_text_labels(problems: Problems) -> None:
    (problem,) = problems("expect: {finally: [{kind: user, text: $answer}]}\n")
    assert problem.help == "give a text of the script a label: {words: 12, label: …}"
    text = "script: {model: [{stream: [{text: {words: 1, label: a}}, {text: {words: 1, label: a}}, {end: silent}]}]}\n"
    (twice,) = problems(text)
    assert twice.message == 'the label of a text "a" is given twice'


def test_tool_calls_have_unique_ids(problems: Problems) -> None:
    twice = "{tool_call: {id: t1, name: s}}, {tool_call: {id: t1, name: s}}"
    (problem,) = problems(f"script: {{model: [{{stream: [{twice}, {{finish: tool_use}}]}}]}}\n")
    assert (problem.code, problem.message) == ("E205", 'the id of a tool call "t1" is given twice')


def test_replies_answer_calls_of_the_script(problems: Problems) -> None:
    (problem,) = problems(SCRIPT + "  s: [{result: {for: t9}}]\n")
    assert (problem.code, problem.note) == ("E206", "ids: t1")
    (other,) = problems("script: {model: [{when: {tool_result: t1}, stream: [{end: silent}]}]}\n")
    assert (other.code, other.note) == ("E206", "")


def test_calls_are_not_judged_when_the_turns_cannot_be_read(codes: Codes) -> None:
    text = "script: {model: x}\n" + steps(
        "client.stop: {at: model.turn1.call.before}", "client.stop: {at: tool.t1.start.after}"
    )
    assert codes(text) == ["E020 x"]
    turn = "script: {model: [{stream: [{txt: a}, {end: silent}]}]}\n"
    assert codes(turn + steps("client.stop: {at: model.turn1.c5.after}")) == ["E101 txt"]


def test_scripted_tools_are_called_or_declared(codes: Codes, load: Load) -> None:
    assert codes(SCRIPT + "  serach: [{result: a}]\n") == ["E102 serach"]
    assert load("actors: {search: {is: tool}}\n" + SCRIPT + "  search: [{result: a}]\n").tools[0].replies


def test_declared_tool_may_wait_for_a_call_that_never_comes(load: Load) -> None:
    assert load("actors: {s: {is: tool}}\nscript: {s: [{result: a}]}\n").tool("s").replies[0].text == "a"


def test_only_tools_are_called(codes: Codes) -> None:
    text = "script: {model: [{stream: [{tool_call: {id: t1, name: server}}, {finish: tool_use}]}]}\n"
    assert codes(text) == ["E102 server"]


@pytest.mark.parametrize(
    ("watched", "found"),
    [
        ({"a": "a"}, ["a observes a: a circle"]),
        ({"a": "b", "b": "a"}, ["a observes b observes a: a circle", "b observes a observes b: a circle"]),
        ({"a": "b", "b": "c", "c": "b"}, ["b observes c observes b: a circle", "c observes b observes c: a circle"]),
    ],
)
def test_clients_do_not_observe_in_a_circle(problems: Problems, watched: dict[str, str], found: list[str]) -> None:
    actors = "".join(f"  {name}: {{is: client, observes: {other}}}\n" for name, other in watched.items())
    assert [problem.message for problem in problems(f"actors:\n{actors}steps: [{{a.send: Hi}}]\n")] == found


def test_observed_client_exists(codes: Codes) -> None:
    assert codes("actors: {client: {is: client, observes: server}}\n") == ["E102 server"]


def test_scenario_has_steps(problems: Problems) -> None:
    (problem,) = problems("steps: []\n")
    assert (problem.code, problem.message) == ("E210", "a scenario has at least one step")
    (missing,) = problems("version: 1\nname: x\n")
    assert (missing.code, missing.message) == ("E210", 'a scenario needs the key "steps"')


def test_invariants_are_known_where_they_are_listed() -> None:
    text = b"version: 1\nname: x\nsteps: [{client.send: Hi}]\nexpect: {exercises: [no-deadlok]}\n"
    assert load_scenario(text, "x").expect.exercises == ("no-deadlok",)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(text, "x", frozenset({"no-deadlock", "deterministic"}))
    (problem,) = caught.value.problems
    assert (problem.code, problem.help) == ("E107", 'did you mean "no-deadlock"?')
    assert load_scenario(text, "x", frozenset({"no-deadlok"})).name == "x"


def test_prefixes_name_turns_of_the_script(codes: Codes) -> None:
    text = SCRIPT + steps("client.stop: {at: $s}")
    assert codes(f"{text}sweep: {{s: {{every: point, in: [model.turn3, model.turn4.c1, model, store]}}}}\n") == [
        "E209 model.turn4.c1"
    ]


def test_chunks_are_counted_as_the_model_streams_them(everything: str) -> None:
    scenario = load_scenario(everything.encode(), "x")
    assert [chunk_count(turn) for turn in scenario.model.turns] == [26, 0, 0, 0, 0, 0]


def test_an_axis_sweeps_what_it_is_used_for(codes: Codes) -> None:
    link = "faults: [{link: {from: server, to: client}, cut: $a}]\n"
    assert codes(f"{link}{steps('client.reload:')}sweep: {{a: {{every: point}}}}\n") == ["E213 a"]
    attach = steps("client.attach: {cursor: $a}")
    assert codes(f"{attach}sweep: {{a: [equal, frame 2, {{every: byte}}]}}\n") == ["E213 a"]
    assert codes(f"{steps('client.stop: {at: $a}')}sweep: {{a: [ahead]}}\n") == ["E213 a"]
