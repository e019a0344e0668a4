"""Bad input: one clear message, exit 2, nothing half-written, never a traceback."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from command_line import Command, Done, Write

from journalsim.scenario.values.moves import VERBS

HEAD = "version: 1\nname: one\n"
STEPS = 'steps:\n  - client.send: "Hi"\n'


def bomb() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    return HEAD + "\n".join(lines) + "\n" + STEPS


def fixed_sweep(values: int) -> str:
    listed = ", ".join(f"{number}ms" for number in range(1, values + 1))
    return (
        f"{HEAD}{STEPS}  - client.stop: {{at: $first}}\n  - client.stop: {{at: $second}}\n"
        f"sweep:\n  first: [{listed}]\n  second: [{listed}]\n"
    )


WRONG: Mapping[str, tuple[bytes, str]] = {
    "an unknown key": (f"{HEAD}sumary: x\n{STEPS}".encode(), 'error[E101]: unknown key "sumary" in a scenario'),
    "a repeated key": (f"{HEAD}name: two\n{STEPS}".encode(), 'error[E010]: the key "name" is given twice'),
    "no unit": (f"{HEAD}{STEPS}  - client.stop: {{at: 150}}\n".encode(), "error[E021]: a time needs a unit"),
    "an unknown unit": (
        f"{HEAD}{STEPS}  - client.stop: {{at: 5 minutes}}\n".encode(),
        'error[E022]: not a time: "5 minutes"',
    ),
    "an unknown actor": (f"{HEAD}{STEPS}  - zoe.send: Hi\n".encode(), 'error[E102]: unknown actor "zoe"'),
    "an unknown action": (
        f"{HEAD}{STEPS}  - client.sotp:\n".encode(),
        'error[E103]: unknown action "sotp" for a client',
    ),
    "no steps": (f"{HEAD}steps: []\n".encode(), "error[E210]: a scenario has at least one step"),
    "no steps at all": (HEAD.encode(), 'error[E210]: a scenario needs the key "steps"'),
    "a sweep of fixed places over its limit": (
        fixed_sweep(40).encode(),
        "error[E208]: the sweep has at least 1600 cases, more than 1000",
    ),
    "ten megabytes": (b"#" * 10_000_000, "error[E002]: the file is larger than 1048576 bytes"),
    "deep nesting": (f"{HEAD}why: {'[' * 5000}\n".encode(), "error[E006]: nested more than 40 levels deep"),
    "an alias bomb": (bomb().encode(), "error[E007]: aliases repeat more than 10000 values"),
    "not UTF-8": (f"{HEAD}why: caf\xe9\n{STEPS}".encode("latin-1"), "error[E003]: byte 0xe9 is not UTF-8"),
    "a control character": (f"{HEAD}why: a\x07b\n{STEPS}".encode(), "error[E003]: the character U+0007 is not allowed"),
    "nothing": (b"", "error[E004]: the file is empty"),
    "no YAML": (b"{[}\n", "error[E005]: the YAML cannot be read"),
    "another kind of file": (b"- a list\n", "error[E020]: expected a scenario"),
    "python objects": (f"{HEAD}why: !!python/name:os.system x\n{STEPS}".encode(), "error[E008]: the tag"),
}


def assert_one_clear_message(done: Done, says: str) -> None:
    assert (done.code, done.out) == (2, "")
    assert [line for line in done.err.splitlines() if line.startswith("error")] == [done.err.splitlines()[0]]
    assert done.err.startswith(says)
    assert "Traceback" not in done.err


@pytest.mark.parametrize("command", ["check", "run", "fmt", "show"])
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_file_is_one_problem_with_its_place_and_nothing_is_written(
    journalsim: Command, here: Path, command: str, what: str
) -> None:
    data, says = WRONG[what]
    (here / "one.race.yaml").write_bytes(data)
    assert_one_clear_message(journalsim(command, "one.race.yaml"), says)
    assert [path.name for path in here.iterdir()] == ["one.race.yaml"]
    assert (here / "one.race.yaml").read_bytes() == data


def test_a_message_points_at_its_place_with_a_caret(journalsim: Command, here: Path) -> None:
    (here / "one.race.yaml").write_bytes(WRONG["an unknown action"][0])
    assert journalsim("check", "one.race.yaml").err == (
        'error[E103]: unknown action "sotp" for a client\n'
        " --> one.race.yaml:5:12\n"
        "  |\n"
        "5 |   - client.sotp:\n"
        f"  |            ^^^^ clients can: {', '.join(sorted(VERBS['client']))}\n"
        '  = help: did you mean "stop"?\n'
        "1 error, 0 warnings in 1 file (nothing was run)\n"
    )


def test_a_sweep_of_all_points_over_its_limit_says_how_large_it_is(journalsim: Command, scenario: Write) -> None:
    path = scenario(also="  - client.stop: {at: $again}\nsweep:\n  again: {every: point}\n  limit: 5\n")
    done = journalsim("run", path.name)
    assert (done.code, done.err) == (2, "")
    text = " ".join(done.out.split())
    assert "not run one: one.race.yaml: the sweep has " in text
    assert "over its limit of 5: raise sweep.limit, or narrow an axis with in: [...]" in text


def test_an_axis_that_no_point_fits_says_where_to_look(journalsim: Command, scenario: Write) -> None:
    path = scenario(also="  - client.stop: {at: $again}\nsweep:\n  again: {every: point, in: [tool]}\n")
    done = journalsim("run", path.name)
    assert (done.code, done.err) == (2, "")
    assert "axis $again is empty: no point of the baseline run starts with tool" in " ".join(done.out.split())


# --- paths -------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["check", "run", "fmt"])
def test_a_folder_without_scenarios_is_named(journalsim: Command, here: Path, command: str) -> None:
    (here / "empty").mkdir()
    assert_one_clear_message(journalsim(command, "empty"), "error[E015]: no *.race.yaml in this folder\n --> empty\n")


@pytest.mark.parametrize("command", ["check", "run", "fmt", "show"])
def test_a_path_that_is_not_there_is_named_and_a_near_one_offered(
    journalsim: Command, scenario: Write, command: str
) -> None:
    scenario("tab-closed")
    done = journalsim(command, "tab-closd.race.yaml")
    assert_one_clear_message(done, "error[E001]: there is no such file or folder\n --> tab-closd.race.yaml\n")
    assert 'did you mean "tab-closed.race.yaml"?' in done.err


def test_every_missing_path_is_named(journalsim: Command) -> None:
    done = journalsim("check", "a.race.yaml", "b.race.yaml")
    assert done.code == 2
    assert done.err.count("error[E001]") == 2


@pytest.mark.parametrize(
    "name", ["", "a\nb.race.yaml", "-", "\x1b[31m.race.yaml", "x" * 300 + ".yaml", "a/../../b.yaml"]
)
def test_an_odd_path_is_one_message_that_a_terminal_can_show(journalsim: Command, name: str) -> None:
    done = journalsim("run", "--", name)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert done.err.startswith("error")
    assert "\x1b" not in done.err


# --- places that cannot be written -------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--report", "file"), "error: file: cannot write the report: File exists: name another folder with --report"),
        (("--report", "file/below"), "error: file/below: cannot write the report: Not a directory: name another"),
        (("--junit", "file/junit.xml"), "error: file/junit.xml: cannot write the report: "),
        (("--junit", "folder"), "error: folder: cannot write the report: it is a folder: name another file"),
    ],
)
def test_a_report_that_cannot_be_written_is_known_before_anything_runs(
    journalsim: Command, here: Path, options: tuple[str, str], says: str
) -> None:
    (here / "file").write_text("mine")
    (here / "folder").mkdir()
    assert_one_clear_message(journalsim("run", "first-stop", *options), says)
    assert sorted(path.name for path in here.iterdir()) == ["file", "folder"]
    assert (here / "file").read_text() == "mine"


@pytest.fixture
def disk_gets_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rename fails, as on a disk that fills up while the run goes on; probing still works."""
    replace = Path.replace

    def full(self: Path, target: Path) -> Path:
        if "probe" in str(target):
            return replace(self, target)
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "replace", full)


