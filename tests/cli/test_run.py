"""``journalsim run``: selection, options, exit codes and what is written."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from command_line import Command, Write

BUG = "ref:bug-stop-keeps-no-partial"


def without_wall_time(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("wall time")]


def names(out: str) -> list[str]:
    """The scenarios of a run in the ndjson format, in order."""
    lines = [json.loads(line) for line in out.splitlines()]
    return [line["name"] for line in lines if line["type"] == "scenario"]


# --- exit codes --------------------------------------------------------------------------------


def test_everything_that_held_is_exit_0(journalsim: Command) -> None:
    done = journalsim("run", "first-stop")
    assert (done.code, done.err) == (0, "")
    assert done.lines[0] == "journalsim 0.1.0  seed 0  profile quick  adapter ref  shard 1/1"
    assert done.lines[-1] == "1 scenario, 1 case: 1 ok  exit 0"


def test_a_broken_promise_is_exit_1_and_says_how_to_run_it_again(journalsim: Command) -> None:
    done = journalsim("run", "first-stop", "-a", BUG)
    assert done.code == 1
    assert "FAILED  partial-is-prefix" in done.out
    (replay,) = {line.split("(")[0].split()[-1] for line in done.lines if line.startswith("  replay:")}
    assert Path(".journalsim/failures", f"{replay}.json").is_file()
    assert done.lines[-1].endswith("exit 1")


def test_a_race_that_never_happened_is_exit_3(journalsim: Command, scenario: Write) -> None:
    never = "expect:\n  sometimes: [{message: model.turn1, state: completed}]\n"
    done = journalsim("run", scenario(also=never))
    assert done.code == 3
    assert "one: line 11: a `sometimes` was never met in 1 case" in done.out
    assert done.lines[-1] == "1 scenario, 1 case: 1 inconclusive  exit 3"


def test_a_scenario_that_asks_what_the_adapter_does_not_claim_is_exit_3_when_it_is_alone(
    journalsim: Command, scenario: Write
) -> None:
    path = scenario(more="policies: {reattach: whole_turn}\n")
    done = journalsim("run", path, "-a", "python:tests.adapters.plain_table:make")
    assert done.code == 3
    assert "one: the adapter does not declare" in done.out


def test_a_selection_that_leaves_nothing_is_exit_4(journalsim: Command) -> None:
    done = journalsim("run", "-k", "no-such-thing")
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("error: nothing selected: none of ")


def test_a_shard_beyond_the_last_scenario_is_exit_4(journalsim: Command) -> None:
    done = journalsim("run", "first-stop", "--shard", "2/2")
    assert (done.code, done.out) == (4, "")
    assert done.err == "error: nothing selected: shard 2/2 is empty: there are only 1\n"


def test_a_journal_that_draws_its_ids_breaks_a_promise(journalsim: Command) -> None:
    done = journalsim("run", "first-stop", "-a", "ref:bug-ids-from-entropy")
    assert done.code == 1
    assert "FAILED  deterministic" in done.out
    assert "not repeatable, a fresh run took another way" in " ".join(done.out.split())


def test_an_adapter_that_raises_is_exit_6(journalsim: Command, scenario: Write) -> None:
    done = journalsim("run", scenario(), "-a", "python:tests.adapters.broken:RaisesOnOpen")
    assert done.code == 6
    assert "setup: OSError: no such database" in done.out


def test_an_adapter_that_cannot_be_imported_is_exit_6_before_anything_is_printed(journalsim: Command) -> None:
    done = journalsim("run", "first-stop", "-a", "python:nowhere.at_all:make")
    assert (done.code, done.out) == (6, "")
    assert done.err.startswith("error: adapter 'python:nowhere.at_all:make': cannot import nowhere.at_all")


def test_a_bug_of_our_own_is_exit_70_and_asks_to_be_reported(
    journalsim: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("journalsim.search.campaign.run_scenario", broken)
    done = journalsim("run", "first-stop")
    assert done.code == 70
    assert "ZeroDivisionError: ours" in done.err
    assert done.err.splitlines()[-1].startswith("this is a bug in journalsim 0.1.0: please report it")


# --- selection ---------------------------------------------------------------------------------


@pytest.fixture
def seven(here: Path, scenario: Write) -> list[str]:
    tags = ("core", "slow", "tools", "core", "slow", "core", "tools")
    wanted = [f"race-{number}" for number in range(7)]
    for name, tag in zip(wanted, tags, strict=True):
        scenario(name, more=f"tags: [{tag}, all-of-them]\n")
    return wanted


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ((), "0123456"),
        (("-k", "race-3"), "3"),
        (("-k", "race-1 or race-2"), "12"),
        (("-k", "RACE and not (race-0 or race-6)"), "12345"),
        (("-k", "core and not race-5"), "03"),
        (("-t", "core"), "035"),
        (("-t", "core", "-t", "tools"), "02356"),
        (("-t", "core", "-k", "race-3"), "3"),
        (("--shard", "2/3"), "14"),
    ],
)
def test_expressions_tags_and_shards_select(
    journalsim: Command, seven: list[str], options: tuple[str, ...], chosen: str
) -> None:
    done = journalsim("run", ".", "--format", "ndjson", *options)
    assert names(done.out) == [seven[int(digit)] for digit in chosen]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_cover_every_scenario_once(journalsim: Command, seven: list[str], count: int) -> None:
    shards = [
        names(journalsim("run", ".", "--format", "ndjson", "--shard", f"{k}/{count}").out) for k in range(1, count + 1)
    ]
    assert sorted(name for shard in shards for name in shard) == seven


def test_a_file_named_twice_is_run_once(journalsim: Command, scenario: Write) -> None:
    path = scenario()
    assert names(journalsim("run", path, path, ".", "--format", "ndjson").out) == ["one"]


def test_the_built_in_scenarios_are_found_from_anywhere(journalsim: Command) -> None:
    assert names(journalsim("run", "hangs-until-stopped", "first-stop", "--format", "ndjson").out) == [
        "hangs-until-stopped",
        "first-stop",
    ]


# --- how much ----------------------------------------------------------------------------------


def test_two_processes_print_what_one_prints(journalsim: Command, seven: list[str]) -> None:
    one, two = journalsim("run", ".", "-a", BUG), journalsim("run", ".", "-a", BUG, "-j", "2")
    assert without_wall_time(one.out) == without_wall_time(two.out)
    assert (one.code, two.code) == (1, 1)


def test_the_run_ends_after_so_many_failures(journalsim: Command, seven: list[str]) -> None:
    done = journalsim("run", ".", "-a", BUG, "--max-failures", "2")
    assert "partial: a limit was reached after 2 of 7 scenarios" in done.lines
    assert done.lines[-1].startswith("2 scenarios, 2 cases: 2 failed")
    assert done.code == 1


def test_the_run_begins_nothing_when_the_time_is_spent_and_says_so(journalsim: Command, seven: list[str]) -> None:
    done = journalsim("run", ".", "--time-budget", "0.000001s")
    assert "partial: a limit was reached after 0 of 7 scenarios" in done.lines
    assert done.code == 3


def test_the_ci_profile_explores_and_one_seed_gives_one_output(journalsim: Command, scenario: Write) -> None:
    arguments = ("run", scenario(), "--profile", "ci", "--seed", "7")
    first, second = journalsim(*arguments), journalsim(*arguments)
    assert first.lines[0] == "journalsim 0.1.0  seed 7  profile ci  adapter ref  shard 1/1"
    assert "60 cases beyond what the sweeps spell out" in first.lines
    assert without_wall_time(first.out) == without_wall_time(second.out)


# --- what is written ---------------------------------------------------------------------------


def test_a_report_folder_holds_three_whole_files(journalsim: Command, here: Path) -> None:
    done = journalsim("run", "first-stop", "-a", BUG, "--report", "out/today")
    folder = here / "out" / "today"
    assert sorted(path.name for path in folder.iterdir()) == ["junit.xml", "report.ndjson", "report.txt"]
    assert "FAILED  partial-is-prefix" in (folder / "report.txt").read_text("utf-8")
    assert done.lines[-1].endswith("report: out/today  exit 1")


def test_junit_is_read_by_an_xml_parser(journalsim: Command, here: Path) -> None:
    journalsim("run", "first-stop", "hangs-until-stopped", "-a", BUG, "--junit", "out/junit.xml")
    suite = ET.parse(here / "out" / "junit.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite.iter("testcase")] == ["first-stop", "hangs-until-stopped"]


def test_github_gets_annotations_and_a_summary(
    journalsim: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    done = journalsim("run", "first-stop", "-a", BUG, "--github")
    assert [line for line in done.lines if line.startswith("::error file=")]
    assert "| first-stop | ❌ failed |" in (here / "summary.md").read_text("utf-8")


def test_ndjson_is_one_object_a_line_from_run_to_end(journalsim: Command) -> None:
    done = journalsim("run", "first-stop", "-a", BUG, "--format", "ndjson")
    lines = [json.loads(line) for line in done.lines]
    assert [line["type"] for line in lines] == ["run", "scenario", "failure", "failure", "wall_time", "end"]
    assert lines[-1]["exit"] == done.code == 1


def test_known_failures_do_not_count_until_they_are_stale(journalsim: Command, here: Path) -> None:
    entries = '- {{invariant: {}, reason: "issue 12", since: 2026-11-27}}'
    known = "\n".join(entries.format(invariant) for invariant in ("partial-is-prefix", "expect"))
    (here / "expected-failures.yaml").write_text(f'version: 1\nadapter: "{BUG}"\nexpected:\n{known}\n')
    assert journalsim("run", "first-stop", "-a", BUG).code == 0
    (here / "fixed.yaml").write_text(f"version: 1\nadapter: ref\nexpected:\n{known}\n")
    stale = journalsim("run", "first-stop", "--expected", "fixed.yaml")
    assert stale.code == 1
    assert "is expected to fail and holds: take the entry out" in " ".join(stale.out.split())


def test_failures_that_cannot_be_saved_are_reported_all_the_same(journalsim: Command, here: Path) -> None:
    (here / ".journalsim").write_text("in the way")
    done = journalsim("run", "first-stop", "-a", BUG)
    assert done.code == 1
    assert done.err == (
        "warning: cannot save the failing case in .journalsim/failures: Not a directory: it cannot be replayed\n"
    )
