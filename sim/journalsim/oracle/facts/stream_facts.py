"""What a history says about streams: connections, the events that were written to them, and pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attrs import define, field, frozen

from journalsim.contract.events.client_events import ClientView
from journalsim.contract.events.server_events import FramePublished
from journalsim.contract.events.stream_events import LinkBroke, StreamAnswered, StreamAsked, StreamClosed, StreamSent
from journalsim.contract.frames import Frame
from journalsim.contract.sse import Decoder, EventTooLargeError, SseEvent
from journalsim.contract.stream_port import Control, decode_event
from journalsim.errors import AdapterError
from journalsim.history import EventOf, History
from journalsim.oracle.facts.facts import Facts

STALE = ("broken", "refused")
"""Why a program gave up, where its person sees that the page is broken."""

_ID = re.compile(r"(.+):([0-9]+)(?:\.([0-9]+))?")


def claimed(history: History) -> str:
    """Says why streams are not judged."""
    return "" if history.capabilities.replay != "none" else "the adapter does not declare replay"


@frozen
class SentEvent:
    """One event that the server wrote.

    Attributes:
        position: in the history, of the piece that completed it.
        event: as the standard reads it.
        means: frame or control event; None if it is neither.
        error: why its data cannot be read; empty if it can.
    """

    position: int
    event: SseEvent
    means: Frame | Control | None
    error: str = ""


@define
class Connection:
    """One connection of one client.

    Attributes:
        client: whose.
        number: of the client's.
        asked: the program's request.
        answered: status and headers; None if there was no answer.
        closed: the server was done with it; None if it never was.
        sent: the events that the server wrote.
        inside: the server left off in the middle of an event.
        too_large: an event was larger than any reader takes.
        cut: a fault of the link happened to it.
    """

    client: str
    number: int
    asked: EventOf[StreamAsked] | None = None
    answered: EventOf[StreamAnswered] | None = None
    closed: EventOf[StreamClosed] | None = None
    sent: list[SentEvent] = field(factory=list)
    inside: bool = False
    too_large: bool = False
    cut: bool = False
    _decoder: Decoder = field(factory=Decoder)

    @property
    def opened(self) -> Control | None:
        """How the server said that it understood the cursor."""
        first = self.sent[0].means if self.sent else None
        return first if isinstance(first, Control) and first.kind == "stream.open" else None

    @property
    def gap(self) -> bool:
        """Whether the server declared that something is missing."""
        controls = [told.means for told in self.sent if isinstance(told.means, Control)]
        return any(control.kind == "stream.gap" or control.attachment == "gap" for control in controls)

    def write(self, event: EventOf[StreamSent]) -> None:
        """Adds a piece of the body."""
        try:
            events = self._decoder.feed(event.data.data.encode("utf-8", "surrogateescape"))
        except EventTooLargeError as error:
            events, self.too_large = list(error.events), True
        self.sent += [_sent_event(event.position, one) for one in events]
        self.inside = self._decoder.inside_event


def _sent_event(position: int, event: SseEvent) -> SentEvent:
    try:
        return SentEvent(position, event, decode_event(event))
    except AdapterError as error:
        return SentEvent(position, event, None, str(error))


def connections(facts: Facts) -> Sequence[Connection]:
    """Returns the connections for which a stream was asked, in order."""
    found: dict[tuple[str, int], Connection] = {}

    def of(client: str, number: int) -> Connection:
        return found.setdefault((client, number), Connection(client, number))

    for asked in facts.of(StreamAsked):
        of(asked.actor, asked.data.connection).asked = asked
    for answered in facts.of(StreamAnswered):
        of(answered.data.client, answered.data.connection).answered = answered
    for sent in facts.of(StreamSent):
        of(sent.data.client, sent.data.connection).write(sent)
    for closed in facts.of(StreamClosed):
        of(closed.data.client, closed.data.connection).closed = closed
    for broke in facts.of(LinkBroke):
        of(broke.actor, broke.data.connection).cut = True
    return tuple(found.values())


def views(facts: Facts) -> Mapping[str, Sequence[EventOf[ClientView]]]:
    """Returns what each page showed once nothing could happen any more, and after it was healed."""
    found: dict[str, list[EventOf[ClientView]]] = {}
    for event in facts.of(ClientView):
        found.setdefault(event.actor, []).append(event)
    return found


def settled_view(shown: Sequence[EventOf[ClientView]]) -> EventOf[ClientView] | None:
    """Returns the view that must be right by now; None if its person would not believe it.

    A page whose program broke shows that, and its person reloads it; after that it counts.
    """
    last = shown[-1]
    data = last.data
    excused = not data.attached or data.missing or data.gave_up in STALE
    return None if excused else last


def reference_messages(facts: Facts) -> Mapping[str, bool]:
    """Returns the messages that a reader whom nothing disturbs is told of, and shows to the end."""
    told = facts.of(FramePublished)
    gone = {event.data.message or "": True for event in told if event.data.frame == "message.superseded"}
    return {event.data.message or "": True for event in told if event.data.message not in gone}


def final_texts(facts: Facts) -> Mapping[str, str]:
    """Returns the whole text of each message as it was told when the message ended, the last time that it did."""
    ends = ("message.completed", "message.interrupted")
    told = facts.of(FramePublished)
    return {event.data.message or "": event.data.text for event in told if event.data.frame in ends}


def parsed(event_id: str) -> tuple[str, int, int] | None:
    """Returns run, row and part of an id of the dialect; None for anything else."""
    found = _ID.fullmatch(event_id)
    return None if found is None else (found[1], int(found[2]), int(found[3] or 0))
