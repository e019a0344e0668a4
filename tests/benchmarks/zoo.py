"""How many runs it takes to find each bug of the zoo.

Twice: with the built-in scenarios, whose spelled-out cases are taken in a random order,
and with generated scenarios alone.  A search that ends without a find is *censored*:
it is counted, and its length is shown as a lower bound.

    python tests/benchmarks/zoo.py [-j 2] [--cases 4000] [--write] [BUG ...]
    python tests/benchmarks/zoo.py --explore [--minutes 5] [--seed 0] [-j 2] [--write] [BUG ...]

The second form asks what generated scenarios find in a given time: all bugs take turns,
a bug that was found gives its turns to the others.

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
from multiprocessing import get_context
from typing import Any

from attrs import define, field, frozen
from table import machine, number, write_section

from sim.adapters.loading import load_adapter, zoo
from sim.cli.selection import builtin_folder, load_all
from sim.scenario.files import find_scenarios
from sim.search.bulk import Book, search_batch
from sim.search.scenario_run import run_scenario
from sim.version import __version__

SEEDS = 20
GENERATED_SEEDS = 5  # each is a search of its own; the built-in cases are run once and put in another order
CASES_MAX = 4000  # of one generated search: 30 bugs or so within five minutes on two cores


@frozen(kw_only=True)
class Searched:
    """What the searches for one bug came to.

    Attributes:
        runs: per search, at which case the bug was found; None if it was not.
        limit: cases of a search that found nothing.
        seconds: of processor time, all searches together.
        others: promises that broke and that the bug does not declare.
    """

    runs: tuple[int | None, ...]
    limit: int
    seconds: float
    others: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Median and range; a censored search counts as longer than its limit."""
        ordered = sorted(self.limit + 1 if runs is None else runs for runs in self.runs)
        median = int(statistics.median_high(ordered))
        shown = f"> {self.limit}" if median > self.limit else str(median)
        low, high = (f"> {self.limit}" if runs > self.limit else str(runs) for runs in (ordered[0], ordered[-1]))
        return f"{shown} ({low} to {high})"

    @property
    def missed(self) -> int:
        """Searches that found nothing."""
        return sum(runs is None for runs in self.runs)


def builtin_search(bug: Any) -> Searched:
    """Runs the spelled-out cases of all built-in scenarios, and takes them in random orders."""
    began = time.process_time()
    adapter = load_adapter(f"ref:bug-{bug.name}")
    results = [run_scenario(scenario, adapter) for scenario in load_all(find_scenarios([builtin_folder()]))]
    cases = sum(result.cases for result in results)
    failing = {
        (failure.scenario.name, case)
        for result in results
        for failure in result.failures
        if failure.violation.invariant in bug.trips
        for case in (failure.case, *failure.also)
    }
    broken = {failure.violation.invariant for result in results for failure in result.failures}
    runs = tuple(_first(cases, len(failing), seed) for seed in range(SEEDS))
    others = tuple(sorted(broken - {*bug.trips, "expect"}))
    return Searched(runs=runs, limit=cases, seconds=time.process_time() - began, others=others)


def _first(cases: int, failing: int, seed: int) -> int | None:
    """Returns the first of so many failing cases when all of them are taken in a random order."""
    return min(random.Random(seed).sample(range(1, cases + 1), failing), default=None)


def generated_search(bug: Any, cases: int) -> Searched:
    """Runs generated scenarios until the bug is found, with several seeds."""
    began = time.process_time()
    adapter = load_adapter(f"ref:bug-{bug.name}")
    runs: list[int | None] = []
    others: dict[str, None] = {}
    for seed in range(GENERATED_SEEDS):
        book = Book()
        batch = 0
        while book.cases < cases and not set(bug.trips) & set(book.found):
            book.merge(search_batch(adapter, seed, batch))
            batch += 1
        runs.append(min((book.found[name].number for name in bug.trips if name in book.found), default=None))
        others |= dict.fromkeys(name for name in book.found if name not in bug.trips)
    return Searched(runs=tuple(runs), limit=cases, seconds=time.process_time() - began, others=tuple(sorted(others)))


