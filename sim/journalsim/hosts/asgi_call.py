"""Calls an ASGI application, request by request, on trio.

A request is a task that calls the application. The messages that the application sends come out at the other side, and
``http.disconnect`` reports a client that is gone. A send waits until the piece before it was taken, so a slow reader
slows the application down, as a server's write buffer does. The rules are those of the ASGI specification 3.0, HTTP
2.3 and lifespan 2.0.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

import trio
from attrs import frozen

from journalsim.errors import AdapterError

Message: TypeAlias = MutableMapping[str, Any]
App: TypeAlias = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]
Spawn: TypeAlias = Callable[[str, Callable[[], Awaitable[None]]], None]


@frozen
class Response:
    """Status and headers of an answer, and its body piece by piece."""

    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]


class Exchange:
    """One request to an application and its answer."""

    def __init__(self, what: str, body: bytes) -> None:
        self._what = what
        self._request: bytes | None = body
        self._started = trio.Event()
        self._gone = trio.Event()
        self._put, self._take = trio.open_memory_channel[bytes](0)
        self._head: Message | None = None
        self._error: Exception | None = None

    async def run(self, app: App, scope: MutableMapping[str, Any]) -> None:
        """Calls the application; run it in a task of its own."""
        try:
            await app(scope, self.receive, self.send)
            if self._head is None:
                raise AdapterError("it returned without an answer")
        except Exception as error:
            self._error = error
        finally:
            self._started.set()
            await self._put.aclose()

    async def receive(self) -> Message:
        """Returns the client's next message to the application: its request, and then its disconnection."""
        if self._request is not None:
            body, self._request = self._request, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Takes the head of the application's answer, or a piece of its body."""
        kind = message["type"]
        if kind == "http.response.start":
            self._head = message
            self._started.set()
        elif kind == "http.response.body":
            await self._pass_on(message)
        else:
            raise AdapterError(f"it sent a message of type {kind!r}, expected http.response.start or .body")

    async def _pass_on(self, message: Message) -> None:
        if self._head is None:
            raise AdapterError("it sent http.response.body before http.response.start")
        body = message.get("body", b"")
        try:
            if body and not self._gone.is_set():
                await self._put.send(body)
            else:
                await trio.lowlevel.checkpoint()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self._gone.set()
        if not message.get("more_body", False):
            await self._put.aclose()

    async def response(self) -> Response:
        """Waits for status and headers.

        Raises:
            AdapterError: the application raised, or broke the rules, before it had sent them.
        """
        await self._started.wait()
        if self._head is None:
            raise self._failure() from self._error
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in self._head["headers"]}
        return Response(int(self._head["status"]), headers, self._body())

    async def _body(self) -> AsyncIterator[bytes]:
        try:
            async with self._take:
                async for piece in self._take:
                    yield piece
            if self._error is not None:
                raise self._failure() from self._error
        finally:
            self._gone.set()

    def _failure(self) -> AdapterError:
        error = self._error
        said = str(error) if isinstance(error, AdapterError) else f"{type(error).__name__}: {error}"
        return AdapterError(f"the application failed on {self._what}: {said}")


class Caller:
    """Calls one application with a state of its own.

    Args:
        app: the application.
        spawn: starts a task of the server's process, by name.
        state: ``scope["state"]`` of the lifespan and of every request.
    """

    def __init__(self, app: App, spawn: Spawn, state: dict[str, Any]) -> None:
        self._app = app
        self._spawn = spawn
        self._state = state
        self._stop = trio.Event()
        self._stopped = trio.Event()

    async def start(self) -> None:
        """Starts the application up; an application without a lifespan needs no start.

        Raises:
            AdapterError: the application reports that it cannot start.
        """
        up = trio.Event()
        failed: list[str] = []
        asked = False

        async def receive() -> Message:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "lifespan.startup"}
            await self._stop.wait()
            return {"type": "lifespan.shutdown"}

        async def send(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed":
                failed.append(str(message.get("message", "")))
            up.set()

        async def lifespan() -> None:
            scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self._state}
            try:
                await self._app(scope, receive, send)
            except Exception as error:
                if asked and up.is_set():
                    raise
                if asked and "lifespan" not in str(error).lower() and not isinstance(error, (AssertionError, KeyError)):
                    failed.append(f"{type(error).__name__}: {error}")
            finally:
                up.set()
                self._stopped.set()

        self._spawn("asgi.lifespan", lifespan)
        await up.wait()
        if failed:
            raise AdapterError(f"the application could not start: {failed[0]}")

    async def stop(self) -> None:
        """Shuts the application down."""
        self._stop.set()
        await self._stopped.wait()

    async def request(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Response:
        """Sends a request and waits for the head of the answer."""
        sent = {"host": "testserver", **({"content-type": "application/json"} if body else {}), **(headers or {})}
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in sent.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "state": dict(self._state),
        }
        exchange = Exchange(f"{method} {path}", body)

        async def run() -> None:
            await exchange.run(self._app, scope)

        self._spawn(f"asgi.{method} {path}", run)
        return await exchange.response()
