"""Measures the engine against its yardsticks; see ``--help``.

Rates, times and ratios are taken in processor time, in rounds that go from one
engine to the next, and are medians of the rounds.
"""

from __future__ import annotations

import argparse
import functools
import gc
import hashlib
import os
import random
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path

import table
import trio
import yardsticks
from attrs import evolve, frozen
from ours import Case, run_case, undisturbed_steps
from table import Row, at_least, at_most, cpu_seconds, number
from workload import TICK_NS, Inputs, inputs

from journalsim.case import Delay
from journalsim.engine.entries import Entry, Strategy
from journalsim.engine.hosting import Host, host
from journalsim.engine.schedules import CountChoices, KeyedDelays, Pct, Uniform, portfolio

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "simulation" / "scheduler_programs.py"
RUNS_MAX = 20_000  # a search that has found nothing by then finds nothing
DEFAULT = "stop at a step, portfolio"  # what the search of the product does after the sweep
LONG_RUN = Inputs(stop_tick=29, drop_after=5)


@frozen(kw_only=True)
class Effort:
    """How much to measure."""

    rounds: int = 9
    cases: int = 300
    hunts: int = 20
    peer_hunts: int = 5
    steps: tuple[int, ...] = (100, 1_000, 10_000, 100_000)
    memory: tuple[int, ...] = (100, 1_000, 10_000)
    processes: int = 20


QUICK = Effort(rounds=3, cases=100, hunts=5, peer_hunts=0, steps=(100, 10_000), memory=(100, 1_000), processes=4)


# --- rates


def our_rate(make: Callable[[int], Strategy | None], seeds: range) -> None:
    """Runs one case per seed, all in one hosted run, as a search does."""

    async def search(it: Host) -> None:
        for seed in seeds:
            await run_case(it.next_case(), Case(inputs(seed), make(seed)))

    host(search)


def each(run: Callable[[int], object], seeds: range) -> None:
    """Runs one case per seed."""
    for seed in seeds:
        run(seed)


def engines() -> tuple[dict[str, tuple[Callable[[range], object], int]], list[str]]:
    """Returns what runs cases by seeds, with the share of the cases it is given; and who is absent."""
    found: dict[str, tuple[Callable[[range], object], int]] = {
        "this engine, uniform": (functools.partial(our_rate, Uniform), 1),
        "this engine, first in first out": (functools.partial(our_rate, lambda seed: None), 1),
        "this engine, keyed delays 0.1": (functools.partial(our_rate, lambda seed: KeyedDelays(seed, 0.1)), 1),
        "hand-stepped coroutines, uniform": (functools.partial(each, yardsticks.hand_stepped), 1),
        "plain trio + MockClock, a run each": (functools.partial(each, yardsticks.plain_trio), 4),
        "plain trio + MockClock, one run": (yardsticks.hosted_trio, 4),
    }
    absent = []
    for name, make, share in (
        ("asyncio + looptime", lambda: functools.partial(each, yardsticks.looptime_engine()), 10),
        ("detangle, random", lambda: yardsticks.Detangle().run, 4),
    ):
        try:
            found[name] = (make(), share)
        except ImportError:
            absent.append(name)
    return found, absent


