"""A project with packages called ``sim`` and ``reference_impl``, as our own folders are: its packages win."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from foreign_project import COMMANDS, copied, run

SAYS = {
    "pytest": "3 passed",
    "python -m pytest": "3 passed",
    "journalsim run": "2 scenarios, 37 cases: 2 ok",
    "journalsim run FILE": "1 scenario, 1 case: 1 ok",
    "python -m journalsim": "journalsim ",
    "mypy": "Success: no issues found in 4 source files",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_works_in_it(command: str, tmp_path: Path) -> None:
    done = run(command, copied(tmp_path), sys.executable)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert SAYS[command] in done.stdout
