"""A project that has packages of its own called ``sim`` and ``reference_impl``, and what must work in it.

    python tests/plugin/foreign_project.py PYTHON

copies the project out of this checkout and runs each command with the packages of that interpreter.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parent / "foreign"
COMMANDS = {
    "pytest": ("pytest", "-q", "-p", "no:cacheprovider"),
    "python -m pytest": ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider"),
    "journalsim run": ("journalsim", "run", "first-stop", "stop-vs-completion", "-a", "python:sim.journal:make"),
    "journalsim run FILE": ("journalsim", "run", "races/stopped-answer.race.yaml", "-a", "python:sim.journal:make"),
    "python -m journalsim": ("python", "-m", "journalsim", "--version"),
    "mypy": ("python", "-m", "mypy", "--no-incremental"),
}
"""What people type; the first word is a program of the environment."""


def copied(folder: Path) -> Path:
    """Copies the project below a folder, and returns where it is."""
    return Path(shutil.copytree(PROJECT, folder / "shop", ignore=shutil.ignore_patterns("__pycache__")))


def run(command: str, project: Path, python: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in a copy of the project, with nothing but the interpreter's own packages to import."""
    program, *arguments = COMMANDS[command]
    start = [python] if program == "python" else [str(Path(python).parent / program)]
    ours = ("PYTHON", "PYTEST", "COVERAGE", "COV_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return subprocess.run(
        [*start, *arguments], cwd=project, env=environment, capture_output=True, text=True, check=False
    )


def main() -> None:
    """Runs all of them, and ends with 1 if one fails."""
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        project = copied(Path(folder))
        for command in COMMANDS:
            done = run(command, project, sys.argv[1])
            print(f"{command}: exit {done.returncode}")
            if done.returncode:
                failed = True
                print(done.stdout, done.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
