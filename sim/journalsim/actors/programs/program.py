"""What a client program does, as values, and what may happen to it.

A program is a pure state machine: its methods say what happened and return what
the program does about it.  Whoever runs it makes the requests and sets the
timers.  Every request has a number; what arrives for a request that the program
has hung up, or a timer that no longer counts, is ignored.
"""

from __future__ import annotations

from typing import Literal, Protocol

from attrs import frozen

from journalsim.contract.sse import SseEvent


@frozen(kw_only=True)
class Ask:
    """A request.

    Attributes:
        connection: its number; the answer comes back under it.
        what: ``stream`` attaches; ``send`` submits the person's message; ``history`` and
            ``status`` are what a poller asks for.
        method: GET or POST.
        cursor: value of the ``Last-Event-ID`` header; None sends no such header.
        streams: the program reads the answer as an event stream.
        key: of a ``send``, which message.
        repeated: the program submits a message that it has submitted before.
    """

    connection: int
    what: Literal["stream", "send", "history", "status"] = "stream"
    method: Literal["GET", "POST"] = "GET"
    cursor: str | None = None
    streams: bool = True
    key: str | None = None
    repeated: bool = False


@frozen(kw_only=True)
class HangUp:
    """The program aborts a request, or leaves in the middle of its answer; the server may notice or not."""

    connection: int


@frozen(kw_only=True)
class Deliver:
    """The program hands an event to its page, which calls ``applied`` once its view has it."""

    connection: int
    event: SseEvent


@frozen(kw_only=True)
class Sleep:
    """Somebody has to call ``woke(timer)`` after this time, nanoseconds."""

    timer: int
    delay_ns: int


Reason = Literal["ended", "finished", "nothing-there", "refused", "broken", "closed"]


@frozen(kw_only=True)
class GiveUp:
    """The program will not ask for a stream again by itself.

    ``ended``: the answer ended cleanly; ``finished``: it ended after the end of the run;
    ``nothing-there``: 204; ``refused``: another answer that is no stream; ``broken``: an error;
    ``closed``: the person left.
    """

    reason: Reason


Effect = Ask | HangUp | Deliver | Sleep | GiveUp
Effects = tuple[Effect, ...]


class Program(Protocol):
    """A client program.  Each method returns what the program does, in order."""

    @property
    def cursor(self) -> str | None:
        """What it would send as ``Last-Event-ID`` if it asked now."""
        ...

    def attach(self) -> Effects:
        """The page is opened, or told to watch: it asks for the stream, or for what it uses instead."""
        ...

    def send(self, key: str) -> Effects:
        """The person sends a message."""
        ...

    def answered(self, connection: int, status: int, content_type: str = "text/event-stream") -> Effects:
        """Status and headers of an answer have arrived."""
        ...

    def received(self, connection: int, data: bytes) -> Effects:
        """Bytes of an answer have arrived, cut anywhere."""
        ...

    def ended(self, connection: int, *, clean: bool) -> Effects:
        """An answer is over: at its proper end if ``clean``, else by an error, also before it began."""
        ...

    def woke(self, timer: int) -> Effects:
        """A timer has come due."""
        ...

    def applied(self, event: SseEvent) -> None:
        """The page has put a delivered event into its view."""
        ...

    def finished(self) -> None:
        """The page has learned that the run it watches has ended."""
        ...

    def hide(self) -> Effects:
        """The tab goes into the background."""
        ...

    def show(self) -> Effects:
        """The tab comes back to the front."""
        ...

    def close(self) -> Effects:
        """The person leaves the page."""
        ...