@pytest.mark.usefixtures("disk_gets_full")
def test_a_disk_that_gets_full_costs_the_report_and_leaves_the_old_one_whole(journalsim: Command, here: Path) -> None:
    (here / "out").mkdir()
    (here / "out" / "report.txt").write_text("yesterday")
    done = journalsim("run", "first-stop", "--report", "out")
    assert done.code == 2
    assert done.lines[-1].startswith("1 scenario, 1 case: 1 ok")
    assert done.err == (
        "error: out/report.txt: cannot write the report: No space left on device: "
        "free some space or name another place\n"
    )
    assert [path.name for path in (here / "out").iterdir()] == ["report.txt"]
    assert (here / "out" / "report.txt").read_text() == "yesterday"


@pytest.mark.usefixtures("disk_gets_full")
def test_a_disk_that_gets_full_leaves_a_scenario_as_it_was(journalsim: Command, here: Path) -> None:
    path = here / "one.race.yaml"
    path.write_text(HEAD + 'steps: [{client.send: "Hi"}]\n')
    done = journalsim("fmt", path.name)
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: one.race.yaml: cannot be written: No space left on device\n"
    assert [file.name for file in here.iterdir()] == ["one.race.yaml"]
    assert path.read_text() == HEAD + 'steps: [{client.send: "Hi"}]\n'
    assert journalsim("new", "scenario", "-o", "new.race.yaml").code == 2
    assert [file.name for file in here.iterdir()] == ["one.race.yaml"]


@pytest.mark.usefixtures("disk_gets_full")
def test_a_disk_that_gets_full_does_not_cost_the_verdict(journalsim: Command, here: Path) -> None:
    done = journalsim("run", "first-stop", "-a", "ref:bug-stop-keeps-no-partial")
    assert done.code == 1
    assert done.err.startswith("warning: cannot save the failing case in .journalsim/failures: No space left on device")
    assert done.lines[-1].endswith("exit 1")
