"""How many mistakes in the pure core of the reference journal do the built-in scenarios see?

    python tests/mutation/run.py [--sample N] [--seed N] [--jobs N] [--only MODULE] [--write]

prints what became of each mutant that survived, and the score per module.  With
``--write`` the table goes into reports/benchmarks.md.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/scenarios"), str(ROOT / "tests/benchmarks"), str(Path(__file__).parent)]

from builtin import everything  # noqa: E402
from judging import HELD, TIMEOUT, judge  # noqa: E402
from mutants import Mutant, mutants_of  # noqa: E402

from sim.scenario.model import Scenario  # noqa: E402

CORE = ("lifecycle", "events", "content", "state", "batch", "journal", "calls", "projections", "recovery", "partials")
CORE += ("attach", "frame_log", "frames")
LARGE = (
    "cut-at-every-byte",
    "cut-behind-an-id-line",
    "power-fails-anywhere-sqlite",
    "commit-in-any-order",
    "whatever-the-power-cut-leaves",
)
"""Sweeps of hundreds of cases, of links and disks: they cost more than all others together."""

SECONDS_MAX = 120.0  # a mutant that takes so long never ends
STRONG = (
    "stop-during-parallel-calls",
    "retry-after-a-finished-message",
    "rolled-back",
    "server-dies-in-mid-answer",
    "newer-message-cancels",
    "queued-message-is-stopped",
    "sub-agent-is-stopped",
)


def main() -> None:
    """Runs it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=0, help="so many mutants, evenly over the modules; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", choices=CORE)
    parser.add_argument("--write", action="store_true", help="put the table into reports/benchmarks.md")
    arguments = parser.parse_args()
    everyone = [m for name in CORE if arguments.only in (None, name) for m in _all_of(name)]
    same = _said_to_be_the_same(everyone)
    chosen = _sampled([m for m in everyone if m not in same], arguments.sample, arguments.seed)
    scenarios = sorted((s for s in everything() if s.name not in LARGE), key=_cost)
    gc.freeze()
    unchanged = (ROOT / "reference_impl/lifecycle.py").read_text(encoding="utf-8")
    whole = judge("reference_impl.lifecycle", unchanged, scenarios, seconds=SECONDS_MAX)
    assert whole == HELD, f"the reference itself fails: {whole}"
    fates: list[tuple[Mutant, str]] = []
    with ThreadPoolExecutor(arguments.jobs) as pool:  # each thread only waits for its child
        for mutant, fate in zip(chosen, pool.map(lambda m: _fate(m, scenarios), chosen), strict=True):
            fates.append((mutant, fate))
            if fate == HELD:
                print(f"survived  {mutant.module}:{mutant.line}  {mutant.was}  ->  {mutant.now}", flush=True)
    lines = _table(fates, len(everyone), len(same))
    print("\n".join(lines))
    if arguments.write:
        from table import write_section

        write_section("mutants", lines)


def _all_of(name: str) -> list[Mutant]:
    return list(mutants_of(f"reference_impl.{name}", ROOT / f"reference_impl/{name}.py"))


def _said_to_be_the_same(mutants: list[Mutant]) -> list[Mutant]:
    """Returns those whose line is listed, and fails if a listed line has no mutant: then the list is out of date."""
    entries = yaml.safe_load((Path(__file__).parent / "equivalent.yaml").read_text(encoding="utf-8"))
    listed = {(f"reference_impl.{entry['module']}", line): False for entry in entries for line in entry["lines"]}
    same = [m for m in mutants if (m.module, m.was) in listed]
    found = {(m.module, m.was) for m in same}
    modules = {m.module for m in mutants}
    stale = [key for key in listed if key[0] in modules and key not in found]
    assert not stale, f"equivalent.yaml lists lines that have no mutant: {stale}"
    return same


def _sampled(mutants: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """Every k-th of them, so that each module has its share."""
    if not size or size >= len(mutants):
        return mutants
    offset = random.Random(seed).random()
    return [mutants[int((i + offset) * len(mutants) / size)] for i in range(size)]


def _cost(scenario: Scenario) -> tuple[bool, bool, str]:
    """Strong and cheap scenarios first, sweeps over bytes and disks last."""
    return scenario.name not in STRONG, bool({"crash", "stream"} & {*scenario.tags}), scenario.name


def _fate(mutant: Mutant, scenarios: list[Scenario]) -> str:
    return judge(mutant.module, mutant.source, scenarios, seconds=SECONDS_MAX)


def _table(fates: list[tuple[Mutant, str]], total: int, same: int) -> list[str]:
    made = Counter(mutant.module for mutant, _ in fates)
    survived = Counter(mutant.module for mutant, fate in fates if fate == HELD)
    hung = sum(fate == TIMEOUT for _, fate in fates)
    lines = ["| module | mutants run | killed | survived | score |", "|---|---|---|---|---|"]
    for module, count in made.items():
        killed = count - survived[module]
        lines.append(f"| `{module}` | {count} | {killed} | {survived[module]} | {killed / count:.0%} |")
    killed = len(fates) - survived.total()
    lines.append(f"| all | {len(fates)} | {killed} | {survived.total()} | {killed / len(fates):.1%} |")
    note = f"{total} mutants in all, {same} of them judged to mean the same; {hung} were killed because they never end."
    return [*lines, "", note]


if __name__ == "__main__":
    main()
