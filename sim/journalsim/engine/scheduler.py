"""Schedules everything that can happen in a case: sources, tasks and time.

The scheduler is at once trio's clock and an instrument, which suffices to own every choice through trio's public
interface:

* trio asks the clock how long to sleep exactly when no task is runnable. There
  the scheduler steps event sources and releases parked tasks until one task is
  runnable again, or lets virtual time jump to the next deadline.
* a task that reaches a point parks itself and hands over directly, without a
  turn of trio's loop, as long as nothing else was woken natively; the
  instrument counts native wakes (channels, events, cancel scopes, timeouts).

An *event source* is a plain callable that the scheduler steps itself: a model, a person, a link. Only code under test
needs a trio task. A source may wake tasks natively (start one, set an event). A scope that a source cancels may be
that of the very task that is handing over, which trio cannot know until that task parks: so sources cancel through
:meth:`Scheduler.cancel`.

The entries that may happen next form one list, first in, first out. A strategy may choose another entry than the
first. The number of times that each entry was passed over, keyed by the lane's name and the entry's number within its
lane, is the whole schedule (:class:`journalsim.case.Delay`). The number needs no counter: an entry knows the step at
which it would happen if all before it went first and none behind it, and the steps by which it is late are the times it
was passed over.

Three things make time exact. Times are integer nanoseconds. trio's float deadlines are rounded, to the nanosecond and
then up to a microsecond, when time jumps to them, so that equal instants tie. And a deadline that lies a rounding
error beyond its instant is due all the same: right after trio has asked how long to sleep, it looks for deadlines, and
the clock then returns a hair more than the time; every other reader sees a time that has reached the deadline.

This is the hot path of every search. Its two classes have slots, which is worth a fifth: trio calls ``dir()`` on an
instrument, and that costs an ordinary object its fast attributes for good.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
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

from journalsim.case import Delay
from journalsim.engine.entries import Entry, Killed, Strategy, first_in_turn

NS_PER_S = 1_000_000_000
NEVER_NS = 1 << 62  # 146 years: later than any moment of a case
STEPS_MAX = 200_000  # a case takes hundreds of steps; this many means that something spins
HAIR_NS = 0.6  # more than the error of rounding to a nanosecond
FOREVER_S = 3600.0  # real seconds that trio may sleep when only an outside thread could wake it


def next_deadline() -> float:
    """Returns trio's next deadline through its public interface, which also gathers other statistics."""
    return trio.current_time() + current_statistics().seconds_to_next_deadline


