"""The same workload on what others have: the yardsticks of the engine.

Hand-stepped coroutines are the limit: no event loop, no cancellation, no nursery,
nothing that could be used by code that was not written for it.
"""

from __future__ import annotations

import asyncio
import heapq
import importlib
import random
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any

import trio
import trio.testing
import workload
from workload import Inputs, Journal, inputs, six_tasks

TICK_S = workload.TICK_NS / 1e9

Pick = Callable[[list[int]], int]


def uniform(seed: int) -> Pick:
    """Chooses every ready task with equal chance."""
    draw = random.Random(seed).random
    return lambda ready: int(draw() * len(ready))


def first(seed: int) -> Pick:
    """First in, first out."""
    return lambda ready: 0


# --- hand-stepped coroutines


@types.coroutine
def _hand_over(what: int) -> Generator[int, None, None]:
    yield what


POINT, BLOCK = 0, -1  # what a coroutine yields; anything above is a sleep in ticks


class HandStepped:
    """Steps coroutines itself, one at a time."""

    def __init__(self, pick: Pick) -> None:
        self._pick = pick
        self.ready: list[int] = []
        self.current = 0

    async def point(self) -> None:
        await _hand_over(POINT)

    async def sleep(self, ticks: int) -> None:
        if ticks:
            await _hand_over(ticks)

    def queue(self) -> HandQueue:
        return HandQueue(self)

    def event(self) -> HandEvent:
        return HandEvent(self)

    def run(self, coroutines: list[Coroutine[Any, Any, None]]) -> int:
        """Runs all to their ends and returns the number of steps."""
        ready = self.ready = list(range(len(coroutines)))
        timers: list[tuple[int, int, int]] = []
        pick, now, steps, live = self._pick, 0, 0, len(coroutines)
        while live:
            if not ready:
                now = timers[0][0]
                while timers and timers[0][0] == now:
                    ready.append(heapq.heappop(timers)[2])
            number = self.current = ready.pop(pick(ready) if len(ready) > 1 else 0)
            steps += 1
            try:
                what = coroutines[number].send(None)
            except StopIteration:
                live -= 1
                continue
            if what == POINT:
                ready.append(number)
            elif what != BLOCK:
                heapq.heappush(timers, (now + what, steps, number))
        return steps


class HandQueue:
    def __init__(self, engine: HandStepped) -> None:
        self._engine = engine
        self._items: list[int | None] = []
        self._waiter: int | None = None

    async def put(self, chunk: int | None) -> None:
        self._items.append(chunk)
        if self._waiter is not None:
            self._engine.ready.append(self._waiter)
            self._waiter = None
        await _hand_over(POINT)

    async def get(self) -> int | None:
        while not self._items:
            self._waiter = self._engine.current
            await _hand_over(BLOCK)
        return self._items.pop(0)


class HandEvent:
    def __init__(self, engine: HandStepped) -> None:
        self._engine = engine
        self._waiters: list[int] = []
        self._flag = False

    def set(self) -> None:
        self._flag = True
        self._engine.ready.extend(self._waiters)

    async def wait(self) -> None:
        if not self._flag:
            self._waiters.append(self._engine.current)
            await _hand_over(BLOCK)


def hand_stepped(seed: int, pick: Callable[[int], Pick] = uniform) -> tuple[Journal, int]:
    """Runs one case and returns its journal and its steps."""
    journal, engine = Journal(), HandStepped(pick(seed))
    steps = engine.run([task for _, task in six_tasks(engine, journal, inputs(seed))])
    return journal, steps


# --- plain trio


class PlainTrio:
    """trio's own primitives."""

    async def point(self) -> None:
        await trio.lowlevel.checkpoint()

    async def sleep(self, ticks: int) -> None:
        await trio.sleep(ticks * TICK_S)

    def queue(self) -> TrioQueue:
        return TrioQueue()

    def event(self) -> trio.Event:
        return trio.Event()


class TrioQueue:
    def __init__(self) -> None:
        self._send, self._receive = trio.open_memory_channel[int | None](100)

    async def put(self, chunk: int | None) -> None:
        await self._send.send(chunk)

    async def get(self) -> int | None:
        return await self._receive.receive()


async def trio_case(seed: int) -> Journal:
    """Runs one case in the present run."""
    journal = Journal()

    async def await_it(task: Coroutine[Any, Any, None]) -> None:
        await task

    async with trio.open_nursery() as nursery:
        for name, task in six_tasks(PlainTrio(), journal, inputs(seed)):
            nursery.start_soon(await_it, task, name=name)
    return journal


def plain_trio(seed: int) -> Journal:
    """Runs one case in a run of its own, as a test does."""
    return trio.run(trio_case, seed, clock=trio.testing.MockClock(autojump_threshold=0))


def hosted_trio(seeds: range) -> None:
    """Runs many cases in one run."""

    async def main() -> None:
        for seed in seeds:
            await trio_case(seed)

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


# --- asyncio, with looptime or under detangle


class PlainAsyncio:
    """asyncio's own primitives."""

    async def point(self) -> None:
        await asyncio.sleep(0)

    async def sleep(self, ticks: int) -> None:
        await asyncio.sleep(ticks * TICK_S)

    def queue(self) -> AsyncioQueue:
        return AsyncioQueue()

    def event(self) -> asyncio.Event:
        return asyncio.Event()


class AsyncioQueue:
    def __init__(self) -> None:
        self._queue: asyncio.Queue[int | None] = asyncio.Queue()

    async def put(self, chunk: int | None) -> None:
        self._queue.put_nowait(chunk)
        await asyncio.sleep(0)

    async def get(self) -> int | None:
        return await self._queue.get()


async def asyncio_case(case: Inputs) -> Journal:
    """Runs one case on the present loop."""
    journal = Journal()
    await asyncio.gather(*[asyncio.ensure_future(task) for _, task in six_tasks(PlainAsyncio(), journal, case)])
    return journal


def looptime_engine() -> Callable[[int], Journal]:
    """Returns a runner of one case on a fresh looptime loop; raises ImportError if it is not installed."""
    looptime: Any = importlib.import_module("looptime")
    loop_class = looptime.make_event_loop_class(asyncio.SelectorEventLoop)

    def run(seed: int) -> Journal:
        loop = loop_class()
        loop.setup_looptime(start=0, _enabled=True)
        try:
            journal: Journal = loop.run_until_complete(asyncio_case(inputs(seed)))
        finally:
            loop.close()
        return journal

    return run


class Found(AssertionError):
    """The overlap happened."""


class Detangle:
    """detangle's random walk over asyncio; raises ImportError if it is not installed."""

    def __init__(self) -> None:
        self._detangle: Any = importlib.import_module("detangle")

    def run(self, seeds: range) -> None:
        """Runs as many cases as there are seeds."""
        self._explore(seeds.start, len(seeds), look=False)

    def hunt(self, seed: int, runs_max: int) -> int | None:
        """Returns how many runs it takes to find the overlap."""
        try:
            self._explore(seed, runs_max, look=True)
        except self._detangle.BugFound as found:
            return int(found.report.runs)
        return None

    def _explore(self, seed: int, runs: int, *, look: bool) -> None:
        detangle = self._detangle

        async def main() -> None:
            stop = detangle.randint(0, workload.STOP_TICKS - 1)
            case = Inputs(stop_tick=stop, drop_after=detangle.randint(1, workload.STOP_TICKS))
            journal = await asyncio_case(case)
            if look and journal.overlaps:
                raise Found

        detangle.explore(main, runs=runs, strategy="random", seed=seed, shrink=False, database=False)
