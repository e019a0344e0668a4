"""What the tests of the live endpoint share: a server process on a free port, a proxy that cuts, and a reader."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
CONNECTIONS = socket.SOMAXCONN


@contextlib.contextmanager
def live_server(*options: str) -> Iterator[str]:
    """Runs ``python -m journalsim_reference`` on a free loopback port, and yields its address."""
    command = [sys.executable, "-m", "journalsim_reference", "--port", "0", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+", said)
            assert found is not None, said
            with httpx.Client(base_url=found[0]) as client:
                for _ in range(100):  # it listens at once; its journal is open a little later
                    if client.get("/").status_code == 200:
                        break
            yield found[0]
        finally:
            process.terminate()
            process.communicate(timeout=20)
    assert process.returncode == 0


class CuttingProxy:
    """Passes TCP connections on, and cuts the answer of each after so many bytes.

    Args:
        address: ``http://host:port`` of the server.
        cuts: of the n-th connection whose request holds ``only``, how many bytes of the answer get through.
        only: what a request must hold for its answer to be cut.
    """

    def __init__(self, address: str, cuts: tuple[int, ...] = (), only: bytes = b"/stream") -> None:
        host, port = address.removeprefix("http://").split(":")
        self._target = (host, int(port))
        self._cuts = list(cuts)
        self._only = only
        self._lock = threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._closed = False
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=CONNECTIONS)
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.streams: list[bytes] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self) -> CuttingProxy:
        return self

    def __exit__(self, *exc: object) -> None:
        self._closed = True
        _hang_up(self._listener)
        self.cut_all()
        self._thread.join(timeout=5)

    def cut_all(self) -> int:
        """Cuts every connection that is open, and returns how many there were."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                _hang_up(end)
        return len(pairs)

    def _accept(self) -> None:
        while not self._closed:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            pair = (client, server)
            with self._lock:
                self._pairs.append(pair)
            threading.Thread(target=self._pass_requests, args=pair, daemon=True).start()

    def _pass_requests(self, client: socket.socket, server: socket.socket) -> None:
        limit: list[int | None] = [None]
        begun = False
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                if self._only in data.split(b"\r\n", 1)[0]:
                    with self._lock:
                        self.streams.append(data)
                        limit[0] = self._cuts.pop(0) if self._cuts else None
                server.sendall(data)
                if not begun:
                    begun = True
                    threading.Thread(target=self._pass_answers, args=(client, server, limit), daemon=True).start()
        _hang_up(server)

    def _pass_answers(self, client: socket.socket, server: socket.socket, limit: list[int | None]) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                if limit[0] is not None:
                    data, limit[0] = data[: limit[0]], limit[0] - len(data)
                client.sendall(data)
                if limit[0] is not None and limit[0] <= 0:
                    break
        _hang_up(client)
        _hang_up(server)


def _hang_up(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


def shown(history: dict[str, Any]) -> dict[str, str]:
    """Returns the answers that a history shows, by id."""
    return {item["id"]: item["text"] for item in history["items"] if item["kind"] == "assistant"}
