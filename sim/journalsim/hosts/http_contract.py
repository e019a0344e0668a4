"""The HTTP contract: the requests that a system behind HTTP answers.

==============================================  ============================================================
request                                         answer
==============================================  ============================================================
``POST /sessions/S/runs {"text", "key"}``       201 ``{"run"}``; 200 if the key is known; 409 if it is busy
``POST /sessions/S/runs/R/stop {"mode"}``       200 ``{"answer": "stopping" | "ended" | "unknown"}``
``POST /sessions/S/runs/R/answers/C``           200 ``{"answer"}``, for ``{"approved": true}``
``GET /sessions/S/history``                     200 ``{"items": [Item, …], "cursor"?}``
``GET /sessions/S/status``                      200 ``{"run", "state", "last_seq", "prompt"}``
``GET /sessions/S/stream``, ``Last-Event-ID``   200 ``text/event-stream``, 204, 404 or 409
==============================================  ============================================================

A page that attaches with the ``cursor`` of a history misses nothing and receives nothing twice.  To a
server that gives no cursor, or null, the request for the stream has none either.

``state`` of a status is ``running`` or ``waiting`` while the run is under way, ``idle`` without a run, and else
how the run ended.  Items have the fields of ``journalsim.contract.items.Item``.

A run behind HTTP announces nothing by itself.  So the harness reads the stream too, from the start of the
run: it is the *reference reader*, whose connection never breaks.  It also requests the status, first after
250 ms, then after ever longer pauses, up to a minute.

An answer that breaks this contract is an adapter error.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol
from urllib.parse import quote

from attrs import field, fields_dict, frozen

from journalsim.contract.adapters import RunBusy
from journalsim.contract.capabilities import Capabilities, StopMode
from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.contract.ports import Ports
from journalsim.contract.sse import Decoder
from journalsim.contract.stream_port import Control, StreamAnswer, StreamRequest, decode_event
from journalsim.errors import AdapterError

MS = 1_000_000
LOOK_FIRST_NS = 250 * MS
LOOK_PAUSE_MAX_NS = 60_000 * MS  # most runs end on the stream; a question to a person may stay open for hours
LOOK_FOR_NS = 600_000 * MS  # ten minutes: a run that takes longer has hung
BODY_MAX = 16 * 1024 * 1024  # of an answer that is no stream: a history is a few kilobytes
UNDER_WAY = ("running", "waiting")

CLAIMS = Capabilities(level="runner", replay="from_id", terminals=True, stable_ids=True)
"""What a system behind HTTP is taken to claim, unless it says otherwise."""


class Answer(Protocol):
    """The beginning of an answer."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def body(self) -> AsyncIterator[bytes]: ...


