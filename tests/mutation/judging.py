"""Judges one mutant: the built-in scenarios are run on a reference journal that has it.

Each mutant gets a process of its own, forked from one that has loaded the harness
and nothing of the reference.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from enum import Enum
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from attrs import frozen

from journalsim.engine.hosting import Host, host
from journalsim.hosts.loading import LoadedAdapter, load_adapter
from journalsim.oracle.invariants.verdict import Status
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, workspace

CPU_SECONDS_MAX = 60  # six times what all scenarios take together; of processor time, which no neighbour uses up
WALL_SECONDS_MAX = 900.0  # for a child that waits for ever; what comes to this is no verdict


class Fate(Enum):
    """What became of a mutant.

    ``undecided`` is the judge's own trouble, and never counts as killed: an error
    that does not come from the reference, a process that somebody ended, or one
    that waits without using the processor.
    """

    SURVIVED = "survived"
    FAILED = "failed"
    RAISED = "raised"
    ENDLESS = "endless"
    UNDECIDED = "undecided"

    @property
    def killed(self) -> bool:
        """Whether the scenarios saw it."""
        return self in (Fate.FAILED, Fate.RAISED, Fate.ENDLESS)


@frozen
class Judged:
    """A fate, and the scenario or the error that decided it."""

    fate: Fate
    by: str = ""


class Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a text."""

    def __init__(self, module: str, source: str) -> None:
        self._module = module
        self._source = source

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self._module else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._source, self._module, "exec"), module.__dict__)


def judge(module: str, source: str, scenarios: Sequence[Scenario]) -> Judged:
    """Returns what becomes of a mutant: the first scenario that it fails decides."""
    assert not any(name.startswith("journalsim_reference") for name in sys.modules)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_MAX, CPU_SECONDS_MAX + 5))
        judged = _verdict(module, source, scenarios)
        os.write(writer, f"{judged.fate.value} {judged.by}".encode())
        os._exit(0)
    os.close(writer)
    said, status = _wait(reader, child, time.monotonic() + WALL_SECONDS_MAX)
    os.close(reader)
    if said:
        fate, _, by = said.partition(" ")
        return Judged(Fate(fate), by)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        return Judged(Fate.ENDLESS if os.WTERMSIG(status) == signal.SIGXCPU else Fate.UNDECIDED, "no verdict in time")
    return Judged(Fate.UNDECIDED, f"the process ended with status {status}")


def _verdict(module: str, source: str, scenarios: Sequence[Scenario]) -> Judged:
    try:
        sys.meta_path.insert(0, Planted(module, source))
        for scenario in scenarios:
            if run_scenario_once(scenario):
                return Judged(Fate.FAILED, scenario.name)
    except BaseException as error:
        return Judged(Fate.RAISED if _blames_the_reference(error) else Fate.UNDECIDED, type(error).__name__)
    return Judged(Fate.SURVIVED)


def _blames_the_reference(error: BaseException) -> bool:
    """Whether the error, or one behind it, comes from the code under test rather than from the judge or the machine."""
    if isinstance(error, BaseExceptionGroup):
        return any(_blames_the_reference(one) for one in error.exceptions)
    if error.__cause__ is not None and _blames_the_reference(error.__cause__):
        return True
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return any(
        name.startswith("journalsim_reference.") or Path(name).parent.name == "journalsim_reference" for name in files
    )


def run_scenario_once(scenario: Scenario) -> bool:
    """Runs a scenario on the reference that this process has, and returns whether it fails."""
    needs_disk_or_wire = {"crash", "stream"} & {*scenario.tags}
    return _fails(scenario, load_adapter("ref" if needs_disk_or_wire else "ref:memory"))


def _fails(scenario: Scenario, adapter: LoadedAdapter) -> bool:
    """Whether any case breaks a promise or an expectation, or what should happen in some case never does."""

    async def search(it: Host) -> bool:
        swept = executor.spell_out(await executor.baseline(it))
        met = [False] * len(scenario.expect.sometimes)
        exercised: dict[str, bool] = {}
        for case in swept.cases:
            result = await executor.judge(it, case)
            if result.violations or result.trouble:
                return True
            met = [before or now for before, now in zip(met, result.met, strict=True)]
            exercised |= {verdict.invariant: True for verdict in result.verdicts if verdict.status is Status.HOLDS}
        return not all(met) or not all(name in exercised for name in scenario.expect.exercises)

    with workspace() as folder:
        executor = Executor(scenario, adapter, folder)
        return host(search)


def _wait(reader: int, child: int, until: float) -> tuple[str, int]:
    """Returns what the child said, if anything, and how it ended."""
    ready, _, _ = select.select([reader], [], [], max(0.0, until - time.monotonic()))
    said = os.read(reader, 4096).decode() if ready else ""
    if not ready:
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return said, status
