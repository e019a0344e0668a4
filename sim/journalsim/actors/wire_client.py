"""A client that watches over the wire: a program, its page, and the connections between them and the server.

Frames reach this client as bytes.  Its program (:mod:`journalsim.actors.programs.program`) asks for
streams and says what to do when one breaks; its page (:mod:`journalsim.actors.page`) shows what
the program delivers.  What a person does, and requests that are no streams, are those of
:class:`~journalsim.actors.client.Client`.

A page begins to watch when its own message has been accepted, when it hears that a run
has begun in the session that it shows, and when it is opened again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from attrs import evolve

from journalsim.actors.client import Backend, Client, Outcome, Sent
from journalsim.actors.page import Page
from journalsim.actors.programs.profiles import PROFILES, program_for, takes_cursor
from journalsim.actors.programs.program import Ask, Deliver, Effects, GiveUp, HangUp, Reason, Sleep
from journalsim.actors.sent_cursor import sent_for
from journalsim.actors.unseen import Unseen
from journalsim.actors.wire.byte_link import ByteLink, Connection
from journalsim.actors.wire.exchange import Exchange
from journalsim.actors.wire.ways import Watch, Way, Ways
from journalsim.contract.events.client_events import (
    ClientAttached,
    ClientControl,
    ClientDetached,
    ClientDisconnected,
    ClientReloaded,
    ClientSent,
    ClientView,
    ViewAfter,
)
from journalsim.contract.events.harness_events import AdapterRaised
from journalsim.contract.events.stream_events import StreamAsked, StreamEndless, StreamGivenUp
from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.contract.stream_port import Control, decode_event
from journalsim.engine.world import World
from journalsim.errors import AdapterError
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.moves import Step, Travel

ENDLESS = 8  # so many connections after the last run has ended, and the page is closed: nothing new will come
CONNECTIONS_MAX = 200  # of one client: a cut at every frame of a long answer needs half of them
STALE: tuple[Reason, ...] = ("broken", "refused")
"""Reasons after which a person sees that the page is broken, and reloads it."""


Shown = Callable[[tuple[Item, ...], str | None], None]


class StreamBackend(Backend, Protocol):
    """What a client can ask of a server that has streams."""

    @property
    def up(self) -> bool: ...

    @property
    def active(self) -> list[str]: ...

    def running(self, session: str) -> bool: ...

    @property
    def accepted(self) -> Mapping[str, str]: ...

    def open_stream(self, exchange: Exchange) -> None: ...

    def read_with_cursor(self, session: str, reason: str, answer: Shown) -> None: ...


class WireClient(Client):
    """One client whose frames arrive as bytes."""

    def __init__(self, world: World, spec: ClientSpec, session: str, backend: StreamBackend, link: ByteLink) -> None:
        super().__init__(world, spec, session, backend)
        self._streams = backend
        self.page = Page()
        self._wire = link
        self._ways = Ways(world, spec.name, link, self._take)
        self._watch: Watch | None = None
        self._held: list[tuple[Watch, Ask]] = []
        self._awaited: list[tuple[Watch, Ask]] = []  # plain requests that a process has, and has not answered
        self._numbers = 0
        self._after_end = 0
        self._watched_for = ""
        self._unseen = Unseen()
        self._busy = False  # its program asked again and again, until the harness closed it
        self._opening = ""
        self._reading = False
        self._forgetful = False  # the next history is shown without its cursor
        self._sends: dict[str, Sent] = {}

    # --- what the person does

    def _submit(self, sent: Sent, step: Step) -> None:
        if not _posts_streams(self._spec.kind):
            super()._submit(sent, step)
            return
        point = self._before(step.verb)
        self._record(ClientSent(key=sent.key, text=sent.text, session=self.session, label=sent.label))
        self._sends[sent.key] = sent
        watching = self._watch is not None and self._watch.gave_up is None
        self._unseen.post(sent.key, leaves=watching or self._unfinished)
        watch = self._new_watch()
        self._take(watch, watch.program.send(sent.key), step.travel)
        self._world.passed(f"{point}.after")

    def _reload(self, step: Step) -> None:
        point = self._before("reload")
        self.attached = self.connected = True
        self._leave()
        self._open(step.travel, "reload")
        self._world.passed(f"{point}.after")

    def detach(self, step: Step) -> None:
        """The program stops watching; the page stays as it is."""
        if self.attached:
            self._go_away()

    def attach(self, step: Step) -> None:
        """The program begins to watch again: from where its page is, or with a cursor that the step gives."""
        self.attached = self.connected = True
        self._record(ClientAttached())
        if step.cursor is None:
            self._attach(self.page.cursor or None)
        else:
            self._attach_with(step)

    def hide(self, step: Step) -> None:
        """The tab goes into the background."""
        if self._watch is not None:
            self._take(self._watch, self._watch.program.hide())

    def show(self, step: Step) -> None:
        """The tab comes back to the front."""
        if self._watch is not None:
            self._take(self._watch, self._watch.program.show())

    def switch(self, step: Step) -> None:
        """The person looks at another session, and comes back: view and cursor are dropped together."""
        point = self._before("switch")
        self._go_away()
        self.page.read(())

        def back() -> None:
            self.attached = True
            self._record(ClientAttached())
            self._open(Travel(), "reload")

        self._world.scheduler.after(step.away_ns, f"person.{self.name}", back)
        self._world.passed(f"{point}.after")

    # --- the connection to a server that comes and goes

    def frame(self, frame: Frame) -> None:
        """Does nothing: frames come over the wire."""

    def run_began(self, run: str) -> None:
        """Somebody's message was accepted in the session that the page shows."""
        self._after_end = 0
        self._link.answer(lambda: self._watch_if_idle(run))

    def lose_connection(self) -> None:
        """The server went away under every open connection."""
        self._wire.server_dies(self._world.now_ns())
        watch = self._watch
        if watch is None:
            return
        if self.connected and self.attached and watch.ways:
            self._record(ClientDisconnected())
        for number in list(watch.ways):
            self._ways.pump(watch, number)

    def server_is_back(self) -> None:
        """Requests that found no server fail now: nobody learns anything from asking in between."""
        if self._opening and self.attached:
            self._soon(lambda: self._open(Travel(), self._opening))
        elif self._reading and self.attached:
            self._soon(self._read_again)
        held, self._held, self._awaited = [*self._held, *self._awaited], [], []
        for watch, ask in held:
            self._soon(lambda watch=watch, ask=ask: self._take(watch, watch.program.ended(ask.connection, clean=False)))

    def _stale(self) -> bool:
        """Whether a person sees that the page is broken, or will never show the end of its run."""
        watch, page = self._watch, self.page
        if watch is None or watch.gave_up is None:
            return page.missing or bool(self._opening) or (watch is not None and self._unseen.unanswered)
        over = watch.gave_up in ("ended", "closed")
        return page.missing or self._busy or watch.gave_up in STALE or (over and self._unfinished)

    @property
    def _unfinished(self) -> bool:
        run = self.page.run or self._watched_for
        return bool(run) and run not in self.page.ended

    def reattach(self) -> None:
        """The person sees that the page is broken, and reloads it."""
        self.connected = True
        self._after_end = 0
        if self.attached:
            self._record(ClientAttached())
            self._sends.clear()
            self._unseen.reload()
            self._leave()
            self._open(Travel(), "reattach")

    # --- watching

    def _new_watch(self, cursor: str | None = None) -> Watch:
        self._leave()
        program = program_for(self._spec.kind, retry_ns=self._spec.retry_ns, cursor=cursor)
        self._watch = watch = Watch(program)
        return watch

    def _attach(self, cursor: str | None) -> None:
        watch = self._new_watch(cursor)
        self._take(watch, watch.program.attach())

    def _attach_with(self, step: Step) -> None:
        assert step.cursor is not None
        cursor = sent_for(step.cursor, self.page, self.session, self._streams.accepted)
        if cursor is None:  # as a page that is opened now, by a program that keeps no cursor
            self._forgetful = True
            self._open(Travel(), "attach")
            return
        if cursor != self.page.cursor:
            self.page.go_back(cursor)
        watch = self._new_watch(cursor)
        watch.forced.append(cursor)
        self._take(watch, watch.program.attach())

    def _watch_if_idle(self, run: str) -> None:
        """Begins to watch a run unless the page does, or still watches an earlier one."""
        watch = self._watch
        idle = watch is None or watch.gave_up is not None or self.page.run is None or self.page.run in self.page.ended
        idle = idle or self._spec.kind == "poller"  # what it asks may be answered with the end of the run before
        sends = self._sends and watch is not None and watch.gave_up is None  # the answer to its own POST is the stream
        if self.attached and idle and not sends and run != self._watched_for:
            self._watched_for = run
            if self._stale():
                self.reattach()
            else:
                self._attach(None)
        else:
            self._unseen.began(run)

    def _go_away(self) -> None:
        self.attached = False
        self._opening, self._reading = "", False  # the history that it asked for comes to nobody
        self._record(ClientDetached())
        self._leave()

    def _leave(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            self._take(watch, watch.program.close())

    def _open(self, travel: Travel, reason: str) -> None:
        """The page is opened: it asks for the history, and once it shows that, it attaches."""
        self._unseen.runs.clear()

        def shown(items: tuple[Item, ...], cursor: str | None) -> None:
            self._link.answer(lambda: self._show(items, cursor, attach=True))

        self._opening = reason
        self._link.request("read", "", travel, lambda: self._streams.read_with_cursor(self.session, reason, shown))

    def _read_again(self) -> None:
        """The page asks for the history and goes on watching."""
        self._reading = True

        def shown(items: tuple[Item, ...], cursor: str | None) -> None:
            self._link.answer(lambda: self._show(items, cursor, attach=False))

        self._link.request("read", "", Travel(), lambda: self._streams.read_with_cursor(self.session, "gap", shown))

    def _show(self, items: tuple[Item, ...], cursor: str | None = None, *, attach: bool) -> None:
        if not self.attached:
            return
        self._opening, self._reading, self._busy, self._unseen.left = "", False, False, False
        keeps = takes_cursor(self._spec.kind) and not self._forgetful
        self._forgetful = False
        usable = cursor if cursor is not None and keeps else ""
        self.page.read(items, usable)
        self._record(ClientReloaded(items=items))
        if attach:
            self._attach(usable or None)

    def _told_start(self, sent: Sent, outcome: Outcome, run: str | None, reason: str) -> None:
        super()._told_start(sent, outcome, run, reason)
        self._unseen.answer(sent.key)
        if run is not None:
            self.page.run = run
            self._watch_if_idle(run)

    # --- what the program does

    def _take(self, watch: Watch, effects: Effects, travel: Travel | None = None) -> None:
        for effect in effects:
            if isinstance(effect, Ask):
                self._ask(watch, effect, travel or Travel())
            elif isinstance(effect, HangUp):
                self._ways.hang_up(watch, effect.connection)
            elif isinstance(effect, Deliver):
                self._apply_event(watch, effect)
            elif isinstance(effect, Sleep):
                self._sleep(watch, effect)
            else:
                self._give_up(watch, effect)

    def _ask(self, watch: Watch, ask: Ask, travel: Travel) -> None:
        if watch.forced:
            ask = evolve(ask, cursor=watch.forced.pop())
        if not self._may_ask():
            after_end = self._after_end if self._after_end > ENDLESS else 0  # 0: our bound on connections, no more
            self._record(StreamEndless(connections=self._numbers, after_end=after_end))
            self._busy = True
            self._take(watch, watch.program.close())
            return
        self._numbers += 1
        self._record(StreamAsked(what=ask.what, connection=self._numbers, cursor=ask.cursor, applied=self.page.cursor))
        connection = self._wire.connect(self._world.now_ns())
        if connection is None:
            self._soon(lambda: self._refused(watch, ask))
        elif ask.streams:
            self._ask_stream(watch, ask, connection, travel)
        else:
            self._ask_plainly(watch, ask)

    def _may_ask(self) -> bool:
        if not self._streams.active:
            self._after_end += 1
        return self._after_end <= ENDLESS and self._numbers < CONNECTIONS_MAX

    def _refused(self, watch: Watch, ask: Ask) -> None:
        """The way is down: the program learns it at once, and its next try waits until the way is back."""
        self._take(watch, watch.program.ended(ask.connection, clean=False))

    def _ask_stream(self, watch: Watch, ask: Ask, connection: Connection, travel: Travel) -> None:
        sent = self._sends.get(ask.key or "")
        exchange = Exchange(
            client=self.name,
            session=self.session,
            number=self._numbers,
            cursor=ask.cursor,
            connection=connection,
            key=sent.key if sent else None,
            text=sent.text if sent else "",
            head=lambda status, content_type: self._ways.answered(watch, ask.connection, status, content_type),
            told=lambda *what: self._link.answer(lambda: self._told_start(sent, *what)) if sent else None,
            moved=lambda: self._ways.pump(watch, ask.connection),
        )
        watch.ways[ask.connection] = Way(ask, exchange)

        delivered = False

        def deliver() -> None:
            nonlocal delivered
            if delivered:  # a copy of the request: nobody reads its answer
                if sent is not None:
                    self._backend.start(self.session, sent.text, sent.key, lambda *_: None)
            elif self._streams.up:
                delivered = True
                self._streams.open_stream(exchange)
            else:
                self._held.append((watch, ask))

        self._link.request("attach" if sent is None else "start", ask.key or "", travel, deliver)
        self._ways.pump(watch, ask.connection)

    def _ask_plainly(self, watch: Watch, ask: Ask) -> None:
        """Asks for the status or the history, whose answers are too short to break."""

        def ended(apply: Any = None) -> None:
            self._awaited.remove((watch, ask))

            def arrive() -> None:
                if apply is not None and watch is self._watch:
                    apply()
                self._take(watch, watch.program.ended(ask.connection, clean=True))

            self._link.answer(arrive)

        def deliver() -> None:
            if not self._streams.up:
                self._held.append((watch, ask))
                return
            self._awaited.append((watch, ask))
            if ask.what == "history":
                self._backend.read(self.session, "poll", lambda items: ended(lambda: self._show(items, attach=False)))
            else:
                over = not self._streams.running(self.session)
                ended(watch.program.finished if over else None)

        self._link.request(ask.what, "", Travel(), deliver)

    def _sleep(self, watch: Watch, sleep: Sleep) -> None:
        world = self._world
        wait_ns = max(sleep.delay_ns, self._wire.closed_until_ns - world.now_ns())
        world.scheduler.after(
            wait_ns, f"person.{self.name}", lambda: self._take(watch, watch.program.woke(sleep.timer))
        )

    def _give_up(self, watch: Watch, effect: GiveUp) -> None:
        watch.gave_up = effect.reason
        if effect.reason == "closed":
            return
        self._record(StreamGivenUp(reason=effect.reason))
        if watch is not self._watch:
            return
        self.connected = not self._stale()
        if effect.reason not in STALE and self._unseen.runs and self.attached:
            self._open(Travel(), "gap")  # something began that no stream has told of
        elif (effect.reason == "nothing-there" or self._unseen.left) and self.attached:
            self._read_again()

    # --- what arrives

    def _apply_event(self, watch: Watch, deliver: Deliver) -> None:
        if watch is not self._watch:
            return
        try:
            told = decode_event(deliver.event)
        except AdapterError as error:
            self._record(AdapterRaised(verb="attach", error=str(error)))
            return
        if isinstance(told, Frame):
            if not self._apply_frame(watch, told, deliver.event.id):
                return
            watch.program.applied(deliver.event)
            if told.kind == "run.ended":
                watch.program.finished()
        elif told is not None:
            self._apply_control(told, watch.ways[deliver.connection].ask.cursor)

    def _apply_control(self, control: Control, sent: str | None) -> None:
        self._record(
            ClientControl(
                run=control.run_id,
                control=control.kind,
                attachment=control.attachment,
                whole_turn=control.whole_turn,
                message=control.message_id,
                reason=control.reason,
                sent=sent,
            )
        )
        self._unseen.hear(control.run_id)
        then = self.page.control(control, sent)
        if then == "read":
            self._read_again()
        elif then == "reopen" and not self._opening:
            self._leave()
            self._open(Travel(), "gap")

    def _apply_frame(self, watch: Watch, frame: Frame, event_id: str | None) -> bool:
        """Shows a frame; False if the person has left the page at the last moment."""
        point = self._before("apply")
        if watch is not self._watch:
            self._world.passed(f"{point}.after")
            return False
        self._learn(frame)
        self._unseen.hear(frame.run_id)
        shown = self.page.frame(frame, event_id)
        text, reasoning = (None, None) if shown is None else (shown.text, shown.reasoning)
        self._record_applied(frame, event_id, ViewAfter(self.page.cursor, text, reasoning))
        self._world.passed(f"{point}.after")
        return True

    def look(self, reason: str) -> None:
        """Records what the page shows."""
        watch = self._watch
        self.connected = self.connected and not self._stale()
        self._record(
            ClientView(
                items=self.page.items,
                cursor=self.page.cursor,
                reason=reason,
                attached=self.attached,
                missing=self.page.missing,
                watching=watch is not None and watch.gave_up is None,
                gave_up=watch.gave_up if watch is not None else None,
                ended=tuple(self.page.ended),
                session=self.session,
            )
        )

    def _soon(self, step: Any) -> None:
        self._world.scheduler.soon(f"link.{self.name}", step)


def _posts_streams(kind: str) -> bool:
    return kind == "fetch-event-source" or (kind in PROFILES and PROFILES[kind].post_streams)
