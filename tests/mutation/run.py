"""How many mistakes in the pure core of the reference journal do the built-in scenarios see?

    python tests/mutation/run.py [--only MODULE ...] [--sample N] [--seed N] [--jobs N]
                                 [--log FILE [--again] [--known]] [--write]

prints every mutant that survived, and the score per module.  ``--log`` keeps each
fate as a line of JSON; a run with the same file takes over what is in it, so that
one that was broken off goes on.  With ``--again`` the survivors of the log are judged
anew, by those scenarios that are new to them: enough when nothing but a scenario was
added.  With ``--known`` the table is of the mutants in the log alone, for a run that
had no time for all.  With ``--write`` the table goes into reports/benchmarks.md.

The order is drawn from the seed and spread over the modules, so the first N mutants
are a fair sample.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [*(str(ROOT / "tests" / folder) for folder in ("scenarios", "benchmarks", "repo", "mutation"))]

from builtin import everything  # noqa: E402
from equivalents import Equivalents  # noqa: E402
from judging import Fate, Judged, judge  # noqa: E402
from layers import REFERENCE_CORE as CORE  # noqa: E402
from mutants import Mutant, mutants_of  # noqa: E402
from reached import Lines, lines_of, statement  # noqa: E402

from journalsim.scenario.values.scenario import Scenario  # noqa: E402

LARGE = (
    "cut-at-every-byte",
    "cut-behind-an-id-line",
    "power-fails-anywhere-sqlite",
    "commit-in-any-order",
    "whatever-the-power-cut-leaves",
)
"""Sweeps of hundreds of cases, of links and disks: they cost more than all others together."""

PARTIAL = (
    "Part of the mutants, and the survivors were judged anew: scenarios that were written with these mutants in view "
    "see more of them than of those that were not run, so the score is no estimate for all."
)

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
    parser.add_argument("--only", choices=CORE, nargs="+", default=CORE)
    parser.add_argument("--log", type=Path, help="keep the fates in this file, and take over those that it has")
    parser.add_argument("--again", action="store_true", help="judge the survivors of the log anew")
    parser.add_argument("--known", action="store_true", help="no others than those of the log")
    parser.add_argument("--write", action="store_true", help="put the table into reports/benchmarks.md")
    options = parser.parse_args()
    everyone = [m for name in options.only for m in _all_of(name)]
    equivalents = Equivalents.load(everyone)
    chosen = _sampled(everyone, options.sample, options.seed)
    logged, held = _logged(options.log)
    known = {key: judged for key, judged in logged.items() if judged.fate.killed or not options.again}
    if options.known:
        chosen = [mutant for mutant in chosen if mutant.key in logged]
    scenarios = sorted((s for s in everything() if s.name not in LARGE), key=_cost)
    gc.freeze()
    needed = [s for s in scenarios if any(s.name not in held.get(m.key, ()) for m in chosen if m.key not in known)]
    reached = lines_of(needed, ROOT / "reference_impl/journalsim_reference")
    fates: list[tuple[Mutant, Judged]] = []

    def fate(mutant: Mutant) -> Judged:
        if mutant.key in known:
            return known[mutant.key]
        unasked = [s for s in scenarios if s.name not in held.get(mutant.key, ())]
        return judge(mutant.module, mutant.source, _judges(mutant, unasked, reached))

    with ThreadPoolExecutor(options.jobs) as pool:  # each thread only waits for its child
        judged = pool.map(fate, chosen)
        for mutant, one in zip(chosen, judged, strict=True):
            fates.append((mutant, one))
            _tell(mutant, one, equivalents)
            if options.log and mutant.key not in known:
                _note(mutant, one, options.log, [s.name for s in scenarios])
    lines = _table(fates, equivalents, len(everyone))
    if options.again and len(fates) < len(everyone):
        lines[-1:] = [lines[-1], "", PARTIAL]
    print("\n".join(lines))
    if options.write:
        from table import machine, write_section

        how = "all in one run" if not options.log else "from a log"
        head = f"`python tests/mutation/run.py --write`, {how}. {len(scenarios)} scenarios, {machine('cosmic-ray')}"
        write_section("mutants", "\n".join(["## Mutants", "", head, "", *lines]))


def _all_of(name: str) -> list[Mutant]:
    return list(mutants_of(f"journalsim_reference.{name}", ROOT / f"reference_impl/journalsim_reference/{name}.py"))


def _judges(mutant: Mutant, scenarios: Sequence[Scenario], reached: Mapping[str, Lines]) -> list[Scenario]:
    """Returns the scenarios that come to the changed statement."""
    file = f"{mutant.module.rpartition('.')[2]}.py"
    lines = statement((ROOT / "reference_impl/journalsim_reference" / file).read_text(encoding="utf-8"), mutant.line)
    return [s for s in scenarios if lines is None or not reached[s.name].get(file, frozenset()).isdisjoint(lines)]


def _logged(log: Path | None) -> tuple[dict[str, Judged], dict[str, list[str]]]:
    """Returns the fates of a log, and the scenarios that each survivor has come through already.

    Of a mutant that was judged twice, the later counts.
    """
    if log is None or not log.exists():
        return {}, {}
    records = {record["key"]: record for record in map(json.loads, log.read_text(encoding="utf-8").splitlines())}
    fates = {key: Judged(Fate(record["fate"]), record["by"]) for key, record in records.items()}
    return fates, {key: records[key]["held"] for key, judged in fates.items() if judged.fate is Fate.SURVIVED}


def _tell(mutant: Mutant, judged: Judged, equivalents: Equivalents) -> None:
    if not judged.fate.killed:
        kind = "equivalent" if mutant in equivalents and judged.fate is Fate.SURVIVED else judged.fate.value
        says = f"{kind:11}{mutant.module}:{mutant.line}  {mutant.was}  ->  {mutant.now}  {judged.by}"
        print(says.rstrip(), flush=True)


def _note(mutant: Mutant, judged: Judged, log: Path, scenarios: Sequence[str]) -> None:
    record = {"key": mutant.key, "fate": judged.fate.value, "by": judged.by, "module": mutant.module}
    record |= {"line": mutant.line, "was": mutant.was, "now": mutant.now}
    record["held"] = scenarios if judged.fate is Fate.SURVIVED else []
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def _sampled(mutants: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """Returns so many of them, all if 0, in an order of which every beginning is spread over the modules."""
    draw = random.Random(seed)
    placed: list[tuple[float, int, Mutant]] = []
    for module in dict.fromkeys(mutant.module for mutant in mutants):
        own = [mutant for mutant in mutants if mutant.module == module]
        draw.shuffle(own)
        placed += [((i + draw.random()) / len(own), len(placed) + i, mutant) for i, mutant in enumerate(own)]
    ordered = [mutant for _, _, mutant in sorted(placed, key=lambda place: place[:2])]
    return ordered[: size or None]


def _cost(scenario: Scenario) -> tuple[bool, bool, str]:
    """Strong and cheap scenarios first, sweeps over bytes and disks last."""
    return scenario.name not in STRONG, bool({"crash", "stream"} & {*scenario.tags}), scenario.name


def _table(fates: list[tuple[Mutant, Judged]], equivalents: Equivalents, total: int) -> list[str]:
    """Returns the figures per module, and what stands beside them.

    The score is killed / (run - equivalent); what the judge could not decide stays in the
    denominator.
    """
    wrong = [m for m, judged in fates if m in equivalents and judged.fate.killed]
    lines = [
        "| module | run | failed | raised | endless | survived | equivalent | undecided | score |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    modules = sorted({mutant.module for mutant, _ in fates})
    for module in [*modules, ""]:
        lines.append(_line(module or "all", [one for one in fates if module in ("", one[0].module)], equivalents))
    lines += ["", f"{len(fates)} of {total} mutants; the score is killed / (run - equivalent)."]
    lines += [f"Said to be equivalent, yet killed: `{m.module}`:{m.line} {m.was} -> {m.now}" for m in wrong]
    left = [m for m, judged in fates if judged.fate is Fate.SURVIVED and m not in equivalents]
    lines += ["", "Survivors:", ""] if left else []
    return [*lines, *(f"- `{m.module}`:{m.line} `{m.was}` becomes `{m.now}`" for m in left)]


def _line(name: str, fates: list[tuple[Mutant, Judged]], equivalents: Equivalents) -> str:
    count = Counter(judged.fate for _, judged in fates)
    same = sum(judged.fate is Fate.SURVIVED and mutant in equivalents for mutant, judged in fates)
    killed = sum(judged.fate.killed for _, judged in fates)
    different = len(fates) - same
    score = f"{killed / different:.1%}" if different else "-"
    cells = [f"`{name}`", len(fates), count[Fate.FAILED], count[Fate.RAISED], count[Fate.ENDLESS]]
    cells += [count[Fate.SURVIVED] - same, same, count[Fate.UNDECIDED], score]
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
