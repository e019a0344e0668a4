"""Judging an adapter from Python, without pytest and without the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from journalsim.hosts.loading import adapter_from
from journalsim.oracle.invariants.judge import INVARIANTS
from journalsim.scenario.builtin import builtin_scenarios
from journalsim.scenario.known_failures import KnownFailure
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.expected import set_aside
from journalsim.search.results import ScenarioResult
from journalsim.search.scenario_run import run_scenario


def check_adapter(
    factory: Callable[[], Any],
    scenarios: Sequence[Scenario] | None = None,
    *,
    profile: str = "quick",
    seed: int = 0,
    expected: Sequence[KnownFailure] = (),
) -> tuple[ScenarioResult, ...]:
    """Runs scenarios against the adapters that a factory makes, and raises if an invariant is violated.

    Args:
        factory: makes a fresh adapter, of either level; each simulated server process gets one.
        scenarios: the built-in ones by default. One that needs a capability is skipped where the adapter does not
            declare it.
        profile: ``quick``, ``ci`` or ``deep``.
        seed: of the exploration in ``ci`` and ``deep``.
        expected: known failures, which do not count.

    Returns:
        The results, one per scenario.

    Raises:
        AssertionError: an invariant is violated, or the adapter failed; the message names each invariant, the
            smallest case that violates it, and what was found.
        AdapterError: the factory raises, or makes something else.
    """
    adapter = adapter_from(factory)
    chosen = builtin_scenarios(frozenset(INVARIANTS)) if scenarios is None else scenarios
    results = tuple(
        set_aside(run_scenario(scenario, adapter, profile=profile, seed=seed), expected) for scenario in chosen
    )
    lines = [line for result in results for line in _complaints(result)]
    if lines:
        raise AssertionError(f"{adapter.spec} breaks what it claims:\n" + "\n".join(lines))
    return results


def _complaints(result: ScenarioResult) -> list[str]:
    name = result.scenario.name
    lines = [
        f"{failure.violation.invariant} in {name} ({failure.case})\n"
        f"  promised: {failure.violation.promised}\n"
        f"  found:    {failure.violation.found}"
        for failure in result.failures
    ]
    return lines + [f"adapter error in {name}: {what}" for what in result.trouble]
