"""A person with a browser: what was said stays, once, whatever happens to the page and to its connection."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from live_server import CuttingProxy, live_server, shown
from webdriver import Browser, browser, missing

pytestmark = [pytest.mark.campaign, pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is there")]

HOSTILE = '<img src=x onerror="document.title=1"> & <b>bold</b>'
ITEMS = """return [...document.querySelectorAll("#log .item")].map(
    (e) => [e.className.replace("item ", ""), e.textContent, e.dataset.state])"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with live_server("--pace-ms", "60") as found:
        yield found


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def items(window: Browser, kind: str) -> list[tuple[str, str]]:
    """Returns text and state of the items of a kind that the page shows."""
    return [(text, state) for name, text, state in window.run(ITEMS) if name == kind]


def answer(window: Browser) -> str:
    """Returns the one answer that the page shows, so far."""
    texts = [text for text, _ in items(window, "assistant")]
    assert len(texts) <= 1, texts
    return "".join(texts)


def state(window: Browser) -> str:
    found: str = window.run("return document.getElementById('state').textContent")
    return found


def open_and_send(window: Browser, address: str, session: str, text: str = "Hello") -> None:
    window.open(f"{address}/?session={session}")
    window.wait("open", lambda: state(window) == "idle")
    window.type("#text", text)
    window.click("#send")
    window.wait("answering", lambda: len(answer(window)) > 20)


def history(address: str, session: str) -> dict[str, Any]:
    said: dict[str, Any] = httpx.get(f"{address}/sessions/{session}/history").json()
    return said


def test_a_partial_survives_a_reload_once(window: Browser, address: str, tmp_path: Path) -> None:
    open_and_send(window, address, "stopped", HOSTILE)
    window.click("#stop")
    window.wait("stopped", lambda: "stopped by you" in str(items(window, "other")))
    before = window.run(ITEMS)
    window.reload()
    window.wait("loaded", lambda: state(window) == "idle")
    assert window.run(ITEMS) == before
    ((text, how),) = items(window, "assistant")
    assert how == "interrupted"
    assert [text] == list(shown(history(address, "stopped")).values())
    assert text.startswith(f"You wrote: {HOSTILE}"[:20])
    assert len(text) < 500
    assert items(window, "user") == [(HOSTILE, "completed")]
    assert window.run("return document.title") != "1"
    window.screenshot(tmp_path / "partial.png")
    assert (tmp_path / "partial.png").stat().st_size > 5_000


def test_a_reload_in_mid_answer_goes_on_where_it_was(window: Browser, address: str) -> None:
    open_and_send(window, address, "reloaded")
    for _ in range(3):
        seen = answer(window)
        window.reload()
        window.wait("going on", lambda seen=seen: len(answer(window)) > len(seen))  # type: ignore[misc]
        assert answer(window).startswith(seen)
    window.wait("complete", lambda: "the answer is complete" in str(items(window, "other")))
    assert [answer(window)] == list(shown(history(address, "reloaded")).values())


def test_a_cut_connection_leaves_no_gap_and_repeats_nothing(window: Browser, address: str) -> None:
    """The browser comes back by itself, and says where it was."""
    with CuttingProxy(address) as proxy:
        open_and_send(window, proxy.address, "cut")
        # Every text that the page ever shows must be the beginning of the next.
        window.run(
            """window.seen = [];
            new MutationObserver(() => {
              const said = document.querySelector("#log .assistant");
              window.seen.push(said ? said.textContent : "");
            }).observe(document.getElementById("log"), {childList: true, subtree: true, characterData: true});"""
        )
        assert proxy.cut_all() >= 1
        window.wait("cut", lambda: state(window) == "reconnecting")
        window.wait("complete", lambda: "the answer is complete" in str(items(window, "other")))
        (whole,) = shown(history(address, "cut")).values()
        assert answer(window) == whole
        seen = window.run("return window.seen")
        assert len(seen) > 10
        assert all(later.startswith(earlier) for earlier, later in pairwise(seen))
        again = [request for request in proxy.streams if b"last-event-id:" in request.lower()]
        assert again


def test_the_reconnect_button_attaches_at_what_was_applied_last(window: Browser, address: str) -> None:
    open_and_send(window, address, "button")
    for _ in range(5):
        window.click("#reconnect")
    window.wait("complete", lambda: "the answer is complete" in str(items(window, "other")))
    assert [answer(window)] == list(shown(history(address, "button")).values())
    window.click("#reconnect")
    window.wait("idle", lambda: state(window) == "idle")
    assert [answer(window)] == list(shown(history(address, "button")).values())


def test_a_server_that_is_gone_is_said_to_be_gone(window: Browser, address: str) -> None:
    with CuttingProxy(address) as proxy:
        open_and_send(window, proxy.address, "gone")
        shown_before = answer(window)
    window.wait("reconnecting", lambda: state(window) == "reconnecting")
    assert answer(window).startswith(shown_before)
