"""Makes a failing case smaller while it keeps failing in the same way.

The order is the order of what hurts a reader most: first the delays and actions
that a search added, then the axes, then steps, turns, parts and text.  A change
is kept when the same promise still breaks; names of points may shift on the way,
and then the change simply does not reproduce and is dropped.  Everything is
deterministic, and bounded by a number of runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import evolve, frozen

from journalsim.case import Case, Delay
from journalsim.engine.hosting import Host
from journalsim.hosts.loading import LoadedAdapter
from journalsim.scenario.resolve import concrete, with_live_anchors
from journalsim.scenario.values.expect import Expect
from journalsim.scenario.values.moves import Step
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import Text, Turn
from journalsim.search.execute import Executor
from journalsim.search.results import CaseResult

RUNS_MAX = 400  # a run takes milliseconds: at most a second or two for the case that a person will read

Cause = tuple[str, int]


@frozen(kw_only=True)
class Shrunk:
    """The smallest case found.

    Attributes:
        scenario: without sweep; every step is placed.
        case: of that scenario; it holds the delays that are needed.
        result: of its run.
        runs: how many runs it took.
    """

    scenario: Scenario
    case: Case
    result: CaseResult
    runs: int


class Shrinker:
    """Shrinks one failing case.

    Args:
        adapter: under which it fails.
        folder: for the adapter's files.
        cause: invariant and, for expectations, line.
    """

    def __init__(self, adapter: LoadedAdapter, folder: Path, cause: Cause, runs_max: int = RUNS_MAX) -> None:
        self._adapter = adapter
        self._folder = folder
        self._cause = cause
        self._left = runs_max
        self.runs = 0

    async def fewer_delays(self, host: Host, scenario: Scenario, case: Case) -> CaseResult | None:
        """Returns the run of the same case with as few delays as possible; None if it no longer fails."""
        executor = Executor(scenario, self._adapter, self._folder)
        best, improved = await self._judged(host, executor, case), True
        while best is not None and improved and self._left > 0:
            improved = False
            for delays in _fewer_delays(best.case.delays):
                smaller = await self._judged(host, executor, evolve(case, delays=delays))
                if smaller is not None and len(smaller.case.delays) <= len(delays):
                    best, improved = smaller, True
                    break
        return best

    async def _judged(self, host: Host, executor: Executor, case: Case) -> CaseResult | None:
        self._left -= 1
        self.runs += 1
        if self._left < 0:
            return None
        result = await executor.judge(host, case)
        broke = any((v.invariant, v.line) == self._cause for v in result.violations)
        return result if broke and result.trouble is None else None

    async def shrink(self, host: Host, scenario: Scenario, case: Case) -> Shrunk | None:
        """Returns the smallest case found, or None if the failure does not even survive being made concrete."""
        best = await self._try(host, _bare(concrete(scenario, case), self._cause))
        if best is None:
            return None
        improved = True
        while improved and self._left > 0:
            improved = False
            for candidate in simpler(best.scenario):
                smaller = await self._try(host, candidate)
                if smaller is not None:
                    best, improved = smaller, True
                    break
                if self._left <= 0:
                    break
        return evolve(best, runs=self.runs)

    async def _try(self, host: Host, scenario: Scenario) -> Shrunk | None:
        case = Case(scenario=scenario.name, delays=scenario.schedule)
        result = await self._judged(host, Executor(scenario, self._adapter, self._folder), case)
        return None if result is None else Shrunk(scenario=scenario, case=case, result=result, runs=self.runs)


def _bare(scenario: Scenario, cause: Cause) -> Scenario:
    """Keeps of the expectations only the one that broke."""
    kept = tuple(e for e in scenario.expect.finally_ if cause == ("expect", e.line))
    return evolve(scenario, expect=Expect(finally_=kept, exempt=scenario.expect.exempt))


# --- simpler scenarios -------------------------------------------------------------------------


def simpler(scenario: Scenario) -> Iterator[Scenario]:
    """Yields scenarios that are a little smaller, the most drastic change first."""
    for delays in _fewer_delays(scenario.schedule):
        yield evolve(scenario, schedule=delays)
    for steps in _fewer_steps(scenario.steps):
        yield evolve(scenario, steps=steps)
    if len(scenario.clients) > 1:
        acting = {step.actor for step in scenario.steps}
        for client in reversed(scenario.clients):
            if client.name not in acting and not any(c.observes == client.name for c in scenario.clients):
                yield evolve(scenario, clients=tuple(c for c in scenario.clients if c is not client))
    for turns in _shorter_script(scenario.model.turns):
        yield evolve(scenario, model=evolve(scenario.model, turns=turns))
    called = {call.name for call in scenario.calls()}
    if any(tool.name not in called for tool in scenario.tools):
        yield evolve(scenario, tools=tuple(tool for tool in scenario.tools if tool.name in called))
    if scenario.policies:
        yield evolve(scenario, policies={})


def _fewer_delays(delays: tuple[Delay, ...]) -> Iterator[tuple[Delay, ...]]:
    if delays:
        yield ()
    size = len(delays) // 2
    while size:
        for start in range(0, len(delays), size):
            yield delays[:start] + delays[start + size :]
        size //= 2
    for position, delay in enumerate(delays):
        if delay.turns > 1:
            yield (*delays[:position], evolve(delay, turns=delay.turns - 1), *delays[position + 1 :])


def _fewer_steps(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    for position in reversed(range(1, len(steps))):
        rest = [*steps[:position], *steps[position + 1 :]]
        yield tuple(with_live_anchors(rest))
    for position, step in enumerate(steps):
        if step.times > 1:
            yield (*steps[:position], evolve(step, times=step.times - 1), *steps[position + 1 :])


def _shorter_script(turns: tuple[Turn, ...]) -> Iterator[tuple[Turn, ...]]:
    if len(turns) > 1:
        yield turns[:-1]  # only the last: the others give their numbers to points
    for position, turn in enumerate(turns):
        for stream in _shorter_stream(turn):
            yield (*turns[:position], evolve(turn, stream=stream), *turns[position + 1 :])
        if turn.wait_ns:
            yield (*turns[:position], evolve(turn, wait_ns=0), *turns[position + 1 :])


def _shorter_stream(turn: Turn) -> Iterator[tuple]:  # type: ignore[type-arg]
    stream = turn.stream
    for position in range(len(stream) - 1):  # never the ending
        yield stream[:position] + stream[position + 1 :]
    for position, part in enumerate(stream):
        if isinstance(part, Text):
            for text in _shorter_text(part):
                yield (*stream[:position], text, *stream[position + 1 :])


def _shorter_text(text: Text) -> Iterator[Text]:
    if text.words > 1:
        yield evolve(text, words=1)
        yield evolve(text, words=text.words - 1)
    if len(text.chunks) > 1:
        yield evolve(text, chunks=text.chunks[:1])
        yield evolve(text, chunks=text.chunks[:-1])
