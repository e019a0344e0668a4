"""Judges one mutant: the built-in scenarios are run on a reference journal that has it.

Each mutant gets a process of its own, forked from one that has loaded the harness
and nothing of the reference.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import select
import signal
import sys
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from sim.adapters.loading import LoadedAdapter, load_adapter
from sim.engine.hosting import Host, host
from sim.scenario.model import Scenario
from sim.search.execute import Executor, workspace
from sim.search.sweep import spell_out, undisturbed

HELD = "held"
TIMEOUT = "timeout"


class Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module from a text."""

    def __init__(self, module: str, source: str) -> None:
        self._module = module
        self._source = source

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self._module else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._source, self._module, "exec"), module.__dict__)


def judge(module: str, source: str, scenarios: Sequence[Scenario], *, seconds: float) -> str:
    """Returns the name of the first scenario that a mutant fails, :data:`HELD`, or :data:`TIMEOUT`."""
    assert not any(name.startswith("reference_impl") for name in sys.modules)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(writer, _verdict(module, source, scenarios).encode())
        os._exit(0)
    os.close(writer)
    said = _wait(reader, child, time.monotonic() + seconds)
    os.close(reader)
    return said


def _verdict(module: str, source: str, scenarios: Sequence[Scenario]) -> str:
    try:
        sys.meta_path.insert(0, Planted(module, source))
        for scenario in scenarios:
            needs_disk_or_wire = {"crash", "stream"} & {*scenario.tags}
            if _fails(scenario, load_adapter("ref" if needs_disk_or_wire else "ref:memory")):
                return scenario.name
    except BaseException as error:
        return f"(does not run: {type(error).__name__})"
    return HELD


def _fails(scenario: Scenario, adapter: LoadedAdapter) -> bool:
    """Whether any case breaks a promise or an expectation, or what should happen sometimes never does."""

    async def search(it: Host) -> bool:
        first = await executor.run(it, undisturbed(scenario))
        met = [False] * len(scenario.expect.sometimes)
        for case in spell_out(scenario, first.points, first.steps, first.history.events).cases:
            result = await executor.judge(it, case)
            if result.violations or result.trouble:
                return True
            met = [before or now for before, now in zip(met, result.met, strict=True)]
        return not all(met)

    with workspace() as folder:
        executor = Executor(scenario, adapter, folder)
        return host(search)


def _wait(reader: int, child: int, until: float) -> str:
    ready, _, _ = select.select([reader], [], [], max(0.0, until - time.monotonic()))
    said = os.read(reader, 4096).decode() if ready else TIMEOUT
    if not ready:
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return said or "(dies)"
