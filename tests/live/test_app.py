"""The journal over HTTP: what it answers, and what it says to whoever asks wrongly."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import trio
from starlette.applications import Starlette

from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.contract.sse import Decoder
from journalsim.contract.stream_port import Control, decode_event
from journalsim_reference.app import app as shipped
from journalsim_reference.app import make_app, serving
from journalsim_reference.live import Script, words

pytestmark = pytest.mark.trio

WORDS = "One two three"


@asynccontextmanager
async def talking(**policies: str) -> AsyncIterator[tuple[httpx.AsyncClient, Starlette]]:
    """A client of the app, in this process; the model says three words, one a second."""
    app = make_app(serving(script=Script(answer=WORDS, pace_ns=1_000_000_000), policies=policies, heartbeat_s=None))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://journal") as client,
    ):
        yield client, app


async def send(client: httpx.AsyncClient, text: str = "Hi", key: str = "k1", session: str = "s1") -> httpx.Response:
    return await client.post(f"/sessions/{session}/runs", json={"text": text, "key": key})


def events(body: bytes) -> list[Frame | Control]:
    return [said for event in Decoder().feed(body) if (said := decode_event(event)) is not None]


def texts(items: list[Mapping[str, Any]]) -> list[str]:
    return [f"{item['kind']} {item['text']}" for item in items if item["kind"] != "marker"]


async def test_a_prompt_is_taken_once_and_its_run_is_named_again(autojump_clock: trio.abc.Clock) -> None:
    async with talking() as (client, _app):
        first = await send(client)
        assert (first.status_code, first.json()) == (201, {"run": "run1"})
        again = await send(client)
        assert (again.status_code, again.json()) == (200, {"run": "run1"})
        busy = await send(client, key="k2")
        assert (busy.status_code, busy.json()["reason"]) == (409, "busy")
        other = await send(client, text="Ho")
        assert (other.status_code, other.json()["reason"]) == (409, "key_reused")


async def test_a_stream_is_told_to_its_end_and_equals_the_history(autojump_clock: trio.abc.Clock) -> None:
    async with talking() as (client, _app):
        await send(client)
        answer = await client.get("/sessions/s1/stream")
        assert answer.headers["content-type"] == "text/event-stream"
        assert "content-length" not in answer.headers
        said = events(answer.content)
        assert said[0] == Control(kind="stream.open", attachment="fresh", whole_turn=True, run_id="run1")
        assert said[-1] == Control(kind="stream.end", run_id="run1", reason="run_terminal")
        assert [f.text for f in said if isinstance(f, Frame) and f.kind == "message.completed"] == [WORDS]
        history = (await client.get("/sessions/s1/history")).json()
        assert texts(history["items"]) == ["user Hi", f"assistant {WORDS}"]
        assert [Item(**item).kind for item in history["items"]] == ["user", "assistant", "marker"]
        assert history["cursor"] == "run1:9"


async def test_history_and_its_cursor_hand_over_to_the_stream(autojump_clock: trio.abc.Clock) -> None:
    async with talking() as (client, _app):
        await send(client)
        await trio.sleep(2.5)
        history = (await client.get("/sessions/s1/history")).json()
        assert texts(history["items"]) == ["user Hi", "assistant One two"]
        said = events((await client.get("/sessions/s1/stream", headers={"Last-Event-ID": history["cursor"]})).content)
        first = next(frame for frame in said if isinstance(frame, Frame))
        assert (first.kind, first.text) == ("message.delta", " three")
        ended = await client.get("/sessions/s1/stream", params={"after": history["cursor"]})
        assert next(c.attachment for c in events(ended.content) if isinstance(c, Control)) == "finished"


async def test_the_cursor_of_the_header_counts_before_that_of_the_address(autojump_clock: trio.abc.Clock) -> None:
    async with talking() as (client, _app):
        await send(client)
        await client.get("/sessions/s1/stream")
        cursor = (await client.get("/sessions/s1/history")).json()["cursor"]
        answer = await client.get("/sessions/s1/stream?after=run1:2", headers={"Last-Event-ID": cursor})
        assert answer.status_code == 204
        assert (await client.get("/sessions/s1/stream?after=run1:2")).status_code == 200
        empty = await client.get("/sessions/s1/stream", headers={"Last-Event-ID": ""})
        assert b'"attachment":"restart"' in empty.content


async def test_a_stop_keeps_what_was_said(autojump_clock: trio.abc.Clock) -> None:
    async with talking() as (client, _app):
        await send(client)
        await trio.sleep(1.5)
        assert (await client.post("/sessions/s1/runs/run1/stop")).json() == {"answer": "stopping"}
        await client.get("/sessions/s1/stream", params={"after": "run1:1"})
        assert (await client.post("/sessions/s1/runs/run1/stop", json={"mode": "rollback"})).json() == {
            "answer": "ended"
        }
        assert (await client.post("/sessions/s1/runs/run9/stop")).json() == {"answer": "unknown"}
        history = (await client.get("/sessions/s1/history")).json()
        assert texts(history["items"]) == ["user Hi", "assistant One"]
        assert history["items"][1]["state"] == "interrupted"


async def test_status_is_cheap_and_says_what_goes_on(autojump_clock: trio.abc.Clock) -> None:
    async with talking() as (client, _app):
        idle = {"run": None, "state": "idle", "last_seq": 0, "prompt": None}
        assert (await client.get("/sessions/s1/status")).json() == idle
        await send(client)
        await trio.sleep(1.5)
        said = (await client.get("/sessions/s1/status")).json()
        assert (said["run"], said["state"], said["prompt"]) == ("run1", "running", "Hi")


async def test_there_is_nothing_to_attach_to_before_and_after_a_run(autojump_clock: trio.abc.Clock) -> None:
    async with talking() as (client, _app):
        assert (await client.get("/sessions/s1/stream")).status_code == 404
        await send(client)
        await send(client, session="s2")
        await client.get("/sessions/s1/stream")
        assert (await client.get("/sessions/s1/stream")).status_code == 204
        assert (await client.get("/sessions/s1/stream", params={"after": "run2:1"})).status_code == 409


async def test_an_answer_about_a_call_that_does_not_wait_is_unknown() -> None:
    async with talking() as (client, _app):
        said = await client.post("/sessions/s1/runs/run1/answers/c1", json={"approved": True})
        assert said.json() == {"answer": "unknown"}


BAD = (
    ("/sessions/s1/runs", b"not json", 400, "the body must be a JSON object ("),
    ("/sessions/s1/runs", b"[1]", 400, "the body must be a JSON object, not list"),
    ("/sessions/s1/runs", b"[" * 50_000, 400, "the body must be a JSON object ("),
    ("/sessions/s1/runs", b"", 400, "text must be a text that is not empty, and it is missing"),
    ("/sessions/s1/runs", b'{"text": 4, "key": "k"}', 400, "text must be a text that is not empty, not 4"),
    ("/sessions/s1/runs", b'{"text": " ", "key": "k"}', 400, "text must not be blank"),
    ("/sessions/s1/runs", b'{"text": "Hi"}', 400, "key must be a text that is not empty, the same when"),
    ("/sessions/s1/runs", b'{"text": "Hi", "key": ""}', 400, "key must have 1 to 200 characters"),
    ("/sessions/s1/runs/run1/stop", b'{"mode": "now"}', 400, "mode must be interrupt or rollback, not 'now'"),
    ("/sessions/s1/runs/run1/answers/c1", b'{"approved": 1}', 400, "approved must be true or false, not 1"),
    (f"/sessions/{'s' * 201}/runs", b"{}", 400, "the session in the path must have at most 200 characters"),
    ("/sessions/s1/nothing", b"{}", 404, "Not Found"),
    ("/sessions/s1/history", b"{}", 405, "Method Not Allowed"),
)


@pytest.mark.parametrize(("path", "body", "status", "says"), BAD)
async def test_what_cannot_be_understood_is_answered_with_what_was_expected(
    path: str, body: bytes, status: int, says: str
) -> None:
    async with talking() as (client, app):
        answer = await client.post(path, content=body)
        assert (answer.status_code, says in answer.json()["error"]) == (status, True), answer.text
        assert app.state.server.state.sessions == {}


async def test_a_page_of_another_site_cannot_speak_in_a_persons_name() -> None:
    async with talking() as (client, _app):
        answer = await client.post("/sessions/s1/runs", content=b"{}", headers={"Origin": "http://elsewhere"})
        assert (answer.status_code, "http://elsewhere" in answer.json()["error"]) == (403, True)
        own = await client.post("/sessions/s1/runs", content=b"{}", headers={"Origin": "http://journal"})
        assert own.status_code == 400


async def test_a_host_without_lifespan_is_told_so() -> None:
    app = make_app()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://journal") as client:
        answer = await client.get("/sessions/s1/status")
        assert (answer.status_code, "lifespan" in answer.json()["error"]) == (503, True)


async def test_each_lifespan_has_a_journal_of_its_own(autojump_clock: trio.abc.Clock) -> None:
    client = httpx.AsyncClient(transport=httpx.ASGITransport(shipped), base_url="http://journal")
    async with client:
        for _ in range(2):
            async with shipped.router.lifespan_context(shipped):
                assert (await send(client)).json() == {"run": "run1"}
                assert b"run.ended" in (await client.get("/sessions/s1/stream")).content


async def test_the_page_runs_its_own_script_and_no_other() -> None:
    async with talking() as (client, _app):
        answer = await client.get("/")
        assert answer.headers["content-security-policy"].count("'sha256-") == 2
        assert "innerHTML" not in answer.text


# --- what a host sees and a client of this process does not


async def ask(
    app: Starlette,
    method: str,
    path: str,
    receive: Callable[[], Awaitable[dict[str, Any]]],
    heard: list[bytes],
    headers: tuple[tuple[bytes, bytes], ...] = (),
) -> None:
    """Asks as a host does; the answer is in ``heard``."""

    async def send(message: Any) -> None:
        heard.append(message.get("body") or str(message.get("status", "")).encode())

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": list(headers),
        "http_version": "1.1",
        "scheme": "http",
        "root_path": "",
        "server": ("journal", 80),
    }
    await app(scope, receive, send)


async def test_a_body_that_is_too_long_is_not_read_to_its_end() -> None:
    async with talking() as (_client, app):
        pieces, heard = 0, list[bytes]()

        async def receive() -> dict[str, Any]:
            nonlocal pieces
            pieces += 1
            await trio.lowlevel.checkpoint()
            return {"type": "http.request", "body": b"x" * 100_000, "more_body": True}

        await ask(app, "POST", "/sessions/s1/runs", receive, heard)
        assert (pieces, heard) == (3, [b"413", b'{"error":"the body must have at most 262144 bytes"}'])


@pytest.mark.parametrize(("policy", "state"), [("continue", "completed"), ("cancel", "interrupted")])
async def test_a_reader_who_goes_away_stops_nothing_unless_that_is_the_policy(
    policy: str, state: str, autojump_clock: trio.abc.Clock
) -> None:
    async with talking(disconnect=policy) as (client, app):
        await send(client)
        gone, heard = trio.Event(), list[bytes]()

        async def receive() -> dict[str, Any]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async with trio.open_nursery() as nursery:
            cursor = ((b"last-event-id", b"run1:1"),)
            nursery.start_soon(ask, app, "GET", "/sessions/s1/stream", receive, heard, cursor)
            await trio.sleep(1.5)
            gone.set()
        assert b'"text":"One"' in b"".join(heard)
        assert b"run.ended" not in b"".join(heard)
        await trio.sleep(10)
        assert (await client.get("/sessions/s1/status")).json()["state"] == state


async def test_half_a_character_reaches_the_history(autojump_clock: trio.abc.Clock) -> None:
    app = make_app(serving(script=Script(answer="\ud83d", pace_ns=1), heartbeat_s=None))
    transport = httpx.ASGITransport(app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://j") as client:
        await send(client)
        await client.get("/sessions/s1/stream")
        assert texts((await client.get("/sessions/s1/history")).json()["items"])[1] == "assistant \ud83d"


async def test_the_words_of_the_script_are_its_text() -> None:
    for text in ("", "a", "One two", "  lead\n\nand trail ", "one"):
        assert "".join(words(text)) == text
    assert list(words("One two\n\nthree")) == ["One", " two", "\n\nthree"]
