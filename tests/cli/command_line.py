"""What tests of the command line share: how a command ended, and processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).parents[2]


@frozen(kw_only=True)
class Done:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of standard output."""
        return self.out.splitlines()


Command = Callable[..., Done]
Write = Callable[..., Path]

COMMAND = (sys.executable, "-m", "journalsim")


def process(
    *arguments: str, cwd: Path, environment: Mapping[str, str] | None = None, session: bool = False
) -> subprocess.Popen[bytes]:
    """Starts a command in a process of its own, with ``session`` as the head of a group of processes."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=session,
    )
