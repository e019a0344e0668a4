"""Runs many scenarios, on one core or several, and always in the same order of results."""

from __future__ import annotations

import contextlib
import signal
import threading
import time  # real seconds: for the wall-time line and the user's own time budget, never inside a case
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from multiprocessing import active_children, get_context
from pathlib import Path
from types import FrameType

from attrs import field, frozen

from journalsim.hosts.loading import load_adapter
from journalsim.scenario.known_failures import KnownFailure
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.expected import FILE_NAME, set_aside, stale
from journalsim.search.results import CampaignResult, ScenarioResult
from journalsim.search.scenario_run import run_scenario

LOOK_EVERY_S = 0.1  # how soon Ctrl-C and the time budget are noticed while workers run


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
        on_result: told about each result, in order.
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


class _Brake:
    """Says when to stop: the user pressed Ctrl-C, or a limit of the campaign is reached."""

    def __init__(self, campaign: Campaign) -> None:
        self.pressed = False
        self._campaign = campaign
        self._began = time.monotonic()
        self.failures = 0

    def press(self, signum: int, frame: FrameType | None) -> None:
        """Handles Ctrl-C: the first one ends the run after the case at hand, the second at once."""
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True

    def spent(self) -> bool:
        """Returns whether no further scenario may begin."""
        campaign = self._campaign
        over_time = campaign.time_budget_s and time.monotonic() - self._began > campaign.time_budget_s
        over_failures = campaign.max_failures and self.failures >= campaign.max_failures
        return bool(self.pressed or over_time or over_failures)


@contextlib.contextmanager
def _handled(brake: _Brake) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    saved = signal.signal(signal.SIGINT, brake.press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, saved)


def run_campaign(campaign: Campaign) -> CampaignResult:
    """Runs the scenarios of a campaign's shard.

    Ctrl-C ends it early with what is known so far; nothing is lost.

    Raises:
        UsageError, AdapterError: nothing could be run.
    """
    load_adapter(campaign.adapter)  # a bad name is an error before anything runs
    began = time.perf_counter()
    brake = _Brake(campaign)
    results: list[ScenarioResult] = []
    with _handled(brake):
        source = _in_processes(campaign, brake) if campaign.jobs > 1 else _in_line(campaign, brake)
        for result in source:
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


def _in_line(campaign: Campaign, brake: _Brake) -> Iterator[ScenarioResult]:
    adapter = load_adapter(campaign.adapter)
    for scenario in campaign.selected:
        if brake.spent():
            return
        result = run_scenario(
            scenario, adapter, profile=campaign.profile, seed=campaign.seed, stop=lambda: brake.pressed
        )
        if brake.pressed:
            return  # a scenario that was cut short proves nothing
        yield result


def _in_processes(campaign: Campaign, brake: _Brake) -> Iterator[ScenarioResult]:
    pool = ProcessPoolExecutor(campaign.jobs, mp_context=get_context("spawn"), initializer=_ignore_interrupt)
    try:
        waiting = list(campaign.selected)
        running: list[Future[ScenarioResult]] = []
        while waiting or running:
            while waiting and len(running) < 2 * campaign.jobs and not brake.spent():
                scenario = waiting.pop(0)
                running.append(pool.submit(_one, scenario, campaign.adapter, campaign.profile, campaign.seed))
            if not running:
                return
            result = _await(running.pop(0), brake)
            if result is None:
                return
            yield result
    finally:
        pool.shutdown(wait=not brake.pressed, cancel_futures=True)
        if brake.pressed:
            for worker in active_children():
                worker.terminate()  # they ignore Ctrl-C, and what they still do nobody reads


def _await(future: Future[ScenarioResult], brake: _Brake) -> ScenarioResult | None:
    while True:
        try:
            return future.result(timeout=LOOK_EVERY_S)
        except NotYet:
            if brake.pressed:
                return None


def _ignore_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _one(scenario: Scenario, adapter: str, profile: str, seed: int) -> ScenarioResult:
    return run_scenario(scenario, load_adapter(adapter), profile=profile, seed=seed)
