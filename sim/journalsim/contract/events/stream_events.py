"""Defines the events of client programs and the server on the wire, connection by connection."""

from __future__ import annotations

from typing import ClassVar

from journalsim.contract.events.event_record import EventRecord, record


@record
class StreamAsked(EventRecord):
    """A program requested a stream, a status or a history.

    Attributes:
        what: the resource that it requested.
        connection: number of the client's connection, from 1.
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
        client: the client that requested it.
        connection: number of the connection.
        status: HTTP status.
        content_type: content type of the answer.
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
        client: the client that reads it.
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
        client: the client that read it.
        connection: number of the connection.
        why: ``ended``, ``gone`` (the reader disconnected) or ``raised``.
    """

    kind: ClassVar[str] = "stream.closed"
    client: str
    connection: int
    why: str


@record
class StreamOver(EventRecord):
    """An answer ended for the program.

    Attributes:
        connection: number of the connection.
        clean: whether it ended in order.
    """

    kind: ClassVar[str] = "stream.over"
    connection: int
    clean: bool


@record
class StreamGivenUp(EventRecord):
    """A program stopped reconnecting by itself.

    Attributes:
        reason: why.
    """

    kind: ClassVar[str] = "stream.given_up"
    reason: str


@record
class StreamEndless(EventRecord):
    """The harness closed a program that reconnects again and again.

    Attributes:
        connections: how many connections the program had.
        after_end: how many of them after the last run had ended; 0 if the bound on all connections was reached.
    """

    kind: ClassVar[str] = "stream.endless"
    connections: int
    after_end: int


@record
class LinkBroke(EventRecord):
    """A fault of the link happened.

    Attributes:
        fault: kind of the fault.
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
        verb: the requested verb.
        key: the subject of the request.
        copy: 1 for the original; above 1 for a duplicate.
    """

    kind: ClassVar[str] = "request.delivered"
    verb: str
    key: str
    copy: int


@record
class RequestLost(EventRecord):
    """The link dropped a request on its way to the server.

    Attributes:
        verb: the requested verb.
        key: the subject of the request.
    """

    kind: ClassVar[str] = "request.lost"
    verb: str
    key: str
