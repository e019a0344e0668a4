"""Files that ``journalsim new`` writes for teams with a journal of their own."""

from __future__ import annotations

ADAPTER = '''\
"""How journalsim reaches our journal.

Run it with:    journalsim run -a python:{module}:make
Then replace the file of JSON lines by calls of your own store, declare in
`capabilities` what your journal can do, and look at which invariants are violated.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from journalsim.contract.capabilities import Capabilities

from journalsim.contract.items import Item

STORED = ("kind", "text", "id", "run_id", "state", "call_id", "name", "arguments", "outcome", "cause", "origin")


class Journal:
    # What is not declared is not claimed: listed in the report, neither passed nor failed.
    capabilities = Capabilities(
        level="store",
        partials=False,  # True, with a verb `partial`, if Stop stores the text so far
        tools=False,  # True if tool calls and their results are rows of their own
        terminals=False,  # True, with a verb `finish`, if the end of each run is a row
    )

    def open(self, where: str) -> None:
        """Opens the journal in folder `where`; the same folder after a crash is the same data."""
        self.path = Path(where) / "journal.jsonl"
        self.path.touch()

    def close(self) -> None:
        """Closes it in good order."""

    def append(self, session_id: str, run_id: str, item: Item) -> None:
        """Stores one finished item (user, assistant, tool_call, tool_result). Returning is the acknowledgement."""
        with self.path.open("a") as file:
            file.write(json.dumps([session_id, {{name: getattr(item, name) for name in STORED}}]) + "\\n")

    # def partial(self, session_id: str, run_id: str, item: Item) -> None: ...   what Stop stores
    # def finish(self, session_id: str, run_id: str, marker: Item) -> None: ...  how the run ended

    def read(self, session_id: str) -> Sequence[Item]:
        """Everything that a page opened now would display, oldest first."""
        rows = (json.loads(line) for line in self.path.read_text().splitlines())
        return [Item(**row) for session, row in rows if session == session_id]


def make() -> Journal:
    """Makes a fresh adapter; each simulated server process gets its own."""
    return Journal()
'''

EXPECTED = """\
# What our journal is known to break. An entry that no longer fails makes the run fail: then take it out.
version: 1
adapter: python:{module}:make
# expected:
#   - {{invariant: completed-wins, scenario: arrives-while-unwinding, reason: "issue 12", since: 2026-11-27}}
"""

CI = """\
#!/usr/bin/env bash
# Judges our journal; see the exit codes in the README of journalsim.
set -euo pipefail
pip install journalsim
journalsim run -a python:{module}:make --profile ci -j 2 --junit junit.xml --report journalsim-report
"""
