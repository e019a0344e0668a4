"""Real clients read the live endpoint through a proxy that cuts at chosen bytes, and see what the journal holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx_sse import connect_sse
from live_server import CuttingProxy, live_server, shown

from tests.npm_packages import Node

HERE = Path(__file__).parent
EVENTSOURCE = "eventsource@4.1.1"
HEAD = 180  # about as long as the head of an answer: cuts before it, in it and after it are all wanted
CUTS = (*(HEAD + 97 * n for n in range(7)), 10, 5000, 2000, 1, 1500)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with live_server("--pace-ms", "3") as found:
        yield found


def apply(texts: dict[str, str], kind: str, data: str) -> bool:
    """Applies an event to a view, and returns whether the stream is over."""
    told = json.loads(data)
    name = told.get("message_id") or ""
    if kind == "stream.open" and told.get("whole_turn"):
        texts.clear()
    elif kind == "message.opened":
        texts[name] = ""
    elif kind == "message.delta":
        texts[name] += told["text"]
    elif kind in ("message.completed", "message.interrupted"):
        # A view that has applied every delta has the whole text already; that is what is checked here.
        assert texts[name] == told["text"]
    return kind == "stream.end"


def test_httpx_sse_sees_what_the_journal_holds_however_often_it_is_cut(address: str) -> None:
    with CuttingProxy(address, CUTS) as proxy, httpx.Client(base_url=proxy.address) as client:
        client.post("/sessions/httpx/runs", json={"text": "Hi", "key": "k1"}).raise_for_status()
        # With the cursor of the history, for a run may be over before a reader without one comes back.
        history = client.get("/sessions/httpx/history").json()
        texts, cursor = shown(history), history["cursor"]
        over, connections = False, 0
        while not over:
            connections += 1
            headers = {"Last-Event-ID": cursor}
            with suppress(httpx.HTTPError), connect_sse(client, "GET", "/sessions/httpx/stream", headers=headers) as it:
                assert it.response.status_code == 200
                for event in it.iter_sse():
                    over = apply(texts, event.event, event.data) or over
                    cursor = event.id or cursor
            assert connections < 100
        assert connections > len(CUTS)
        assert texts == shown(client.get("/sessions/httpx/history").json())


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs the npm client on an address, and returns what it saw."""
    node = Node(tmp_path_factory.mktemp("npm"), EVENTSOURCE)
    return lambda url: node.run(HERE / "eventsource_reader.mjs", url, timeout_s=120)


@pytest.mark.campaign
def test_npm_eventsource_sees_what_the_journal_holds_however_often_it_is_cut(address: str, node: Any) -> None:
    cuts = CUTS[:4]  # it waits three seconds before each new connection
    with CuttingProxy(address, cuts) as proxy, httpx.Client(base_url=address) as client:
        client.post("/sessions/npm/runs", json={"text": "Hi", "key": "k1"}).raise_for_status()
        history = client.get("/sessions/npm/history").json()
        events = node(f"{proxy.address}/sessions/npm/stream?after={history['cursor']}")
        texts = shown(history)
        for kind, data in events:
            apply(texts, kind, data)
        assert len(proxy.streams) == len(cuts) + 1
        assert texts == shown(client.get("/sessions/npm/history").json())