class Transport(Protocol):
    """Carries requests to the system."""

    async def open(self, where: str, ports: Ports) -> None: ...

    async def close(self) -> None: ...

    async def request(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer: ...

    async def pause(self, duration_ns: int) -> None: ...

    def spawn(self, name: str, task: Any) -> None: ...


@frozen
class Watched:
    """What the reference reader knows; it outlives the processes of the server.

    Attributes:
        runs: those that were started, each with its session.
        ended: those whose end was announced.
        ids: of each session, the id of the last event that was published.
    """

    runs: dict[str, str] = field(factory=dict)
    ended: dict[str, None] = field(factory=dict)
    ids: dict[str, str] = field(factory=dict)


class HttpRunner:
    """Implements the verbs of a runner by requests.

    Args:
        transport: carries them.
        capabilities: what the system claims.
        cases: of the case at hand, by its folder, what its earlier processes were seen to do.
    """

    def __init__(
        self, transport: Transport, capabilities: Capabilities = CLAIMS, cases: dict[str, Watched] | None = None
    ) -> None:
        self.capabilities = capabilities
        self._transport = transport
        self._ports: Ports
        self._cases = {} if cases is None else cases
        self._watched = Watched()
        self._reading: dict[str, None] = {}  # sessions that somebody reads along
        self._cursors: dict[str, str] = {}

    async def setup(self, where: str, ports: Ports) -> None:
        """Starts the system, and goes on watching what an earlier process of it left under way."""
        self._ports = ports
        if where not in self._cases:
            self._cases.clear()  # another case
        self._watched = self._cases.setdefault(where, self._watched)
        await self._transport.open(where, ports)
        for run, session_id in self._watched.runs.items():
            if run not in self._watched.ended:
                self._watch(session_id, run, self._watched.ids.get(session_id))

    async def shutdown(self) -> None:
        """Ends it in good order."""
        await self._transport.close()

    async def start(self, session_id: str, text: str, key: str) -> str:
        """Submits a message."""
        path = f"/sessions/{_part(session_id)}/runs"
        status, said = await self._ask("POST", path, {"text": text, "key": key}, allowed=(200, 201, 409))
        if status == 409:
            raise RunBusy(str(said.get("reason", "busy")))
        run = str(_field(said, "run", str, f"POST {path}"))
        if run not in self._watched.runs:
            self._watched.runs[run] = session_id
            self._watch(session_id, run)
        return run

    async def stop(self, session_id: str, run_id: str, mode: StopMode = "interrupt") -> str:
        """Presses Stop."""
        path = f"/sessions/{_part(session_id)}/runs/{_part(run_id)}/stop"
        _, said = await self._ask("POST", path, {"mode": mode}, allowed=(200, 202))
        return str(_field(said, "answer", str, f"POST {path}"))

    async def answer(self, session_id: str, run_id: str, call_id: str, approved: bool) -> str:
        """Approves or denies a tool call."""
        path = f"/sessions/{_part(session_id)}/runs/{_part(run_id)}/answers/{_part(call_id)}"
        _, said = await self._ask("POST", path, {"approved": approved}, allowed=(200, 202))
        return str(said.get("answer", "resolved"))

    async def read(self, session_id: str) -> tuple[Item, ...]:
        """Asks for the history."""
        path = f"/sessions/{_part(session_id)}/history"
        status, said = await self._ask("GET", path, None, allowed=(200, 404))
        self._cursors.pop(session_id, None)
        if status == 404:
            return ()
        if said.get("cursor") is not None:
            self._cursors[session_id] = str(_field(said, "cursor", str, f"GET {path}"))
        return tuple(_item(row, path) for row in _field(said, "items", list, f"GET {path}"))

    def cursor(self, session_id: str) -> str | None:
        """Returns the cursor that came with the history just read."""
        return self._cursors.get(session_id)

    async def attach(self, request: StreamRequest) -> StreamAnswer:
        """Asks for the stream."""
        headers = {"accept": "text/event-stream"}
        if request.cursor is not None:
            headers["last-event-id"] = request.cursor
        answer = await self._transport.request("GET", f"/sessions/{_part(request.session_id)}/stream", headers)
        content_type = answer.headers.get("content-type", "")
        if answer.status == 200:
            return StreamAnswer(status=200, content_type=content_type, body=answer.body)
        await _whole(answer)
        return StreamAnswer(status=answer.status, content_type=content_type)

    # --- the reference reader

    def _watch(self, session_id: str, run: str, cursor: str | None = None) -> None:
        if session_id not in self._reading:
            self._reading[session_id] = None
            self._transport.spawn(f"undisturbed.{run}", lambda: self._read_along(session_id, cursor))
        self._ports.spawn(f"status.{run}", lambda: self._look(session_id, run))

    async def _read_along(self, session_id: str, cursor: str | None) -> None:
        """Publishes the frames of the stream; after a restart, those that follow the last published one."""
        known = self._watched
        answer = await self.attach(StreamRequest(session_id=session_id, reader="harness", cursor=cursor))
        if answer.body is None:
            del self._reading[session_id]
            return
        decoder, again = Decoder(), False
        try:
            async for chunk in answer.body:
                for event in decoder.feed(chunk):
                    told = decode_event(event)
                    if isinstance(told, Control):
                        again = again or (cursor is not None and _repeats(told))
                    elif told is not None and (not again or told.kind == "run.ended"):
                        known.ids[session_id] = event.id or known.ids.get(session_id, "")
                        self._tell(session_id, told)
                if all(run in known.ended for run, session in known.runs.items() if session == session_id):
                    return
        finally:
            del self._reading[session_id]  # before anything waits: a run that begins now needs a reader of its own
            await answer.body.aclose()  # type: ignore[attr-defined]  # transports yield from generators

    async def _look(self, session_id: str, run: str) -> None:
        path = f"/sessions/{_part(session_id)}/status"
        spent_ns, pause_ns = 0, LOOK_FIRST_NS
        while spent_ns < LOOK_FOR_NS:
            await self._transport.pause(pause_ns)
            spent_ns, pause_ns = spent_ns + pause_ns, min(2 * pause_ns, LOOK_PAUSE_MAX_NS)
            if run in self._watched.ended:
                return
            _, said = await self._ask("GET", path, None, allowed=(200,))
            state = _field(said, "state", str, f"GET {path}")
            if state not in UNDER_WAY:  # else it is this run that is under way, or the one that it waits for
                ended = state if said.get("run") == run and state != "idle" else "completed"
                self._tell(session_id, Frame("run.ended", run, state=ended))
                return

    def _tell(self, session_id: str, frame: Frame) -> None:
        if frame.run_id in self._watched.ended:
            return
        if frame.kind == "run.ended":
            self._watched.ended[frame.run_id] = None
        self._ports.publish(session_id, frame)

    # --- requests

    async def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None, allowed: tuple[int, ...]
    ) -> tuple[int, Mapping[str, Any]]:
        sent = b"" if body is None else json.dumps(body).encode()
        answer = await self._transport.request(method, path, None, sent)
        data = await _whole(answer)
        what = f"{method} {path}"
        if answer.status not in allowed:
            wanted = " or ".join(map(str, allowed))
            raise AdapterError(f"{what} answered {answer.status} {data[:80]!r}, expected {wanted}")
        try:
            said = json.loads(data)
        except ValueError:
            raise AdapterError(f"{what} answered {data[:80]!r}, expected a JSON object") from None
        if not isinstance(said, dict):
            raise AdapterError(f"{what} answered {data[:80]!r}, expected a JSON object")
        return answer.status, said


def _repeats(opened: Control) -> bool:
    """Whether a stream begins with what its reader may have been told before."""
    return opened.kind == "stream.open" and (opened.whole_turn or opened.attachment in ("fresh", "restart"))


async def _whole(answer: Answer) -> bytes:
    data = b""
    async for piece in answer.body:
        data += piece
        if len(data) > BODY_MAX:
            raise AdapterError(f"an answer that is no stream is longer than {BODY_MAX} bytes")
    return data


def _part(name: str) -> str:
    return quote(name, safe="")


def _field(said: Mapping[str, Any], name: str, kind: type, what: str) -> Any:
    value = said.get(name)
    if not isinstance(value, kind) or (not value and kind is str):
        raise AdapterError(f"{what} answered {dict(said)!r:.120}, expected {name!r} as a {kind.__name__}")
    return value


def _item(row: Any, path: str) -> Item:
    known = fields_dict(Item)
    if not isinstance(row, dict) or row.get("kind") is None or not set(row) <= set(known):
        raise AdapterError(f"GET {path} holds the item {row!r:.120}, expected an object of {', '.join(known)}")
    return Item(**{**row, "aliases": tuple(row.get("aliases", ()))})
