"""The plain text: what is said, in which order, and that nothing breaks it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from attrs import evolve
from report_examples import ABOUT, HOSTILE, assert_snapshot, campaign, case, failure, scenario, violation

from journalsim.case import Case
from journalsim.oracle.invariants.verdict import Violation
from journalsim.report.about import About, again
from journalsim.report.diff import journal_diff
from journalsim.report.escape import columns
from journalsim.report.text import campaign_header, failure_text, header, report_text, scenario_lines, summary
from journalsim.report.words import duration
from journalsim.search.results import CampaignResult, Neighbour, ScenarioResult

S = 1_000_000_000


def test_the_report_reads_top_down() -> None:
    assert_snapshot("report.txt", report_text(campaign(), ABOUT))


def test_a_partial_report_says_so_at_its_top_and_end() -> None:
    text = report_text(campaign(interrupted=True, scenarios=campaign().scenarios[1:2]), ABOUT)
    assert_snapshot("report_partial.txt", text)
    assert text.count("partial: stopped by the user after 1 of 5 scenarios") == 2


def test_only_the_wall_time_line_differs_between_runs() -> None:
    first = report_text(campaign(wall_s=0.1), ABOUT).splitlines()
    second = report_text(campaign(wall_s=99.0), ABOUT).splitlines()
    different = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
    assert different == [("wall time 0.10 s", "wall time 99.00 s")]


def test_the_last_two_lines_are_the_wall_time_and_the_counts() -> None:
    lines = summary(campaign(), ABOUT).splitlines()
    assert lines[-2].startswith("wall time ")
    assert lines[-1].endswith("report: journalsim-report/  exit 1")


def test_the_first_line_names_the_run() -> None:
    line = header(version="1.0", seed=3, profile="deep", adapter="ref:bug-x", shard="2/4")
    assert line == "journalsim 1.0  seed 3  profile deep  adapter ref:bug-x  shard 2/4"
    assert campaign_header(campaign(), ABOUT).startswith("journalsim 0.3.0  seed 7  profile ci  adapter python:")


def test_an_empty_campaign_has_a_summary() -> None:
    lines = summary(CampaignResult(adapter="ref", profile="ci", seed=1), About(version="1")).splitlines()
    assert lines == ["no invariant was checked", "", "wall time 0.00 s", "0 scenarios, 0 cases  exit 3"]


@pytest.mark.parametrize(
    ("adapter", "helps"),
    [("asgi:shop.app:app", True), ("http://127.0.0.1:8765", True), ("python:shop.journal:make", False), ("ref", False)],
)
def test_an_error_of_a_system_behind_http_says_where_its_contract_is_explained(adapter: str, helps: bool) -> None:
    lines = summary(campaign(adapter=adapter), ABOUT).splitlines()
    error = lines.index("adapter error")
    below = ["  = help: the requests that a system behind HTTP answers: journalsim explain http"] if helps else []
    assert lines[error + 2 : lines.index("", error)] == below


def test_a_report_without_errors_of_the_adapter_has_no_help() -> None:
    text = summary(campaign(adapter="asgi:shop.app:app", scenarios=campaign().scenarios[:2]), ABOUT)
    assert "= help" not in text


def test_a_failure_without_file_rule_and_company_is_short() -> None:
    text = failure_text(
        failure(
            scenario=evolve(scenario(), path=""),
            violation=violation(line=0, expected=(), actual=(), evidence=()),
            also=(),
            neighbours=(),
            deviation="event 12 is tool.returned here and run.ended there",
        ),
        About(version="1", saved="elsewhere/"),
    )
    assert_snapshot("failure_short.txt", text + "\n")


def test_only_a_loss_says_how_far_the_lost_message_had_come() -> None:
    assert "reached:   emitted < received < accepted < synced < sent < APPLIED\n" in failure_text(failure(), ABOUT)
    assert "reached:" not in failure_text(failure(violation=violation(grade="")), ABOUT)


def test_a_scenario_that_does_not_repeat_is_called_so() -> None:
    result = ScenarioResult(scenario=scenario(), cases=2, failed=1, failures=(failure(deviation="event 3"),))
    assert "NONDETERMINISTIC 1 (1 cause)" in scenario_lines(result)


def test_the_location_of_a_file_without_a_line_is_its_path() -> None:
    first = failure_text(failure(violation=violation(line=0)), ABOUT).splitlines()[0]
    assert first.endswith("  scenarios/stop_vs_completion.race.yaml")


def test_failing_cases_are_summed_up_by_what_they_share() -> None:
    one = failure_text(failure(also=(case("store.append#1.before"),)), ABOUT)
    assert "also failing: 1 case, all crash=never\n" in one
    deeper = failure_text(failure(case=case("model.turn2"), also=(case("model.turn2.c1.after"),)), ABOUT)
    assert "also failing: 1 case, all crash=never, stop=model.turn2.*\n" in deeper
    nothing = failure_text(failure(case=Case(scenario="x"), also=(Case(scenario="x"),)), ABOUT)
    assert "also failing: 1 case\n" in nothing
    assert "case:      as written     (1 of 2 failing)" in nothing


def test_only_the_nearest_neighbours_are_listed() -> None:
    many = tuple(Neighbour(what=f"step {n}", case=case(), holds=True) for n in range(9))
    assert failure_text(failure(neighbours=many), ABOUT).count("→ holds") == 6


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_cannot_break_a_failure(text: str) -> None:
    broken = Violation(
        invariant=text,
        promised=text,
        found=text,
        expected=(text, "same"),
        actual=("same", text + "!"),
        evidence=(0, 999),
    )
    hostile = failure(
        scenario=evolve(scenario(summary=text), name=text, path=text),
        violation=broken,
        case=Case(scenario=text),
        neighbours=(Neighbour(what=text, case=case(), holds=True),),
        deviation=text,
    )
    result = ScenarioResult(scenario=hostile.scenario, failures=(hostile,), trouble=(text,), inconclusive=(text,))
    report = report_text(campaign(adapter=text, scenarios=(result,)), About(version="1", statements={text: text}))
    for line in report.splitlines():
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
    assert report.count("\nFAILED ") == 1
    assert report.encode("utf-8")
    assert len(report) < 20_000 or len(text) > 10_000


def test_lines_of_ordinary_results_fit_on_a_hundred_columns() -> None:
    lines = report_text(campaign(), ABOUT).splitlines()
    assert max(map(columns, lines[:-1])) <= 100


def test_equal_rows_are_folded_and_changes_stay_in_sight() -> None:
    rows = [f"row {n}" for n in range(9)]
    assert journal_diff(rows, rows) == ["  row 0", "  … 7 equal rows …", "  row 8"]
    ours, theirs = "a" * 200 + "X" + "b" * 200, "a" * 200 + "Y" + "b" * 200
    lost, found = journal_diff([ours], [theirs], 40)
    assert "X" in lost
    assert "Y" in found
    assert max(columns(lost), columns(found)) <= 42
    assert journal_diff(["m1 short"], ["m1 " + "x" * 90], 40)[0] == "- m1 short"
    assert journal_diff(["x" * 90 + "1"], ["2" + "x" * 90], 40) == [
        "- " + "x" * 26 + "…" + "x" * 12 + "1",
        "+ 2" + "x" * 25 + "…" + "x" * 13,
    ]


def test_a_journal_that_holds_nothing_is_shown_as_such() -> None:
    assert journal_diff(["m1"], []) == ["- m1", "+ (nothing)"]
    assert journal_diff([], ["m1"]) == ["+ m1"]
    assert journal_diff([], []) == []


def test_rows_that_appear_twice_are_marked() -> None:
    assert journal_diff(["m1", "m2"], ["m1", "m2", "m2"]) == ["  m1", "  m2", "+ m2"]


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [(0, "0 ms"), (780_000_000, "780 ms"), (3_250_000_000, "3.2 s"), (61 * S, "1 min"), (7300 * S, "2 h")],
)
def test_durations_have_two_or_three_digits(time_ns: int, text: str) -> None:
    assert duration(time_ns) == text


def test_the_reports_import_neither_rich_nor_jinja2_nor_trio() -> None:
    code = (
        "import sys\n"
        "from journalsim.report import text, show, files, github, progress\n"
        "print([m for m in ('rich', 'jinja2', 'trio', 'hypothesis') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("adapter", "option"),
    [
        ("ref", ""),
        ("ref:bug-no-abort-marker", ""),
        ("python:shop.journal:make", " -a python:shop.journal:make"),
        ("exec:touch ran", " -a 'exec:touch ran'"),
        ("reference:x", " -a reference:x"),
    ],
)
def test_a_replay_line_names_an_outside_adapter_again(adapter: str, option: str) -> None:
    """Which code runs is the user's word alone, never that of a case file."""
    assert again(About(version="1", adapter=adapter)) == option
