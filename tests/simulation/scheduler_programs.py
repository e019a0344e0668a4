"""Random little programs for the scheduler: points, sources, native channels and events, timeouts, cancels.

A program is a function of its seed.  Run as a script, this prints one digest of
many programs, for a comparison between fresh processes.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import trio
from attrs import frozen

from journalsim.case import Delay
from journalsim.engine.entries import Entry, Killed, Strategy
from journalsim.engine.hosting import Host, host
from journalsim.engine.scheduler import Scheduler
from journalsim.engine.schedules import KeyedDelays, Pct, Uniform

MS = 1_000_000
QUIET_NS = 60_000 * MS
STRATEGIES: Sequence[tuple[str, Callable[[int], Strategy]]] = (
    ("uniform", Uniform),
    ("delays", lambda seed: KeyedDelays(seed, 0.3)),
    ("pct", lambda seed: Pct(seed, 3, 60)),
)


@frozen
class Played:
    """What one program did: its log, and which entries were passed over."""

    log: tuple[tuple[object, ...], ...]
    recorded: tuple[Delay, ...]


class Program:
    """Three to five tasks and as many sources that get in each other's way."""

    def __init__(self, scheduler: Scheduler, seed: int) -> None:
        self._scheduler = scheduler
        self._draw = random.Random(seed)
        self._log: list[tuple[object, ...]] = []
        self._mail = 0
        self._readers: list[Entry] = []
        self._event = trio.Event()
        self._send, self._receive = trio.open_memory_channel[int](0)
        self._scopes = [trio.CancelScope() for _ in range(3 + seed % 3)]

    async def play(self, strategy: Strategy | None, delays: Sequence[Delay]) -> Played:
        scheduler = self._scheduler
        scheduler.reset(strategy, delays)
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            for number in range(len(self._scopes)):
                plan = [self._draw.randrange(len(self._verbs)) for _ in range(self._draw.randrange(2, 9))]
                waits = [self._draw.choice((1, 2, 2, 5)) for _ in plan]
                nursery.start_soon(self._task, number, list(zip(plan, waits, strict=True)), name=f"task{number % 3}")
            for number in range(3):
                self._source(number, [self._draw.randrange(6) for _ in range(self._draw.randrange(1, 7))])
            await scheduler.wait_quiet(QUIET_NS)
            self._note("quiet")
            scheduler.finish()
            nursery.cancel_scope.cancel()
        return Played(tuple(self._log), tuple(sorted(scheduler.recorded)))

    def _note(self, *what: object) -> None:
        self._log.append((self._scheduler.now_ns, self._scheduler.steps, *what))

    # --- tasks

    async def _task(self, number: int, plan: list[tuple[int, int]]) -> None:
        with suppress(Killed), self._scopes[number]:
            for verb, wait_ms in plan:
                name, perform = self._verbs[verb]
                self._note(number, name)
                try:
                    await perform(self, number, wait_ms)
                except trio.Cancelled:
                    self._note(number, name, "cancelled")
                    await self._clean_up(number)
                    raise
                self._note(number, name, "done")

    async def _clean_up(self, number: int) -> None:
        with trio.CancelScope(shield=True):
            await self._scheduler.point()
            self._note(number, "cleaned up")

    async def _point(self, number: int, wait_ms: int) -> None:
        await self._scheduler.point()

    async def _sleep(self, number: int, wait_ms: int) -> None:
        scheduler = self._scheduler
        entry = scheduler.waiter()
        timer = scheduler.after(wait_ms * MS, "alarm", lambda: scheduler.wake(entry))
        try:
            await scheduler.wait(entry)
        finally:
            timer.cancel()

    async def _native_sleep(self, number: int, wait_ms: int) -> None:
        await trio.sleep(wait_ms / 1000)

    async def _read_mail(self, number: int, wait_ms: int) -> None:
        while not self._mail:
            entry = self._scheduler.waiter()
            self._readers.append(entry)
            with trio.move_on_after(wait_ms / 1000) as scope:
                await self._scheduler.wait(entry)
            if scope.cancelled_caught:
                return
        self._mail -= 1

    async def _send_native(self, number: int, wait_ms: int) -> None:
        with trio.move_on_after(wait_ms / 1000):
            await self._send.send(number)

    async def _receive_native(self, number: int, wait_ms: int) -> None:
        with trio.move_on_after(wait_ms / 1000):
            self._note(number, "received", await self._receive.receive())

    async def _await_event(self, number: int, wait_ms: int) -> None:
        with trio.move_on_after(wait_ms / 1000):
            await self._event.wait()

    async def _cancel_other(self, number: int, wait_ms: int) -> None:
        if wait_ms > 1:
            await self._scheduler.point()
        self._scopes[(number + wait_ms) % len(self._scopes)].cancel()

    async def _checkpoint(self, number: int, wait_ms: int) -> None:
        await trio.lowlevel.checkpoint()

    _verbs: Sequence[tuple[str, Callable[[Program, int, int], Awaitable[None]]]] = (
        ("point", _point),
        ("point", _point),
        ("sleep", _sleep),
        ("native sleep", _native_sleep),
        ("read mail", _read_mail),
        ("read mail", _read_mail),
        ("send", _send_native),
        ("receive", _receive_native),
        ("event", _await_event),
        ("cancel other", _cancel_other),
        ("checkpoint", _checkpoint),
    )

    # --- sources

    def _source(self, number: int, plan: list[int]) -> None:
        if not plan:
            return

        def step() -> None:
            self._note("source", number, plan[0])
            self._act(number, plan[0])
            self._source(number, plan[1:])

        if plan[0] == 0:
            self._scheduler.soon(f"source{number}", step)
        else:
            self._scheduler.after((1 + number % 2) * MS, f"source{number}", step)

    def _act(self, number: int, what: int) -> None:
        if what <= 2:
            self._mail += 1
            readers, self._readers = self._readers, []
            for entry in readers:
                self._scheduler.wake(entry)
        elif what == 3:
            self._event.set()
            self._event = trio.Event()
        elif what == 4:
            self._nursery.start_soon(self._late, number, name="late")
        else:
            self._scheduler.cancel(self._scopes[number])

    async def _late(self, number: int) -> None:
        with suppress(Killed):
            await self._scheduler.point()
            self._note("late", number)


def play_all(plays: Sequence[tuple[int, Strategy | None, Sequence[Delay]]]) -> list[Played]:
    """Plays programs by seed, strategy and delays, all in one hosted run."""

    async def search(it: Host) -> list[Played]:
        return [await Program(it.next_case(), seed).play(strategy, delays) for seed, strategy, delays in plays]

    return host(search)


def digest(seeds: Sequence[int]) -> str:
    """Returns one digest of what programs do, first in first out and under every strategy."""
    makers: list[Callable[[int], Strategy | None]] = [lambda _: None, *(make for _, make in STRATEGIES)]
    played = play_all([(seed, make(seed), ()) for make in makers for seed in seeds])
    return hashlib.sha256(repr(played).encode()).hexdigest()


if __name__ == "__main__":
    print(digest(range(40)))
