"""Checks the values that an adapter returns against the protocol."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from journalsim.contract.items import Item, ItemKind
from journalsim.errors import AdapterError

STOP_ANSWERS = ("stopping", "ended", "unknown")


def checked_items(verb: str, items: Any) -> tuple[Item, ...]:
    """Returns the result of a verb as items.

    Raises:
        AdapterError: the result is no sequence of items; the message states what was expected.
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


def checked_run(run: Any) -> str:
    """Returns what ``start`` returned.

    Raises:
        AdapterError: it is no text, or an empty one.
    """
    if not isinstance(run, str) or not run:
        raise AdapterError(f"start returned {run!r}, expected the id of the run as text")
    return run


def checked_stop_answer(said: Any) -> str:
    """Returns the result of ``stop``.

    Raises:
        AdapterError: the result is not one of :data:`STOP_ANSWERS`.
    """
    if said not in STOP_ANSWERS:
        raise AdapterError(f"stop returned {said!r}, expected {', '.join(STOP_ANSWERS)}")
    return str(said)
