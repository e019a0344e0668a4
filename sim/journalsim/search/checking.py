"""One case, run and judged in a call of its own: what a reader's own test uses.

Everything is decided before the run: a fresh ``trio.run`` with a clock of its
own, nothing drawn inside it, nothing kept behind it.
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import frozen

from journalsim.case import Case
from journalsim.engine.hosting import Host, host
from journalsim.errors import UsageError
from journalsim.hosts.loading import LoadedAdapter, load_adapter
from journalsim.oracle.invariants.verdict import Violation
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.resolve import concrete
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, workspace
from journalsim.search.generate.plan import Plan
from journalsim.search.generate.tape import off_the_wire, plan_from_tape
from journalsim.search.results import CaseResult
from journalsim.search.scenario_run import unclaimed
from journalsim.search.sweep import undisturbed

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
        """The broken promises."""
        return self.result.violations

    def check(self) -> None:
        """Raises if a promise broke or the adapter failed, with a scenario file that shows it.

        Raises:
            AssertionError: it did.
        """
        lines = [f"{v.invariant}\n  promised: {v.promised}\n  found:    {v.found}" for v in self.violations]
        if self.result.trouble is not None:
            lines.append(f"adapter trouble\n  {self.result.trouble}")
        if lines:
            text = "\n".join(lines)
            raise AssertionError(f"{text}\nwith this scenario:\n{dump_scenario(self.scenario)}")


def run_case(case: Runnable, adapter: LoadedAdapter | str = "ref") -> Judged:
    """Runs one case in a fresh simulation and judges it.

    Args:
        case: a scenario, run as it is written, without its swept actions; a scenario with one of its cases; or a plan
            of :func:`journalsim.strategies.cases`, which asks for nothing that the adapter does not claim, and whose
            places are looked up in an undisturbed run.
        adapter: loaded, or as on the command line.

    Raises:
        UsageError: the adapter does not claim what the scenario asks for, or its name means nothing.
        AdapterError: the adapter cannot be had.
    """
    loaded = load_adapter(adapter) if isinstance(adapter, str) else adapter
    plan = plan_from_tape(case.tape, off_the_wire(loaded.capabilities)) if isinstance(case, Plan) else None
    scenario, fixed = (plan.scenario, None) if plan is not None else _parts(case)
    missing = unclaimed(scenario, loaded)
    if missing:
        raise UsageError(f"{scenario.name}: {missing}; scenarios(load_adapter(...).capabilities) asks for nothing else")
    with workspace() as folder:
        executor = Executor(scenario, loaded, folder)
        result = host(lambda it: _run(it, executor, plan, fixed or undisturbed(scenario)))
    return Judged(scenario=concrete(scenario, result.case), result=result)


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