class Scheduler(trio.abc.Clock, trio.abc.Instrument):
    """Virtual clock, scheduler and counter of native wakes of one ``trio.run``.

    Attributes:
        now_ns: virtual time, nanoseconds.
        steps: number of entries that have happened.
        steps_max: the number of steps at which the case is cut off.
        placed: actions to call just before the step of this number.
        over: why the case was cut off, if it was.
        closing: True once the case is over; every task that still runs is killed at its next point.
        next_deadline: returns trio's next deadline; the private switch has a cheaper way.
    """

    # fmt: off
    __slots__ = (
        "_aborted", "_ages", "_arrivals", "_asked", "_counts", "_fifo", "_lanes", "_look", "_mine", "_names", "_native",
        "_parked", "_passed", "_pick", "_quiet", "_quiet_by_ns", "_reached_s", "_ready", "_timers", "_turns", "_woken",
        "closing", "next_deadline", "now_ns", "over", "placed", "steps", "steps_max",
    )
    # fmt: on

    def __init__(self) -> None:
        self._native = 0
        self._asked = False
        self.next_deadline = next_deadline
        self.reset()

    def reset(self, strategy: Strategy | None = None, delays: Iterable[Delay] = ()) -> None:
        """Clears the state of the previous case: time, steps, entries and recorded delays.

        Args:
            strategy: chooses the next entry; None for first in, first out.
            delays: deviations from first in, first out.
        """
        self.now_ns = 0
        self._reached_s = 0.0
        self.steps = 0
        self.steps_max = STEPS_MAX
        self.over: str | None = None
        self.closing = False
        self.placed: dict[int, list[Callable[[], None]]] = {}
        self._ready: list[Entry] = []
        self._aborted: list[Entry] = []
        self._timers: list[tuple[int, int, Entry]] = []
        self._arrivals = 0
        self._mine: Entry | None = None
        self._quiet: Entry | None = None
        self._quiet_by_ns = NEVER_NS
        self._parked: dict[Task, Entry] = {}
        self._lanes: dict[Task, str] = {}
        self._ages: dict[Task, int] = {}
        self._names: dict[str, int] = {}
        self._choose_by(strategy, {(d.lane, d.nth): d.turns for d in delays})

    def _choose_by(self, strategy: Strategy | None, turns: dict[tuple[str, int], int]) -> None:
        self._fifo = strategy is None and not turns
        self._pick = first_in_turn if strategy is None else strategy.pick
        looks = strategy is not None and type(strategy).arrive is not Strategy.arrive
        self._look = strategy.arrive if strategy is not None and looks else None
        self._turns = turns
        self._counts: dict[str, int] = {}
        self._passed: list[tuple[str, int, int]] = []
        self._woken: dict[Task, Entry] = {}

    @property
    def recorded(self) -> list[Delay]:
        """The entries that were passed over so far, and how often: the whole schedule."""
        waiting = [(e, self.steps + i - e.due) for i, e in enumerate(self._ready)] if not self._fifo else []
        waiting += [(e, -e.due) for e in self._woken.values()]
        return [Delay(*p) for p in self._passed] + [Delay(e.lane, e.nth, late) for e, late in waiting if late]

    # --- trio.abc.Instrument: who woke whom

    def task_scheduled(self, task: Task) -> None:
        self._native += 1

    # --- trio.abc.Clock

    def start_clock(self) -> None:
        """Does nothing: virtual time begins at zero."""

    def current_time(self) -> float:
        if self._asked:
            self._asked = False
            return (self.now_ns + HAIR_NS) / NS_PER_S
        return max(self.now_ns / NS_PER_S, self._reached_s)

    def deadline_to_sleep_time(self, deadline: float) -> float:
        self._native = 0  # trio asks only when nothing is runnable
        limit = _round_up(deadline)
        sleep_s = 0.0
        if not self._advance(None, min(limit, self._quiet_by_ns)) and not self._native:
            if self._quiet_by_ns < limit:
                self._release_quiet()
            elif limit < NEVER_NS:
                self.now_ns = max(self.now_ns, limit)
            else:
                sleep_s = FOREVER_S
        if self.now_ns >= limit:
            self._reached_s = deadline
        self._asked = True
        return sleep_s

    # --- event sources

    def soon(self, lane: str, step: Callable[[], None], touches: tuple[str, ...] = ()) -> None:
        """Makes a step of a source ready now, behind everything that is ready."""
        self._enqueue(Entry(lane, step, None, touches))

    def after(self, delay_ns: int, lane: str, step: Callable[[], None], touches: tuple[str, ...] = ()) -> Entry:
        """Makes a step of a source ready in ``delay_ns`` nanoseconds; equal instants run in the order of the calls."""
        entry = Entry(lane, step, None, touches)
        if self.closing:  # happens when killing a task closes a call of the model
            return entry
        self._arrivals += 1
        heappush(self._timers, (self.now_ns + delay_ns, self._arrivals, entry))
        return entry

    def cancel(self, scope: trio.CancelScope) -> None:
        """Cancels a scope from a step of a source."""
        scope.cancel()
        self._native += 1  # the task that is handing over then parks, so that trio sees it

    # --- tasks

    def lane(self, task: Task) -> str:
        """Returns the task's name in the schedule: its trio name, made unique by age."""
        lane = self._lanes.get(task)
        if lane is None:
            nth = self._names.get(task.name, 0) + 1
            self._names[task.name] = nth
            lane = self._lanes[task] = task.name if nth == 1 else f"{task.name}.{nth}"
            self._ages[task] = len(self._ages)
        return lane

    async def point(self, touches: tuple[str, ...] = ()) -> None:
        """Lets everything else that is ready happen first, in the order of the strategy.

        A checkpoint: a pending cancellation is delivered here, when the strategy releases the task.
        """
        if self.closing:
            raise Killed
        task = current_task()
        entry = Entry(self._lanes.get(task) or self.lane(task), None, task, touches)
        self._enqueue(entry)
        if self._native or self._advance(entry, None) is not entry:
            await self._park(entry)
            return
        if entry.raises is not None:
            raise Killed
        await checkpoint_if_cancelled()

    def waiter(self) -> Entry:
        """Returns an entry for one :meth:`wait` of the calling task, and for the :meth:`wake` that ends it."""
        task = current_task()
        return Entry(self._lanes.get(task) or self.lane(task), None, task, ())

    async def wait(self, entry: Entry) -> None:
        """Parks the calling task until ``entry`` is passed to :meth:`wake`; a checkpoint."""
        if self.closing:
            raise Killed
        await checkpoint_if_cancelled()
        if entry.task is None:
            return
        if self._native or self._advance(entry, None) is not entry:
            await self._park(entry)
        elif entry.raises is not None:
            raise Killed

    def wake(self, entry: Entry) -> None:
        """Makes a waiting entry ready; does nothing if the entry is already ready or its wait has ended."""
        if not entry.spent:
            self._enqueue(entry)

    async def wait_quiet(self, within_ns: int) -> None:
        """Parks the calling task until nothing else can happen in the next ``within_ns`` of virtual time."""
        assert self._quiet is None, "one task at a time waits for quiet"
        entry = self.waiter()
        self._quiet, self._quiet_by_ns = entry, self.now_ns + within_ns
        try:
            await self._park(entry)
        finally:
            self._quiet, self._quiet_by_ns = None, NEVER_NS

    def kill(self, task: Task) -> bool:
        """Ends a task that is parked here, in spite of shields; returns True if the task was parked here."""
        entry = self._parked.get(task)
        if entry is None and self._mine is not None and self._mine.task is task:
            entry = self._mine
        if entry is None:
            return False
        entry.raises = Killed()
        self.wake(entry)
        return True

    def finish(self) -> None:
        """Ends the case: drops all sources, and kills every task at its point or at its next one."""
        passed = [(d.lane, d.nth, d.turns) for d in self.recorded]
        self._choose_by(None, {})  # the cleanup of a case is no part of its schedule
        self._passed = passed
        self.closing = True
        self.over = None
        self.steps_max = self.steps + STEPS_MAX
        self._timers.clear()
        self._ready[:] = [entry for entry in self._ready if entry.step is None]
        for task in list(self._parked):
            self.kill(task)

    def pick_native(self, tasks: list[Task]) -> int:
        """Returns the position of the runnable task that goes first: the oldest, or the strategy's choice.

        trio calls this for every batch; while the chosen task runs, the others count as woken.
        """
        self._native = len(tasks) - 1
        if self._fifo or (len(tasks) == 1 and not self._woken):
            return 0
        entries = [self._woken.get(task) or self._woken_entry(task) for task in tasks]
        position = self._pick(entries) if len(entries) > 1 else 0
        chosen = entries[position]
        for entry in entries[:position]:
            entry.due -= 1
        if chosen.due:
            self._passed.append((chosen.lane, chosen.nth, -chosen.due))
        self._woken = {task: entry for task, entry in zip(tasks, entries, strict=True) if entry is not chosen}
        return position

    def _woken_entry(self, task: Task) -> Entry:
        entry = Entry(f"!{task.name}", None, task, ())
        self._enqueue(entry)
        self._ready.pop()  # numbered like the others, but trio has the task in a queue of its own
        entry.due = 0
        return entry

    # --- the heart

    def _enqueue(self, entry: Entry) -> None:
        if self._aborted:
            self._enqueue_aborted()
        entry.spent = True
        ready = self._ready
        if not self._fifo:
            counts, lane = self._counts, entry.lane
            entry.nth = nth = counts.get(lane, 0)
            counts[lane] = nth + 1
            entry.due = self.steps + len(ready)
            entry.turns = self._turns.get((lane, nth), 0) if self._turns else 0
            if self._look is not None:
                self._look(entry)
        ready.append(entry)

    def _enqueue_aborted(self) -> None:
        """Queues the entries that cancellations made ready, by age: trio stores the tasks of a scope in a set."""
        aborted, self._aborted = self._aborted, []
        aborted.sort(key=lambda entry: self._ages[entry.task] if entry.task is not None else 0)
        for entry in aborted:
            self._enqueue(entry)

    def _advance(self, mine: Entry | None, limit: int | None) -> Entry | bool | None:
        """Steps sources until a task may run.

        Args:
            mine: the entry of the calling task; None when trio calls.
            limit: the last instant that time may reach; None to read trio's next deadline when needed.

        Returns:
            ``mine`` if it is the calling task's own turn, True if another task was released, None if trio has to run
            natively woken tasks, or if nothing can happen before ``limit``.
        """
        ready, fifo, pick = self._ready, self._fifo, self._pick
        self._mine = mine
        while True:
            if self._aborted:
                self._enqueue_aborted()
            if not ready:
                limit = self._native_limit() if limit is None else limit
                if not self._next_instant(limit):
                    return None
            if self.over is not None:
                return self._release_quiet()
            if self.placed:
                for action in self.placed.pop(self.steps, ()):
                    action()
            position = 0 if fifo or len(ready) == 1 else pick(ready)
            entry = ready.pop(position)
            if not fifo and (late := self.steps + position - entry.due):
                self._passed.append((entry.lane, entry.nth, late))
            self.steps += 1
            if self.steps >= self.steps_max:
                self.over = "steps"
            if entry.step is not None:
                entry.step()
                if self._native:
                    return None
            elif entry is mine:
                self._mine = None
                return mine
            elif self._release(entry):
                return True

    def _next_instant(self, limit: int) -> bool:
        """Moves time to the next timers and makes them ready; returns False if there are none up to ``limit``."""
        timers = self._timers
        while timers and timers[0][2].spent:
            heappop(timers)
        if not timers or timers[0][0] > limit:
            return False
        instant = timers[0][0]
        if instant > self.now_ns:
            self.now_ns = instant
        while timers and timers[0][0] <= instant:
            entry = heappop(timers)[2]
            if not entry.spent:
                self._enqueue(entry)
        return True

    def _native_limit(self) -> int:
        """Returns the last instant that time may reach before trio has to run: just before its next deadline."""
        deadline = self.next_deadline()
        if deadline == math.inf:
            return self._quiet_by_ns
        return min(_round_up(deadline) - 1, self._quiet_by_ns)

    def _release(self, entry: Entry) -> bool:
        """Lets trio run the task that is parked at ``entry``; returns True if there is one."""
        task = entry.task
        if task is None or self._parked.get(task) is not entry:
            entry.task = None  # its turn has come before its task waits
            return False
        del self._parked[task]
        self._native -= 1  # this wake is ours: reschedule adds it again
        raises = entry.raises
        if raises is None:
            reschedule(task)
        elif isinstance(raises, BaseException):
            reschedule(task, outcome.Error(raises))
        else:
            reschedule(task, outcome.capture(raises))
        return True

    def _release_quiet(self) -> bool | None:
        entry, self._quiet, self._quiet_by_ns = self._quiet, None, NEVER_NS
        if entry is None:
            return None
        entry.spent = True
        return self._release(entry)

    async def _park(self, entry: Entry) -> None:
        task = entry.task
        assert task is not None
        self._parked[task] = entry

        def abort(raise_cancel: Any) -> Abort:  # the scheduler decides when a cancellation arrives
            if entry.raises is None:
                entry.raises = raise_cancel
            if not entry.spent:
                entry.spent = True
                self._aborted.append(entry)
            return Abort.FAILED

        await wait_task_rescheduled(abort)


def _round_up(seconds: float) -> int:
    """Converts a deadline of trio to nanoseconds, rounded up to a microsecond; a past deadline becomes zero."""
    if seconds == math.inf:
        return NEVER_NS
    return math.ceil(round(seconds * 1e6, 3)) * 1000 if seconds > 0 else 0
