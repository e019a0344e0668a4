"""Controls the order in which trio runs tasks that it woke itself: the one private switch.

trio's public interface cannot make a program deterministic: two tasks that trio wakes in one pass (by a channel, an
event, a cancel scope, a timeout) run in an order that trio draws from a private generator, on purpose. pytest-trio and
Hypothesis both set the same private switch, which makes trio sort each batch before it shuffles. This module replaces
the generator as well, by one that lets the scheduler's strategy choose one task at a time and puts the others back.

The module also gives the scheduler a short cut to trio's next deadline, which the scheduler needs whenever time is
about to move while a task hands over: the public way gathers the statistics of the whole run, a sixth of a short case.

``tests/simulation/test_native_order.py`` fails loudly when trio changes any of these names. Everything is restored
when the run ends.
"""

from __future__ import annotations

import contextlib
import random  # only the base class of trio's generator; nothing is drawn
from collections.abc import Iterator
from typing import Any

import trio._core._run as _run  # the private switch itself: see above

from journalsim.engine.scheduler import Scheduler


class _OneAtATime(random.Random):
    """Replaces trio's generator; draws nothing."""

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__(0)
        self._scheduler = scheduler

    def shuffle(self, x: Any) -> None:
        """Leaves one task in the batch, which trio has sorted by age, and requeues the others."""
        position = self._scheduler.pick_native(x) if x else 0
        if len(x) > 1:
            chosen = x.pop(position)
            _run.GLOBAL_RUN_CONTEXT.runner.runq.extend(x)
            x[:] = [chosen]


def _next_deadline() -> float:
    return _run.GLOBAL_RUN_CONTEXT.runner.deadlines.next_deadline()


@contextlib.contextmanager
def native_order(scheduler: Scheduler) -> Iterator[None]:
    """Hands the order of native wakes to ``scheduler`` while the block runs."""
    saved = _run._ALLOW_DETERMINISTIC_SCHEDULING, _run._r
    public = scheduler.next_deadline
    _run._ALLOW_DETERMINISTIC_SCHEDULING = True  # type: ignore[misc]  # declared Final
    _run._r = _OneAtATime(scheduler)
    scheduler.next_deadline = _next_deadline
    try:
        yield
    finally:
        _run._ALLOW_DETERMINISTIC_SCHEDULING, _run._r = saved  # type: ignore[misc]
        scheduler.next_deadline = public
