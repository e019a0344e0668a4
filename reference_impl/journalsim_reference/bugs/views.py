"""Builds journals whose history and context differ from their rows.

Most bugs of public systems happen on the way into a store. Seen from outside, a bug on the way out looks the same, and
takes a fraction of the code.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from journalsim.contract.items import Item
from journalsim_reference.writer import Writer


class AltersViews(Writer):
    """Passes all items of history and context through one function."""

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return tuple(self.alter(super().shown(session_id)))

    def given(self, session_id: str) -> tuple[Item, ...]:
        return tuple(self.alter(super().given(session_id)))

    @abstractmethod
    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        """Yields the items that replace these items."""


def cut_short(item: Item) -> bool:
    """Returns True if an item is the stored part of an interrupted message, in any form."""
    return item.kind == "assistant" and item.cause is not None


def stop_marker(item: Item) -> bool:
    """Returns True if an item is the marker of a run that a person stopped."""
    return item.kind == "marker" and item.cause == "stopped"
