"""A journal as many projects begin: one SQLite table, rows inserted as they come.

It keeps what it is given, and that is all: a row has no identity, so what is
written twice is there twice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import apsw

from journalsim.contract.capabilities import Capabilities
from journalsim.contract.items import Item


class PlainTable:
    """A store-level adapter in 40 lines."""

    capabilities = Capabilities(level="store", partials=True, tools=True, terminals=True)

    def open(self, where: str) -> None:
        self._db = apsw.Connection(str(Path(where) / "chat.db"))
        self._db.execute("create table if not exists messages(session text, row text)")

    def close(self) -> None:
        self._db.close()

    def append(self, session_id: str, run_id: str, item: Item) -> None:
        fields = {"kind": item.kind, "text": item.text, "reasoning": item.reasoning, "call_id": item.call_id}
        fields |= {"name": item.name, "state": item.state, "run_id": item.run_id, "cause": item.cause}
        self._db.execute("insert into messages values(?, ?)", (session_id, json.dumps(fields)))

    partial = append
    finish = append

    def read(self, session_id: str) -> Sequence[Item]:
        rows = self._db.execute("select row from messages where session = ? order by rowid", (session_id,))
        return [Item(**json.loads(row)) for (row,) in rows]


def make() -> PlainTable:
    """The factory: journalsim run -a python:tests.adapters.plain_table:make"""
    return PlainTable()
