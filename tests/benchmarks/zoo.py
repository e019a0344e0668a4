"""How many runs it takes to find each bug of the zoo.

Twice: with the built-in scenarios, whose spelled-out cases are taken in a random order,
and with generated scenarios alone.  A search that ends without a find is *censored*:
it is counted, and its length is shown as a lower bound.

    python tests/benchmarks/zoo.py [-j 2] [--cases 1500] [--write] [BUG ...]
    python tests/benchmarks/zoo.py --explore [--minutes 5] [--seed 0] [-j 2] [--write] [BUG ...]

The first form draws as many of the spelled-out cases as ``--cases`` says, runs each once,
and takes them in as many orders as there are seeds.  The second asks what generated
scenarios find in a given time: all bugs take turns, a bug that was found gives its turns
to the others.

Counts of runs do not depend on the machine; seconds do, and are of processor time.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

from attrs import define, field, frozen
from table import machine, number, write_section

from journalsim.case import Case
from journalsim.cli.selection import builtin_folder, load_all
from journalsim.engine.hosting import Host, host
from journalsim.errors import UsageError
from journalsim.hosts.loading import load_adapter, zoo
from journalsim.oracle.expectations.judging import EXPECT
from journalsim.scenario.files import find_scenarios
from journalsim.search.bulk import search_batch
from journalsim.search.execute import Executor, workspace
from journalsim.search.scenario_run import unclaimed
from journalsim.version import __version__

SEEDS = 20
CASES_MAX = 1500  # of a search, about a sixth of all: all bugs within ten minutes or so on two cores


@frozen(kw_only=True)
class Searched:
    """What the searches for one bug came to.

    Attributes:
        runs: per search, at which case the bug was found; None if it was not.
        limit: cases of a search that found nothing.
        seconds: of processor time, all searches together.
        others: violated invariants that the bug does not declare.
    """

    runs: tuple[int | None, ...]
    limit: int
    seconds: float
    others: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Median and range; a censored search counts as longer than its limit."""
        ordered, median = self._ordered, self.median
        shown = f"> {self.limit}" if median > self.limit else str(median)
        low, high = (f"> {self.limit}" if runs > self.limit else str(runs) for runs in (ordered[0], ordered[-1]))
        return f"{shown} ({low} to {high})"

    @property
    def median(self) -> int:
        """Of all searches."""
        return int(statistics.median_high(self._ordered))

    @property
    def _ordered(self) -> list[int]:
        return sorted(self.limit + 1 if runs is None else runs for runs in self.runs)

    @property
    def missed(self) -> int:
        """Searches that found nothing."""
        return sum(runs is None for runs in self.runs)


def search(name: str, cases: int) -> Searched:
    """Runs a share of the spelled-out cases of all built-in scenarios; a process of the pool does this."""
    began = time.process_time()
    (bug,) = (bug for bug in zoo() if bug.name == name)
    adapter = load_adapter(f"ref:bug-{name}")
    scenarios = [s for s in load_all(find_scenarios([builtin_folder()])) if not unclaimed(s, adapter)]
    with workspace() as folder:
        executors = [Executor(scenario, adapter, folder) for scenario in scenarios]
        pool = [(executor, case) for executor in executors for case in host(partial(_spelled_out, executor))]
        drawn = random.Random(0).sample(pool, min(cases, len(pool)))
        broken = [host(partial(_broken, executor, case)) for executor, case in drawn]
    finds = [bool(one & {*bug.trips}) for one in broken]
    runs = tuple(_first(finds, seed) for seed in range(SEEDS))
    others = tuple(sorted({name for one in broken for name in one} - {*bug.trips, EXPECT}))
    return Searched(runs=runs, limit=len(finds), seconds=time.process_time() - began, others=others)


async def _spelled_out(executor: Executor, it: Host) -> Sequence[Case]:
    first = await executor.baseline(it)
    try:
        return executor.spell_out(first).cases
    except UsageError:
        return ()  # the bug takes the points away that the sweep is about


async def _broken(executor: Executor, case: Case, it: Host) -> set[str]:
    return {violation.invariant for violation in (await executor.judge(it, case)).violations}


def _first(finds: Sequence[bool], seed: int) -> int | None:
    """Returns the first find when all cases are taken in a random order."""
    order = random.Random(seed).sample(finds, len(finds))
    return next((number for number, find in enumerate(order, 1) if find), None)


# --- generated scenarios alone, within a time ---------------------------------------------------


@frozen(kw_only=True)
class Turn:
    """What one turn of one bug came to.

    Attributes:
        cases: run in it.
        found: the case, of this turn, that violates an invariant which the bug declares; None if none does.
        others: violated invariants that the bug does not declare.
    """

    cases: int
    found: int | None
    others: tuple[str, ...]


def take_turn(name: str, seed: int, batch: int) -> Turn:
    """Runs one batch of generated scenarios against a bug; a process of the pool does this."""
    (bug,) = (bug for bug in zoo() if bug.name == name)
    book = search_batch(load_adapter(f"ref:bug-{name}"), seed, batch)
    found = min((book.found[trip].number for trip in bug.trips if trip in book.found), default=None)
    return Turn(cases=book.cases, found=found, others=tuple(sorted(set(book.found) - set(bug.trips))))


