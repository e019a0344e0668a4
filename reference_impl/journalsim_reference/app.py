"""Serves the reference journal over HTTP: prompt, stop, history, status, and a stream that survives its connection.

====================================================  ===================================================
``POST /sessions/{session}/runs``                     ``{"text", "key"}``: 201 ``{"run"}``; 200 if the key
                                                      is known; 409 ``{"reason"}`` if it is refused
``POST /sessions/{session}/runs/{run}/stop``          ``{"mode"}``, which is optional: ``{"answer"}``
``POST /sessions/{session}/runs/{run}/answers/{call}``  ``{"approved"}``: ``{"answer"}``
``GET /sessions/{session}/history``                   ``{"items", "cursor"}``, both of one instant
``GET /sessions/{session}/status``                    ``{"run", "state", "last_seq", "prompt"}``
``GET /sessions/{session}/stream``                    200 ``text/event-stream``, 204, 404 or 409; the cursor
                                                      is ``Last-Event-ID``, or ``after`` in the query
``GET /``                                             one small page
====================================================  ===================================================

A malformed request is answered with ``{"error"}``, which states what was expected.
A reader that disconnects stops no run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from importlib import resources
from typing import Any, Literal, TypeVar, cast

import trio
from attrs import asdict
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from journalsim.contract.adapters import RunBusy
from journalsim.contract.capabilities import StopMode
from journalsim.contract.items import Item
from journalsim.contract.sse import json_line
from journalsim.contract.stream_port import StreamRequest
from journalsim_reference.live import LivePorts, Script
from journalsim_reference.server import KeyReused, Server
from journalsim_reference.stores.base import Store
from journalsim_reference.stores.memory import Folder, MemoryStore

BODY_BYTES_MAX = 256 * 1024  # a long prompt with a file pasted into it
NAME_LENGTH_MAX = 200  # of a session, a run, a call or a key: longer than any minted id
HEARTBEAT_S = 10.0  # between those of the public systems (0.5 to 15 s), below the 30 s of common proxies

Opener = Callable[[], AbstractAsyncContextManager[Server]]
T = TypeVar("T")


# --- the process -------------------------------------------------------------------------------


def serving(
    open_store: Callable[[], Store] | None = None,
    script: Script | None = None,
    ids: str = "",
    policies: Mapping[str, str] | None = None,
    heartbeat_s: float | None = HEARTBEAT_S,
) -> Opener:
    """Returns a function that opens a journal for an app.

    Args:
        open_store: opens the store; a store in memory by default.
        script: script of the model.
        ids: part of every id, so that two processes on one store mint different ids.
        policies: options of the journal.
        heartbeat_s: the silence after which a stream sends a comment, seconds.
    """

    @asynccontextmanager
    async def opened() -> AsyncIterator[Server]:
        async with trio.open_nursery() as nursery:
            store = MemoryStore(Folder()) if open_store is None else open_store()
            server = Server(store, LivePorts(nursery, script or Script(), ids, policies))
            server.writer.streams.heartbeat_s = heartbeat_s
            await server.recover()
            yield server
            if not server.writer.closing:
                await server.shutdown()
            nursery.cancel_scope.cancel()

    return opened


def make_app(opened: Opener | None = None) -> Starlette:
    """Makes the app; its journal is open between the host's lifespan events.

    Args:
        opened: opens the journal; the result of :func:`serving`.
    """
    opener = opened or serving()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with opener() as server:
            app.state.server = server
            yield

    routes = [
        Route("/", _page, methods=["GET"]),
        Route("/sessions/{session}/runs", _start, methods=["POST"]),
        Route("/sessions/{session}/runs/{run}/stop", _stop, methods=["POST"]),
        Route("/sessions/{session}/runs/{run}/answers/{call}", _answer, methods=["POST"]),
        Route("/sessions/{session}/history", _history, methods=["GET"]),
        Route("/sessions/{session}/status", _status, methods=["GET"]),
        Route("/sessions/{session}/stream", _stream, methods=["GET"]),
    ]
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _error})


# --- requests ----------------------------------------------------------------------------------


async def _start(request: Request) -> Response:
    server, session = _server(request), _name(request, "session")
    said = await _said(request)
    text = _field(said, "text", str, "a text that is not empty")
    key = _field(said, "key", str, "a text that is not empty, the same when the request is repeated")
    if not text.strip() or not 0 < len(key) <= NAME_LENGTH_MAX:
        raise HTTPException(400, f"text must not be blank, and key must have 1 to {NAME_LENGTH_MAX} characters")
    known = key in server.state.session(session).keys
    try:
        run = await server.start(session, text, key)
    except RunBusy as error:
        reason = "key_reused" if isinstance(error, KeyReused) else "busy"
        detail = "this key came with another text" if reason == "key_reused" else str(error)
        return _json({"reason": reason, "error": detail}, 409)
    return _json({"run": run}, 200 if known else 201)


async def _stop(request: Request) -> Response:
    server, session, run = _server(request), _name(request, "session"), _name(request, "run")
    said = await _said(request)
    mode = _field(said, "mode", str, "interrupt or rollback") if "mode" in said else "interrupt"
    if mode not in ("interrupt", "rollback"):
        raise HTTPException(400, f"mode must be interrupt or rollback, not {mode!r}")
    return _json({"answer": await server.stop(session, run, cast(StopMode, mode))})


async def _answer(request: Request) -> Response:
    server, session = _server(request), _name(request, "session")
    run, call = _name(request, "run"), _name(request, "call")
    approved = _field(await _said(request), "approved", bool, "true or false")
    return _json({"answer": await server.answer(session, run, call, approved)})


async def _history(request: Request) -> Response:
    server, session = _server(request), _name(request, "session")
    # Nothing waits between the two, so the cursor covers the items and nothing more.
    items, cursor = server.read(session), server.cursor(session)
    return _json({"items": [_shown(item) for item in items], "cursor": cursor})


async def _status(request: Request) -> Response:
    return _json(_server(request).status(_name(request, "session")))


async def _stream(request: Request) -> Response:
    server, session = _server(request), _name(request, "session")
    cursor = _cursor(request)
    answer = server.attach(StreamRequest(session_id=session, cursor=cursor))
    if answer.body is not None:

        async def gone() -> None:
            await server.disconnected(session, "reader")

        return _EventStream(answer.body, gone)
    if answer.status == 204:
        return Response(status_code=204, headers=_FRESH)
    wrong = "there is no such session" if answer.status == 404 else f"cursor {cursor!r} is of another session"
    return _json({"error": wrong}, answer.status)


async def _page(request: Request) -> Response:
    page = resources.files("journalsim_reference").joinpath("page.html").read_text(encoding="utf-8")
    headers = {"content-security-policy": _policy_of(page), "x-content-type-options": "nosniff", **_FRESH}
    return Response(page, media_type="text/html", headers=headers)


# --- answers -----------------------------------------------------------------------------------

_FRESH = {"cache-control": "no-store"}


class _EventStream(Response):
    """Sends a stream until it ends or the reader disconnects; either way its generator is closed."""

    media_type = "text/event-stream"

    def __init__(self, body: AsyncIterator[bytes], gone: Callable[[], Any]) -> None:
        super().__init__()
        self._stream = cast(Any, body)
        self._gone = gone
        # The length is not known, and proxies that buffer an answer would break the stream.
        self.raw_headers = [
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch, receive, nursery.cancel_scope)
            await self._send(send)
            nursery.cancel_scope.cancel()
            return
        await self._gone()

    async def _watch(self, receive: Receive, scope: trio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with aclosing(self._stream) as pieces:
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _json(data: Any, status: int = 200) -> Response:
    return Response(json_line(data).encode(), status, headers=_FRESH, media_type="application/json")


async def _error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _json({"error": error.detail}, error.status_code)


def _shown(item: Item) -> Mapping[str, Any]:
    return asdict(item)


def _policy_of(page: str) -> str:
    """Returns a content security policy that allows only the page's own script and style."""

    def hashed(tag: str) -> str:
        found = re.search(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert found is not None
        return "'sha256-" + base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode() + "'"

    return (
        f"default-src 'none'; connect-src 'self'; script-src {hashed('script')}; style-src {hashed('style')}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


# --- reading a request -------------------------------------------------------------------------


def _server(request: Request) -> Server:
    """Returns the journal; refuses requests that a page of another site sends in a person's name."""
    origin, host = request.headers.get("origin"), request.headers.get("host")
    if origin is not None and request.method != "GET" and origin.partition("://")[2] != host:
        raise HTTPException(403, f"requests from pages of {origin} are not taken")
    server: Server | None = getattr(request.app.state, "server", None)
    if server is None:
        raise HTTPException(503, "the journal is not open: this host sends no ASGI lifespan events")
    return server


def _name(request: Request, which: Literal["session", "run", "call"]) -> str:
    name: str = request.path_params[which]
    if len(name) > NAME_LENGTH_MAX:
        raise HTTPException(400, f"the {which} in the path must have at most {NAME_LENGTH_MAX} characters")
    return name


def _cursor(request: Request) -> str | None:
    """Returns the cursor: the header, which moves with the reader, before the query, which stays."""
    sent = next((value for name, value in request.scope["headers"] if name == b"last-event-id"), None)
    return request.query_params.get("after") if sent is None else sent.decode("utf-8", "replace")


async def _said(request: Request) -> Mapping[str, Any]:
    body = b""
    async with aclosing(cast(Any, request.stream())) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > BODY_BYTES_MAX:
                raise HTTPException(413, f"the body must have at most {BODY_BYTES_MAX} bytes")
    try:
        said = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the body must be a JSON object ({error})") from None
    if not isinstance(said, dict):
        raise HTTPException(400, f"the body must be a JSON object, not {type(said).__name__}")
    return said


def _field(said: Mapping[str, Any], name: str, kind: type[T], expected: str) -> T:
    value = said.get(name)
    if not isinstance(value, kind):
        got = f"not {value!r:.60}" if name in said else "and it is missing"
        raise HTTPException(400, f"{name} must be {expected}, {got}")
    return value


app = make_app()
"""The target of ``asgi:journalsim_reference.app:app``: a journal in memory, which lives as long as its lifespan."""
