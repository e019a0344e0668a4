"""``check``, ``fmt``, ``new`` and ``schema``: what an author of scenarios uses."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from command_line import Command, Write
from jsonschema import Draft7Validator

UNTIDY = """\
version: 1
# the name says it
name: untidy
steps: [{client.send: {text: "Hi"}}]   # one step
"""
TIDY = """\
version: 1
# the name says it
name: untidy
steps:
  - client.send: "Hi"  # one step
"""


def test_check_counts_what_it_read_and_runs_nothing(journalsim: Command, scenario: Write) -> None:
    scenario("one")
    scenario("two")
    assert journalsim("check", "one.race.yaml").lines == ["1 scenario: no problems (nothing was run)"]
    assert journalsim("check", ".").lines == ["2 scenarios: no problems (nothing was run)"]


def test_check_reports_every_problem_of_every_file(journalsim: Command, here: Path) -> None:
    (here / "a.race.yaml").write_text(
        "version: 1\nname: a\nsteps:\n  - alice.send: Hi\n  - client.sotp:\n  - clock.jump: {by: 5}\n"
    )
    (here / "b.race.yaml").write_text("version: 1\nname: B\nsteps: []\n")
    done = journalsim("check", ".")
    assert (done.code, done.out) == (2, "")
    codes = [line.partition("]")[0] for line in done.err.splitlines() if line.startswith("error")]
    assert codes == ["error[E102", "error[E103", "error[E021", "error[E027", "error[E210"]
    assert done.err.splitlines()[-1] == "5 errors, 0 warnings in 2 files (nothing was run)"


def test_check_refuses_two_scenarios_of_one_name(journalsim: Command, here: Path, scenario: Write) -> None:
    scenario("one").rename(here / "first.race.yaml")
    scenario("one")
    done = journalsim("check", ".")
    assert (done.code, done.err) == (
        2,
        "error: two scenarios are named 'one': first.race.yaml and one.race.yaml\n",
    )


def test_the_built_in_scenarios_have_no_problems(journalsim: Command) -> None:
    names = [line.split()[0] for line in journalsim("list", "scenarios").lines]
    assert journalsim("run", "-k", "first-stop").code == 0
    assert len(names) == len(set(names)) > 20


def test_fmt_rewrites_and_then_has_nothing_to_do(journalsim: Command, here: Path) -> None:
    path = here / "untidy.race.yaml"
    path.write_text(UNTIDY)
    assert journalsim("fmt", path.name, "--check").lines == ["would rewrite untidy.race.yaml", "1 file, 1 to change"]
    assert path.read_text() == UNTIDY
    assert journalsim("fmt", ".").lines == ["rewrote untidy.race.yaml", "1 file, 1 changed"]
    assert path.read_text() == TIDY
    assert journalsim("fmt", ".", "--check").lines == ["1 file, 0 to change"]
    assert [file.name for file in here.iterdir()] == ["untidy.race.yaml"]


def test_fmt_check_is_exit_1_when_a_file_would_change(journalsim: Command, here: Path) -> None:
    (here / "untidy.race.yaml").write_text(UNTIDY)
    assert journalsim("fmt", "--check", ".").code == 1
    (here / "untidy.race.yaml").write_text(TIDY)
    assert journalsim("fmt", "--check", ".").code == 0


def test_fmt_prints_instead_when_asked(journalsim: Command, here: Path) -> None:
    (here / "untidy.race.yaml").write_text(UNTIDY)
    done = journalsim("fmt", "--stdout", "untidy.race.yaml")
    assert (done.code, done.out) == (0, TIDY)
    assert (here / "untidy.race.yaml").read_text() == UNTIDY


def test_one_wrong_file_leaves_all_files_as_they_are(journalsim: Command, here: Path) -> None:
    (here / "a.race.yaml").write_text(UNTIDY)
    (here / "b.race.yaml").write_text("version: 1\n")
    assert journalsim("fmt", ".").code == 2
    assert (here / "a.race.yaml").read_text() == UNTIDY


def test_new_writes_a_scenario_that_holds_as_it_stands(journalsim: Command, here: Path) -> None:
    done = journalsim("new", "scenario", "tab-closed", "-o", "tab-closed.race.yaml")
    assert done.lines == ["wrote tab-closed.race.yaml; try: journalsim run tab-closed.race.yaml"]
    assert journalsim("fmt", "--check", ".").code == 0
    assert journalsim("run", ".").code == 0
    printed = journalsim("new", "scenario", "tab-closed")
    assert printed.out == (here / "tab-closed.race.yaml").read_text()


def test_new_overwrites_nothing(journalsim: Command, here: Path) -> None:
    (here / "mine.race.yaml").write_text("mine")
    done = journalsim("new", "scenario", "-o", "mine.race.yaml")
    assert (done.code, done.err) == (2, "error: mine.race.yaml exists; choose another file\n")
    assert (here / "mine.race.yaml").read_text() == "mine"


def test_new_says_what_a_name_looks_like(journalsim: Command) -> None:
    done = journalsim("new", "scenario", "My First Race!")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: 'My First Race!' is no name: use small letters and digits, words joined by -, such as my-first-race\n"
    )


def test_new_notes_a_file_that_no_folder_would_show(journalsim: Command) -> None:
    done = journalsim("new", "scenario", "-o", "mine.yaml")
    assert (done.code, done.err) == (0, "note: only *.race.yaml is found when you name a folder\n")


def test_a_team_starts_with_an_adapter_that_runs_and_a_file_of_known_failures(
    journalsim: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "shop_journal", raising=False)
    assert journalsim("new", "adapter", "-o", "shop_journal.py").code == 0
    assert journalsim("new", "expected", "shop_journal", "-o", "expected-failures.yaml").code == 0
    assert "adapter: python:shop_journal:make" in (here / "expected-failures.yaml").read_text()
    done = journalsim("run", "first-stop", "-a", "python:shop_journal:make")
    assert (done.code, done.err) == (0, "")
    assert journalsim("run", "graceful-shutdown", "-a", "python:shop_journal:make").code == 0
    forgetful = (here / "shop_journal.py").read_text().replace("self.path.touch()", 'self.path.write_text("")')
    (here / "shop_journal.py").write_text(forgetful)
    sys.modules.pop("shop_journal", None)
    assert journalsim("run", "graceful-shutdown", "-a", "python:shop_journal:make").code == 1
    uncommented = (
        (here / "expected-failures.yaml").read_text().replace("# expected", "expected").replace("#   -", "  -")
    )
    (here / "expected-failures.yaml").write_text(
        uncommented.replace("completed-wins", "no-lost-completed-message").replace(
            "arrives-while-unwinding", "graceful-shutdown"
        )
    )
    assert journalsim("run", "graceful-shutdown", "-a", "python:shop_journal:make").code == 0


def test_new_takes_no_module_from_a_file_that_is_none(journalsim: Command) -> None:
    for what, file in (("expected", "expected-failures.yaml"), ("ci", "ci.sh")):
        assert "python:my_journal:make" in journalsim("new", what).out
        journalsim("new", what, "-o", file)
        assert "python:my_journal:make" in Path(file).read_text()


def test_the_schema_is_one_that_editors_can_use(journalsim: Command, here: Path) -> None:
    printed = journalsim("schema")
    Draft7Validator.check_schema(json.loads(printed.out))
    assert journalsim("schema", "-o", "race.schema.json").lines == ["wrote race.schema.json"]
    assert (here / "race.schema.json").read_text() == printed.out


@pytest.mark.parametrize("command", [("new", "scenario", "-o"), ("schema", "-o")])
def test_a_place_that_cannot_be_written_is_one_line(journalsim: Command, here: Path, command: tuple[str, ...]) -> None:
    (here / "file").write_text("")
    done = journalsim(*command, "file/below.race.yaml")
    assert (done.code, done.err) == (2, "error: file/below.race.yaml: cannot be written: Not a directory\n")
