"""How a page on the wire gets its history: it requests it, and displays it when it arrives."""

from __future__ import annotations

from collections.abc import Callable

from journalsim.actors.clients.tab import Tab
from journalsim.actors.page.page_states import Event
from journalsim.actors.programs.profiles import takes_cursor
from journalsim.contract.events.client_events import ClientReloaded
from journalsim.contract.items import Item
from journalsim.scenario.values.moves import Travel


class Histories:
    """The histories of one page.

    Args:
        tab: of the page.
        attach: starts a program with a cursor, or without one.
    """

    def __init__(self, tab: Tab, attach: Callable[[str | None], None]) -> None:
        self._tab = tab
        self._attach = attach
        self._reason = ""  # why the page was opened last

    def open(self, travel: Travel, reason: str, event: Event = "opens") -> None:
        """Requests the history; the page attaches once it is displayed.

        Args:
            travel: what befalls the request.
            reason: why, in a word that the server records.
            event: ``opens``, or ``opens without cursor``.
        """
        self._tab.unseen.runs.clear()
        self._tab.states.take(event)
        self._reason = reason
        self._request(travel, reason, attach=True)

    def read(self) -> None:
        """Requests the history; the program goes on as it was."""
        self._tab.states.take("reads")
        self._request(Travel(), "gap", attach=False)

    def request_again(self) -> None:
        """Repeats a request that died with a server process."""
        states = self._tab.states
        if states.attached and states.opening:
            self._tab.soon(lambda: self.open(Travel(), self._reason))
        elif states.attached and states.reading:
            self._tab.soon(self.read)

    def display(self, items: tuple[Item, ...], cursor: str | None = None, *, attach: bool) -> None:
        """Displays a history that has arrived; it is dropped if the person is away.

        Args:
            items: the history.
            cursor: of a reader who has all of it; None if the server gives none.
            attach: a new program begins to watch.
        """
        tab = self._tab
        if not tab.states.attached:
            return
        keeps = takes_cursor(tab.spec.kind) and tab.states.uses_cursor
        tab.states.take("displays")
        tab.unseen.left = False
        usable = cursor if cursor is not None and keeps else ""
        tab.page.read(items, usable)
        tab.log.record(ClientReloaded(items=items))
        if attach:
            self._attach(usable or None)

    def _request(self, travel: Travel, reason: str, *, attach: bool) -> None:
        tab = self._tab

        def arrive(items: tuple[Item, ...], cursor: str | None) -> None:
            tab.link.answer(lambda: self.display(items, cursor, attach=attach))

        tab.link.request("read", "", travel, lambda: tab.backend.read_with_cursor(tab.session, reason, arrive))
