"""Measures what recording and judging add to a case; see ``--help``.

Each scenario runs against the reference journal in three ways: with recording
off, with recording, and judged.  All three take the same schedules, so the
first is everything that the simulation itself costs: scheduler, actors, ports and
the journal under test.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import table
from table import Row, at_most, number

from journalsim.case import Case
from journalsim.engine.hosting import Host, host
from journalsim.engine.schedules import KeyedDelays
from journalsim.engine.world import World
from journalsim.hosts.loading import load_adapter
from journalsim.scenario.loader import load_scenario
from journalsim.search.execute import Executor, workspace
from journalsim.search.sweep import baseline

SCENARIOS = Path(__file__).parents[2] / "scenarios"
MEASURED = ("stop/first-stop", "stop/stop-vs-completion", "tools/stop-during-parallel-calls")

Way = Callable[[Executor, Host, Case, int], Awaitable[int]]


@contextlib.contextmanager
def recording_off() -> Iterator[None]:
    """Makes the world forget what it is told."""
    saved = World.record

    def forget(self: World, *what: Any, **data: Any) -> None:
        return None

    World.record = forget  # type: ignore[method-assign,assignment]  # nothing reads what record returns
    try:
        yield
    finally:
        World.record = saved  # type: ignore[method-assign]


async def bare(executor: Executor, it: Host, case: Case, seed: int) -> int:
    """Runs a case without recording; returns its steps."""
    with recording_off():
        return (await executor.run(it, case, KeyedDelays(seed, 0.1))).steps


async def recorded(executor: Executor, it: Host, case: Case, seed: int) -> int:
    """Runs a case; returns its steps."""
    return (await executor.run(it, case, KeyedDelays(seed, 0.1))).steps


async def judged(executor: Executor, it: Host, case: Case, seed: int) -> int:
    """Runs and judges a case; returns its steps."""
    return (await executor.judge(it, case, KeyedDelays(seed, 0.1))).steps


WAYS: dict[str, Way] = {"bare": bare, "recorded": recorded, "judged": judged}


def measure(name: str, rounds: int, cases: int) -> tuple[dict[str, float], int]:
    """Returns the median seconds a case, per way, and the steps of the cases on average."""
    scenario = load_scenario((SCENARIOS / f"{name}.race.yaml").read_bytes(), name)
    with workspace() as folder:
        executor = Executor(scenario, load_adapter("ref"), folder)
        return host(lambda it: _measure(it, executor, rounds, cases))


async def _measure(it: Host, executor: Executor, rounds: int, cases: int) -> tuple[dict[str, float], int]:
    case = baseline(executor.scenario)
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    steps: dict[str, list[int]] = {way: [] for way in WAYS}
    for turn in range(rounds + 1):
        for name, way in WAYS.items():
            start = time.process_time()
            taken = [await way(executor, it, case, turn * cases + seed) for seed in range(cases)]
            if turn:  # the first round warms up
                seconds[name].append((time.process_time() - start) / cases)
            steps[name] += taken
    assert steps["bare"] == steps["recorded"] == steps["judged"], "the three ways take different schedules"
    return {way: statistics.median(got) for way, got in seconds.items()}, round(statistics.fmean(steps["bare"]))


def rows_of(name: str, rounds: int, cases: int) -> list[Row]:
    """Returns the rows of one scenario."""
    cost, steps = measure(name, rounds, cases)
    got = ", ".join(f"{way} {number(1 / seconds)}" for way, seconds in cost.items())
    recording = (cost["recorded"] / cost["bare"] - 1) * 100
    both = (cost["judged"] / cost["bare"] - 1) * 100
    return [
        Row(what=f"{name} ({steps} steps), cases/s", got=got),
        Row(what="  recording on top of bare", got=f"{number(recording)} %"),
        at_most("  recording and judging on top of bare", both, 60, " %"),
        at_most("    aim", both, 25, " %"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures what recording and judging add to a case.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and cases")
    parser.add_argument("--write", action="store_true", help="put the table into reports/benchmarks.md")
    options = parser.parse_args()
    rounds, cases = (3, 20) if options.quick else (9, 60)
    rows = [row for name in MEASURED for row in rows_of(name, rounds, cases)]
    text, about = table.show(rows), table.machine("apsw")
    print(about)
    print(text)
    if options.write:
        table.write_section("cases", f"## Cases\n\n`python tests/benchmarks/cases.py --write`. {about}\n\n{text}")


if __name__ == "__main__":
    main()
