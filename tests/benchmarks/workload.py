"""The workload of every engine: a tiny journal with the overlap of completion and stop.

Six actors: a scripted model of twenty chunks, a worker that journals them, a
person who presses stop, a run controller that interrupts the run, a reader that
follows the events and drops its connection once, and a janitor.  About a hundred
steps, half of them choices.

The bug: worker and controller both look whether the message is there, wait, and
then write, so that the final and the partial of one message are both stored.

Written once against a small environment, so that engines differ in nothing else.
Worker and controller are the code under test; the other four are here as
coroutines for engines that have only tasks.
"""

from __future__ import annotations

import random
from collections.abc import Coroutine
from typing import Any, Protocol

from attrs import define, field, frozen

CHUNKS = 20
STOP_TICKS = 30  # stop comes before one of these ticks; the last ten find the run completed
TICK_NS = 1_000_000_000 // 128  # a binary fraction of a second, so that float clocks tie as well
JANITOR_ROUNDS = 5


class Queue(Protocol):
    """What chunks go through; None is the end."""

    async def put(self, chunk: int | None) -> None:
        """Adds a chunk."""

    async def get(self) -> int | None:
        """Takes the next chunk."""


class Event(Protocol):
    """What tells the controller to interrupt."""

    def set(self) -> object:
        """Tells it."""

    async def wait(self) -> object:
        """Waits to be told."""


class Env(Protocol):
    """What an engine offers."""

    async def point(self) -> None:
        """Lets others go first."""

    async def sleep(self, ticks: int) -> None:
        """Waits in virtual time."""

    def queue(self) -> Queue:
        """Returns a new queue."""

    def event(self) -> Event:
        """Returns a new event."""


@frozen
class Inputs:
    """What differs between cases: when stop is pressed, and after how many events the reader drops."""

    stop_tick: int
    drop_after: int


@define
class Journal:
    """What the case leaves behind."""

    rows: list[str] = field(factory=list)
    events: list[object] = field(factory=list)
    seen: list[object] = field(factory=list)
    reconnects: list[int] = field(factory=list)
    buffer: list[int] = field(factory=list)
    completed: bool = False
    interrupted: bool = False
    ended: int = 0

    @property
    def overlaps(self) -> bool:
        """Whether the final and the partial of the message are both stored."""
        return "final" in self.rows and "partial" in self.rows


def inputs(seed: int) -> Inputs:
    """Draws the inputs of one case."""
    draw = random.Random(seed).random
    return Inputs(stop_tick=int(draw() * STOP_TICKS), drop_after=1 + int(draw() * STOP_TICKS))


# --- the code under test


async def worker(env: Any, queue: Any, journal: Journal) -> None:
    """Journals chunks as they come, then the final message."""
    while True:
        chunk = await queue.get()
        if journal.interrupted:
            journal.ended += 1
            return
        if chunk is None:
            break
        journal.buffer.append(chunk)
        await env.point()
        journal.events.append(chunk)
    await env.point()
    journal.rows.append("final")
    journal.events.append("final")
    await env.point()
    journal.completed = True
    journal.ended += 1


async def controller(env: Any, stop: Any, journal: Journal) -> None:
    """Interrupts the run when told to, and keeps the partial."""
    await stop.wait()
    if not journal.completed:
        await env.point()
        journal.interrupted = True
        await env.point()
        if not journal.completed:
            await env.point()
            journal.rows.append("partial")
            journal.events.append("partial")
    journal.ended += 1


# --- the other four, as tasks


async def model(env: Env, queue: Queue) -> None:
    """Sends a chunk every tick."""
    for chunk in range(CHUNKS):
        await env.sleep(1)
        await queue.put(chunk)
    await queue.put(None)


async def person(env: Env, stop: Event, tick: int) -> None:
    """Presses stop once."""
    await env.sleep(tick)
    stop.set()


async def reader(env: Env, journal: Journal, drop_after: int) -> None:
    """Follows the events; drops its connection once."""
    while journal.ended < 2:
        await env.sleep(2)
        while len(journal.seen) < len(journal.events):
            await env.point()
            journal.seen.append(journal.events[len(journal.seen)])
            if len(journal.seen) == drop_after:
                journal.reconnects.append(len(journal.rows))
                await env.point()


async def janitor(env: Env, journal: Journal) -> None:
    """Tidies up now and then."""
    for _ in range(JANITOR_ROUNDS):
        await env.sleep(4)
        if journal.interrupted:
            journal.buffer = list(journal.buffer)


def six_tasks(env: Env, journal: Journal, case: Inputs) -> list[tuple[str, Coroutine[Any, Any, None]]]:
    """Returns the six actors as named coroutines."""
    queue, stop = env.queue(), env.event()
    return [
        ("model", model(env, queue)),
        ("worker", worker(env, queue, journal)),
        ("person", person(env, stop, case.stop_tick)),
        ("controller", controller(env, stop, journal)),
        ("reader", reader(env, journal, case.drop_after)),
        ("janitor", janitor(env, journal)),
    ]
