"""The requests that the program of a page makes, and what becomes of them when there is no server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from attrs import evolve

from journalsim.actors.clients.client import Sent
from journalsim.actors.clients.tab import Tab
from journalsim.actors.programs.program import Ask, Effects
from journalsim.actors.wire.byte_link import ByteLink, Connection
from journalsim.actors.wire.exchange import Exchange
from journalsim.actors.wire.ways import Watch, Way, Ways
from journalsim.contract.events.client_events import Outcome
from journalsim.contract.events.stream_events import StreamAsked, StreamEndless
from journalsim.contract.items import Item
from journalsim.scenario.values.moves import Travel

ENDLESS = 8  # so many connections after the last run has ended, and the page is closed: nothing new will come
CONNECTIONS_MAX = 200  # of one client: a cut at every frame of a long answer needs half of them

Take: TypeAlias = Callable[[Watch, Effects], None]
Display: TypeAlias = Callable[[tuple[Item, ...]], None]


class StartAnswered(Protocol):
    """Takes the answer to a message."""

    def __call__(self, sent: Sent, outcome: Outcome, run: str | None, reason: str) -> None: ...


class Requests:
    """The requests of one client's programs, one connection each.

    Args:
        tab: of the client.
        wire: the way of the streams.
        take: does what a program says.
        answered: takes the answer to a message that was sent with a request for a stream.
        display: displays the history that a poller has read.
    """

    def __init__(self, tab: Tab, wire: ByteLink, take: Take, answered: StartAnswered, display: Display) -> None:
        self._tab = tab
        self._wire = wire
        self._take = take
        self._answered = answered
        self._display = display
        self._ways = Ways(tab.world, tab.spec.name, wire, take)
        self._unserved: list[tuple[Watch, Ask]] = []  # they arrived while no process was up
        self._unanswered: list[tuple[Watch, Ask]] = []  # plain ones that a process has
        self._connections = 0
        self._after_end = 0  # connections since the last run ended

    # --- what a program asks for

    def ask(self, watch: Watch, ask: Ask, travel: Travel) -> None:
        """Makes a request of a program, or closes the program if it asks for ever."""
        tab = self._tab
        if watch.forced:
            ask = evolve(ask, cursor=watch.forced.pop())
        if not self._may_ask():
            after_end = self._after_end if self._after_end > ENDLESS else 0  # 0: our bound on connections, no more
            tab.log.record(StreamEndless(connections=self._connections, after_end=after_end))
            self._take(watch, watch.program.close())
            return
        self._connections += 1
        tab.log.record(
            StreamAsked(what=ask.what, connection=self._connections, cursor=ask.cursor, applied=tab.page.cursor)
        )
        connection = self._wire.connect(tab.world.now_ns())
        if connection is None:
            tab.soon(lambda: self._fail(watch, ask))
        elif ask.streams:
            self._ask_stream(watch, ask, connection, travel)
        else:
            self._ask_plainly(watch, ask)

    def hang_up(self, watch: Watch, connection: int) -> None:
        """Leaves a connection."""
        self._ways.hang_up(watch, connection)

    @property
    def closed_until_ns(self) -> int:
        """When the way to the server is open again, nanoseconds of virtual time."""
        return self._wire.closed_until_ns

    def forgive(self) -> None:
        """Begins to count anew the connections after the last run's end: something new may come."""
        self._after_end = 0

    # --- the server comes and goes

    def server_died(self) -> None:
        """Breaks every connection."""
        self._wire.server_dies(self._tab.world.now_ns())

    def notice_breaks(self, watch: Watch) -> None:
        """Lets the connections of a program learn that they are broken."""
        for number in list(watch.ways):
            self._ways.pump(watch, number)

    def server_is_back(self) -> None:
        """Fails the requests that found no server; a program that asked in between would learn nothing."""
        failed, self._unserved, self._unanswered = [*self._unserved, *self._unanswered], [], []
        for watch, ask in failed:
            self._tab.soon(lambda watch=watch, ask=ask: self._fail(watch, ask))  # type: ignore[misc]  # bound now

    # --- inside

    def _may_ask(self) -> bool:
        if not self._tab.backend.active:
            self._after_end += 1
        return self._after_end <= ENDLESS and self._connections < CONNECTIONS_MAX

    def _fail(self, watch: Watch, ask: Ask) -> None:
        self._take(watch, watch.program.ended(ask.connection, clean=False))

    def _ask_stream(self, watch: Watch, ask: Ask, connection: Connection, travel: Travel) -> None:
        tab, sent = self._tab, self._tab.posts.get(ask.key or "")
        exchange = self._exchange(watch, ask, connection, sent)
        watch.ways[ask.connection] = Way(ask, exchange)
        delivered = False

        def deliver() -> None:
            nonlocal delivered
            if delivered:  # a copy of the request: its answer has no reader
                if sent is not None:
                    tab.backend.start(tab.session, sent.text, sent.key, lambda *_: None)
            elif tab.backend.up:
                delivered = True
                tab.backend.open_stream(exchange)
            else:
                self._unserved.append((watch, ask))

        tab.link.request("attach" if sent is None else "start", ask.key or "", travel, deliver)
        self._ways.pump(watch, ask.connection)

    def _exchange(self, watch: Watch, ask: Ask, connection: Connection, sent: Sent | None) -> Exchange:
        tab = self._tab

        def told(outcome: Outcome, run: str | None, reason: str) -> None:
            if sent is not None:
                tab.link.answer(lambda: self._answered(sent, outcome, run, reason))

        return Exchange(
            client=tab.spec.name,
            session=tab.session,
            number=self._connections,
            cursor=ask.cursor,
            connection=connection,
            key=sent.key if sent else None,
            text=sent.text if sent else "",
            head=lambda status, content_type: self._ways.answered(watch, ask.connection, status, content_type),
            told=told,
            moved=lambda: self._ways.pump(watch, ask.connection),
        )

    def _ask_plainly(self, watch: Watch, ask: Ask) -> None:
        """Asks for the status or the history, whose answers are too short to break."""
        tab = self._tab

        def deliver() -> None:
            if not tab.backend.up:
                self._unserved.append((watch, ask))
                return
            self._unanswered.append((watch, ask))
            if ask.what == "history":
                answer = self._plain_answer
                tab.backend.read(tab.session, "poll", lambda items: answer(watch, ask, lambda: self._display(items)))
            else:
                over = not tab.backend.running(tab.session)
                self._plain_answer(watch, ask, watch.program.finished if over else None)

        tab.link.request(ask.what, "", Travel(), deliver)

    def _plain_answer(self, watch: Watch, ask: Ask, apply: Callable[[], None] | None) -> None:
        self._unanswered.remove((watch, ask))

        def arrive() -> None:
            if apply is not None and watch is self._tab.watch:
                apply()
            self._take(watch, watch.program.ended(ask.connection, clean=True))

        self._tab.link.answer(arrive)
