"""``python -m journalsim_reference`` says what it does, and keeps what it was told to keep."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import httpx
import pytest
from live_server import live_server, shown

from journalsim_reference.__main__ import is_loopback, main


def test_what_is_on_the_disk_outlives_the_process(tmp_path: Path) -> None:
    """Two processes on one store mint no id twice, and the second ends what the first left in good order."""
    folder = str(tmp_path / "journal")
    with live_server("--store", folder, "--pace-ms", "20") as address:
        first = httpx.post(f"{address}/sessions/s1/runs", json={"text": "Hi", "key": "k1"}).json()["run"]
        with httpx.stream("GET", f"{address}/sessions/s1/stream") as answer:
            for line in answer.iter_lines():
                if line == "event: message.delta":
                    break
    with live_server("--store", folder, "--pace-ms", "1") as address:
        history = httpx.get(f"{address}/sessions/s1/history").json()
        (partial,) = shown(history).values()
        assert partial.startswith("You")
        assert (history["items"][-1]["state"], history["items"][-1]["cause"]) == ("interrupted", "shut_down")
        second = httpx.post(f"{address}/sessions/s1/runs", json={"text": "Ho", "key": "k2"}).json()["run"]
        assert second != first
        body = httpx.get(f"{address}/sessions/s1/stream", params={"after": history["cursor"]}).text
        assert body.count("event: run.ended") == 1
        assert partial in shown(httpx.get(f"{address}/sessions/s1/history").json()).values()


def test_a_port_that_is_taken_is_an_error_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--port", str(port)]) == 2
    assert capsys.readouterr().err.startswith(f"error: cannot serve on 127.0.0.1:{port}: ")


def test_a_folder_that_cannot_be_made_is_an_error_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["--port", "0", "--store", str(tmp_path / "file" / "in it")]) == 2
    assert "error: cannot store the journal in" in capsys.readouterr().err


def test_what_the_live_server_needs_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    assert main([]) == 2
    assert "pip install 'journalsim[live]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "inside"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.0.2.1", False),
        ("somewhere.example", False),
    ],
)
def test_an_address_that_others_reach_is_known_as_one(host: str, inside: bool) -> None:
    assert is_loopback(host) is inside


def test_an_address_that_others_reach_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--host", "192.0.2.1", "--port", "0"]) == 2  # an address of nobody, so that nothing is opened
    assert "warning: 192.0.2.1 is no loopback address" in capsys.readouterr().err
