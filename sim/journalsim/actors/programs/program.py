"""Defines the interface of client programs: their events and, as values, their effects.

A program is a pure state machine: its methods take what happened and return the program's reaction. The caller makes
the requests and sets the timers. Every request has a number; the program ignores data of a request that it has hung
up, and timers that no longer count.
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
            ``status`` are the requests of a poller.
        method: GET or POST.
        cursor: value of the ``Last-Event-ID`` header; None sends no such header.
        streams: the program reads the answer as an event stream.
        key: for a ``send``, the key of the message.
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
    """The caller must call ``woke(timer)`` after this time, nanoseconds."""

    timer: int
    delay_ns: int


Reason = Literal["ended", "finished", "nothing-there", "refused", "broken", "closed"]


@frozen(kw_only=True)
class GiveUp:
    """The program will not request a stream again by itself.

    ``ended``: the answer ended cleanly; ``finished``: it ended after the end of the run; ``nothing-there``: 204;
    ``refused``: another answer that is no stream; ``broken``: an error; ``closed``: the person left.
    """

    reason: Reason


Effect = Ask | HangUp | Deliver | Sleep | GiveUp
Effects = tuple[Effect, ...]


class Program(Protocol):
    """A client program; each method returns the program's effects, in order."""

    @property
    def cursor(self) -> str | None:
        """The ``Last-Event-ID`` that a request would carry now."""
        ...

    def attach(self) -> Effects:
        """Opens the page, or makes it watch: the program requests the stream, or its substitute."""
        ...

    def send(self, key: str) -> Effects:
        """Sends the person's message."""
        ...

    def answered(self, connection: int, status: int, content_type: str = "text/event-stream") -> Effects:
        """Takes status and headers of an answer."""
        ...

    def received(self, connection: int, data: bytes) -> Effects:
        """Takes bytes of an answer, cut anywhere."""
        ...

    def ended(self, connection: int, *, clean: bool) -> Effects:
        """Takes the end of an answer: proper if ``clean``, else an error, also before the answer began."""
        ...

    def woke(self, timer: int) -> Effects:
        """Takes a timer that has come due."""
        ...

    def applied(self, event: SseEvent) -> None:
        """Takes the news that the page has put a delivered event into its view."""
        ...

    def finished(self) -> None:
        """Takes the news that the run which the page watches has ended."""
        ...

    def hide(self) -> Effects:
        """Puts the tab into the background."""
        ...

    def show(self) -> Effects:
        """Brings the tab back to the front."""
        ...

    def close(self) -> Effects:
        """Closes the page."""
        ...
