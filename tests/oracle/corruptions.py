"""How much of what can be corrupted in an observation does the oracle flag?

    python tests/oracle/corruptions.py [SCENARIO ...] [--adapter A] [--cases N] [--cap N] [--missed N] [--write]

runs the built-in scenarios, the baseline run of each and some of its cases, corrupts
one observed thing at a time in every history that holds, and asks the invariants.  It
prints the share flagged per observation, entry and corruption, the least first; the
last line is the share of all in percent.  ``--cap`` bounds how often one corruption of
one kind of entry is tried, ``--missed`` names that many cases of each that was missed.
With ``--write`` the table of observations goes into reports/benchmarks.md.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import define, field

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/benchmarks"), str(Path(__file__).parent)]

import table  # noqa: E402
from corrupted import Corruption, corruptions  # noqa: E402
from table import Row  # noqa: E402

from journalsim.engine.hosting import Host, host  # noqa: E402
from journalsim.errors import UsageError  # noqa: E402
from journalsim.history import History  # noqa: E402
from journalsim.hosts.loading import LoadedAdapter, load_adapter  # noqa: E402
from journalsim.oracle.facts.facts import Facts  # noqa: E402
from journalsim.oracle.invariants.judge import check_history  # noqa: E402
from journalsim.oracle.invariants.verdict import Status  # noqa: E402
from journalsim.scenario.builtin import builtin_scenarios  # noqa: E402
from journalsim.scenario.values.scenario import Scenario  # noqa: E402
from journalsim.search.execute import Executor, workspace  # noqa: E402
from journalsim.search.scenario_run import unclaimed  # noqa: E402
from journalsim.search.sweep import baseline  # noqa: E402

Key = tuple[str, str, str]

FLOORS = {"journal": 58.0, "context": 23.0, "page": 33.0, "event": 10.0}
"""Least share in percent per observation, over all built-in scenarios on ``ref:memory`` with the default options."""

NOTE = """## What the oracle flags

Each observed thing of green histories made wrong, one at a time: the baseline run and {cases} cases of every built-in
scenario on `{adapter}`. A corruption is flagged when an invariant is violated. `python tests/oracle/corruptions.py`
prints the share of each kind of corruption.

