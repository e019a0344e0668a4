"""``python -m journalsim_reference``: serves the reference journal on a loopback port, with a page to try it on."""

from __future__ import annotations

import argparse
import ipaddress
import signal
import socket
import sys
import time  # two processes on one store mint different ids
from collections.abc import Callable, Sequence
from pathlib import Path

import trio

from journalsim_reference.stores.base import Store
from journalsim_reference.stores.sqlite import SQLiteStore

INSTALL = "the live server needs starlette and hypercorn: pip install 'journalsim[live]'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until it is stopped, and returns the exit code."""
    given = _parser().parse_args(arguments)
    try:
        import hypercorn.trio  # noqa: F401  (only to report a missing package early)
        import starlette  # noqa: F401
    except ImportError as error:
        return _complain(f"{INSTALL} ({error})")
    if not is_loopback(given.host):
        print(
            f"warning: {given.host} is no loopback address: everybody who reaches it reads the journal", file=sys.stderr
        )
    try:
        store = None if given.store is None else _folder(given.store)
    except OSError as error:
        return _complain(f"cannot store the journal in {given.store}: {error}")
    try:
        listener = socket.create_server((given.host, given.port), family=_family(given.host))
    except (OSError, OverflowError) as error:  # the second error is for a number that is no port
        return _complain(f"cannot serve on {given.host}:{given.port}: {error}")
    trio.run(_serve, listener, store, given.pace_ms)
    return 0


def is_loopback(host: str) -> bool:
    """Returns True if only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m journalsim_reference", description=__doc__.split(":", 1)[1].strip()
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8765, help="port to listen on, 0 for a free one (%(default)s)")
    parser.add_argument("--store", metavar="DIR", help="folder that stores the journal; without it, it is in memory")
    parser.add_argument(
        "--pace-ms",
        type=int,
        default=150,
        metavar="N",
        help="time between two words of the model, milliseconds (%(default)s)",
    )
    return parser


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _folder(where: str) -> Callable[[], Store]:
    Path(where).mkdir(parents=True, exist_ok=True)
    return lambda: SQLiteStore(where)


def _complain(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return 2


async def _serve(listener: socket.socket, open_store: Callable[[], Store] | None, pace_ms: int) -> None:
    from hypercorn.config import Config
    from hypercorn.trio import serve

    from journalsim_reference.app import make_app, serving
    from journalsim_reference.live import Script

    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # connections inherit it: a word is a packet
    host, port = listener.getsockname()[:2]
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.loglevel = "WARNING"
    config.graceful_timeout = 1.0  # streams have received their terminals by then
    app = make_app(serving(open_store, Script(pace_ns=pace_ms * 1_000_000), _process_name()))

    async def stopped() -> None:
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                break
        await app.state.server.shutdown()

    shown = f"[{host}]" if ":" in host else host
    print(f"serving on http://{shown}:{port}/   (Ctrl-C ends active runs in good order)", flush=True)
    if open_store is None:
        print("the journal is stored in memory; --store DIR stores it on disk", flush=True)
    await serve(app, config, shutdown_trigger=stopped, mode="asgi")  # type: ignore[arg-type]  # its Scope is narrower


def _process_name() -> str:
    """Returns the part of an id that differs between processes on the same store."""
    return f"-{time.time_ns() // 1_000_000:x}-"


if __name__ == "__main__":
    sys.exit(main())
