"""What an author reads when a scenario is wrong, letter by letter."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from journalsim.errors import Exit, UsageError
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.shapes.near_words import did_you_mean, nearest
from journalsim.scenario.shapes.problems import (
    Problem,
    ScenarioError,
    listed,
    printable,
    quoted,
    render,
)
from journalsim.scenario.words.other_words import OTHER_WORDS

RACE = """\
version: 1
name: stop-race
actors:
  alice: {is: client}
script:
  model:
    - stream: [{text: "Hello"}, {finish: end_turn}]
steps:
  - alice.send: "Hi"
  - clock.jump:
      by: 150
  - alice.sotp: {at: $stop}
sweep:
  stop: {every: point}
"""


def test_two_errors_read_as_in_the_manual() -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(RACE.encode(), "scenarios/stop_race.race.yaml")
    assert (
        str(caught.value)
        == """\
error[E021]: a time needs a unit
  --> scenarios/stop_race.race.yaml:11:11
   |
11 |       by: 150
   |           ^^^ write 150ms or 150s
error[E103]: unknown action "sotp" for a client
  --> scenarios/stop_race.race.yaml:12:11
   |
12 |   - alice.sotp: {at: $stop}
   |           ^^^^ clients can: approve, attach, deny, detach, hide, reload, resubmit, send, show, stop, switch
   = help: did you mean "stop"?
2 errors, 0 warnings in 1 file (nothing was run)"""
    )


def test_scenario_error_is_a_usage_error() -> None:
    error = ScenarioError([Problem(code="E004", message="the file is empty", path="x")])
    assert isinstance(error, UsageError)
    assert error.exit_code is Exit.USAGE


def test_problem_without_a_place_names_the_file() -> None:
    problem = Problem(code="E001", message="there is no such file", path="a/b", help="look elsewhere")
    assert render([problem]) == (
        "error[E001]: there is no such file\n --> a/b\n  = help: look elsewhere\n"
        "1 error, 0 warnings in 1 file (nothing was run)"
    )


def test_problem_with_a_line_only_shows_no_source() -> None:
    problem = Problem(code="E301", message="not yet", path="a", line=7)
    assert render([problem]).splitlines()[:2] == ["error[E301]: not yet", " --> a:7"]


def test_counts_tell_errors_from_warnings_and_files_from_each_other() -> None:
    found = [
        Problem(code="E001", message="m", path="a"),
        Problem(code="E002", message="m", path="b"),
        Problem(code="E105", message="m", path="b", severity="warning"),
    ]
    text = render(found)
    assert text.splitlines()[-1] == "2 errors, 1 warning in 2 files (nothing was run)"
    assert "warning[E105]: m" in text


def test_no_problems_are_counted_too() -> None:
    assert render([]) == "0 errors, 0 warnings in 0 files (nothing was run)"


def at(column: int, length: int, line: str) -> list[str]:
    problem = Problem(code="E020", message="m", path="p", line=3, column=column, length=length, source_line=line)
    return render([problem]).splitlines()[3:5]


def test_carets_stand_below_wide_characters() -> None:
    assert at(6, 2, "a: 漢字xy") == ["3 | a: 漢字xy", "  |        ^^"]
    assert at(4, 1, "a: 漢字") == ["3 | a: 漢字", "  |    ^^"]


def test_tabs_and_control_characters_do_not_reach_the_terminal() -> None:
    assert at(4, 1, "a:\tb\x1b[31m") == ["3 | a: b\ufffd[31m", "  |    ^"]


def test_a_caret_may_stand_behind_the_line() -> None:
    assert at(3, 1, "a:") == ["3 | a:", "  |   ^"]


def test_long_lines_are_cut_around_the_caret() -> None:
    source, carets = at(501, 3, "x" * 500 + "abc" + "y" * 500)
    assert source == "3 | " + "x" * 60 + "abc" + "y" * 57
    assert carets == "  | " + " " * 60 + "^^^"


def test_empty_source_line_leaves_no_trailing_space() -> None:
    assert at(1, 1, "") == ["3 |", "  | ^"]


def test_author_words_are_quoted_short_and_safe() -> None:
    assert quoted("stop") == '"stop"'
    assert quoted('a"b\n\x1b') == '"a\\"b\ufffd\ufffd"'
    assert quoted("x" * 50) == '"' + "x" * 40 + '…"'
    assert printable("é\t\u202e") == "é \ufffd"


def test_near_words_are_suggested() -> None:
    assert nearest("sotp", ["stop", "send"]) == "stop"
    assert nearest("xyz", ["stop", "send"]) is None
    assert did_you_mean("sotp", ["stop"]) == 'did you mean "stop"?'
    assert did_you_mean("xyz", ["stop"]) == ""


def test_lists_read_as_sentences() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a or b"
    assert listed(["a", "b", "c"]) == "a, b or c"


def test_the_same_problem_is_told_once(problems: Callable[[str], list[Problem]]) -> None:
    text = "steps: [{client.send: Hi}, &s {client.stop: {at: $x}}, *s]\n"
    assert [problem.code for problem in problems(text)] == ["E201"]


def test_an_error_crosses_between_processes_with_its_problems() -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(b"version: 2", "a.race.yaml")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.problems == caught.value.problems
    assert str(again) == str(caught.value)


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("cancelled", ("completed", "interrupted", "failed"), "interrupted"),
        ("cancelled", ("stopped", "crashed"), "stopped"),
        ("kill", ("crash", "restart"), "crash"),
        ("done", ("open",), None),
    ],
)
def test_words_of_other_systems_lead_to_ours(word: str, known: tuple[str, ...], meant: str | None):
    assert nearest(word, known, OTHER_WORDS) == meant
