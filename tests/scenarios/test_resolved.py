"""A case and the file that `resolve` makes of it are the same run, event for event."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from builtin import FILES, load

from journalsim.case import Case
from journalsim.engine.hosting import Host, host
from journalsim.engine.schedules import portfolio
from journalsim.history import trace_hash
from journalsim.hosts.loading import load_adapter
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.resolve import resolve
from journalsim.search.bulk import drawn_tape
from journalsim.search.execute import Executor, Ran, workspace
from journalsim.search.generate.tape import plan_from_tape
from journalsim.search.sweep import baseline

CASES = 2  # of a scenario, spread over its sweep, and its baseline: all scenarios together take a few seconds
GENERATED = 40
REF = load_adapter("ref")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".race.yaml"))
def test_a_case_written_as_a_file_runs_the_same(path: Path) -> None:
    """What `pin` writes is what ran."""

    async def differing(it: Host) -> list[str]:
        swept = executor.spell_out(await executor.baseline(it))
        cases = dict.fromkeys((baseline(executor.scenario), *spread(swept.cases)))
        return [str(case) for case in cases if not await runs_alike(it, executor, await executor.run(it, case))]

    with workspace() as folder:
        executor = Executor(load(path), REF, folder)
        assert host(differing) == []


def test_a_generated_case_written_as_a_file_runs_the_same() -> None:
    """Also over links that break, on disks that lose power, and in orders that only a random search takes."""
    makers = portfolio(60)

    async def alike(it: Host, number: int, folder: Path) -> bool:
        plan = plan_from_tape(drawn_tape(7, number), REF.capabilities)
        executor = Executor(plan.scenario, REF, folder)
        measured = await executor.baseline(it)
        strategy = makers[number % len(makers)][1](number)
        return await runs_alike(it, executor, await executor.run(it, plan.case(measured.points), strategy))

    with workspace() as folder:
        differing = [n for n in range(GENERATED) if not host(lambda it, n=n: alike(it, n, folder))]  # type: ignore[misc]
    assert differing == []


async def runs_alike(it: Host, executor: Executor, ran: Ran) -> bool:
    """Whether a run comes out the same when its case is written as a file, read, and run as written."""
    text = dump_scenario(resolve(executor.scenario, ran.case))
    written = Executor(load_scenario(text.encode(), "written.race.yaml"), executor.adapter, executor.folder)
    again = await written.baseline(it)
    return trace_hash(again.history.events) == trace_hash(ran.history.events)


def spread(cases: Sequence[Case]) -> Sequence[Case]:
    return cases[:: max(1, len(cases) // CASES)]