def measure(name: str, cases: int) -> tuple[Searched, Searched]:
    """Searches for one bug in both ways; a process of the pool does this."""
    (bug,) = (bug for bug in zoo() if bug.name == name)
    return builtin_search(bug), generated_search(bug, cases)


# --- generated scenarios alone, within a time ---------------------------------------------------


@frozen(kw_only=True)
class Turn:
    """What one turn of one bug came to.

    Attributes:
        cases: run in it.
        found: the case, of this turn, in which a promise that the bug declares broke; None if none did.
        others: promises that broke and that the bug does not declare.
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
        others: promises that broke and that the bug does not declare.
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
        f"All bugs take turns for {minutes:g} minutes; the runs of each up to its find, or in vain.",
        "",
        f"Found: {len(found)} of {len(hunted)}, {100 * len(found) // max(1, len(hunted))} %.",
        "",
        "| bug | mode | breaks | runs | breaks besides |",
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


def section(rows: Sequence[tuple[Any, Searched, Searched]], wall_s: float) -> str:
    """Returns the section of the report."""
    spelled_out = rows[0][1].limit if rows else 0
    lines = [
        "## Zoo",
        "",
        f"`python tests/benchmarks/zoo.py --write`. journalsim {__version__}, {machine('hypothesis')}",
        "",
        "Runs to find each bug: the median search, and the range; `> n` found nothing in n runs.",
        f"*Built-in*: the {spelled_out} spelled-out cases of the built-in scenarios, in {SEEDS} random orders.",
        f"*Generated*: scenarios that nobody wrote, {GENERATED_SEEDS} seeds.",
        "",
        "| bug | mode | breaks | built-in | missed | generated | missed | s a search |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [_row(*row) for row in rows]
    lines += ["", _totals(rows, wall_s)]
    return "\n".join(lines)


def _row(bug: Any, builtin: Searched, generated: Searched) -> str:
    cells = [bug.name, bug.failure_mode or "-", ", ".join(bug.trips), builtin.text, _of(builtin)]
    cells += [generated.text, _of(generated), number(generated.seconds / GENERATED_SEEDS)]
    return f"| {' | '.join(cells)} |"


def _totals(rows: Sequence[tuple[Any, Searched, Searched]], wall_s: float) -> str:
    by_hand = sum(builtin.missed == 0 for _, builtin, _ in rows)
    always = sum(generated.missed == 0 for _, _, generated in rows)
    once = sum(generated.missed < GENERATED_SEEDS for _, _, generated in rows)
    by_hand_s = sum(builtin.seconds for _, builtin, _ in rows)
    generated_s = sum(generated.seconds for _, _, generated in rows) / GENERATED_SEEDS
    return (
        f"{len(rows)} bugs. Built-in scenarios find {by_hand}; running all of them against every bug takes "
        f"{number(by_hand_s)} s of processor time. Generated scenarios find {always} with every seed and {once} with "
        f"some; one search for each bug takes {number(generated_s)} s. The table took {number(wall_s)} s."
    )


def _of(searched: Searched) -> str:
    return f"{searched.missed} of {len(searched.runs)}" if searched.missed else "-"


def main(arguments: Sequence[str] | None = None, say: Callable[[str], object] = print) -> None:
    """Measures and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bugs", nargs="*", help="only these")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--cases", type=int, default=CASES_MAX, help="of one generated search")
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
        futures = [(bug, pool.submit(measure, bug.name, options.cases)) for bug in bugs]
        rows = []
        for bug, future in futures:
            builtin, generated = future.result()
            rows.append((bug, builtin, generated))
            say(
                f"{bug.name:36} built-in {builtin.text} {builtin.others or ''}  "
                f"generated {generated.text} {generated.others or ''}"
            )
    text = section(rows, time.perf_counter() - began)
    say(text)
    if options.write:
        write_section("zoo", text)


if __name__ == "__main__":
    main()
