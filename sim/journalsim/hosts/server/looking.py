"""Looks at what a system holds: histories, for pages and for the harness; contexts; sizes of the partial cache."""

from __future__ import annotations

from collections.abc import Iterable

from journalsim.actors.clients.backend import ShowHistory
from journalsim.contract.events.journal_events import JournalContext, JournalRead, RecoveryRead
from journalsim.contract.items import Item
from journalsim.engine.world import World
from journalsim.hosts.checks import checked_items
from journalsim.hosts.page_reads import HistoryRead, history_and_cursor
from journalsim.hosts.server.lives import Lives
from journalsim.hosts.server.verbs import Verbs


class Looking:
    """The looks at one server; each is recorded.

    Args:
        world: the case's world.
        lives: of the server.
        verbs: calls its adapter.
    """

    def __init__(self, world: World, lives: Lives, verbs: Verbs) -> None:
        self._world = world
        self._lives = lives
        self._verbs = verbs
        self._recoveries = 0

    async def read(self, session: str, reason: str, *, with_cursor: bool = False) -> HistoryRead | None:
        """Returns the history of a session, and its cursor if that is wanted.

        Returns:
            None if no process answers, or if the adapter raised.
        """
        adapter = self._lives.adapter
        if adapter is None:
            return None
        begun = len(self._world.events)
        try:
            said, cursor = await self._verbs.attempt("read", history_and_cursor, adapter, session, with_cursor)
            items = checked_items("read", said)
        except Exception as error:
            self._verbs.raised("read", error)
            return None
        since = None
        if begun < len(self._world.events):
            since = begun  # the read may show what happened in between, or not
        self._world.record(
            "journal", JournalRead(items=items, reason=reason, session=session, cursor=cursor, since=since)
        )
        return items, cursor

    async def read_items(self, session: str, reason: str) -> tuple[Item, ...] | None:
        """Returns the history of a session; None if no process answers, or if the adapter raised."""
        read = await self.read(session, reason)
        return None if read is None else read[0]

    def serve(self, session: str, reason: str, answer: ShowHistory, *, with_cursor: bool) -> None:
        """Answers a page's request for the history; without a process there is no answer."""

        async def work() -> None:
            read = await self.read(session, reason, with_cursor=with_cursor)
            if read is not None:
                answer(*read)

        if self._lives.process is not None:
            self._lives.process.spawn("serve.read", work)

    async def context(self, session: str) -> None:
        """Records what the model would be given next, if the adapter can say."""
        context = getattr(self._lives.adapter, "context", None)
        if context is not None:
            try:
                items = checked_items("context", await self._verbs.attempt("context", context, session))
            except Exception as error:
                self._verbs.raised("context", error)
                return
            self._world.record("journal", JournalContext(items=items, session=session))

    async def recovered(self, sessions: Iterable[str]) -> None:
        """Kills the process at rest, starts it again, and records the history of each session then.

        Raises:
            AdapterError: ``read`` returned something else.
        """
        self._recoveries += 1
        adapter = await self._lives.start_again_unseen()
        if adapter is not None:
            for session in sessions:
                items = checked_items("read", await self._verbs.attempt("read", adapter.read, session))
                self._world.record("journal", RecoveryRead(items=items, session=session, times=self._recoveries))

    async def statistics(self, *, quiet: bool) -> None:
        """Records the sizes of the partial cache, if the adapter can say.

        Args:
            quiet: no run is active.
        """
        try:
            await self._lives.cache.take(self._lives.adapter, quiet=quiet)
        except Exception as error:
            self._verbs.raised("statistics", error)
