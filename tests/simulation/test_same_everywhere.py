"""One seed gives one result: in this process and a fresh one, on one core and two, under any hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from journalsim.case import Case, case_from_data, case_to_data
from journalsim.engine.hosting import Host, host
from journalsim.engine.schedules import portfolio
from journalsim.history import trace_hash
from journalsim.hosts.loading import load_adapter
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, workspace

ROOT = Path(__file__).parents[2]
SEEDS = 200
HORIZON = 60  # choices; for PCT, about what one run of these scenarios has


def built_in(name: str) -> Scenario:
    (path,) = (ROOT / "scenarios").rglob(f"{name}.race.yaml")
    return load_scenario(path.read_bytes(), path.relative_to(ROOT).as_posix())


def fresh(arguments: list[str], hash_seed: str, text: str = "", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Runs Python in a fresh process under a hash seed of its own."""
    return subprocess.run(
        [sys.executable, *arguments],
        input=text,
        cwd=cwd,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "options",
    [
        pytest.param([], marks=pytest.mark.campaign),
        pytest.param(["--seed", "7", "--profile", "ci", "-k", "core"], marks=pytest.mark.campaign),
        ["--shard", "1/8"],
        ["--seed", "7", "--profile", "ci", "-k", "core", "--shard", "2/5"],
        ["-k", "stop-vs or first", "-a", "ref:bug-partial-written-after-completion", "--format", "ndjson"],
        ["-k", "stop-vs or first", "-a", "ref:bug-stop-keeps-no-partial", "--github"],
    ],
    ids=" ".join,
)
def test_a_run_prints_the_same_under_other_hash_seeds_and_on_two_cores(tmp_path: Path, options: list[str]) -> None:
    """The whole output is compared, but for the one line that tells the wall time.

    By default an eighth of the scenarios are run, and a fifth of those that the ``ci`` profile explores here; in a
    campaign, all of them.
    """
    printed = []
    for hash_seed, jobs in (("0", "1"), ("1", "2")):
        done = fresh(["-m", "journalsim", "run", *options, "-j", jobs], hash_seed, cwd=tmp_path)
        lines = done.stdout.splitlines()
        varies = [line for line in lines if line.startswith(("wall time", '{"type":"wall_time"'))]
        assert (len(varies), done.stderr) == (1, "")
        printed.append((done.returncode, [line for line in lines if line not in varies]))
    assert printed[0] == printed[1]


HASH = """
import json, sys
from journalsim.hosts.loading import load_adapter
from journalsim.case import case_from_data
from journalsim.engine.hosting import host
from journalsim.history import trace_hash
from journalsim.scenario.loader import load_scenario
from journalsim.search.execute import Executor, workspace

question = json.load(sys.stdin)
scenario = load_scenario(question["scenario"].encode(), "")
with workspace() as folder:
    executor = Executor(scenario, load_adapter("ref"), folder)
    for case in question["cases"]:
        print(trace_hash(host(lambda it: executor.run(it, case_from_data(case))).history.events))
"""


@pytest.mark.parametrize("name", ["stop-vs-completion", "server-dies-in-mid-answer", "pressed-twice"])
def test_a_case_takes_the_same_trace_in_a_fresh_process(name: str) -> None:
    """The case alone decides: not the process, not what ran before in it, not the hash seed."""
    scenario = built_in(name)

    async def hashes(it: Host) -> dict[Case, str]:
        cases = executor.spell_out(await executor.baseline(it)).cases
        chosen = cases[:: max(1, len(cases) // 6)]
        return {case: trace_hash((await executor.run(it, case)).history.events) for case in chosen}

    with workspace() as folder:
        executor = Executor(scenario, load_adapter("ref"), folder)
        ours = host(hashes)
    text = (ROOT / scenario.path).read_text(encoding="utf-8")
    question = json.dumps({"scenario": text, "cases": [case_to_data(case) for case in reversed(ours)]})
    assert len(set(ours.values())) > 3
    for hash_seed in ("0", "1"):
        done = fresh(["-c", HASH], hash_seed, question)
        assert (done.stdout.split(), done.stderr) == ([*reversed(ours.values())], "")


@pytest.mark.parametrize("name", ["anywhere-in-one-answer", "stop-during-parallel-calls", "disconnect-goes-on"])
def test_what_a_random_strategy_chose_replays_from_its_recorded_delays(name: str) -> None:
    """A case that a search found needs neither the strategy nor its seed: the delays are the whole schedule."""
    scenario = built_in(name)
    makers = portfolio(HORIZON)

    async def explore(it: Host) -> list[tuple[Case, str]]:
        cases = executor.spell_out(await executor.baseline(it)).cases
        found = []
        for seed in range(SEEDS):
            _, make = makers[seed % len(makers)]
            ran = await executor.run(it, cases[(seed * 7) % len(cases)], make(seed))
            found.append((ran.case, trace_hash(ran.history.events)))
        return found

    async def replay(it: Host) -> list[str]:
        # through JSON, as a saved case goes, and in another order
        kept = [case_from_data(json.loads(json.dumps(case_to_data(case)))) for case, _ in reversed(found)]
        return [trace_hash((await executor.run(it, case)).history.events) for case in kept]

    with workspace() as folder:
        executor = Executor(scenario, load_adapter("ref"), folder)
        found = host(explore)
        again = host(replay)
    assert again == [hash for _, hash in reversed(found)]
    assert sum(bool(case.delays) for case, _ in found) > SEEDS // 2
    assert len({hash for _, hash in found}) > SEEDS // 2
