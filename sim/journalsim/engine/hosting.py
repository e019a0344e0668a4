"""Hosts many cases in one ``trio.run``.

Starting trio costs more than a short case, so a search runs all its cases in one run, each in a nursery of its own that
is empty again at the end. A failure found that way is confirmed in a fresh run of its own.
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
    """The scheduler of a hosted search, and the housekeeping between its cases.

    Attributes:
        scheduler: the scheduler that runs the cases.
    """

    def __init__(self, rearm: Callable[[], None]) -> None:
        self.scheduler = Scheduler()
        self._rearm = rearm
        self._cases = 0

    def next_case(self) -> Scheduler:
        """Returns the scheduler for the next case, and restarts the watchdog's time for that case."""
        self._cases += 1
        self._rearm()
        if self._cases % COLLECT_EVERY == 0:
            gc.collect()
            self._rearm()  # a collection does not count against the time of the case
        return self.scheduler


def host(search: Callable[[Host], Awaitable[T]]) -> T:
    """Runs a search in one ``trio.run`` under the guards and returns the search's result."""
    # Output of code under test must not end up in a report on standard output.
    with watchdog() as rearm, quiet_collector(), contextlib.redirect_stdout(sys.stderr):
        it = Host(rearm)
        with native_order(it.scheduler):
            return trio.run(search, it, clock=it.scheduler, instruments=[it.scheduler])