{table}
"""


@define
class Tally:
    """What was tried and what was flagged, by observation, entry and name of the corruption."""

    tried: Counter[Key] = field(factory=Counter)
    flagged: Counter[Key] = field(factory=Counter)
    names: dict[Key, Counter[str]] = field(factory=dict)
    missed: dict[Key, list[str]] = field(factory=dict)

    def add(self, one: Corruption, invariants: Sequence[str], where: str) -> None:
        """Counts one corruption and the invariants that flagged it."""
        key = (one.observation, one.entry, one.name)
        self.tried[key] += 1
        self.flagged[key] += bool(invariants)
        self.names.setdefault(key, Counter()).update(invariants)
        if not invariants:
            self.missed.setdefault(key, []).append(where)

    def share(self, observation: str = "") -> float:
        """The share flagged in percent, of one observation or of all."""
        keys = [key for key in self.tried if observation in ("", key[0])]
        tried = sum(self.tried[key] for key in keys)
        return 100 * sum(self.flagged[key] for key in keys) / tried if tried else 0.0


def violated(history: History) -> list[str]:
    """The ids of the invariants that a history violates."""
    return [v.invariant for v in check_history(history, facts=Facts(history)) if v.status is Status.VIOLATED]


def green_histories(scenario: Scenario, adapter: LoadedAdapter, cases: int, seed: int) -> Iterator[tuple[str, History]]:
    """The histories of the baseline run and of a few cases, with their names, as far as they hold."""
    if unclaimed(scenario, adapter):
        return

    async def run(it: Host) -> list[tuple[str, History]]:
        first = await executor.baseline(it)
        try:
            swept = list(executor.spell_out(first).cases)
        except UsageError:  # a sweep over disk operations, and this variant has no disk
            swept = []
        chosen = random.Random(seed).sample(swept, min(cases, len(swept)))
        rest = [await executor.run(it, case) for case in chosen if case != baseline(scenario)]
        return [(f"{scenario.name} {ran.case}", ran.history) for ran in (first, *rest)]

    with workspace() as folder:
        executor = Executor(scenario, adapter, folder)
        for name, history in host(run):
            if not violated(history):
                yield name, history


def measure(
    scenarios: Sequence[Scenario], adapter: LoadedAdapter, *, cases: int = 3, cap: int = 400, seed: int = 0
) -> Tally:
    """Corrupts and judges.

    Args:
        scenarios: whose cases are run.
        adapter: against what.
        cases: of each scenario, besides its baseline run.
        cap: how often one corruption of one kind of entry is tried at most.
        seed: chooses the cases.
    """
    tally = Tally()
    for scenario in scenarios:
        for where, history in green_histories(scenario, adapter, cases, seed):
            for one in corruptions(history):
                if tally.tried[one.observation, one.entry, one.name] < cap:
                    tally.add(one, violated(one.history), where)
    return tally


def lines(tally: Tally, missed: int) -> Iterator[str]:
    """The report, a line each."""

    def share(key: Key) -> tuple[str, float, Key]:
        return key[0], tally.flagged[key] / tally.tried[key], key

    for key in sorted(tally.tried, key=share):
        observation, entry, name = key
        tried, flagged = tally.tried[key], tally.flagged[key]
        by = ", ".join(invariant for invariant, _ in tally.names[key].most_common(3))
        figures = f"{flagged:5}/{tried:<5} {100 * flagged / tried:5.0f} %"
        yield f"{observation:8} {entry:16} {name:42} {figures}  {by}".rstrip()
        yield from (f"    missed: {where}" for where in tally.missed.get(key, ())[:missed])
    for observation in dict.fromkeys(key[0] for key in sorted(tally.tried)):
        yield f"{observation:8} {count(tally, observation)} corruptions, {tally.share(observation):.1f} % flagged"
    yield f"all: {sum(tally.tried.values())} corruptions, flagged in percent: {tally.share():.1f}"


def rows(tally: Tally) -> list[Row]:
    """The table for the report."""
    found = [
        Row(
            what=f"corruptions of {name}",
            target=f">= {floor:g} %",
            got=f"{tally.share(name):.1f} % of {count(tally, name)}",
        )
        for name, floor in FLOORS.items()
    ]
    return [*found, Row(what="all corruptions", got=f"{tally.share():.1f} % of {sum(tally.tried.values())}")]


def count(tally: Tally, observation: str) -> int:
    """How many corruptions of an observation were tried."""
    return sum(n for key, n in tally.tried.items() if key[0] == observation)


def main() -> None:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="SCENARIO", help="names of scenarios; all by default")
    parser.add_argument("--adapter", default="ref:memory")
    parser.add_argument("--cases", type=int, default=3)
    parser.add_argument("--cap", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--missed", type=int, default=0, help="name so many cases of each corruption that was missed")
    parser.add_argument("--write", action="store_true", help="put the table of observations into reports/benchmarks.md")
    parser.add_argument("--gate", action="store_true", help="exit 1 if a share is below its floor")
    options = parser.parse_args()
    chosen = [s for s in builtin_scenarios() if not options.names or s.name in options.names]
    adapter = load_adapter(options.adapter)
    tally = measure(chosen, adapter, cases=options.cases, cap=options.cap, seed=options.seed)
    if options.write:
        text = NOTE.format(adapter=options.adapter, cases=options.cases, table=table.show(rows(tally)))
        table.write_section("corruptions", text)
    print("\n".join(lines(tally, options.missed)))
    below = [name for name, floor in FLOORS.items() if tally.share(name) < floor]
    if options.gate and below:
        print(f"below its floor: {', '.join(below)}", file=sys.stderr)
        raise SystemExit(1)


if __name__ == "__main__":
    main()
