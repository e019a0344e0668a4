"""What only a process of its own can show: signals, workers that die, pipes, encodings, full disks, and imports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import COMMAND, ROOT, process

BUG = "ref:bug-stop-keeps-no-partial"
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


# --- Ctrl-C and SIGTERM ------------------------------------------------------------------------

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: str(number.name))
JOBS = pytest.mark.parametrize("jobs", ["1", "2"])
COMMANDS = pytest.mark.parametrize("command", ["run", "explore"])


def begun(command: str, jobs: str, cwd: Path) -> tuple[subprocess.Popen[bytes], list[str]]:
    """A command that has something to keep, and works on what would take minutes."""
    if command == "run":
        for name, text in (("a", FAST), ("b", SLOW)):
            (cwd / f"{name}.race.yaml").write_text(text)
        running = process("run", ".", "--report", "out", "-j", jobs, cwd=cwd)
    else:
        running = process("explore", "-a", BUG, "--for", "10m", "-j", jobs, cwd=cwd)
    assert running.stdout is not None
    return running, [running.stdout.readline().decode() for _ in range(2)]


@COMMANDS
@JOBS
@SIGNALS
def test_a_user_who_stops_a_command_keeps_what_it_knows(
    tmp_path: Path, number: signal.Signals, jobs: str, command: str
) -> None:
    """The output ends, so no process is left that holds it open."""
    running, said = begun(command, jobs, tmp_path)
    running.send_signal(number)
    rest, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, b"")
    lines = rest.decode().splitlines()
    if command == "run":
        assert said[1].startswith("a-fast ")
        assert "partial: stopped by the user after 1 of 2 scenarios" in lines
        assert lines[-1] == "1 scenario, 1 case: 1 ok, stopped by the user  report: out  exit 130"
    else:
        assert said[1].startswith("partial-is-prefix violated in case ")
        assert "partial: stopped by the user" in lines
        assert any(line.startswith("FAILED  partial-is-prefix") for line in lines)
        assert list((tmp_path / ".journalsim" / "failures").iterdir())


def test_a_run_that_was_stopped_leaves_whole_reports(tmp_path: Path) -> None:
    running, _ = begun("run", "1", tmp_path)
    running.send_signal(signal.SIGTERM)
    last = running.communicate(timeout=60)[0].decode().splitlines()[-1]
    report = (tmp_path / "out" / "report.txt").read_text().splitlines()
    assert report[1] == "partial: stopped by the user after 1 of 2 scenarios"
    assert report[-1] == last
    end = json.loads((tmp_path / "out" / "report.ndjson").read_text().splitlines()[-1])
    assert (end["interrupted"], end["exit"]) == (True, 130)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["junit.xml", "report.ndjson", "report.txt"]


TO_ALL = """\
import os, signal, sys
if "--multiprocessing-fork" in sys.orig_argv and not os.path.exists("sent"):
    open("sent", "w").close()
    os.killpg(0, {number})
"""


@COMMANDS
@SIGNALS
def test_a_signal_to_all_processes_does_not_kill_a_worker_that_is_starting(
    tmp_path: Path, number: signal.Signals, command: str
) -> None:
    """A terminal sends Ctrl-C to the whole group, ``timeout`` SIGTERM; here the first worker does so as it starts."""
    (tmp_path / "sitecustomize.py").write_text(TO_ALL.format(number=int(number)))
    (tmp_path / "b.race.yaml").write_text(SLOW)
    arguments = ["run", "b.race.yaml"] if command == "run" else ["explore", "--for", "10m"]
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    running = process(*arguments, "-j", "2", cwd=tmp_path, environment=environment, session=True)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, b"")
    assert b"stopped by the user" in out


@COMMANDS
def test_a_command_that_is_killed_leaves_no_workers(tmp_path: Path, command: str) -> None:
    """They hold its output, which ends."""
    running, _ = begun(command, "2", tmp_path)
    running.kill()
    running.communicate(timeout=60)
    assert running.returncode == -signal.SIGKILL


@SIGNALS
def test_a_signal_outside_of_a_run_says_so(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "b.race.yaml").write_text(SLOW)
    program = (
        "import signal, journalsim.cli.selection as s, journalsim.cli\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which a shell may have switched off for its jobs
        f"def pressed(*a, **k): signal.raise_signal({int(number)})\n"
        "s.load_file = pressed\n"
        "journalsim.cli.main(['check', '.'])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "stopped by the user")


def test_sigterm_while_a_case_runs_ends_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "ended.py").write_text(
        "import signal\n"
        "from tests.adapters.broken import Rows\n"
        "class Ended(Rows):\n"
        "    def append(self, *row): signal.raise_signal(signal.SIGTERM)\n"
    )
    code, _, err = ended("show", "first-stop", "-a", "python:ended:Ended", cwd=tmp_path)
    assert (code, err) == (130, "stopped by the user\n")


def test_sigterm_ends_a_command_that_was_started_in_the_background(tmp_path: Path) -> None:
    """A shell without job control starts those with Ctrl-C ignored."""
    (tmp_path / "b.race.yaml").write_text(SLOW)
    program = (
        "import signal, journalsim.cli.selection as s, journalsim.cli\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which a shell may have switched off for its jobs
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "s.load_file = lambda *a, **k: signal.raise_signal(signal.SIGTERM)\n"
        "journalsim.cli.main(['check', '.'])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (130, "stopped by the user")


def test_an_impatient_ctrl_c_that_lands_in_the_adapter_ends_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "impatient.py").write_text(
        "from tests.adapters.broken import Rows\n"
        "class Impatient(Rows):\n"
        "    def append(self, *row): raise KeyboardInterrupt\n"
    )
    code, _, err = ended("run", "first-stop", "-a", "python:impatient:Impatient", cwd=tmp_path)
    assert (code, err) == (130, "stopped by the user\n")


# --- workers that die --------------------------------------------------------------------------

DEADLY = """\
import os, signal
from tests.adapters.broken import Rows
class {name}(Rows):
    def append(self, *row):
        {last_act}
"""


@pytest.mark.parametrize(
    ("name", "last_act", "says"),
    [
        ("Exits", "os._exit(3)", "a worker process ended with exit code 3"),
        ("Killed", "os.kill(os.getpid(), signal.SIGKILL)", "a worker process was killed by SIGKILL"),
    ],
)
@COMMANDS
def test_a_worker_that_dies_is_reported_as_adapter_trouble(
    tmp_path: Path, command: str, name: str, last_act: str, says: str
) -> None:
    (tmp_path / "deadly.py").write_text(DEADLY.format(name=name, last_act=last_act))
    what = ["run", "first-stop", "hangs-until-stopped"] if command == "run" else ["explore", "--cases", "240"]
    code, out, err = ended(*what, "-j", "2", "-a", f"python:deadly:{name}", cwd=tmp_path)
    assert (code, err) == (6, "")
    assert f"{says}, and with it " in " ".join(out.split())


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
