"""Defines one request for a stream and its answer, which the two sides of a connection share."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define

from journalsim.actors.wire.byte_link import Connection


@define(eq=False, kw_only=True)
class Exchange:
    """A client's request for a stream, and the server's answer.

    Attributes:
        client: the client that requests the stream.
        session: the conversation.
        number: number of the connection, among all of this client.
        cursor: value of the ``Last-Event-ID`` header.
        connection: the way of the bytes.
        key: for a request that also submits a message, its key.
        text: the text of that message.
        head: takes status and content type of the answer.
        told: takes the result of the message: outcome, run, reason.
        moved: to be called after something was done to the connection.
        server: takes ``writable``, and ``gone`` once the server notices that; None before the answer.
        gone: True once the server has noticed.
    """

    client: str
    session: str
    number: int
    cursor: str | None
    connection: Connection
    head: Callable[[int, str], None]
    told: Callable[..., None]
    moved: Callable[[], None]
    key: str | None = None
    text: str = ""
    server: Callable[[str], None] | None = None
    gone: bool = False
