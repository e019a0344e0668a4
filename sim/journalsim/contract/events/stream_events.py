"""What client programs and the server do on the wire, connection by connection."""

from __future__ import annotations

from typing import ClassVar

from journalsim.contract.events.event_record import EventRecord, record


@record
class StreamAsked(EventRecord):
    """A program asked for a stream, a status or a history.

    Attributes:
        what: what it asked for.
        connection: number of the connection, from 1, of this client.
        cursor: the cursor in the request, or None.
        applied: the cursor of its page; empty if there is none.
    """

    kind: ClassVar[str] = "stream.asked"
    what: str
    connection: int
    cursor: str | None
    applied: str


@record
class StreamAnswered(EventRecord):
    """The server answered a request for a stream with a status.

    Attributes:
        client: who asked.
        connection: number of the connection.
        status: HTTP status.
        content_type: of the answer.
        cursor: the cursor in the request, or None.
        session: the conversation.
    """

    kind: ClassVar[str] = "stream.answered"
    client: str
    connection: int
    status: int
    content_type: str
    cursor: str | None
    session: str


@record
class StreamSent(EventRecord):
    """The server wrote a piece of a body.

    Attributes:
        client: who reads it.
        connection: number of the connection.
        data: the bytes as text, undecodable ones as surrogates.
    """

    kind: ClassVar[str] = "stream.sent"
    client: str
    connection: int
    data: str


@record
class StreamClosed(EventRecord):
    """The server finished a body.

    Attributes:
        client: who read it.
        connection: number of the connection.
        why: ``ended``, ``gone`` (the reader went away) or ``raised``.
    """

    kind: ClassVar[str] = "stream.closed"
    client: str
    connection: int
    why: str


@record
class StreamOver(EventRecord):
    """An answer came to its end for the program.

    Attributes:
        connection: number of the connection.
        clean: whether it ended in order.
    """

    kind: ClassVar[str] = "stream.over"
    connection: int
    clean: bool


@record
class StreamGivenUp(EventRecord):
    """A program will not ask again by itself.

    Attributes:
        reason: why.
    """

    kind: ClassVar[str] = "stream.given_up"
    reason: str


@record
class StreamEndless(EventRecord):
    """The harness closed a program that asks again and again.

    Attributes:
        connections: how many the program had.
        after_end: how many of them after the last run had ended; 0 if the bound on all connections was reached.
    """

    kind: ClassVar[str] = "stream.endless"
    connections: int
    after_end: int


@record
class LinkBroke(EventRecord):
    """A fault of the link happened.

    Attributes:
        fault: its kind.
        direction: ``up`` to the server or ``down`` to the client.
        connection: number of the connection.
    """

    kind: ClassVar[str] = "link.broke"
    fault: str
    direction: str
    connection: int


@record
class RequestDelivered(EventRecord):
    """A request reached the server.

    Attributes:
        verb: what it asks for.
        key: what it is about.
        copy: from 1; above 1 for a duplicate.
    """

    kind: ClassVar[str] = "request.delivered"
    verb: str
    key: str
    copy: int


@record
class RequestLost(EventRecord):
    """A request was dropped on its way to the server.

    Attributes:
        verb: what it asks for.
        key: what it is about.
    """

    kind: ClassVar[str] = "request.lost"
    verb: str
    key: str
