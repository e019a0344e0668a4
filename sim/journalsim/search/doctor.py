"""Checks determinism from outside: the same cases in fresh processes under different hash seeds.

Each process runs the same cases of every scenario and prints one trace hash per
case.  Where they differ, the case is run once more in two processes and the first
event that differs is shown.
"""

from __future__ import annotations

import json
import os  # the environment of the fresh processes, nothing of a case
import subprocess  # fresh processes are the point
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen

from journalsim.case import Case, case_from_data, case_to_data
from journalsim.engine.guards import audit
from journalsim.engine.hosting import Host, host
from journalsim.errors import AdapterError
from journalsim.history import as_json, trace_hash
from journalsim.hosts.loading import load_adapter
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, workspace
from journalsim.search.scenario_run import unclaimed
from journalsim.search.sweep import baseline

CASES_PER_SCENARIO = 6  # the baseline run and a spread of the sweep


@frozen(kw_only=True)
class Difference:
    """A case that did not go the same way everywhere.

    Attributes:
        scenario: its name.
        case: the case.
        hashes: distinct trace hashes.
        position: of the first event that differs.
        ours: that event in one process.
        theirs: that event in another.
    """

    scenario: str
    case: Case
    hashes: tuple[str, ...]
    position: int
    ours: str
    theirs: str


@frozen(kw_only=True)
class Diagnosis:
    """What a doctor's visit found."""

    cases: int
    processes: int
    differences: tuple[Difference, ...]
    hints: tuple[str, ...]


def examine(scenarios: Sequence[Scenario], adapter: str, processes: int) -> Diagnosis:
    """Runs a spread of every scenario's cases in fresh processes and compares the traces.

    Raises:
        AdapterError: a process could not run.
    """
    load_adapter(adapter)
    texts = [dump_scenario(scenario) for scenario in scenarios]
    answers = [_ask({"adapter": adapter, "scenarios": texts}, seed) for seed in range(processes)]
    by_case: dict[str, list[str]] = {}
    for answer in answers:
        for line in answer["traces"]:
            by_case.setdefault(json.dumps(line["case"], sort_keys=True), []).append(line["hash"])
    differences = []
    for case_text, hashes in by_case.items():
        if len(set(hashes)) > 1 or len(hashes) != processes:
            case = case_from_data(json.loads(case_text))
            text = next(t for t, s in zip(texts, scenarios, strict=True) if s.name == case.scenario)
            differences.append(_difference(text, adapter, case, hashes))
    hints = dict.fromkeys(hint for answer in answers for hint in answer["hints"])
    return Diagnosis(cases=len(by_case), processes=processes, differences=tuple(differences), hints=tuple(hints))


def _difference(text: str, adapter: str, case: Case, hashes: Sequence[str]) -> Difference:
    distinct = list(dict.fromkeys(hashes))
    seeds = [0, hashes.index(distinct[1]) if len(distinct) > 1 else 1]
    question = {"adapter": adapter, "scenarios": [text], "case": case_to_data(case)}
    ours, theirs = (_ask(question, seed)["events"] for seed in seeds)
    pairs = enumerate(zip(ours, theirs, strict=False))
    position = next((i for i, (a, b) in pairs if a != b), min(len(ours), len(theirs)))
    return Difference(
        scenario=case.scenario,
        case=case,
        hashes=tuple(sorted(distinct)),
        position=position,
        ours=ours[position] if position < len(ours) else "(ended)",
        theirs=theirs[position] if position < len(theirs) else "(ended)",
    )


def _ask(question: dict[str, Any], seed: int) -> Any:
    program = "from journalsim.search.doctor import answer; answer()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
    )
    if done.returncode:
        raise AdapterError(f"a fresh process failed: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout)


def answer() -> None:
    """Runs in the fresh process: reads a question from standard input, prints the answer."""
    question = json.load(sys.stdin)
    adapter = load_adapter(question["adapter"])
    traces: list[dict[str, Any]] = []
    events: list[str] = []
    with workspace() as folder, audit() as hints:
        for text in question["scenarios"]:
            scenario = load_scenario(text.encode(), "")
            if unclaimed(scenario, adapter):
                continue
            executor = Executor(scenario, adapter, folder)
            if "case" in question:
                case = case_from_data(question["case"])
                ran = host(lambda it, e=executor, c=case: e.run(it, c))  # type: ignore[misc]
                events = [as_json(event) for event in ran.history.events]
            else:
                traces += host(lambda it, e=executor: _traces(it, e))  # type: ignore[misc]
    json.dump({"traces": traces, "events": events, "hints": list(hints)}, sys.stdout)


async def _traces(it: Host, executor: Executor) -> list[dict[str, Any]]:
    swept = executor.spell_out(await executor.baseline(it))
    traces = []
    for case in dict.fromkeys((baseline(executor.scenario), *_spread(swept.cases))):
        ran = await executor.run(it, case)
        traces.append({"case": case_to_data(case), "hash": trace_hash(ran.history.events)})
    return traces


def _spread(cases: Sequence[Case]) -> Iterator[Case]:
    stride = max(1, len(cases) // CASES_PER_SCENARIO)
    yield from cases[::stride]
