"""What an adapter returns, held against what the protocol says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from journalsim.adapters.protocol import Item, ItemKind
from journalsim.errors import AdapterError


def checked_items(verb: str, items: Any) -> tuple[Item, ...]:
    """Returns what a verb gave as items.

    Raises:
        AdapterError: it is something else; the message says what was expected.
    """
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise AdapterError(f"{verb} returned {type(items).__name__}, expected a sequence of Item")
    listed = tuple(items)
    for position, item in enumerate(listed):
        if not isinstance(item, Item):
            raise AdapterError(f"{verb} returned {type(item).__name__} at position {position}, expected an Item")
        texts = {"text": item.text, "reasoning": item.reasoning, "arguments": item.arguments}
        wrong = [name for name, value in texts.items() if not isinstance(value, str)]
        if wrong or item.kind not in get_args(ItemKind):
            what = f"{wrong[0]} {texts[wrong[0]]!r}, expected text" if wrong else f"kind {item.kind!r}"
            raise AdapterError(f"{verb} returned an Item with {what} at position {position}")
    return listed
