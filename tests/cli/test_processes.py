"""What only a process of its own can show: Ctrl-C, pipes, encodings, full disks, and what is imported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import COMMAND, ROOT, process

FAST = 'version: 1\nname: a-fast\nsteps: [{client.send: "Hi"}]\n'
SLOW = """\
version: 1
name: b-slow
script:
  model:
    - stream: [{text: {words: 18}}, {finish: end_turn}]
steps:
  - client.send: "Hi"
  - client.stop: {at: $first, as: first}
  - client.stop: {at: $second}
sweep:
  first: {every: point}
  second: {every: point}
  limit: 20000
"""
"""Over ten thousand cases: most of a minute, unless somebody stops it."""


def ended(*arguments: str, cwd: Path, environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    running = process(*arguments, cwd=cwd, environment=environment)
    out, err = running.communicate(timeout=60)
    return running.returncode, out.decode(), err.decode()


# --- Ctrl-C ------------------------------------------------------------------------------------


def test_ctrl_c_ends_the_run_after_the_case_at_hand_and_keeps_what_is_known(tmp_path: Path) -> None:
    for name, text in (("a", FAST), ("b", SLOW)):
        (tmp_path / f"{name}.race.yaml").write_text(text)
    running = process("run", ".", "--report", "out", cwd=tmp_path)
    assert running.stdout is not None
    begun = [running.stdout.readline().decode() for _ in range(2)]
    running.send_signal(signal.SIGINT)
    rest, err = running.communicate(timeout=20)
    assert begun[1].startswith("a-fast ")
    assert (running.returncode, err) == (130, b"")
    lines = rest.decode().splitlines()
    assert "partial: stopped by the user after 1 of 2 scenarios" in lines
    assert lines[-1] == "1 scenario, 1 case: 1 ok, stopped by the user  report: out  exit 130"
    report = (tmp_path / "out" / "report.txt").read_text().splitlines()
    assert report[1] == "partial: stopped by the user after 1 of 2 scenarios"
    assert report[-1] == lines[-1]
    end = json.loads((tmp_path / "out" / "report.ndjson").read_text().splitlines()[-1])
    assert (end["interrupted"], end["exit"]) == (True, 130)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["junit.xml", "report.ndjson", "report.txt"]


def test_ctrl_c_outside_of_a_run_says_so(tmp_path: Path) -> None:
    (tmp_path / "b.race.yaml").write_text(SLOW)
    program = (
        "import journalsim.cli.selection as s, journalsim.cli\n"
        "def pressed(*a, **k): raise KeyboardInterrupt\n"
        "s.load_file = pressed\n"
        "journalsim.cli.main(['check', '.'])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "stopped by the user")


def test_an_impatient_ctrl_c_that_lands_in_the_adapter_ends_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "impatient.py").write_text(
        "from tests.adapters.broken import Rows\n"
        "class Impatient(Rows):\n"
        "    def append(self, *row): raise KeyboardInterrupt\n"
    )
    code, _, err = ended("run", "first-stop", "-a", "python:impatient:Impatient", cwd=tmp_path)
    assert (code, err) == (130, "stopped by the user\n")


# --- pipes, encodings, disks -------------------------------------------------------------------


def into_a_closed_pipe(*arguments: str, cwd: Path, lines: int) -> tuple[int, str]:
    running = process(*arguments, cwd=cwd)
    assert running.stdout is not None
    assert running.stderr is not None
    for _ in range(lines):
        running.stdout.readline()
    running.stdout.close()
    err = running.stderr.read().decode()
    running.stderr.close()
    return running.wait(timeout=60), err


@pytest.mark.parametrize("command", [("list", "scenarios"), ("schema",), ("--help",)])
def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path, command: tuple[str, ...]) -> None:
    code, err = into_a_closed_pipe(*command, cwd=tmp_path, lines=0)
    assert (code, err) == (0, "")


def test_a_run_that_nobody_reads_to_the_end_has_not_held(tmp_path: Path) -> None:
    code, err = into_a_closed_pipe("run", "first-stop", "hangs-until-stopped", cwd=tmp_path, lines=1)
    assert (code, err) == (130, "")


@pytest.mark.parametrize("command", [("list", "scenarios"), ("run", "first-stop"), ("schema",)])
def test_a_full_disk_is_one_line_and_exit_2(tmp_path: Path, command: tuple[str, ...]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr.decode()) == (2, "error: output: No space left on device\n")


@pytest.mark.parametrize(
    ("named", "meant"),
    [("ascii", "utf-8"), ("latin-1", "latin-1"), ("cp1252", "cp1252"), ("utf-8", "utf-8")],  # click mistrusts ascii
)
def test_every_terminal_can_show_a_failure(tmp_path: Path, named: str, meant: str) -> None:
    (tmp_path / "a.race.yaml").write_text(
        'version: 1\nname: a\nsteps: [{client.send: "\N{SNOWMAN} \u2028 \\e[31m"}]\n'
        'expect: {finally: [{journal.contains: {message: user1, text: "\N{ROCKET}"}}]}\n',
        encoding="utf-8",
    )
    running = process("run", ".", cwd=tmp_path, environment={"PYTHONIOENCODING": named, "PYTHONUTF8": "0"})
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (1, b"")
    text = out.decode(meant)
    assert ("\N{ROCKET}" if meant == "utf-8" else "\\U0001f680") in text
    assert all(line.isprintable() for line in text.split("\n"))


# --- what is imported --------------------------------------------------------------------------

HEAVY = (
    "trio",
    "hypothesis",
    "jinja2",
    "rich",
    "apsw",
    "journalsim_reference",
    "journalsim.engine",
    "asyncio",
    "socket",
    "ssl",
)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["run", "--help"],
        ["check", "a.race.yaml"],
        ["fmt", "--check", "a.race.yaml"],
        ["new", "scenario"],
        ["schema"],
        ["list", "invariants"],
        ["list", "scenarios"],
        ["explain", "completed-wins"],
        ["run", "-k", "nothing-of-that-name"],
    ],
    ids=" ".join,
)
def test_what_runs_nothing_imports_neither_the_engine_nor_the_network(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "a.race.yaml").write_text('version: 1\nname: a-fast\nsteps:\n  - client.send: "Hi"\n')
    program = (
        "import sys, journalsim.cli\n"
        "try: journalsim.cli.main(sys.argv[1:])\n"
        f"except SystemExit as end: print(end.code, [n for n in {HEAVY} if n in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    expected = "4 []" if "-k" in arguments else "0 []"
    assert done.stderr.splitlines()[-1] == expected
