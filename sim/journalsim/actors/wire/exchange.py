"""One request for a stream and its answer: what the two sides of a connection share."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define

from journalsim.actors.wire.byte_link import Connection


@define(eq=False, kw_only=True)
class Exchange:
    """A client asks for a stream, and the server answers.

    Attributes:
        client: who asks.
        session: the conversation.
        number: of the connection, among all of this client.
        cursor: value of the ``Last-Event-ID`` header.
        connection: the way of the bytes.
        key: of a request that also submits a message.
        text: of that message.
        head: takes status and content type of the answer.
        told: takes what became of the message: outcome, run, reason.
        moved: to be called after something was done to the connection.
        server: takes ``writable``, and ``gone`` once the server notices that the client is; None before the answer.
        gone: the server has noticed.
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
