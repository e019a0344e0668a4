"""A client on the wire: a page, a program that watches, and the connections between them and the server.

Frames reach this client as bytes.  Its program (:mod:`journalsim.actors.programs.program`) asks for
streams and says what to do when one breaks; its page (:mod:`journalsim.actors.page.page`) displays what
the program delivers.  Requests that are no streams are those of :class:`~journalsim.actors.clients.client.Client`.

The page begins to watch when its own message has been accepted, when it hears that a run
has begun in the session that it displays, and when it is opened again.

The parts, by subject: what the person does and what reaches the client from the server (this module); the
states and what follows from them (:mod:`.tab`); programs (:mod:`.watching`) and their requests
(:mod:`.requests`); histories (:mod:`.histories`); the events of a stream (:mod:`.arrivals`).
"""

from __future__ import annotations

from journalsim.actors.clients.arrivals import Arrivals
from journalsim.actors.clients.asking import Requests
from journalsim.actors.clients.backend import StreamBackend
from journalsim.actors.clients.client import Client, Sent
from journalsim.actors.clients.histories import Histories
from journalsim.actors.clients.tab import Tab
from journalsim.actors.clients.watching import Watching
from journalsim.actors.page.sent_cursor import sent_for
from journalsim.actors.programs.profiles import posts_streams
from journalsim.actors.programs.program import Effects
from journalsim.actors.wire.byte_link import ByteLink
from journalsim.actors.wire.ways import Watch
from journalsim.contract.events.client_events import (
    ClientAttached,
    ClientDetached,
    ClientDisconnected,
    Outcome,
)
from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.engine.world import World
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.moves import Step, Travel


class WireClient(Client):
    """One client whose frames arrive as bytes."""

    def __init__(self, world: World, spec: ClientSpec, session: str, backend: StreamBackend, wire: ByteLink) -> None:
        super().__init__(world, spec, session, backend)
        self._tab = tab = Tab(world=world, spec=spec, session=session, backend=backend, link=self._link, log=self._log)
        self._histories = Histories(tab, self._attach)
        self._requests = Requests(tab, wire, self._take, self._start_answered, self._display)
        self._arrivals = Arrivals(tab, self._histories, self._close, self._learn)
        self._watching = Watching(tab, self._histories, self._requests, self._arrivals.event)

    # --- what the person does

    def _post(self, sent: Sent, step: Step) -> None:
        if not posts_streams(self._spec.kind):
            super()._post(sent, step)
            return
        tab = self._tab
        tab.posts[sent.key] = sent
        tab.unseen.post(sent.key, leaves=tab.states.running or tab.unfinished)
        watch = self._watching.start()
        self._watching.take(watch, watch.program.send(sent.key), step.travel)

    def _reload(self, step: Step) -> None:
        self._tab.states.take("reloads")
        self._watching.close()
        self._histories.open(step.travel, "reload")

    def detach(self, step: Step) -> None:
        """The program stops watching; the page stays as it is."""
        if self._tab.states.attached:
            self._leave()

    def attach(self, step: Step) -> None:
        """The program begins to watch again: from where its page is, or with a cursor that the step gives."""
        tab = self._tab
        tab.states.take("reloads")
        self._log.record(ClientAttached())
        if step.cursor is None:
            self._attach(tab.page.cursor or None)
            return
        cursor = sent_for(step.cursor, tab.page, self.session, tab.backend.accepted)
        if cursor is None:  # as a page that is opened now, by a program that keeps no cursor
            self._histories.open(Travel(), "attach", "opens without cursor")
            return
        if cursor != tab.page.cursor:
            tab.page.go_back(cursor)
        self._watching.attach_with(cursor)

    def hide(self, step: Step) -> None:
        """The tab goes into the background."""
        watch = self._tab.watch
        if watch is not None:
            self._take(watch, watch.program.hide())

    def show(self, step: Step) -> None:
        """The tab comes back to the front."""
        watch = self._tab.watch
        if watch is not None:
            self._take(watch, watch.program.show())

    def switch(self, step: Step) -> None:
        """The person looks at another session, and comes back: view and cursor are dropped together."""

        def back() -> None:
            self._tab.states.take("returns")
            self._log.record(ClientAttached())
            self._histories.open(Travel(), "reload")

        with self._log.act("switch"):
            self._leave()
            self._tab.page.read(())
            self._world.scheduler.after(step.away_ns, f"person.{self.name}", back)

    def look(self, reason: str) -> None:
        """Records what the page displays."""
        self._tab.look(reason)

    # --- the server comes and goes

    @property
    def connected(self) -> bool:
        """Returns False while the person sees that the page is broken and has not reloaded it."""
        return self._tab.states.connected

    def lose_connection(self) -> None:
        """Breaks every open connection."""
        self._requests.server_died()
        watch, states = self._tab.watch, self._tab.states
        if watch is None:
            return
        if states.connected and states.attached and watch.ways:
            self._log.record(ClientDisconnected())
        self._requests.notice_breaks(watch)

    def server_is_back(self) -> None:
        """Repeats the request for the history, and lets requests fail that found no server."""
        self._histories.request_again()
        self._requests.server_is_back()

    def reattach(self) -> None:
        """The person sees that the page is broken, and reloads it."""
        tab = self._tab
        tab.states.take("looks whole")
        self._requests.forgive()
        if tab.states.attached:
            self._log.record(ClientAttached())
            tab.posts.clear()
            tab.unseen.reload()
            self._watching.close()
            self._histories.open(Travel(), "reattach")

    # --- what reaches the client

    def frame(self, frame: Frame) -> None:
        """Does nothing: frames come over the wire."""

    def run_began(self, run: str) -> None:
        """Tells the page, after the latency of its link, that a message was accepted in its session."""
        self._requests.forgive()
        self._link.answer(lambda: self._hear_of(run))

    def _start_answered(self, sent: Sent, outcome: Outcome, run: str | None, reason: str) -> None:
        super()._start_answered(sent, outcome, run, reason)
        self._tab.unseen.answer(sent.key)
        if run is not None:
            self._tab.page.run = run
            self._hear_of(run)

    def _hear_of(self, run: str) -> None:
        tab = self._tab
        if not tab.begins_to_watch(run):
            tab.unseen.began(run)
            return
        tab.watched_run = run
        if tab.looks_broken:
            self.reattach()
        else:
            self._attach(None)

    # --- inside

    def _leave(self) -> None:
        self._tab.states.take("leaves")
        self._log.record(ClientDetached())
        self._watching.close()

    def _attach(self, cursor: str | None) -> None:
        self._watching.attach(cursor)

    def _close(self) -> None:
        self._watching.close()

    def _take(self, watch: Watch, effects: Effects) -> None:
        self._watching.take(watch, effects)

    def _display(self, items: tuple[Item, ...]) -> None:
        self._histories.display(items, attach=False)
