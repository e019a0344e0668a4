"""``--help``, ``list``, ``explain``, ``doctor`` and ``demo``, and words that were mistyped."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Command

from journalsim.cli import COMMANDS
from journalsim.cli.listing import KINDS
from journalsim.contract.events.event_table import RECORDS, field_docs, summary
from journalsim.hosts.loading import zoo
from journalsim.oracle.invariants.judge import INVARIANTS
from journalsim.scenario.codes import CODES

# --- help --------------------------------------------------------------------------------------


def test_help_lists_every_command_with_one_line(journalsim: Command) -> None:
    done = journalsim("--help")
    assert done.code == 0
    for name in COMMANDS:
        assert any(line.startswith(f"  {name} ") for line in done.lines)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_all_its_options(journalsim: Command, name: str) -> None:
    done = journalsim(name, "-h")
    assert done.code == 0
    options = done.out.partition("Options:\n")[2].splitlines()
    bare = [line for line, after in zip(options, [*options[1:], ""], strict=True) if _says_nothing(line, after)]
    assert bare == []


def _says_nothing(line: str, after: str) -> bool:
    words = line.split("  ")
    return line.startswith("  -") and len([word for word in words if word]) < 2 and not after.startswith("      ")


def test_no_command_at_all_prints_the_help_and_is_not_green(journalsim: Command) -> None:
    done = journalsim()
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: journalsim ")


def test_the_version_is_printed(journalsim: Command) -> None:
    assert journalsim("--version").lines == ["journalsim 0.1.0"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["rnu"], "no command 'rnu'; did you mean \"run\"?"),
        (["a.race.yaml"], "no command 'a.race.yaml'; to run scenarios: journalsim run a.race.yaml"),
        (["run", "--shards", "1/2"], "no such option"),
        (["run", "--seed", "x"], "invalid value for '--seed': 'x' is not a valid integer"),
        (["run", "--shard", "3/2"], "invalid value for '--shard': '3/2' is not K/N with 1 <= K <= N, such as 2/4"),
        (["run", "--shard", "half"], "invalid value for '--shard': 'half' is not K/N with 1 <= K <= N, such as 2/4"),
        (["run", "--time-budget", "5"], "invalid value for '--time-budget': '5' needs a unit: 90s, 5m or 1h"),
        (["run", "--profile", "fast"], "invalid value for '--profile': 'fast' is not one of 'quick', 'ci', 'deep'"),
        (["run", "-j", "0"], "invalid value for '-j' / '--jobs': 0 is not in the range 1<=x<=256"),
        (["explain"], "missing argument 'NAME'"),
    ],
)
def test_a_mistyped_word_is_named_on_one_line(journalsim: Command, words: list[str], says: str) -> None:
    done = journalsim(*words)
    assert (done.code, done.out) == (2, "")
    first, help = done.err.splitlines()
    assert first.startswith(f"error: {says}")
    assert help.startswith(" = help: journalsim ")
    assert help.endswith("--help")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["run", "first-stp"], 2, "no file, folder or built-in scenario 'first-stp'; did you mean \"first-stop\"?"),
        (["run", "-k", "stop and"], 2, "-k 'stop and': a word is missing at the end"),
        (["run", "-k", "(stop"], 2, "-k '(stop': a closing parenthesis is missing"),
        (["run", "-k", "stop)"], 2, "-k 'stop)': cannot read ')' here"),
        (["run", "-a", "rf"], 2, "unknown adapter 'rf' (did you mean 'ref'?): write ref, "),
        (["run", "-a", "ref:bug-x"], 2, "unknown variant 'bug-x' of ref; see: journalsim list bugs"),
        (["run", "-a", "exec:./journal"], 2, "adapter 'exec:./journal': exec: adapters are not supported yet"),
        (["doctor", "-a", "ref:bug-x"], 2, "unknown variant 'bug-x' of ref"),
        (["show", "first-stp"], 2, "no file, folder or built-in scenario 'first-stp'; did you mean \"first-stop\"?"),
        (["explain", "no-lost"], 2, "nothing is called 'no-lost'; did you mean no-lost-completed-message?"),
        (["explain", "completed-win"], 2, "nothing is called 'completed-win'; did you mean "),
        (["explain", "E999"], 2, "nothing is called 'E999'"),
        (
            ["explain", "run.endd"],
            2,
            "nothing is called 'run.endd'; did you mean \"run.ended\"?; see: journalsim list events",
        ),
        (["explain", "told"], 2, "nothing is called 'told'; did you mean client.told?"),
    ],
)
def test_a_name_that_means_nothing_is_named_on_one_line(
    journalsim: Command, words: list[str], code: int, says: str
) -> None:
    done = journalsim(*words)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(f"error: {says}")
    assert len(done.err.splitlines()) == 1


# --- list and explain --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "failures"])
def test_a_list_has_one_line_for_each_thing_the_name_first(journalsim: Command, kind: str) -> None:
    done = journalsim("list", kind)
    names = [line.split("  ")[0] for line in done.lines]
    assert done.code == 0
    assert len(names) == len(set(names)) > 3
    assert all(len(line.split("  ", 1)) == 2 for line in done.lines)


def test_the_lists_are_complete(journalsim: Command) -> None:
    assert [line.split()[0] for line in journalsim("list", "invariants").lines] == list(INVARIANTS)
    assert [line.split()[0] for line in journalsim("list", "bugs").lines] == [bug.name for bug in zoo()]
    assert [line.split()[0] for line in journalsim("list", "events").lines] == list(RECORDS)


def test_a_list_of_no_failures_is_empty(journalsim: Command) -> None:
    assert journalsim("list", "failures").out == ""


def test_everything_that_a_report_names_can_be_explained(journalsim: Command) -> None:
    for name in (*INVARIANTS, *CODES, *(bug.name for bug in zoo())):
        done = journalsim("explain", name)
        assert done.code == 0
        assert done.lines[0].startswith(name)
        assert max(map(len, done.lines)) <= 100


@pytest.mark.parametrize("kind", RECORDS)
def test_a_kind_of_event_is_explained_with_all_its_fields(journalsim: Command, kind: str) -> None:
    done = journalsim("explain", kind)
    assert done.code == 0
    assert done.lines[:3] == [kind, "", summary(RECORDS[kind])]
    fields = [line.split()[0] for line in done.lines if line.startswith("  ") and not line.startswith("   ")]
    assert fields == [doc.name for doc in field_docs(RECORDS[kind])]
    assert done.lines[-1].startswith("In Python: from journalsim.contract.events.")
    assert done.lines[-1].endswith(f" import {RECORDS[kind].__name__}")
    assert max(map(len, done.lines)) <= 100


def test_a_field_says_its_type_its_name_in_python_and_when_it_is_left_out(journalsim: Command) -> None:
    assert "  cause  str | None  why, for a run that was interrupted." in journalsim("explain", "run.ended").lines
    assert "  subject    str  the call. In Python: call_id." in journalsim("explain", "tool.started").lines
    crashed = " ".join(journalsim("explain", "server.crashed").out.split())
    assert (
        "lose str | None the loss of the disk; None if only memory was lost. Left out while it has its default."
        in crashed
    )


def test_the_requests_of_a_system_behind_http_are_explained_as_a_table(journalsim: Command) -> None:
    done = journalsim("explain", "http")
    assert done.code == 0
    rows = [line for line in done.lines if line.startswith(("``GET", "``POST"))]
    assert len(rows) == 6
    assert all("  200 " in row or "  201 " in row for row in rows)


@pytest.mark.parametrize("name", ["no-abort-marker", "bug-no-abort-marker", "ref:bug-no-abort-marker"])
def test_a_bug_is_explained_however_it_is_named(journalsim: Command, name: str) -> None:
    done = journalsim("explain", name)
    assert done.lines[-1] == "Try it: journalsim run -a ref:bug-no-abort-marker"


# --- doctor and demo ---------------------------------------------------------------------------


def test_the_doctor_finds_the_reference_healthy(journalsim: Command) -> None:
    done = journalsim("doctor", "first-stop", "--processes", "2")
    assert done.code == 0
    assert done.lines == [
        "journalsim 0.1.0  doctor  adapter ref  1 scenario",
        "1 case in 2 fresh processes, hash seeds 0 to 1: no differences",
    ]


def test_the_doctor_shows_the_first_event_that_differs_and_what_may_be_the_cause(journalsim: Command) -> None:
    done = journalsim("doctor", "first-stop", "-a", "ref:bug-ids-from-entropy", "--processes", "2")
    assert done.code == 5
    ours, theirs = (line for line in done.lines if line.startswith(("  - {", "  + {")))
    assert '"kind":"run.accepted"' in ours
    assert ours[4:] != theirs[4:]
    assert any("os.urandom called at bugs/harness.py" in line for line in done.lines)
    assert done.lines[-1].endswith(": 1 difference")


def test_the_doctor_says_that_an_adapter_is_not_there(journalsim: Command) -> None:
    done = journalsim("doctor", "first-stop", "-a", "python:nowhere.at_all:make")
    assert done.code == 6
    assert done.err.startswith("error: adapter 'python:nowhere.at_all:make': cannot import")


def test_the_demo_shows_a_failure_that_can_be_replayed(journalsim: Command, here: Path) -> None:
    done = journalsim("demo")
    assert done.code == 1
    assert "FAILED  completed-wins" in done.out
    (replay,) = [line.split()[3] for line in done.lines if line.startswith("  replay:")]
    assert journalsim("replay", replay).lines[-1] == "REPRODUCED: the same trace, event for event"
