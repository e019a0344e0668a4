"""Runs a system that is a running server: ``http://127.0.0.1:8000``. *Real time, not bit-exact.*

The server implements the requests of :mod:`journalsim.hosts.http_contract`. Its model and tools are its own, so only
the observations of its readers can be judged; links, client programs and faults are simulated as ever, between this
process and the pages.

Requests hold the virtual clock while they are under way. A thread of its own reads each stream, and while no byte has
arrived, virtual time advances as fast as real time. Every case uses sessions of its own, so that a server that forgets
nothing can serve the next case.
"""

from __future__ import annotations

import queue
import re
import threading  # sockets block: one thread per open stream, only ever in real time
import time  # this adapter runs in real time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from journalsim.contract.ports import Ports
from journalsim.engine.guards import give_full_time
from journalsim.errors import AdapterError, UsageError
from journalsim.hosts.http_contract import CLAIMS, HttpRunner

TIMEOUT_S = 4.0  # of a request; the watchdog interrupts a thread that is held for five seconds
LOOK_S = 0.01
LOOK_NS = 10_000_000
PIECES_MAX = 1_000  # pieces of one stream that were not yet taken; the socket is the buffer beyond that


@frozen
class Response:
    """Status and headers of an answer, and its body piece by piece."""

    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]


class HttpTransport:
    """Carries requests to a server over real sockets."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._case = ""
        self._ports: Ports
        self._client: Any = None
        self._paced = (0.0, 0.0)  # virtual and real seconds at the last look

    async def open(self, where: str, ports: Ports) -> None:
        """Prepares the client; sends no request yet."""
        self._ports = ports
        self._case = re.sub("[^A-Za-z0-9-]", "-", Path(where).name)
        self._paced = (ports.now_ns() / 1e9, time.monotonic())
        httpx = httpx_of(self._url)
        self._client = httpx.Client(
            base_url=self._url,
            timeout=TIMEOUT_S,
            limits=httpx.Limits(max_keepalive_connections=0),  # a case may end at any moment and leaves no socket
            verify=self._url.startswith("https"),
        )

    async def close(self) -> None:
        """Closes every connection."""
        self._client.close()

    async def request(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Response:
        """Sends a request and waits, in real time, for the head of the answer.

        Raises:
            AdapterError: no server answers.
        """
        own = path.replace("/sessions/", f"/sessions/{self._case}-", 1)
        give_full_time()
        sent = {**({"content-type": "application/json"} if body else {}), **(headers or {})}
        try:
            answer = self._client.send(self._client.build_request(method, own, headers=sent, content=body), stream=True)
        except Exception as error:
            raise AdapterError(
                f"{method} {self._url}{own}: {type(error).__name__}: {error}; is the server running there?"
            ) from error
        return Response(answer.status_code, dict(answer.headers), self._body(answer))

    async def _body(self, answer: Any) -> AsyncIterator[bytes]:
        pieces: queue.Queue[bytes | Exception | None] = queue.Queue(PIECES_MAX)
        threading.Thread(target=_read, args=(answer, pieces), daemon=True).start()
        try:
            while True:
                try:
                    piece = pieces.get_nowait()
                except queue.Empty:
                    await self.pause(LOOK_NS)
                    continue
                if piece is None:
                    return
                if isinstance(piece, Exception):
                    raise AdapterError(f"the stream of {self._url} broke: {piece}") from piece
                yield piece
        finally:
            answer.close()

    async def pause(self, duration_ns: int) -> None:
        """Lets virtual and real time pass; a caller that waits for a server in real time has to call it."""
        for _ in range(max(1, duration_ns // LOOK_NS)):
            await self._ports.sleep(LOOK_NS)
            self._keep_pace()

    def _keep_pace(self) -> None:
        """Holds virtual time back while it is ahead, once per look, for any number of looking tasks."""
        virtual_s, real_s = self._ports.now_ns() / 1e9, time.monotonic()
        ahead_s = (virtual_s - self._paced[0]) - (real_s - self._paced[1])
        if ahead_s > 0:
            time.sleep(min(ahead_s, LOOK_S))
        give_full_time()
        self._paced = (virtual_s, time.monotonic())

    def spawn(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        """Starts a task that may wait for ever."""
        spawn = getattr(self._ports, "spawn_waiting", self._ports.spawn)
        spawn(name, task)


def _read(answer: Any, pieces: queue.Queue[bytes | Exception | None]) -> None:
    try:
        for piece in answer.iter_raw():
            pieces.put(piece)
    except Exception as error:
        pieces.put(error)
    else:
        pieces.put(None)


def httpx_of(url: str) -> Any:
    """Returns the module httpx.

    Raises:
        UsageError: httpx is not installed.
    """
    try:
        import httpx
    except ImportError:
        raise UsageError(f"adapter {url!r} needs httpx: pip install 'journalsim[http]'") from None
    return httpx


def http_factory(url: str) -> Callable[[], HttpRunner]:
    """Returns a function that makes an adapter per case.

    Raises:
        UsageError: the URL names no host, or httpx is missing.
    """
    parsed = httpx_of(url).URL(url)
    if not parsed.host:
        raise UsageError(f"adapter {url!r}: write http://host:port")
    claims = evolve(CLAIMS, clock="real", host="http", terminals=False, stable_ids=False)
    return lambda: HttpRunner(HttpTransport(url.rstrip("/")), claims)
