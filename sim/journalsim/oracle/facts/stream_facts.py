"""Streams of a history: connections, the events that the server sent on them, and pages."""

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
"""Reasons for giving up that a page shows to its user as an error."""

_ID = re.compile(r"(.+):([0-9]+)(?:\.([0-9]+))?")


def claimed(history: History) -> str:
    """Returns the reason why streams are not judged; empty if they are."""
    return "" if history.capabilities.replay != "none" else "the adapter does not declare replay"


@frozen
class SentEvent:
    """One event that the server sent.

    Attributes:
        position: position in the history of the bytes that completed the event.
        event: the event, parsed by the standard.
        means: frame or control event; None if it is neither.
        error: the reason why its data cannot be decoded; empty if it can.
    """

    position: int
    event: SseEvent
    means: Frame | Control | None
    error: str = ""


@define
class Connection:
    """One connection of one client.

    Attributes:
        client: name of the client.
        number: number of the connection among those of the client.
        asked: the request of the client.
        answered: status and headers of the answer, or None.
        closed: the event of the server closing it, or None.
        sent: the events that the server sent.
        inside: True if the server stopped in the middle of an event.
        too_large: True if an event is larger than any reader accepts.
        cut: True if a link fault hit the connection.
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
        """The first event if it is ``stream.open``, which says how the server took the cursor; else None."""
        first = self.sent[0].means if self.sent else None
        return first if isinstance(first, Control) and first.kind == "stream.open" else None

    @property
    def gap(self) -> bool:
        """True if the server declared a gap."""
        controls = [one.means for one in self.sent if isinstance(one.means, Control)]
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
    """Returns the connections of all clients, in order."""
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
    """Returns the views of each page: at rest, and after it was reloaded."""
    found: dict[str, list[EventOf[ClientView]]] = {}
    for event in facts.of(ClientView):
        found.setdefault(event.actor, []).append(event)
    return found


def settled_view(page: Sequence[EventOf[ClientView]]) -> EventOf[ClientView] | None:
    """Returns the last view of a page, which must be correct; None if it is detached, has a gap or shows an error.

    A user reloads a page that shows an error; the view after the reload counts.
    """
    last = page[-1]
    data = last.data
    excused = not data.attached or data.missing or data.gave_up in STALE
    return None if excused else last


def reference_messages(facts: Facts) -> Mapping[str, bool]:
    """Returns the messages that the reference reader displays at the end: published and not superseded."""
    frames = facts.of(FramePublished)
    gone = {event.data.message or "": True for event in frames if event.data.frame == "message.superseded"}
    return {event.data.message or "": True for event in frames if event.data.message not in gone}


def final_texts(facts: Facts) -> Mapping[str, str]:
    """Returns the text of each message in its last closing frame."""
    ends = ("message.completed", "message.interrupted")
    frames = facts.of(FramePublished)
    return {event.data.message or "": event.data.text for event in frames if event.data.frame in ends}


def parsed(event_id: str) -> tuple[str, int, int] | None:
    """Returns run, row and part of an event id ``run:row.part``; None for any other text."""
    found = _ID.fullmatch(event_id)
    return None if found is None else (found[1], int(found[2]), int(found[3] or 0))
