"""Runs many scenarios, on one core or several, and always in the same order of results."""

from __future__ import annotations

import time  # real seconds: for the wall-time line, never inside a case
from collections.abc import Callable
from functools import partial
from pathlib import Path

from attrs import field, frozen

from journalsim.hosts.loading import load_adapter
from journalsim.scenario.known_failures import KnownFailure
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.expected import FILE_NAME, set_aside, stale
from journalsim.search.results import CampaignResult, ScenarioResult
from journalsim.search.scenario_run import run_scenario
from journalsim.search.workers import Brake, Job, Stop, run_pieces


@frozen(kw_only=True)
class Campaign:
    """What to run, and how.

    Attributes:
        scenarios: in the order of the results.
        adapter: as the user named it.
        profile: how deep.
        seed: of the exploration.
        shard: ``(k, n)``: this run takes every n-th scenario, beginning with the k-th.
        jobs: processes.
        time_budget_s: no scenario is begun after this many real seconds; 0 for no limit.
        max_failures: no scenario is begun after this many failed; 0 for no limit.
        expected: known failures of the adapter.
        expected_path: the file that names them.
        on_result: called with each result, in order.
    """

    scenarios: tuple[Scenario, ...]
    adapter: str = "ref"
    profile: str = "quick"
    seed: int = 0
    shard: tuple[int, int] = (1, 1)
    jobs: int = 1
    time_budget_s: float = 0.0
    max_failures: int = 0
    expected: tuple[KnownFailure, ...] = ()
    expected_path: Path = Path(FILE_NAME)
    on_result: Callable[[ScenarioResult], None] = field(default=lambda result: None)

    @property
    def selected(self) -> tuple[Scenario, ...]:
        """The scenarios of this shard."""
        k, n = self.shard
        return self.scenarios[k - 1 :: n]


def run_campaign(campaign: Campaign) -> CampaignResult:
    """Runs the scenarios of a campaign's shard.

    Ctrl-C, or SIGTERM, ends it early with the results so far.

    Raises:
        UsageError, AdapterError: nothing could be run.
    """
    load_adapter(campaign.adapter)  # a bad name is an error before anything runs
    began = time.perf_counter()
    brake = Brake(for_s=campaign.time_budget_s, failures_max=campaign.max_failures)
    results: list[ScenarioResult] = []
    job = Job(
        run=partial(_one, campaign.adapter, campaign.profile, campaign.seed), cut=lambda: brake.pressed, lost=_lost
    )
    with brake.handling_signals(), run_pieces(job, campaign.selected, brake, campaign.jobs) as whole_or_not:
        for result in whole_or_not:
            if result is None:
                continue
            result = set_aside(result, campaign.expected)
            results.append(result)
            brake.failures += bool(result.failures)
            campaign.on_result(result)
    k, n = campaign.shard
    return CampaignResult(
        adapter=campaign.adapter,
        profile=campaign.profile,
        seed=campaign.seed,
        shard=f"{k}/{n}",
        scenarios=tuple(results),
        stale=stale(results, campaign.expected, campaign.expected_path),
        interrupted=brake.pressed,
        skipped=len(campaign.selected) - len(results),
        wall_s=time.perf_counter() - began,
    )


def _one(adapter: str, profile: str, seed: int, scenario: Scenario, stop: Stop) -> ScenarioResult | None:
    """Returns the result of a scenario; None if it was cut short, which proves nothing."""
    result = run_scenario(scenario, load_adapter(adapter), profile=profile, seed=seed, stop=stop)
    return None if stop() else result


def _lost(scenario: Scenario, death: str) -> ScenarioResult:
    return ScenarioResult(scenario=scenario, trouble=(f"{death}, and with it the cases of this scenario",))
