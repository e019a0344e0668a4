"""Serves the streams of a server: a task of the server's process iterates each answer.

The task takes the body's next chunk, writes it event by event, and waits while the connection accepts nothing more.
That wait is the only back-pressure. Once the server notices that the reader is gone, it cancels the task and closes
the body, as a web server does.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import trio

from journalsim.actors.wire.exchange import Exchange
from journalsim.contract.events.stream_events import StreamAnswered, StreamClosed, StreamSent
from journalsim.contract.stream_port import StreamAnswer, StreamRequest
from journalsim.engine.entries import Entry
from journalsim.engine.world import World
from journalsim.errors import AdapterError
from journalsim.hosts.process import Process

_EVENT = re.compile(rb".*?(?:\r\n\r\n|\n\n|\r\r)", re.DOTALL)
Attempt = Callable[..., Any]


def pieces(chunk: bytes) -> list[bytes]:
    """Cuts a chunk behind every blank line, so that faults can count events."""
    found = _EVENT.findall(chunk)
    rest = chunk[sum(map(len, found)) :]
    return [*found, rest] if rest else found


def as_text(data: bytes) -> str:
    """Decodes bytes for the history; bytes that are not UTF-8 become lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


class Streams:
    """Answers the readers of one server process.

    Args:
        world: the case's world.
        process: the process that the tasks belong to.
        attach: the adapter's verb, counted and with its points.
        gone: called when the server notices that a reader is gone: session, client.
        failed: takes the error that the adapter raised.
    """

    def __init__(
        self,
        world: World,
        process: Process,
        attach: Attempt,
        gone: Callable[[str, str], None],
        failed: Callable[[str, Exception], None],
    ) -> None:
        self._world = world
        self._process = process
        self._attach = attach
        self._gone = gone
        self._failed = failed

    def open(self, exchange: Exchange) -> None:
        """Starts a task for a request that has arrived."""
        self._process.spawn(f"stream.{exchange.client}", partial(self.serve, exchange), waits=True)

    def refuse(self, exchange: Exchange, status: int) -> None:
        """Refuses a request whose message was not accepted."""
        exchange.head(status, "application/json")
        exchange.connection.end("server", self._world.now_ns())
        exchange.moved()

    async def serve(self, exchange: Exchange) -> None:
        """Answers one request, in a task of the process."""
        if not self._process.alive:
            return
        why = "ended"
        scope = trio.CancelScope()
        reader = _Reader(self._world, exchange, scope)
        exchange.server = reader.learn
        if exchange.gone:
            scope.cancel()  # the reader had left before its request arrived
        try:
            with scope:
                await self._answer(exchange, reader)
        except Exception as error:
            self._failed("attach", error)
            why = "raised"
        if exchange.gone:
            why = "gone"
        if not self._process.alive:
            return
        self._world.record("server", StreamClosed(client=exchange.client, connection=exchange.number, why=why))
        now_ns = self._world.now_ns()
        if why == "raised":
            exchange.connection.die("server", now_ns)
        elif why == "ended":
            exchange.connection.end("server", now_ns)
        exchange.server = None
        exchange.moved()
        if exchange.gone:
            self._gone(exchange.session, exchange.client)

    async def _answer(self, exchange: Exchange, reader: _Reader) -> None:
        request = StreamRequest(session_id=exchange.session, cursor=exchange.cursor, reader=exchange.client)
        answer = _checked(await self._attach(request))
        if not self._process.alive:  # killed at a point of the verb: the reader receives nothing more
            await _close(answer.body)
            return
        content_type = answer.content_type if answer.body is not None else ""
        self._world.record(
            "server",
            StreamAnswered(
                client=exchange.client,
                connection=exchange.number,
                status=answer.status,
                content_type=content_type,
                cursor=exchange.cursor,
                session=exchange.session,
            ),
        )
        exchange.head(answer.status, content_type)
        if answer.body is not None:
            try:
                await self._pass_on(answer.body, exchange, reader)
            finally:
                await _close(answer.body)

    async def _pass_on(self, body: AsyncIterator[bytes], exchange: Exchange, reader: _Reader) -> None:
        world, connection = self._world, exchange.connection
        async for chunk in body:
            if not isinstance(chunk, bytes):
                raise AdapterError(f"the body of a stream yielded {chunk!r:.60}, expected bytes")
            for piece in pieces(chunk):
                lane = f"stream.{exchange.client}"
                point = f"{lane}#{world.number(lane)}"
                await self._process.point(f"{point}.before")
                await reader.wait_writable(self._process)
                world.record(
                    "server", StreamSent(client=exchange.client, connection=exchange.number, data=as_text(piece))
                )
                connection.write("server", world.now_ns(), piece)
                exchange.moved()
                await self._process.point(f"{point}.after")


class _Reader:
    """The connection's signals for the task that answers."""

    def __init__(self, world: World, exchange: Exchange, scope: trio.CancelScope) -> None:
        self._world = world
        self._exchange = exchange
        self._scope = scope
        self._waits: Entry | None = None

    def learn(self, what: str) -> None:
        """Takes ``writable`` or ``gone``."""
        if what == "gone" and not self._exchange.gone:
            self._exchange.gone = True
            self._world.scheduler.cancel(self._scope)
        elif what == "writable" and self._waits is not None:
            self._world.scheduler.wake(self._waits)

    async def wait_writable(self, process: Process) -> None:
        """Waits while the connection accepts nothing more."""
        while not self._exchange.connection.writable("server"):
            self._waits = self._world.scheduler.waiter()
            await process.wait(self._waits)
            self._waits = None


def _checked(answer: Any) -> StreamAnswer:
    if not isinstance(answer, StreamAnswer):
        raise AdapterError(f"attach returned {answer!r:.60}, expected a StreamAnswer")
    if answer.status == 200 and answer.body is None:
        raise AdapterError("attach answered 200 without a body: give one, or answer 204")
    if answer.status != 200 and answer.body is not None:
        raise AdapterError(f"attach answered {answer.status} with a body: a body comes with 200 alone")
    return answer


async def _close(body: Any) -> None:
    close = getattr(body, "aclose", None)
    if close is not None:
        await close()
