"""Simulates @microsoft/fetch-event-source 2.0.1, as a pure state machine.

Each of these properties of the library has lost text in some application:

* the id of an event becomes the cursor at its ``id`` line, so a connection that
  breaks before the blank line skips that event;
* a hidden tab aborts the request and a shown tab sends it again, whatever its
  kind: a POST that started a run is submitted a second time;
* hiding does not stop the timer of a reconnect, so hide, wait, show leaves two
  requests under way, and both deliver;
* any answer with the right content type is read, whatever its status; any other,
  204 too, is tried again for ever;
* a clean end is the end, whether or not the run has ended.
"""

from __future__ import annotations

from attrs import evolve

from journalsim.actors.programs.dialects import FetchEventSourceDecoder, timer_ms
from journalsim.actors.programs.program import Ask, Deliver, Effects, GiveUp, HangUp, Sleep
from journalsim.contract.sse import EventTooLargeError, SseEvent

MS = 1_000_000


class FetchEventSource:
    """Simulates one call of ``fetchEventSource`` at a time, with the library's default callbacks."""

    def __init__(self, *, retry_ns: int, cursor: str | None = None) -> None:
        """Opens the program.

        Args:
            retry_ns: the wait before a reconnect, nanoseconds, until the server sets another.
            cursor: the last id that an earlier program of the same person stored.
        """
        self._retry_ns = retry_ns
        self._cursor = cursor or ""
        self._numbers = 0
        self._timer = 0
        self._request: Ask | None = None  # the request that a reconnect sends again; None while no call is under way
        self._reading: dict[int, FetchEventSourceDecoder | None] = {}  # None until the answer is accepted
        self._current = 0
        self._aborted = False

    @property
    def cursor(self) -> str | None:
        """The ``Last-Event-ID`` that a request would carry now."""
        return self._cursor or None

    def attach(self) -> Effects:
        """Begins a call with a GET."""
        return self._call(Ask(connection=0))

    def send(self, key: str) -> Effects:
        """Begins a call with the POST that submits the message."""
        self._cursor = ""  # each call has headers of its own
        return self._call(Ask(connection=0, what="send", method="POST", key=key))

    def answered(self, connection: int, status: int, content_type: str = "text/event-stream") -> Effects:
        """Reads on if the content type is right, and otherwise tries again later."""
        if connection not in self._reading:
            return ()
        if not content_type.startswith("text/event-stream"):
            return self._failed(connection)
        self._reading[connection] = FetchEventSourceDecoder(self._take_id)
        return ()

    def received(self, connection: int, data: bytes) -> Effects:
        """Hands on every event, empty ones too."""
        decoder = self._reading.get(connection)
        if decoder is None:
            return ()
        after: Effects = ()
        try:
            events = decoder.feed(data)
        except EventTooLargeError as error:
            events = list(error.events)
            after = (HangUp(connection=connection), *self._failed(connection))
        if decoder.retry_ms is not None:
            self._retry_ns = timer_ms(decoder.retry_ms) * MS
        return (*(Deliver(connection=connection, event=event) for event in events), *after)

    def ended(self, connection: int, *, clean: bool) -> Effects:
        """Settles the call at a clean end; tries again after an error."""
        if connection not in self._reading:
            return ()
        if not clean or self._reading[connection] is None:
            return self._failed(connection)
        del self._reading[connection]
        return (*self._dispose(), GiveUp(reason="ended"))

    def woke(self, timer: int) -> Effects:
        """Sends the request again, even in a hidden tab."""
        if timer != self._timer:
            return ()
        self._timer = 0
        return self._create()

    def applied(self, event: SseEvent) -> None:
        """Does nothing: the cursor moved at the ``id`` line."""

    def finished(self) -> None:
        """Does nothing."""

    def hide(self) -> Effects:
        """Aborts the request."""
        return self._abort() if self._request is not None else ()

    def show(self) -> Effects:
        """Aborts the request and sends it again."""
        return (*self._abort(), *self._create()) if self._request is not None else ()

    def close(self) -> Effects:
        """Aborts the request and settles the call."""
        return (*self._dispose(), GiveUp(reason="closed"))

    # --- inside

    def _call(self, request: Ask) -> Effects:
        disposed = self._dispose()
        self._reading.clear()
        self._request = request
        return (*disposed, *self._create())

    def _create(self) -> Effects:
        assert self._request is not None
        self._numbers += 1
        self._current = self._numbers
        self._aborted = False
        self._reading[self._current] = None
        ask = evolve(self._request, connection=self._current, cursor=self.cursor)
        self._request = evolve(self._request, repeated=self._request.what == "send")
        return (ask,)

    def _take_id(self, value: str) -> None:
        self._cursor = value

    def _failed(self, connection: int) -> Effects:
        del self._reading[connection]
        if self._aborted:  # of the latest request, whichever this one was
            return ()
        self._numbers += 1
        self._timer = self._numbers
        return (Sleep(timer=self._timer, delay_ns=self._retry_ns),)

    def _abort(self) -> Effects:
        self._aborted = True
        if self._current not in self._reading:
            return ()
        del self._reading[self._current]
        return (HangUp(connection=self._current),)

    def _dispose(self) -> Effects:
        self._request = None
        self._timer = 0
        return self._abort()
