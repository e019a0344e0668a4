"""Words, texts, numbers, times and names: what is accepted and how the rest is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from journalsim.case import NEVER, After, AtPoint, AtStep, AtTime, Placement
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.shapes.durations import UNITS_NS, duration_text
from journalsim.scenario.shapes.problems import Problem, ScenarioError
from journalsim.scenario.values.scenario import Scenario

Load = Callable[[str], Scenario]
Problems = Callable[[str], list[Problem]]
Codes = Callable[[str], list[str]]


@pytest.mark.parametrize(
    ("text", "time_ns"),
    [
        ("0ms", 0),
        ("1ns", 1),
        ("5us", 5_000),
        ("300ms", 300_000_000),
        ("'2s'", 2_000_000_000),
        ("1.5s", 1_500_000_000),
        ("0.000001ms", 1),
        ("1m", 60_000_000_000),
        ("10000h", 36_000_000_000_000_000),
        ("-1h", -3_600_000_000_000),
    ],
)
def test_times_are_whole_nanoseconds(load: Load, text: str, time_ns: int) -> None:
    step = load(f"steps: [{{clock.jump: {{by: {text}}}}}]\n").steps[0]
    assert step.by_ns == time_ns


@pytest.mark.parametrize(
    ("text", "code", "note"),
    [
        ("150", "E021", "write 150ms or 150s"),
        ("1.5", "E021", "write 1.5ms or 1.5s"),
        ("017", "E021", "write 150ms or 150s"),
        ("'150'", "E022", "a time is 300ms, 2s, 1.5s, 1m or 1h"),
        ("5 ms", "E022", "a time is 300ms, 2s, 1.5s, 1m or 1h"),
        ("5d", "E022", "a time is 300ms, 2s, 1.5s, 1m or 1h"),
        ("1:30", "E022", "a time is 300ms, 2s, 1.5s, 1m or 1h"),
        ("-5ms", "E022", ""),
        ("0.5ns", "E022", ""),
        ("10001h", "E022", ""),
        ("[1ms]", "E020", ""),
    ],
)
def test_times_need_a_unit_and_a_bound(problems: Problems, text: str, code: str, note: str) -> None:
    (problem,) = problems(f"steps: [{{client.send: {{text: Hi, late: {text}}}}}]\n")
    assert (problem.code, problem.note) == (code, note)


@pytest.mark.parametrize(
    "time_ns", [0, 1, 999, 1_000, 1_500_000_000, 60_000_000_000, 5_400_000_000_000, -3_600_000_000_000]
)
def test_times_are_written_in_the_largest_whole_unit(time_ns: int) -> None:
    text = duration_text(time_ns)
    number, unit = text.rstrip("numsh"), text.lstrip("-0123456789")
    assert int(number) * UNITS_NS[unit] == time_ns


@pytest.mark.parametrize(
    ("text", "value"),
    [("Go on", "Go on"), ("'5'", "5"), ("yes", "yes"), ("1:30", "1:30"), ("2024-01-01", "2024-01-01"), ("''", "")],
)
def test_texts_are_taken_as_written(load: Load, text: str, value: str) -> None:
    assert load(f"steps: [{{client.send: {text}}}]\n").steps[0].text == value


@pytest.mark.parametrize("text", ["5", "1.5", "true", "017", "0x1F", "True", "~", ""])
def test_what_may_be_no_text_needs_quotes(problems: Problems, text: str) -> None:
    (problem,) = problems(f"steps:\n  - client.send: {text}\n")
    assert problem.code == "E024"


@pytest.mark.parametrize(
    ("text", "code"), [("0", "E023"), ("1001", "E023"), ("1.5", "E023"), ("'2'", "E023"), ("02", "E023"), ("x", "E023")]
)
def test_counts_are_decimal_and_bounded(problems: Problems, text: str, code: str) -> None:
    (problem,) = problems(f"steps: [{{client.stop: {{times: {text}}}}}]\n")
    assert problem.code == code


def test_leading_zero_is_explained(problems: Problems) -> None:
    (problem,) = problems("steps: [{client.stop: {times: 017}}]\n")
    assert problem.help == "write it in decimal, without leading zeros or signs"


@pytest.mark.parametrize(("text", "help"), [("yes", "write true"), ("OFF", "write false"), ("'true'", ""), ("1", "")])
def test_truth_is_true_or_false(problems: Problems, text: str, help: str) -> None:
    (problem,) = problems(f"steps: [{{client.send: {{text: Hi, lost: {text}}}}}]\n")
    assert (problem.code, problem.help) == ("E020", help)


def test_choices_suggest_the_nearest_word(problems: Problems) -> None:
    (problem,) = problems("actors: {client: {is: client, kind: browsr}}\n")
    assert problem.message == 'expected a kind of client, found the text "browsr"'
    assert problem.note == "write browser, fetch-sse, fetch-event-source, ai-sdk-ui, cli or poller"
    assert problem.help == 'did you mean "browser"?'


def test_long_choices_are_not_listed(problems: Problems) -> None:
    (problem,) = problems("needs: [partial]\n")
    assert (problem.code, problem.note, problem.help) == ("E105", "", 'did you mean "partials"?')


@pytest.mark.parametrize(
    "word", ["tools", "maintenance.clear", "stop_modes", "crash.kill", "policies.busy", "level.store"]
)
def test_needs_names_capabilities(load: Load, word: str) -> None:
    assert load(f"needs: [{word}]\n").needs == (word,)


@pytest.mark.parametrize("word", ["policies.bsy", "crash.none", "tools.yes", "level.x"])
def test_needs_refuses_other_words(codes: Codes, word: str) -> None:
    assert codes(f"needs: [{word}]\n") == [f"E105 {word}"]


@pytest.mark.parametrize("name", ["Bad", "two words", "-x", "x-", "a_b", "x" * 71])
def test_scenario_names_are_kebab_case(problems: Problems, name: str) -> None:
    (problem,) = problems(f"version: 1\nname: {name}\n{STEPS}")
    assert problem.code == "E027"


STEPS = "steps: [{client.send: Hi}]\n"


def test_names_are_texts(problems: Problems) -> None:
    found = problems("tags: [5, 'x-5', true, ~]\n")
    assert [(problem.code, problem.message, problem.note) for problem in found] == [
        ("E024", "a text needs quotes: 5 is read as a number", 'write "5"'),
        ("E024", "a text needs quotes: true is read as true or false", 'write "true"'),
        ("E020", "expected a tag, found nothing", ""),
    ]


def test_lists_and_names_are_bounded(problems: Problems) -> None:
    names = ", ".join(f"a{n}: {{is: tool}}" for n in range(101))
    found = problems(f"tags: [{'a, ' * 1000}b]\nactors: {{{names}, client: {{is: client}}}}\n")
    assert [(problem.code, problem.message, problem.note) for problem in found] == [
        ("E032", "a list of tags is too long", "at most 1000"),
        ("E032", "there are too many actors", "at most 100"),
    ]


@pytest.mark.parametrize("limit", ["", ", limit: 5"])
def test_the_limit_of_a_sweep_counts_among_its_names(problems: Problems, limit: str) -> None:
    axes = ", ".join(f"a{n}: [never]" for n in range(101 - bool(limit)))
    (problem,) = problems(f"sweep: {{{axes}{limit}}}\n")
    assert (problem.code, problem.note) == ("E032", "at most 100")


def test_missing_value_is_shown_at_its_key(codes: Codes) -> None:
    assert codes("tags:\nwhy:\ncovers: [DF-1]\n") == ["E020 tags", "E024 why"]


@pytest.mark.parametrize("text", ["2", "'1'", "one", "1.0"])
def test_only_version_1_is_read(problems: Problems, text: str) -> None:
    (problem,) = problems(f"version: {text}\nname: x\n{STEPS}")
    assert (problem.code, problem.note) == ("E028", "this journalsim reads version 1")


def test_summary_is_one_line(load: Load, problems: Problems) -> None:
    assert load("summary: >\n  folded\n  text\n").summary == "folded text"
    (problem,) = problems("summary: |\n  two\n  lines\n")
    assert problem.code == "E029"


def test_required_keys_are_missed(problems: Problems) -> None:
    found = problems("version: 1\ntags: [x]\nsteps: [{client.send: {key: k}}]\n")
    assert [problem.message for problem in found] == [
        'a scenario needs the key "name"',
        'send needs the key "text"',
    ]


def test_unknown_keys_are_pointed_at(problems: Problems) -> None:
    (problem,) = problems("sumary: x\n")
    assert (problem.code, problem.message) == ("E101", 'unknown key "sumary" in a scenario')
    assert problem.help == 'did you mean "summary"?'


@pytest.mark.parametrize(("text", "found"), [("[]", "a list"), ("x", 'the text "x"'), ("5", "the value 5")])
def test_a_scenario_is_a_mapping(text: str, found: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(text.encode(), "x")
    assert [problem.message for problem in caught.value.problems] == [
        f"expected a scenario as a mapping, found {found}"
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tags: core", 'expected a list of tags, found the text "core"'),
        ("tags: {a: 1}", "expected a list of tags, found a mapping"),
        ("tags: 5", "expected a list of tags, found the value 5"),
        ("tags:", "expected a list of tags, found nothing"),
        ("tags: []", "a list of tags is empty"),
        ("policies: 1.5", "expected policies as a mapping, found the value 1.5"),
        ("script: [x]", "expected a script, found a list"),
        ("script: {model: x}", 'expected a list of turns, found the text "x"'),
        ("actors: 0x1", "expected actors, found the value 0x1"),
        ("steps: x", 'expected a list of steps, found the text "x"'),
        ("sweep: [x]", "expected a sweep, found a list"),
        ("expect: [x]", "expected expect as a mapping, found a list"),
    ],
)
def test_wrong_kinds_are_named(problems: Problems, text: str, found: str) -> None:
    assert [problem.message for problem in problems(text + "\n")] == [found]


def test_policies_are_known_words(codes: Codes, load: Load) -> None:
    assert load("policies: {busy: queue}\n").policies == {"busy": "queue"}
    assert codes("policies: {bsy: queue, sync: never}\n") == ["E106 bsy", "E025 never"]


def test_catalogue_entries_have_a_form(codes: Codes, load: Load) -> None:
    assert load("covers: [HW-12, SSE-3]\n").covers == ("HW-12", "SSE-3")
    assert codes("covers: [DF2, df-2, DF-0]\n") == ["E027 DF2", "E027 df-2", "E027 DF-0"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("never", NEVER),
        ("5us", AtTime(5_000)),
        ("{step: 5}", AtStep(5)),
        ("{after: send}", After("send")),
        ("{after: send, delay: 20ms}", After("send", 20_000_000)),
        ("model.turn1.c1.after", AtPoint("model.turn1.c1.after")),
        ("client.apply#5.before", AtPoint("client.apply#5.before")),
        ("request.client#3.before", AtPoint("request.client#3.before")),
    ],
)
def test_places_of_an_axis(load: Load, text: str, place: Placement) -> None:
    turn = "script: {model: [{stream: [{text: Hello}, {finish: end_turn}]}]}\n"
    steps = "steps: [{client.send: Hi}, {client.stop: {at: $s}}]\n"
    assert load(f"{turn}{steps}sweep: {{s: [{text}]}}\n").sweep.axes[0].values == (place,)


@pytest.mark.parametrize("text", ["model.turn1.c1", "tool.t1.start", "store.append#1", "client.send#2"])
def test_points_are_before_or_after(problems: Problems, text: str) -> None:
    (problem,) = problems(f"steps: [{{client.send: Hi}}, {{client.stop: {{at: {text}}}}}]\n")
    assert problem.note == f"write {text}.before or {text}.after"


@pytest.mark.parametrize(
    "text",
    [
        "turn1",
        "model.turn0.c1.after",
        "model.turn1.end.after",
        "model.c1.after",
        "store.append.before",
        "x",
        "~",
        "-5ms",
    ],
)
def test_other_words_are_no_places_for_a_step(problems: Problems, text: str) -> None:
    (problem,) = problems(f"steps: [{{client.send: Hi}}, {{client.stop: {{at: {text}}}}}]\n")
    assert problem.code == "E026"


@pytest.mark.parametrize(
    ("text", "code"),
    [("[never]", "E020"), ("{after: send}", "E101"), ("{step: 0}", "E023"), ("{}", "E030"), ("5", "E021")],
)
def test_places_of_a_step_are_checked(problems: Problems, text: str, code: str) -> None:
    found = problems(f"steps: [{{client.send: Hi}}, {{client.stop: {{at: {text}}}}}]\n")
    assert code in [problem.code for problem in found]


def test_free_data_is_json(load: Load, codes: Codes) -> None:
    data = "{a: [1, 1.5, x], b: {c: true}, d: ~}"
    text = f"steps: [{{maintenance.annotate: {{message: user1, set: {data}}}}}, {{client.send: Hi}}]\n"
    assert load(text).steps[0].metadata == {"a": [1, 1.5, "x"], "b": {"c": True}, "d": None}
    wrong = "steps: [{maintenance.annotate: {message: user1, set: {a: [017], b: {c: 0x1}}}}, {client.send: Hi}]\n"
    assert codes(wrong) == ["E024 017", "E024 0x1"]
