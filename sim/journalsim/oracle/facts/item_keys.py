"""Single journal items: their state, and keys that identify them across reads."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from journalsim.contract.items import Item

FLAG = "interrupted"
"""The metadata key that some systems use for an interrupted message, in place of the state."""


def as_state(item: Item) -> Item:
    """Returns the item, with the state ``interrupted`` if its metadata has :data:`FLAG`."""
    flagged = item.kind == "assistant" and item.state == "completed" and item.metadata.get(FLAG) is True
    return evolve(item, state="interrupted") if flagged else item


def as_states(items: Iterable[Item]) -> tuple[Item, ...]:
    """Returns the items, each as :func:`as_state` gives it."""
    return tuple(as_state(item) if item.metadata else item for item in items)


def bare(item: Item) -> bool:
    """Returns True if a message has neither text nor reasoning."""
    return not (item.text or item.reasoning)


def key_of(item: Item, ref: str | None) -> str:
    """Returns a key that identifies an item across looks: its message, else its kind with call, run or text."""
    if ref is not None:
        return ref
    if item.kind in ("tool_call", "tool_result"):
        return f"{item.kind} {item.call_id}"
    return f"{item.kind} {item.run_id or item.text}" if item.kind == "marker" else f"{item.kind} {item.text}"
