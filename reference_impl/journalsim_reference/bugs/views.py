"""Journals that tell people and the model something else than their rows say.

Most mistakes of others are made on the way into a store.  Seen from outside it is
the same to make them on the way out, and takes a fraction of the code.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from journalsim.contract.items import Item
from journalsim_reference.writer import Writer


class Retells(Writer):
    """Passes everything that is shown or given through one function."""

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return tuple(self.retell(super().shown(session_id)))

    def given(self, session_id: str) -> tuple[Item, ...]:
        return tuple(self.retell(super().given(session_id)))

    @abstractmethod
    def retell(self, items: tuple[Item, ...]) -> Iterator[Item]:
        """Yields what is said in the place of these items."""


def cut_short(item: Item) -> bool:
    """Whether an item is what an interruption kept of a message, in whichever form."""
    return item.kind == "assistant" and item.cause is not None


def stop_marker(item: Item) -> bool:
    """Whether an item is the marker of a run that a person stopped."""
    return item.kind == "marker" and item.cause == "stopped"
