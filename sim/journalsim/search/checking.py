"""``run_case``: one case, run and judged in one call, for tests of one's own journal.

Everything is decided before the run: it is a ``trio.run`` of its own, on a virtual clock of its
own, draws nothing while it runs, and leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from attrs import frozen

from journalsim.case import Case
from journalsim.engine.hosting import Host, host
from journalsim.errors import UsageError
from journalsim.hosts.loading import LoadedAdapter, adapter_from, load_adapter
from journalsim.oracle.invariants.verdict import Violation
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.resolve import resolve
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, workspace
from journalsim.search.generate.plan import Plan
from journalsim.search.generate.tape import off_the_wire, plan_from_tape
from journalsim.search.results import CaseResult
from journalsim.search.scenario_run import unclaimed
from journalsim.search.sweep import baseline

Runnable: TypeAlias = Scenario | tuple[Scenario, Case] | Plan


@frozen(kw_only=True)
class Judged:
    """A case that was run and judged.

    Attributes:
        scenario: without axes; every action is a placed step, every delay is written down.
        result: history and verdicts.
    """

    scenario: Scenario
    result: CaseResult

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The violated invariants."""
        return self.result.violations

    def check(self) -> None:
        """Raises if an invariant is violated or the adapter failed, with a scenario file that shows it.

        Raises:
            AssertionError: an invariant is violated or the adapter failed; the message holds what was found,
                and a scenario file that shows it.
        """
        lines = [f"{v.invariant}\n  promised: {v.promised}\n  found:    {v.found}" for v in self.violations]
        if self.result.trouble is not None:
            lines.append(f"adapter error\n  {self.result.trouble}")
        if lines:
            text = "\n".join(lines)
            raise AssertionError(f"{text}\nwith this scenario:\n{dump_scenario(self.scenario)}")


def run_case(case: Runnable, adapter: LoadedAdapter | str | Callable[[], Any] = "ref") -> Judged:
    """Runs one case against a journal, in virtual time, and judges it.

    Args:
        case: a scenario, run as it is written, without the actions that it sweeps; a scenario together with
            one of its cases; or a value of :func:`journalsim.strategies.cases`, out of which everything
            is left that the adapter does not claim.
        adapter: a factory that makes a fresh adapter, of either level; each simulated server process gets one.
            Or its name as on the command line, such as ``python:shop.journal:make``.

    Returns:
        The verdicts and the history; ``check()`` raises if a promise broke.

    Raises:
        UsageError: the adapter does not claim what the scenario asks for, or its name means nothing.
        AdapterError: the factory cannot be imported, raises, or makes something else.
    """
    loaded = _loaded(adapter)
    plan = plan_from_tape(case.tape, off_the_wire(loaded.capabilities)) if isinstance(case, Plan) else None
    scenario, fixed = (plan.scenario, None) if plan is not None else _parts(case)
    missing = unclaimed(scenario, loaded)
    if missing:
        raise UsageError(f"{scenario.name}: {missing}; scenarios(capabilities) with its own asks for nothing else")
    with workspace() as folder:
        executor = Executor(scenario, loaded, folder)
        result = host(lambda it: _run(it, executor, plan, fixed or baseline(scenario)))
    return Judged(scenario=resolve(scenario, result.case), result=result)


def _loaded(adapter: LoadedAdapter | str | Callable[[], Any]) -> LoadedAdapter:
    if isinstance(adapter, LoadedAdapter):
        return adapter
    return load_adapter(adapter) if isinstance(adapter, str) else adapter_from(adapter)


def _parts(case: Runnable) -> tuple[Scenario, Case | None]:
    if isinstance(case, Scenario):
        return case, None
    assert isinstance(case, tuple), case
    return case


async def _run(it: Host, executor: Executor, plan: Plan | None, case: Case) -> CaseResult:
    if plan is None or not (plan.spots or plan.holds):
        return await executor.judge(it, case)
    measured = await executor.run(it, case)
    return await executor.judge(it, plan.case(measured.points), plan.strategy(measured.steps))
