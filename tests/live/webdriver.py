"""A browser in a test's hands: the WebDriver protocol (https://www.w3.org/TR/webdriver2/), as much as is needed."""

from __future__ import annotations

import base64
import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 60.0  # of a machine that has other things to do
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=900,900",
)


def missing() -> str:
    """Returns what is missing to run a browser, in words; empty if nothing is."""
    lacking = [] if shutil.which("chromedriver") else ["chromedriver"]
    lacking += [] if _browser() else ["chromium"]
    if not lacking:
        return ""
    return f"not installed: {', '.join(lacking)} (on Debian: apt-get install chromium chromium-driver)"


def _browser() -> str | None:
    return next((found for name in CHROMIUM if (found := shutil.which(name))), None)


class Browser:
    """One window.

    Args:
        http: whose base address is the session.
    """

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._http.request(method, path, json=body)
        said = answer.json()["value"]
        assert answer.status_code == 200, said
        return said

    def open(self, url: str) -> None:
        self._ask("POST", "url", {"url": url})

    def reload(self) -> None:
        self._ask("POST", "refresh", {})

    def run(self, script: str, *arguments: Any) -> Any:
        """Runs the body of a function in the page, and returns what it returns."""
        return self._ask("POST", "execute/sync", {"script": script, "args": list(arguments)})

    def _element(self, selector: str) -> str:
        found: dict[str, str] = self._ask("POST", "element", {"using": "css selector", "value": selector})
        return next(iter(found.values()))

    def type(self, selector: str, text: str) -> None:
        self._ask("POST", f"element/{self._element(selector)}/value", {"text": text})

    def click(self, selector: str) -> None:
        self._ask("POST", f"element/{self._element(selector)}/click", {})

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._ask("GET", "screenshot")))

    def wait(self, what: str, holds: Callable[[], bool]) -> None:
        """Waits until something holds."""
        until = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < until, f"after {PATIENCE_S} s: not {what}"
            time.sleep(0.02)


@contextlib.contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Opens a browser with a profile of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    binary = _browser()
    assert binary is not None
    options = {"binary": binary, "args": [*FLAGS, f"--user-data-dir={profile}"]}
    wanted = {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options}}}
    command = ["chromedriver", f"--port={port}"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as http:
                _wait_ready(http)
                answer = http.post("/session", json=wanted)
                assert answer.status_code == 200, answer.text
                session = answer.json()["value"]["sessionId"]
                http.base_url = httpx.URL(f"http://127.0.0.1:{port}/session/{session}/")
                try:
                    yield Browser(http)
                finally:
                    closed = http.delete(str(http.base_url).rstrip("/"))  # a slash at the end names nothing
                    assert closed.status_code == 200, closed.text
        finally:
            driver.terminate()


def _wait_ready(http: httpx.Client) -> None:
    until = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.suppress(httpx.TransportError):
            if http.get("/status").json()["value"]["ready"]:
                return
        assert time.monotonic() < until, "chromedriver does not get ready"
        time.sleep(0.05)
