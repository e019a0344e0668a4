"""Guards a run against surprises from the collector, real waiting and hidden sources of nondeterminism.

* The cyclic collector is off inside a run: a finaliser that runs at a moment of
  its own choosing is a source of nondeterminism.
* A watchdog interrupts code under test that holds the thread in real time.
* In an *audit*, the usual sources of nondeterminism are trapped and named.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random  # only to trap it in an audit
import secrets  # only to trap it in an audit
import signal
import socket
import subprocess
import sys
import threading  # to know the main thread, and to trap it in an audit
import time  # only to trap it in an audit
import uuid  # only to trap it in an audit
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import trio

from journalsim.errors import BlockedInRealTimeError

BLOCKED_AFTER_S = 5.0  # a case takes milliseconds; nothing honest holds the thread a thousand times longer
BLOCKED_AGAIN_S = 1.0  # the second violation has less time

_TRAPPED: tuple[tuple[Any, str], ...] = (
    (time, "time"),
    (time, "time_ns"),
    (time, "monotonic"),
    (time, "sleep"),
    (random, "random"),
    (random, "randint"),
    (random, "choice"),
    (random, "shuffle"),
    (random, "getrandbits"),
    (secrets, "token_hex"),
    (secrets, "token_bytes"),
    (uuid, "uuid1"),
    (uuid, "uuid4"),
    (os, "urandom"),
    (threading.Thread, "start"),
    (socket.socket, "__init__"),
    (subprocess.Popen, "__init__"),
)

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_EXEMPT = tuple(
    os.path.join(folder, "")
    for folder in (
        os.path.join(_PACKAGE, "engine"),
        os.path.join(_PACKAGE, "search"),
        os.path.dirname(trio.__file__),  # its wake-up socket
    )
)
"""Folders of files that an audit does not name: by their place, for a project may have a folder called ``trio``."""


@contextlib.contextmanager
def quiet_collector() -> Iterator[None]:
    """Turns the cyclic collector off for the block, and hides all earlier objects from it.

    So a collection between cases looks at the garbage of the cases, and not at every module that was ever imported,
    which takes as long as a hundred cases.
    """
    was_on = gc.isenabled()
    gc.disable()
    froze = not gc.get_freeze_count()
    if froze:
        gc.freeze()
    try:
        yield
    finally:
        if froze:
            gc.unfreeze()
        if was_on:
            gc.enable()


@contextlib.contextmanager
def watchdog() -> Iterator[Callable[[], None]]:
    """Raises :class:`BlockedInRealTimeError` in code that holds the thread for ``BLOCKED_AFTER_S`` real seconds.

    The watchdog works in the main thread, where signals do; elsewhere it does nothing.

    Yields:
        A function to call at the start of each case; it restarts the watchdog's time.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield lambda: None
        return

    def bark(signum: int, frame: FrameType | None) -> None:
        where = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "unknown"
        raise BlockedInRealTimeError(
            f"held the thread for {BLOCKED_AFTER_S:g} s of real time at {_short(where)}; "
            "in a simulation only virtual time may pass: wait through the ports, or trio.sleep"
        )

    saved = signal.signal(signal.SIGALRM, bark)
    try:
        yield _full_time
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, saved)


def _full_time() -> None:
    signal.setitimer(signal.ITIMER_REAL, BLOCKED_AFTER_S, BLOCKED_AGAIN_S)


def give_full_time() -> None:
    """Restarts the watchdog's time, for adapters of systems in real time, which are slow and not blocked."""
    if threading.current_thread() is threading.main_thread() and signal.getitimer(signal.ITIMER_REAL)[0]:
        _full_time()


@contextlib.contextmanager
def audit() -> Iterator[dict[str, None]]:
    """Records every use of the clock, of randomness, of threads, sockets and processes while the block runs.

    The audit sees calls through the module (``time.time()``). It misses a name that was imported before (``from time
    import time``), which is why a difference between two runs is the proof and the audit is the hint.

    Yields:
        Findings such as ``time.time called at store.py:41``, in order, each once.
    """
    found: dict[str, None] = {}
    saved = [(owner, name, getattr(owner, name)) for owner, name in _TRAPPED]
    for owner, name, original in saved:
        setattr(owner, name, _trap(f"{getattr(owner, '__name__', owner)}.{name}", original, found))
    try:
        yield found
    finally:
        for owner, name, original in saved:
            setattr(owner, name, original)


def _trap(label: str, original: Any, found: dict[str, None]) -> Any:
    def trapped(*arguments: Any, **named: Any) -> Any:
        caller: FrameType | None = sys._getframe(1)  # documented as CPython's own; only file and line are read
        while caller is not None and caller.f_code.co_filename == socket.__file__:
            caller = caller.f_back  # create_connection and socketpair are named at the line that calls them
        if caller is not None and not caller.f_code.co_filename.startswith(_EXEMPT):
            found[f"{label} called at {_short(f'{caller.f_code.co_filename}:{caller.f_lineno}')}"] = None
        return original(*arguments, **named)

    return trapped


def _short(where: str) -> str:
    return "/".join(where.replace(os.sep, "/").split("/")[-2:])
