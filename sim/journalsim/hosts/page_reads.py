"""Reads of a history: its items, the cursor behind it, and the item that a scenario names."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from journalsim.contract.adapters import RunnerAdapter
from journalsim.contract.items import Item
from journalsim.errors import AdapterError

HistoryRead = tuple[tuple[Item, ...], str | None]


async def history_and_cursor(adapter: RunnerAdapter, session: str, wanted: bool) -> tuple[Any, str | None]:
    """Returns a history as the adapter gives it, and its cursor if that is wanted, with nothing between the two.

    Raises:
        AdapterError: the cursor is neither text nor None.
    """
    items = adapter.read(session)
    if inspect.isawaitable(items):
        items = await items
    verb = getattr(adapter, "cursor", None) if wanted else None
    cursor = None if verb is None else verb(session)
    if cursor is not None and not isinstance(cursor, str):
        raise AdapterError(f"cursor returned {cursor!r:.60}, expected text or None: the verb is `def`, and never waits")
    return items, cursor


def item_of(items: Iterable[Item], ref: str) -> Item | None:
    """Returns the item that a scenario calls ``user1`` or ``model.turn2``."""
    listed = list(items)
    if ref.startswith("user") and ref[4:].isdigit():
        users = [item for item in listed if item.kind == "user"]
        return users[int(ref[4:]) - 1] if len(users) >= int(ref[4:]) > 0 else None
    alias = f"msg-{ref.removeprefix('model.')}"
    return next((item for item in listed if alias in item.aliases), None)