@define(kw_only=True)
class Hunted:
    """A bug that takes turns.

    Attributes:
        bug: of the zoo.
        batches: run so far.
        cases: run so far, up to the one that found it.
        found: whether one did.
        others: violated invariants that the bug does not declare.
    """

    bug: Any
    batches: int = 0
    cases: int = 0
    found: bool = False
    others: dict[str, None] = field(factory=dict)

    def enter(self, turn: Turn) -> None:
        """Adds a turn."""
        self.batches += 1
        self.cases += turn.cases if turn.found is None else turn.found
        self.found = turn.found is not None
        self.others |= dict.fromkeys(turn.others)


def hunt(bugs: Sequence[Any], minutes: float, seed: int, jobs: int) -> list[Hunted]:
    """Lets all bugs take turns until the time is over or everything is found."""
    until = time.monotonic() + 60 * minutes
    hunted = [Hunted(bug=bug) for bug in bugs]
    waiting = deque(hunted)
    running: deque[tuple[Hunted, Future[Turn]]] = deque()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        while waiting or running:
            while waiting and len(running) < jobs and time.monotonic() < until:
                one = waiting.popleft()
                running.append((one, pool.submit(take_turn, one.bug.name, seed, one.batches)))
            if not running:
                break
            one, future = running.popleft()
            one.enter(future.result())
            if not one.found:
                waiting.append(one)
    return hunted


def hunted_section(hunted: Sequence[Hunted], minutes: float, seed: int, jobs: int) -> str:
    """Returns the section of the report."""
    found = [one for one in hunted if one.found]
    lines = [
        "## Zoo, by generated scenarios alone",
        "",
        f"`python tests/benchmarks/zoo.py --explore --minutes {minutes:g} -j {jobs} --seed {seed} --write`. "
        f"journalsim {__version__}, {machine('hypothesis')}",
        "",
        f"All bugs take turns for {minutes:g} minutes. *runs* is the number of cases until the bug was found.",
        "",
        f"Found: {len(found)} of {len(hunted)}, {100 * len(found) // max(1, len(hunted))} %.",
        "",
        "| bug | mode | violates | runs | violates besides |",
        "|---|---|---|---|---|",
    ]
    for one in sorted(hunted, key=lambda one: (one.found, one.cases)):
        runs = str(one.cases) if one.found else f"not in {one.cases}"
        cells = [
            one.bug.name,
            one.bug.failure_mode or "-",
            ", ".join(one.bug.trips),
            runs,
            ", ".join(one.others) or "-",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


# --- the table of both searches -----------------------------------------------------------------


def section(rows: Sequence[tuple[Any, Searched]], wall_s: float) -> str:
    """Returns the section of the report."""
    limit = max((searched.limit for _, searched in rows), default=0)
    lines = [
        "## Zoo",
        "",
        f"`python tests/benchmarks/zoo.py --cases {limit} --write`. journalsim {__version__}, {machine()}",
        "",
        f"Runs until each bug is found with the built-in scenarios: {limit} of their cases, drawn at random and each "
        f"run once, in {SEEDS} random orders. The median search, and the range; `> n` means not found in n runs.",
        "",
        "| bug | mode | violates | runs | missed | violates besides | s |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_row(*row) for row in sorted(rows, key=lambda row: (-row[1].missed, -row[1].median))]
    found = sum(searched.missed == 0 for _, searched in rows)
    total_s = sum(searched.seconds for _, searched in rows)
    lines += ["", f"{len(rows)} bugs, {found} found in this share. {number(total_s)} s of processor time, "]
    lines[-1] += f"{number(wall_s)} s in all."
    return "\n".join(lines)


def _row(bug: Any, searched: Searched) -> str:
    missed = f"{searched.missed} of {len(searched.runs)}" if searched.missed else "-"
    cells = [bug.name, bug.failure_mode or "-", ", ".join(bug.trips), searched.text, missed]
    return f"| {' | '.join([*cells, ', '.join(searched.others) or '-', number(searched.seconds)])} |"


def main(arguments: Sequence[str] | None = None, say: Callable[[str], object] = print) -> None:
    """Measures and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bugs", nargs="*", help="only these")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--cases", type=int, default=CASES_MAX, help="of a search")
    parser.add_argument("--explore", action="store_true", help="generated scenarios alone, within a time")
    parser.add_argument("--minutes", type=float, default=5.0, help="of --explore")
    parser.add_argument("--seed", type=int, default=0, help="of --explore")
    parser.add_argument("--write", action="store_true", help="put the table into reports/benchmarks.md")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    bugs = [bug for bug in zoo() if not options.bugs or bug.name in options.bugs]
    if options.explore:
        about = (options.minutes, options.seed, options.jobs)
        text = hunted_section(hunt(bugs, *about), *about)
        say(text)
        if options.write:
            write_section("zoo-explored", text)
        return
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        futures = [(bug, pool.submit(search, bug.name, options.cases)) for bug in bugs]
        rows = []
        for bug, future in futures:
            searched = future.result()
            rows.append((bug, searched))
            say(f"{bug.name:36} {searched.text} {', '.join(searched.others)}")
    text = section(rows, time.perf_counter() - began)
    say(text)
    if options.write:
        write_section("zoo", text)


if __name__ == "__main__":
    main()