def measure_rates(effort: Effort) -> list[Row]:
    """Cases per second of every engine, and the ratios that have targets."""
    found, absent = engines()
    rates: dict[str, list[float]] = {name: [] for name in found}
    for turn in range(effort.rounds + 1):
        for name, (run, share) in found.items():
            seeds = range(turn * effort.cases, turn * effort.cases + effort.cases // share)
            seconds = cpu_seconds(functools.partial(run, seeds))
            if turn:  # the first round warms up
                rates[name].append(len(seeds) / seconds)
    rows = [Row(what=name, got=f"{number(statistics.median(got))} cases/s") for name, got in rates.items()]
    rows += [Row(what=name, got="absent") for name in absent]
    for what, name, target in (
        ("uniform, against plain trio, a run each", "plain trio + MockClock, a run each", 8.0),
        ("uniform, against plain trio, one run", "plain trio + MockClock, one run", 0.0),
        ("uniform, against detangle", "detangle, random", 3.0),
    ):
        if name in rates:
            ratio = _ratio(rates["this engine, uniform"], rates[name])
            rows.append(at_least(what, ratio, target) if target else Row(what=what, got=f"{number(ratio)}x"))
    rows.append(_floor(effort))
    limit = _ratio(rates["hand-stepped coroutines, uniform"], rates["this engine, uniform"])
    rows.append(at_most("aim: the limit is faster by", limit, 1.5, "x"))
    return rows


def _floor(effort: Effort) -> Row:
    async def task() -> None:
        await trio.lowlevel.checkpoint()

    async def search(it: Host) -> float:
        start = time.process_time()
        for _ in range(effort.cases):
            it.next_case().reset()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(task)
                nursery.start_soon(task)
        return (time.process_time() - start) / effort.cases

    floor_s = statistics.median(host(search) for _ in range(effort.rounds))
    what = "what trio takes for a nursery and two tasks that do nothing"
    return Row(what=what, got=f"{floor_s * 1e6:.0f} microseconds a case")


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


# --- searches


def hosted(cases: Iterator[Case]) -> int | None:
    """Returns how many cases it takes until one overlaps; None if they end before."""

    async def search(it: Host) -> int | None:
        for runs, case in enumerate(cases, 1):
            if (await run_case(it.next_case(), case)).overlaps:
                return runs
        return None

    return host(search)


def steps_of_workload() -> tuple[int, int]:
    """Returns the steps of the undisturbed workload, and the choices of a stopped one."""

    async def search(it: Host) -> tuple[int, int]:
        steps = await undisturbed_steps(it.next_case())
        counter = CountChoices()
        await run_case(it.next_case(), Case(LONG_RUN, counter))
        return steps, counter.choices

    return host(search)


def every_step(steps: int) -> Iterator[Case]:
    """Yields the cases in which stop is pressed at each step, first in first out."""
    for step in range(steps):
        yield Case(LONG_RUN, stop_step=step)


class Contested(Strategy):
    """First in, first out, while noting who could have been held back."""

    def __init__(self) -> None:
        self.delays: list[Delay] = []

    def pick(self, ready: list[Entry]) -> int:
        self.delays += [Delay(ready[0].lane, ready[0].nth, turns) for turns in range(1, len(ready))]
        return 0


async def with_one_delay(it: Host, steps: int) -> tuple[int, int | None]:
    """Runs stop at each step, then each of these with each delay of one entry that can matter.

    Returns:
        The number of all cases, and how many it took to find the overlap.
    """
    runs, found = 0, None
    second: list[Case] = []
    for step in range(steps):
        watch = Contested()
        journal = await run_case(it.next_case(), Case(LONG_RUN, watch, step))
        runs += 1
        found = found or (runs if journal.overlaps else None)
        second += [Case(LONG_RUN, None, step, (delay,)) for delay in watch.delays]
    for case in second:
        journal = await run_case(it.next_case(), case)
        runs += 1
        found = found or (runs if journal.overlaps else None)
    return runs, found


def draws(steps: int, choices: int) -> dict[str, Callable[[int], Case]]:
    """Returns the ways to draw a case from a seed."""

    def placed(make: Callable[[int], Strategy | None]) -> Callable[[int], Case]:
        return lambda seed: Case(inputs(seed), make(seed), random.Random(~seed).randrange(steps))

    mix = [make for _, make in portfolio(choices)]
    return {
        "stop at a step, first in first out": placed(lambda seed: None),
        "stop at a step, keyed delays 0.1": placed(lambda seed: KeyedDelays(seed, 0.1)),
        "stop at a step, uniform": placed(Uniform),
        "stop at a step, PCT 3": placed(lambda seed: Pct(seed, 3, choices)),
        DEFAULT: placed(lambda seed: mix[seed % len(mix)](seed)),
        "stop at a time, uniform": lambda seed: Case(inputs(seed), Uniform(seed)),
    }


def measure_exhaustive() -> list[Row]:
    """Stop at every step, alone and with every single delay."""
    steps, _ = steps_of_workload()

    def run_all() -> None:
        async def search(it: Host) -> None:
            for case in every_step(steps):
                await run_case(it.next_case(), case)

        host(search)

    alone_s = statistics.median(cpu_seconds(run_all) for _ in range(5))
    answer: list[tuple[int, int | None]] = []
    delayed_s = cpu_seconds(lambda: answer.append(host(functools.partial(with_one_delay, steps=steps))))
    runs, found = answer[0]
    at_step = hosted(every_step(steps))
    return [
        at_most(f"stop at every step ({steps} cases)", alone_s, 0.3, " s"),
        at_most("  aim", alone_s, 0.1, " s"),
        Row(what="  overlap found by that pass", got=f"run {at_step}" if at_step else "no: it also takes a delay"),
        Row(what=f"stop at every step, with every one delay ({runs:,} cases)", got=f"{number(delayed_s)} s"),
        Row(
            what="  overlap always found by that pass",
            target="always",
            got=f"run {found:,}" if found else "never",
            verdict="met" if found else "NOT met",
        ),
    ]


def measure_hunts(effort: Effort) -> list[Row]:
    """Runs and seconds to find the overlap, per strategy."""
    rows = []
    medians = {}
    for name, draw in draws(*steps_of_workload()).items():
        hunts = [_hunt(draw, seed) for seed in range(effort.hunts)]
        runs = statistics.median(found for found, _ in hunts)
        seconds = statistics.median(spent for _, spent in hunts)
        medians[name] = runs, seconds
        never = sum(found > RUNS_MAX for found, _ in hunts)
        missed = f"; not in {RUNS_MAX:,} runs for {never} of {len(hunts)} seeds" if never else ""
        rows.append(Row(what=f"find it: {name}", got=f"{number(runs)} runs, {number(seconds)} s{missed}"))
    runs, seconds = medians[DEFAULT]
    rows.append(at_most("find it by default, with the portfolio", runs, 150, " runs"))
    rows.append(at_most("find it by default, with the portfolio", seconds, 0.1, " s"))
    rows.append(at_most("  aim", seconds, 0.03, " s"))
    return rows + _peer_hunts(effort)


def _hunt(draw: Callable[[int], Case], seed: int) -> tuple[int, float]:
    start = time.process_time()
    runs = hosted(draw(seed * 1_000_003 + number) for number in range(RUNS_MAX))
    return runs or RUNS_MAX + 1, time.process_time() - start


def _peer_hunts(effort: Effort) -> list[Row]:
    if not effort.peer_hunts:
        return []
    try:
        detangle = yardsticks.Detangle()
    except ImportError:
        return []
    runs, seconds = [], []
    for seed in range(effort.peer_hunts):
        start = time.process_time()
        runs.append(detangle.hunt(seed, RUNS_MAX) or RUNS_MAX)
        seconds.append(time.process_time() - start)
    got = f"{number(statistics.median(runs))} runs, {number(statistics.median(seconds))} s"
    return [Row(what="find it: detangle, random", got=got)]


# --- growth


def long_run(steps: int, make: Callable[[int], Strategy | None]) -> float:
    """Returns the processor time per step of one run of about ``steps`` steps."""

    async def search(it: Host) -> float:
        scheduler = it.next_case()
        scheduler.reset(make(steps))
        woken: list[Entry] = []

        def tick() -> None:
            scheduler.after(TICK_NS, "clock", tick)
            scheduler.soon("idle", lambda: None)
            while woken:
                scheduler.wake(woken.pop())

        scheduler.after(TICK_NS, "clock", tick)
        start = time.process_time()
        while scheduler.steps < steps:
            woken.append(scheduler.waiter())
            await scheduler.wait(woken[-1])
            await scheduler.point()
        seconds = time.process_time() - start
        scheduler.finish()
        return seconds / scheduler.steps

    return host(search)


def measure_growth(effort: Effort) -> list[Row]:
    """Cost per step over the length of a run, memory over the number of cases."""
    rows = []
    for name, make in (("first in first out", lambda seed: None), ("uniform", Uniform)):
        repeats = {steps: max(1, 20_000 // steps) for steps in effort.steps}
        costs = {
            steps: statistics.median(
                statistics.fmean(long_run(steps, make) for _ in range(times)) for _ in range(effort.rounds)
            )
            for steps, times in repeats.items()
        }
        got = ", ".join(f"{cost * 1e6:.2f}" for cost in costs.values())
        lengths = " to ".join(f"{steps:,}" for steps in (effort.steps[0], effort.steps[-1]))
        rows.append(Row(what=f"microseconds a step, runs of {lengths}, {name}", got=got))
        rows.append(
            at_most("  longest against shortest: flat", costs[effort.steps[-1]] / costs[effort.steps[0]], 1.2, "x")
        )
    return [*rows, *_memory(effort)]


def _memory(effort: Effort) -> list[Row]:
    async def search(it: Host) -> list[int]:
        seeds = count()
        held, done = [], 0
        for cases in (20, *effort.memory):
            for seed in islice(seeds, cases - done):
                await run_case(it.next_case(), Case(inputs(seed), Uniform(seed)))
            done = cases
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
        return held

    tracemalloc.start()
    try:
        warm, *held = host(search)
    finally:
        tracemalloc.stop()
    lengths = f"{effort.memory[0]:,} to {effort.memory[-1]:,}"
    got = ", ".join(f"{(size - warm) / 1024:+.1f}" for size in held)
    grown = (held[-1] - held[0]) / (effort.memory[-1] - effort.memory[0])
    return [
        Row(what=f"KiB more than after 20 cases, {lengths} cases", got=got),
        at_most("  grown per case: flat", max(grown, 0.0), 1.0, " bytes"),
    ]


# --- determinism


def digest(seeds: range) -> str:
    """Returns one digest of what cases leave behind, and of their schedules."""

    async def search(it: Host) -> list[object]:
        left: list[object] = []
        steps, choices = 60, 40
        for name, draw in draws(steps, choices).items():
            for seed in seeds:
                scheduler = it.next_case()
                journal = await run_case(scheduler, draw(seed))
                left.append((name, repr(journal), scheduler.now_ns, scheduler.steps, scheduler.recorded))
        return left

    return hashlib.sha256(repr(host(search)).encode()).hexdigest()


def measure_determinism(effort: Effort) -> list[Row]:
    """The same digests in fresh processes under different hash seeds."""
    rows = []
    for what, command in (
        ("this workload", [__file__, "--digest"]),
        ("programs of native channels, timeouts and cancels", [str(PROGRAMS)]),
    ):
        digests = list(_in_fresh_processes(command, effort.processes))
        distinct = len(set(digests))
        assert all(len(one) == 64 for one in digests)
        rows.append(
            Row(
                what=f"digests of {what}, {effort.processes} processes, hash seeds 0 to {effort.processes - 1}",
                target="1 distinct",
                got=f"{distinct} distinct",
                verdict="met" if distinct == 1 else "NOT met",
            )
        )
    return rows


def _in_fresh_processes(command: list[str], processes: int) -> Iterator[str]:
    at_once = os.cpu_count() or 1
    for start in range(0, processes, at_once):
        running = [
            subprocess.Popen(
                [sys.executable, *command],
                env={**os.environ, "PYTHONHASHSEED": str(seed)},
                stdout=subprocess.PIPE,
                text=True,
            )
            for seed in range(start, min(start + at_once, processes))
        ]
        for process in running:
            yield process.communicate()[0].strip()


# --- the script


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the engine against its yardsticks.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, seeds and processes")
    parser.add_argument("--processes", type=int, help="fresh processes for the check of determinism")
    parser.add_argument("--write", action="store_true", help="put the table into reports/benchmarks.md")
    parser.add_argument("--digest", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.digest:
        print(digest(range(20)))
        return
    effort = QUICK if options.quick else Effort()
    if options.processes:
        effort = evolve(effort, processes=options.processes)
    rows = [
        *measure_rates(effort),
        *measure_exhaustive(),
        *measure_hunts(effort),
        *measure_growth(effort),
        *measure_determinism(effort),
    ]
    text = table.show(rows)
    about = table.machine("looptime", "detangle")
    print(about)
    print(text)
    if options.write:
        table.write_section("engine", f"## Engine\n\n`python tests/benchmarks/engine.py --write`. {about}\n\n{text}")


if __name__ == "__main__":
    main()
