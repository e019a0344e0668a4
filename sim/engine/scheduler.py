"""One scheduler for everything that can happen: sources, tasks and time.

The scheduler is at once trio's clock and an instrument, which is all that it
takes to own every choice through trio's public interface:

* trio asks the clock how long to sleep exactly when no task is runnable.  There
  the scheduler steps event sources and releases parked tasks until one task is
  runnable again, or lets virtual time jump to the next deadline.
* a task that reaches a point parks itself and hands over directly, without a
  turn of trio's loop, as long as nothing else was woken natively; the
  instrument counts native wakes (channels, events, cancel scopes, timeouts).

An *event source* is a plain callable that the scheduler steps itself: a model,
a person, a link.  Only code under test needs a trio task.

What may happen next is one list of entries, first in, first out.  A strategy
may choose another entry than the first; every entry that was passed over is
counted, and the counts, keyed by the lane's name and the entry's number within
its lane, are the whole schedule (:class:`sim.case.Delay`).

Two things keep time exact.  Times are integer nanoseconds, and trio's float
deadlines are rounded up to microseconds when jumping, so that equal instants
tie and ``trio.current_time()`` really reaches the deadline it jumped to.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import outcome
import trio
from trio.lowlevel import (
    Abort,
    Task,
    checkpoint_if_cancelled,
    current_statistics,
    current_task,
    reschedule,
    wait_task_rescheduled,
)

from sim.case import Delay
from sim.engine.entries import Entry, Killed, Strategy, Timer

NS_PER_S = 1_000_000_000
STEPS_MAX = 200_000  # a case takes hundreds of steps; this many means that something spins
FOREVER_S = 3600.0  # real seconds that trio may sleep when only an outside thread could wake it


class Scheduler(trio.abc.Clock, trio.abc.Instrument):
    """Virtual clock, scheduler and counter of native wakes of one ``trio.run``.

    Attributes:
        now_ns: virtual time.
        steps: entries that have happened so far.
        strategy: None for first in, first out.
        placed: actions to call just before the step of this number.
        recorded: which entries were passed over, and how often.
        over: why the case was cut off, if it was.
    """

    def __init__(self) -> None:
        self._native = 0
        self._ours: set[Task] = set()  # membership only; never iterated
        self.reset()

    def reset(self, strategy: Strategy | None = None, delays: Iterable[Delay] = ()) -> None:
        """Forgets the case before: time, steps, entries and recorded delays."""
        self.strategy = strategy
        self.now_ns = 0
        self.steps = 0
        self.steps_max = STEPS_MAX
        self.over: str | None = None
        self.recorded: list[Delay] = []
        self.placed: dict[int, list[Callable[[], None]]] = {}
        self._turns: Mapping[tuple[str, int], int] = {(d.lane, d.nth): d.turns for d in delays}
        self._counts: dict[str, int] = {}
        self._ready: list[Entry] = []
        self._timers: list[tuple[int, int, Timer]] = []
        self._arrivals = 0
        self.closing = False
        self._quiet: Entry | None = None
        self._quiet_by_ns = 0
        self._parked: dict[Task, Entry] = {}
        self._woken: dict[Task, Entry] = {}
        self._lanes: dict[Task, str] = {}
        self._names: dict[str, int] = {}
        self._ages: dict[Task, int] = {}

    # --- trio.abc.Instrument: who woke whom

    def task_scheduled(self, task: Task) -> None:
        if task in self._ours:
            self._ours.discard(task)
        else:
            self._native += 1

    def before_task_step(self, task: Task) -> None:
        if self._native:
            self._native -= 1

    # --- trio.abc.Clock

    def start_clock(self) -> None:
        """Does nothing: virtual time begins at zero."""

    def current_time(self) -> float:
        return self.now_ns / NS_PER_S

    def deadline_to_sleep_time(self, deadline: float) -> float:
        self._native = 0  # trio asks only when nothing is runnable
        limit = None if deadline == math.inf else _round_up(deadline)
        quiet_first = self._quiet is not None and (limit is None or self._quiet_by_ns < limit)
        cap = self._quiet_by_ns if quiet_first else limit
        if self._advance(None, cap) or self._native:
            return 0
        if quiet_first:
            self._release_quiet()
        elif limit is not None:
            self.now_ns = max(self.now_ns, limit)
        else:
            return FOREVER_S
        return 0

    # --- event sources

    def soon(self, lane: str, step: Callable[[], None], touches: tuple[str, ...] = ()) -> None:
        """Makes a step of a source ready now, behind everything that is ready."""
        self._enqueue(Entry(lane, step, None, touches))

    def after(self, delay_ns: int, lane: str, step: Callable[[], None], touches: tuple[str, ...] = ()) -> Timer:
        """Makes a step of a source ready ``delay_ns`` from now; equal instants keep the order of the calls."""
        self._arrivals += 1
        timer = Timer(Entry(lane, step, None, touches))
        heapq.heappush(self._timers, (self.now_ns + delay_ns, self._arrivals, timer))
        return timer

    # --- tasks

    def lane(self, task: Task) -> str:
        """Returns the name by which the schedule knows a task: its trio name, made unique by age."""
        lane = self._lanes.get(task)
        if lane is None:
            nth = self._names.get(task.name, 0) + 1
            self._names[task.name] = nth
            lane = self._lanes[task] = task.name if nth == 1 else f"{task.name}.{nth}"
            self._ages[task] = len(self._ages)
        return lane

    async def point(self, touches: tuple[str, ...] = ()) -> None:
        """Lets everything else that is ready happen first, in the order of the strategy.

        A checkpoint: a pending cancellation is delivered here, when the strategy
        releases the task.
        """
        task = current_task()
        if self.closing:
            raise Killed
        entry = Entry(self.lane(task), None, task, touches)
        self._enqueue(entry)
        if not self._native and self._advance(task, None) is task:
            if isinstance(entry.raises, BaseException):
                raise entry.raises
            await checkpoint_if_cancelled()
            return
        await self._park(entry)

    def waiter(self) -> Entry:
        """Returns an entry for :meth:`wait` and :meth:`wake`, owned by the calling task."""
        task = current_task()
        return Entry(self.lane(task), None, task, ())

    async def wait(self, entry: Entry) -> None:
        """Parks the calling task until somebody passes ``entry`` to :meth:`wake`."""
        if self.closing:
            raise Killed
        if not self._native and self._advance(entry.task, self._native_limit()) is entry.task:
            if isinstance(entry.raises, BaseException):
                raise entry.raises
            return
        await self._park(entry)

    def wake(self, entry: Entry) -> None:
        """Makes a waiting entry ready; does nothing if it is ready already."""
        if not entry.queued:
            self._enqueue(entry)

    async def wait_quiet(self, within_ns: int) -> None:
        """Parks the calling task until nothing else can happen, or ``within_ns`` of virtual time have passed."""
        assert self._quiet is None, "one task at a time waits for quiet"
        entry = self.waiter()
        self._quiet, self._quiet_by_ns = entry, self.now_ns + within_ns
        await self._park(entry)

    def kill(self, task: Task) -> bool:
        """Ends a task that is parked here, in spite of shields; returns whether it was parked here."""
        entry = self._parked.get(task)
        if entry is None:
            return False
        entry.raises = Killed()
        self.wake(entry)
        return True

    def finish(self) -> None:
        """Ends the case: sources are dropped, every task is killed at its point or at its next one."""
        self.closing = True
        self.over = None
        self.steps_max = self.steps + STEPS_MAX
        self._timers.clear()
        self._ready[:] = [entry for entry in self._ready if entry.step is None]
        for task in list(self._parked):
            self.kill(task)

    def pick_native(self, tasks: list[Task]) -> int:
        """Returns which of several tasks that trio woke runs first: the oldest, or as the strategy says."""
        if self.strategy is None and not self._turns:
            return 0
        woken = {task: self._woken.get(task) or self._arrive(Entry(f"!{task.name}", None, task, ())) for task in tasks}
        entries = list(woken.values())
        entry = entries[self._choose(entries)]
        self._record(entry)
        self._woken = {task: e for task, e in woken.items() if e is not entry}
        return entries.index(entry)

    # --- the heart

    def _arrive(self, entry: Entry) -> Entry:
        lane = entry.lane
        entry.nth = nth = self._counts.get(lane, 0)
        self._counts[lane] = nth + 1
        if self._turns:
            entry.turns = self._turns.get((lane, nth), 0)
        if self.strategy is not None:
            self.strategy.arrive(entry)
        return entry

    def _enqueue(self, entry: Entry) -> None:
        entry.queued = True
        self._ready.append(self._arrive(entry))

    def _record(self, entry: Entry) -> None:
        if entry.passed:
            self.recorded.append(Delay(entry.lane, entry.nth, entry.passed))
            entry.passed = 0

    def _advance(self, me: Task | None, limit: int | None) -> Task | bool | None:
        """Steps sources until a task may run.

        Returns:
            ``me`` if it is the calling task's own turn, True if another task was
            released, None if trio has to run what was woken natively, or if nothing
            can happen before ``limit``.
        """
        ready = self._ready
        while True:
            if not ready and not self._next_instant(limit):
                return None
            if self.over is not None:
                return self._release_quiet()
            if self.placed and self.steps in self.placed:
                for action in self.placed.pop(self.steps):
                    action()
            entry = ready.pop(self._choose(ready) if len(ready) > 1 else 0)
            entry.queued = False
            entry.order = -1
            self._record(entry)
            self.steps += 1
            if self.steps >= self.steps_max:
                self.over = "steps"
            if entry.step is not None:
                entry.step()
                if self._native:
                    return None
                continue
            if entry.task is me:
                return me
            self._release(entry)
            return True

    def _next_instant(self, limit: int | None) -> bool:
        """Moves time to the next timers and makes them ready; False if there are none up to ``limit``."""
        timers = self._timers
        while timers and not timers[0][2].live:
            heapq.heappop(timers)
        if not timers or (limit is not None and timers[0][0] > limit):
            return False
        self.now_ns = instant = max(self.now_ns, timers[0][0])
        while timers and timers[0][0] <= instant:
            timer = heapq.heappop(timers)[2]
            if timer.live:
                timer.live = False
                self._enqueue(timer.entry)
        return bool(self._ready)

    def _choose(self, ready: list[Entry]) -> int:
        if self.strategy is not None:
            chosen = self.strategy.pick(ready)
        elif self._turns:
            chosen = _first_in_turn(ready)
        else:
            return 0
        for entry in ready[:chosen]:
            entry.passed += 1
            entry.turns -= 1
        return chosen

    def _release(self, entry: Entry) -> None:
        task = entry.task
        assert task is not None
        self._ours.add(task)
        self._parked.pop(task, None)
        raises = entry.raises
        if raises is None:
            reschedule(task)
        elif isinstance(raises, BaseException):
            reschedule(task, outcome.Error(raises))
        else:
            reschedule(task, outcome.capture(raises))

    def _release_quiet(self) -> bool | None:
        if self._quiet is not None:
            entry, self._quiet = self._quiet, None
            self._release(entry)
            return True
        return None

    async def _park(self, entry: Entry) -> None:
        task = entry.task
        assert task is not None
        self._parked[task] = entry

        def abort(raise_cancel: Any) -> Abort:  # a cancellation arrives when the scheduler says so
            if entry.raises is None:
                entry.raises = raise_cancel
            if not entry.queued:
                self._enqueue_cancelled(entry, self._ages[task])
            return Abort.FAILED

        await wait_task_rescheduled(abort)

    def _enqueue_cancelled(self, entry: Entry, age: int) -> None:
        """Queues an entry among those of the same cancellation by age: trio keeps its tasks in a set."""
        self._enqueue(entry)
        entry.order = age
        ready = self._ready
        position = len(ready) - 1
        while position and ready[position - 1].order > age:
            ready[position] = ready[position - 1]
            position -= 1
        ready[position] = entry

    def _native_limit(self) -> int | None:
        """How far time may jump without trio's being asked: to its next deadline."""
        if self._ready:
            return None  # no jump is needed
        seconds = current_statistics().seconds_to_next_deadline
        return None if seconds == math.inf else self.now_ns + _round_up(max(seconds, 0.0)) - 1


def _round_up(seconds: float) -> int:
    return math.ceil(round(seconds * 1e6, 3)) * 1000


def _first_in_turn(ready: list[Entry]) -> int:
    for position, entry in enumerate(ready):
        if entry.turns <= 0:
            return position
    return 0
