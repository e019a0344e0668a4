"""Adapters that misbehave, each in one way."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import trio

from journalsim.contract.capabilities import Capabilities
from journalsim.contract.items import Item


class Rows:
    """A store in memory that keeps what it is given."""

    capabilities = Capabilities(level="store")

    def __init__(self) -> None:
        self.rows: list[Item] = []

    def open(self, where: str) -> None:
        self.where = where

    def close(self) -> None:
        self.rows = list(self.rows)

    def append(self, session_id: str, run_id: str, item: Item) -> None:
        self.rows.append(item)

    def read(self, session_id: str) -> Sequence[Item]:
        return list(self.rows)


class Raises(Rows):
    def append(self, session_id: str, run_id: str, item: Item) -> None:
        if item.kind == "assistant":
            raise RuntimeError("the table is\nlocked")
        super().append(session_id, run_id, item)


class RaisesOnOpen(Rows):
    def open(self, where: str) -> None:
        raise OSError("no such database")


class HangsInVirtualTime(Rows):
    async def read(self, session_id: str) -> Sequence[Item]:  # type: ignore[override]
        await trio.sleep_forever()
        return []


class BlocksInRealTime(Rows):
    def append(self, session_id: str, run_id: str, item: Item) -> None:
        time.sleep(30)
        super().append(session_id, run_id, item)


class RollsDice(Rows):
    def append(self, session_id: str, run_id: str, item: Item) -> None:
        super().append(session_id, run_id, item)
        if random.random() < 0.5 and item.kind == "user":
            super().append(session_id, run_id, item)


class Forgets(Rows):
    """Loses every second row: a plain, deterministic bug."""

    def append(self, session_id: str, run_id: str, item: Item) -> None:
        self.count = getattr(self, "count", 0) + 1
        if self.count % 2:
            super().append(session_id, run_id, item)


class NoCapabilities:
    """Not an adapter at all."""


class LacksVerbs:
    capabilities = Capabilities(level="store")


def factory_raises() -> Rows:
    raise ValueError("no licence")


class Exits(Rows):
    def append(self, session_id: str, run_id: str, item: Item) -> None:
        raise SystemExit(3)


class ReadsDicts(Rows):
    def read(self, session_id: str) -> Sequence[Item]:
        return [{"kind": "user", "text": "Hi"}]  # type: ignore[list-item]


class ReadsNone(Rows):
    def read(self, session_id: str) -> Sequence[Item]:
        return [Item(kind="user", text=None)]  # type: ignore[arg-type]
