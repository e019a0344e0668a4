"""One ``trio.run`` that hosts many cases.

Starting trio costs more than a short case, so a search runs all its cases in one
run, each in a nursery of its own that is empty again at the end.  A failure
found that way is confirmed in a fresh run of its own.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from journalsim.engine.guards import quiet_collector, watchdog
from journalsim.engine.native_order import native_order
from journalsim.engine.scheduler import Scheduler

T = TypeVar("T")
COLLECT_EVERY = 200  # cases between collections: a few megabytes of garbage


class Host:
    """What a hosted search needs beside its scheduler.

    Attributes:
        scheduler: to run cases on.
    """

    def __init__(self, rearm: Callable[[], None]) -> None:
        self.scheduler = Scheduler()
        self._rearm = rearm
        self._cases = 0

    def next_case(self) -> Scheduler:
        """Returns the scheduler for one more case, and gives that case its full real time."""
        self._cases += 1
        self._rearm()
        if self._cases % COLLECT_EVERY == 0:
            gc.collect()
            self._rearm()  # a collection takes nothing from the time of the case
        return self.scheduler


def host(search: Callable[[Host], Awaitable[T]]) -> T:
    """Runs a search in one ``trio.run`` under the guards and returns what it returns."""
    # What code under test prints must not end up in a report on standard output.
    with watchdog() as rearm, quiet_collector(), contextlib.redirect_stdout(sys.stderr):
        it = Host(rearm)
        with native_order(it.scheduler):
            return trio.run(search, it, clock=it.scheduler, instruments=[it.scheduler])
