"""The workload on our own engine: four actors are sources, the code under test is two trio tasks."""

from __future__ import annotations

import trio
from attrs import frozen
from workload import CHUNKS, JANITOR_ROUNDS, TICK_NS, Inputs, Journal, controller, worker

from journalsim.case import Delay
from journalsim.engine.entries import Entry, Strategy
from journalsim.engine.scheduler import Scheduler


class Queue:
    """What the model puts chunks into."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._items: list[int | None] = []
        self._waiter: Entry | None = None

    def put(self, chunk: int | None) -> None:
        self._items.append(chunk)
        if self._waiter is not None:
            self._scheduler.wake(self._waiter)
            self._waiter = None

    async def get(self) -> int | None:
        while not self._items:
            self._waiter = waiter = self._scheduler.waiter()
            await self._scheduler.wait(waiter)
        return self._items.pop(0)


class Stop:
    """What the person presses."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiter: Entry | None = None
        self.pressed = False

    def set(self) -> None:
        self.pressed = True
        if self._waiter is not None:
            self._scheduler.wake(self._waiter)

    async def wait(self) -> None:
        if not self.pressed:
            self._waiter = self._scheduler.waiter()
            await self._scheduler.wait(self._waiter)


class Sources:
    """Model, reader and janitor, stepped by the scheduler."""

    def __init__(self, scheduler: Scheduler, queue: Queue, stop: Stop, journal: Journal, drop_after: int) -> None:
        self._scheduler = scheduler
        self._queue = queue
        self._stop = stop
        self._journal = journal
        self._drop_after = drop_after
        self._sent = 0
        self._rounds = 0

    def begin(self) -> None:
        self._scheduler.after(TICK_NS, "model", self._send)
        self._scheduler.after(2 * TICK_NS, "reader", self._read)
        self._scheduler.after(4 * TICK_NS, "janitor", self._tidy)

    def _send(self) -> None:
        if self._sent == CHUNKS:
            self._queue.put(None)
            return
        self._queue.put(self._sent)
        self._sent += 1
        self._scheduler.after(TICK_NS, "model", self._send)

    def _read(self) -> None:
        journal = self._journal
        if len(journal.seen) < len(journal.events):
            journal.seen.append(journal.events[len(journal.seen)])
            if len(journal.seen) == self._drop_after:
                journal.reconnects.append(len(journal.rows))
            self._scheduler.soon("reader", self._read)
        elif journal.ended < 1 + self._stop.pressed:
            self._scheduler.after(2 * TICK_NS, "reader", self._read)

    def _tidy(self) -> None:
        self._rounds += 1
        if self._journal.interrupted:
            self._journal.buffer = list(self._journal.buffer)
        if self._rounds < JANITOR_ROUNDS:
            self._scheduler.after(4 * TICK_NS, "janitor", self._tidy)


@frozen
class Case:
    """One case: its inputs, where stop goes instead if not to a tick, how it is scheduled."""

    inputs: Inputs
    strategy: Strategy | None = None
    stop_step: int | None = None
    delays: tuple[Delay, ...] = ()


async def run_case(scheduler: Scheduler, case: Case) -> Journal:
    """Runs one case in the present run; stop may come before, while or after the worker ends."""
    scheduler.reset(case.strategy, case.delays)
    journal = Journal()
    queue, stop = Queue(scheduler), Stop(scheduler)
    Sources(scheduler, queue, stop, journal, case.inputs.drop_after).begin()
    if case.stop_step is None:
        scheduler.after(case.inputs.stop_tick * TICK_NS, "person", stop.set)
    else:
        scheduler.placed[case.stop_step] = [stop.set]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker, scheduler, queue, journal, name="worker")
        nursery.start_soon(controller, scheduler, stop, journal, name="controller")
    assert journal.ended == 2
    return journal


async def undisturbed_steps(scheduler: Scheduler) -> int:
    """Returns how many steps the workload takes when nobody presses stop."""
    scheduler.reset()
    journal = Journal()
    queue, stop = Queue(scheduler), Stop(scheduler)
    Sources(scheduler, queue, stop, journal, 5).begin()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker, scheduler, queue, journal, name="worker")
        await scheduler.wait_quiet(1_000 * TICK_NS)
    return scheduler.steps
