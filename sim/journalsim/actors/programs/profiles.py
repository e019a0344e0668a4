"""Simulates client programs on a stream that breaks.

Programs differ in their reaction when a stream ends, breaks or is refused, and in the cursor that they then send. Each
difference has lost or duplicated text in some application:

======================  ===========  =============  ====================  ====================  ==========
program                 reattaches   cursor: the    after a clean end     after an error        after 204
                        with         last id …
======================  ===========  =============  ====================  ====================  ==========
``browser``             GET          … dispatched   reconnects            reconnects            gives up
``fetch-sse``           GET          … applied      reconnects, unless the run has ended        gives up
``fetch-event-source``  its first    … seen         gives up              tries again           tries again
                        request
``ai-sdk-ui``           GET          none           counts as finished    reattaches when the   gives up
                                                                          tab is shown
``cli``                 -            as given       gives up              gives up              gives up
``poller``              (polls for the status and then the history; holds no stream)
======================  ===========  =============  ====================  ====================  ==========

``browser`` is EventSource by the standard, 9.2.3 "Processing model", as npm ``eventsource`` 4.1 behaves too;
``fetch-sse`` is the program that a careful author writes by hand over ``fetch``: view and cursor move together;
``ai-sdk-ui`` is ``useChat`` with ``resume`` of ai 7, whose page rebuilds its message from the start at each reattach;
``cli`` reads with httpx-sse. ``fetch-event-source`` and ``poller`` have modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from attrs import frozen

from journalsim.actors.programs.dialects import HttpxSseDecoder
from journalsim.actors.programs.fetch_event_source import FetchEventSource
from journalsim.actors.programs.poller import Poller
from journalsim.actors.programs.program import Ask, Deliver, Effects, GiveUp, HangUp, Program, Reason, Sleep
from journalsim.contract.sse import Decoder, EventTooLargeError, SseEvent

MS = 1_000_000
RETRY_NS = 1000 * MS  # the wait of fetch-event-source; browsers take 3 to 5 seconds

Judgement = Literal["open", "retry", "nothing-there", "refused"]


def is_event_stream(content_type: str) -> bool:
    """Returns True if a ``Content-Type`` names an event stream, whatever its parameters and case."""
    return content_type.partition(";")[0].strip().lower() == "text/event-stream"


def by_the_standard(status: int, content_type: str) -> Judgement:
    """Judges an answer as EventSource does: anything but 200 and an event stream is final."""
    if status == 204:
        return "nothing-there"
    return "open" if status == 200 and is_event_stream(content_type) else "refused"


def retrying_server_errors(status: int, content_type: str) -> Judgement:
    """Judges an answer as a careful program does: by the standard, but an error of the server may pass."""
    return "retry" if status >= 500 else by_the_standard(status, content_type)


def by_status(status: int, content_type: str) -> Judgement:
    """Judges an answer as the AI SDK does: any 2xx is a stream, whatever its content type."""
    if status == 204:
        return "nothing-there"
    return "open" if 200 <= status <= 299 else "refused"


@frozen(kw_only=True)
class Profile:
    """The way in which one program reattaches.

    Attributes:
        judge: judges status and content type.
        decoder: makes a decoder per connection, given the cursor.
        cursor: the last id that it sends: ``dispatched`` or ``applied``; ``given`` only
            ever sends the one that it was started with.
        clean_end: the reaction to a proper end of the stream.
        error: the reaction to an error: ``show`` reattaches the next time that the tab is shown.
        post_streams: the answer to a ``send`` is itself the stream.
        heeds_end: the program does not reconnect after the end of the run.
    """

    judge: Callable[[int, str], Judgement]
    decoder: Callable[[str], Decoder | HttpxSseDecoder]
    cursor: Literal["dispatched", "applied", "given", "none"]
    clean_end: Literal["retry", "ended"]
    error: Literal["retry", "show", "broken"]
    post_streams: bool = True
    heeds_end: bool = False


PROFILES: Mapping[str, Profile] = {
    "browser": Profile(
        judge=by_the_standard,
        decoder=Decoder,
        cursor="dispatched",
        clean_end="retry",
        error="retry",
        post_streams=False,
    ),
    "fetch-sse": Profile(
        judge=retrying_server_errors,
        decoder=Decoder,
        cursor="applied",
        clean_end="retry",
        error="retry",
        heeds_end=True,
    ),
    "ai-sdk-ui": Profile(judge=by_status, decoder=Decoder, cursor="none", clean_end="ended", error="show"),
    "cli": Profile(
        judge=by_the_standard,
        decoder=lambda cursor: HttpxSseDecoder(),
        cursor="given",
        clean_end="ended",
        error="broken",
    ),
}

State = Literal["idle", "connecting", "open", "waiting", "stopped"]
Move = Literal["ask", "open", "wait", "stop"]

# `idle` has sent no request yet; in `waiting` a timer will send one; `stopped` sends one only on command. An `ask`
# while a request is under way hangs that one up first: one reader per view.
TRANSITIONS: Mapping[State, Mapping[Move, State]] = {
    "idle": {"ask": "connecting", "stop": "stopped"},
    "connecting": {"ask": "connecting", "open": "open", "wait": "waiting", "stop": "stopped"},
    "open": {"ask": "connecting", "wait": "waiting", "stop": "stopped"},
    "waiting": {"ask": "connecting", "stop": "stopped"},
    "stopped": {"ask": "connecting", "stop": "stopped"},
}


class StreamProgram:
    """A program that holds one stream at a time and follows a :class:`Profile`.

    Attributes:
        state: a key of :data:`TRANSITIONS`.
    """

    def __init__(self, profile: Profile, *, retry_ns: int = RETRY_NS, cursor: str | None = None) -> None:
        """Opens the program.

        Args:
            profile: its behaviour.
            retry_ns: the wait before a reconnect, nanoseconds, until the server sets another.
            cursor: the last id that an earlier program of the same person stored.
        """
        self.state: State = "idle"
        self._profile = profile
        self._retry_ns = retry_ns
        self._cursor = cursor or ""
        self._decoder = profile.decoder(self._cursor)
        self._numbers = 0
        self._current = 0
        self._timer = 0
        self._run_over = False
        self._ask_when_shown = False

    @property
    def cursor(self) -> str | None:
        """The ``Last-Event-ID`` that a request would carry now."""
        return None if self._profile.cursor == "none" else self._cursor or None

    def attach(self) -> Effects:
        """Requests the stream with a GET."""
        self._run_over = False
        return self._ask()

    def send(self, key: str) -> Effects:
        """Submits a message: as a separate request, or as one whose answer is the stream."""
        self._run_over = False
        if not self._profile.post_streams:
            return (Ask(connection=self._number(), what="send", method="POST", streams=False, key=key),)
        self._cursor = ""  # the cursor belongs to the view of the run before
        return self._ask(key)

    def answered(self, connection: int, status: int, content_type: str = "text/event-stream") -> Effects:
        """Reads on, gives up, or tries again later."""
        if connection != self._current or self.state != "connecting":
            return ()
        judgement = self._profile.judge(status, content_type)
        if judgement in ("open", "nothing-there"):
            self._ask_when_shown = False
        if judgement == "open":
            self._move("open")
            return ()
        after = self._wait() if judgement == "retry" else self._stop(judgement)
        return (HangUp(connection=connection), *after)

    def received(self, connection: int, data: bytes) -> Effects:
        """Hands on every event that the bytes complete."""
        if connection != self._current or self.state != "open":
            return ()
        after: Effects = ()
        try:
            events = self._decoder.feed(data)
        except EventTooLargeError as error:
            events = list(error.events)
            after = (HangUp(connection=connection), *self._stop("broken"))
        if self._profile.cursor == "dispatched":
            self._cursor = self._decoder.last_id_dispatched
        if self._decoder.retry_ms is not None:
            self._retry_ns = self._decoder.retry_ms * MS
        return (*(Deliver(connection=connection, event=event) for event in events), *after)

    def ended(self, connection: int, *, clean: bool) -> Effects:
        """Reconnects, gives up, or waits for the tab to be shown."""
        if connection != self._current or self.state not in ("connecting", "open"):
            return ()
        profile = self._profile
        if profile.heeds_end and self._run_over:
            return self._stop("finished")
        what = profile.clean_end if clean and self.state == "open" else profile.error
        if what == "retry":
            return self._wait()
        self._ask_when_shown = what == "show"
        return self._stop("ended" if what == "ended" else "broken")

    def woke(self, timer: int) -> Effects:
        """Reconnects, if the program still waits for this timer."""
        return self._ask() if timer == self._timer and self.state == "waiting" else ()

    def applied(self, event: SseEvent) -> None:
        """Moves the cursor of a program whose cursor follows its view."""
        if self._profile.cursor == "applied":
            self._cursor = event.last_event_id

    def finished(self) -> None:
        """Remembers the end of the run; most programs ignore it."""
        self._run_over = True

    def hide(self) -> Effects:
        """Does nothing: the stream goes on in the background."""
        return ()

    def show(self) -> Effects:
        """Reattaches after a break, if the program does that."""
        return self.attach() if self._ask_when_shown else ()

    def close(self) -> Effects:
        """Hangs up for good."""
        hung_up = self._hang_up()
        self._ask_when_shown = False
        return (*hung_up, *self._stop("closed"))

    # --- inside

    def _ask(self, key: str | None = None) -> Effects:
        hung_up = self._hang_up()
        self._move("ask")
        self._current = self._number()
        self._decoder = self._profile.decoder(self._cursor)
        if key is None:
            return (*hung_up, Ask(connection=self._current, cursor=self.cursor))
        return (*hung_up, Ask(connection=self._current, what="send", method="POST", key=key))

    def _hang_up(self) -> Effects:
        return (HangUp(connection=self._current),) if self.state in ("connecting", "open") else ()

    def _wait(self) -> Effects:
        self._move("wait")
        self._timer = self._number()
        return (Sleep(timer=self._timer, delay_ns=self._retry_ns),)

    def _stop(self, reason: Reason) -> Effects:
        self._move("stop")
        return (GiveUp(reason=reason),)

    def _move(self, move: Move) -> None:
        self.state = TRANSITIONS[self.state][move]

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers


def takes_cursor(kind: str) -> bool:
    """Returns True if a program can be started with a cursor that its page got with the history.

    ``fetch`` and httpx send any header that they are given; EventSource sends none at first, ``useChat`` never does.
    """
    return kind == "fetch-event-source" or (kind in PROFILES and PROFILES[kind].cursor in ("applied", "given"))


def posts_streams(kind: str) -> bool:
    """Returns whether the answer to a message that this program sends is itself the stream."""
    return kind == "fetch-event-source" or (kind in PROFILES and PROFILES[kind].post_streams)


def program_for(kind: str, *, retry_ns: int = RETRY_NS, cursor: str | None = None) -> Program:
    """Returns a program of this kind, as a scenario names it.

    Args:
        kind: a row of the table at the top of this module.
        retry_ns: the wait before a reconnect, nanoseconds, until the server sets another.
        cursor: the last id that an earlier program of the same person stored; not every kind sends it.

    Raises:
        KeyError: no such kind exists.
    """
    if kind == "fetch-event-source":
        return FetchEventSource(retry_ns=retry_ns, cursor=cursor)
    if kind == "poller":
        return Poller(every_ns=retry_ns)
    return StreamProgram(PROFILES[kind], retry_ns=retry_ns, cursor=cursor)
