"""The journal of the shop's chat: rows in memory."""

from collections.abc import Sequence

from journalsim import Capabilities, Item, StoreAdapter
from reference_impl import GREETING


class ChatJournal:
    """Keeps every row of every session, in order."""

    capabilities = Capabilities(level="store", partials=True, tools=True)

    def __init__(self) -> None:
        self.greeting = GREETING
        self._rows: dict[str, list[Item]] = {}

    def open(self, where: str) -> None:
        """Nothing to open: the rows are lost with the process."""

    def close(self) -> None:
        """Nothing to close."""

    def append(self, session_id: str, run_id: str, item: Item) -> None:
        """Adds a row."""
        self._rows.setdefault(session_id, []).append(item)

    partial = append

    def read(self, session_id: str) -> Sequence[Item]:
        """Returns the rows of a session."""
        return tuple(self._rows.get(session_id, ()))


def make() -> StoreAdapter:
    """journalsim run -a python:sim.journal:make"""
    return ChatJournal()
