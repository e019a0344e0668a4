"""One browser tab: what the parts of a client on the wire share, and what follows from it.

The states of the page stand in the tables of :mod:`journalsim.actors.page.page_states`; this module
derives from them what the person sees and what the page does when it hears of a run.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import Factory, define

from journalsim.actors.clients.backend import StreamBackend
from journalsim.actors.clients.client import Sent
from journalsim.actors.clients.client_log import ClientLog
from journalsim.actors.clients.link import Link
from journalsim.actors.page.page import Page
from journalsim.actors.page.page_states import PageStates
from journalsim.actors.page.unseen import Unseen
from journalsim.actors.programs.program import Reason
from journalsim.actors.wire.ways import Watch
from journalsim.contract.events.client_events import ClientView
from journalsim.engine.world import World
from journalsim.scenario.values.cast import ClientSpec

BROKEN: tuple[Reason, ...] = ("broken", "refused")
"""Reasons to give up after which the page displays an error."""


@define(eq=False, kw_only=True)
class Tab:
    """A page, its program, and the states in which they stand.

    Attributes:
        world: the case's world.
        spec: of the client.
        session: that the page displays.
        backend: the server.
        link: takes the requests that are no streams.
        log: of the client.
        page: the rows and the cursor.
        states: of the page.
        unseen: runs and answers that the page has not displayed yet.
        watch: the program and its connections; None while the page has no program.
        watched_run: the run for which the page began to watch when it heard of it; empty for none.
        posts: messages of the person whose answer is a stream, by key.
    """

    world: World
    spec: ClientSpec
    session: str
    backend: StreamBackend
    link: Link
    log: ClientLog
    page: Page = Factory(Page)
    states: PageStates = Factory(PageStates)
    unseen: Unseen = Factory(Unseen)
    watch: Watch | None = None
    watched_run: str = ""
    posts: dict[str, Sent] = Factory(dict)

    @property
    def gave_up(self) -> Reason | None:
        """Why the program gave up; None while it runs, and while there is none."""
        return None if self.watch is None else self.watch.gave_up

    @property
    def unfinished(self) -> bool:
        """The page knows of a run and has not displayed its end."""
        run = self.page.run or self.watched_run
        return bool(run) and run not in self.page.ended

    @property
    def looks_broken(self) -> bool:
        """A person would reload: the page displays an error, or it can no longer learn that its run ended."""
        if self.page.missing:
            return True
        if self.gave_up is None:
            return self.states.opening or (self.states.running and self.unseen.unanswered)
        if self.gave_up in BROKEN or self.states.cut_off:
            return True
        return self.gave_up in ("ended", "closed") and self.unfinished

    def begins_to_watch(self, run: str) -> bool:
        """Returns whether the page, having heard of a run, starts a program for it.

        It does not while it watches an earlier run, nor while the answer to its own message is the stream. A poller
        always does: the status that it asks for may be that of the run before.
        """
        if not self.states.attached or run == self.watched_run or (self.posts and self.states.running):
            return False
        watches_another = self.states.running and self.page.run is not None and self.page.run not in self.page.ended
        return not watches_another or self.spec.kind == "poller"

    def soon(self, step: Callable[[], None]) -> None:
        """Schedules a step for this instant."""
        self.world.scheduler.soon(f"link.{self.spec.name}", step)

    def notice(self) -> None:
        """Lets the person notice whether the page looks broken, in either direction."""
        self.states.take("looks broken" if self.looks_broken else "looks whole")

    def look(self, reason: str) -> None:
        """Records what the page displays, when nothing can happen any more; the person notices if it is broken."""
        if self.looks_broken:
            self.states.take("looks broken")
        page = self.page
        self.log.record(
            ClientView(
                items=page.items,
                cursor=page.cursor,
                reason=reason,
                attached=self.states.attached,
                missing=page.missing,
                watching=self.states.running,
                gave_up=self.gave_up,
                ended=tuple(page.ended),
                session=self.session,
            )
        )
