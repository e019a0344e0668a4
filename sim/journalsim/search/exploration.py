"""``journalsim explore`` without the printing: batches on one core or several, within a time or a number of cases."""

from __future__ import annotations

import hashlib
import itertools
import time  # real seconds: for the wall-time line, never inside a case
from collections.abc import Callable, Iterator
from functools import partial

from attrs import evolve, field, frozen

from journalsim.case import Case
from journalsim.engine.hosting import host
from journalsim.errors import Exit, worst
from journalsim.history import trace_hash
from journalsim.hosts.loading import LoadedAdapter, load_adapter
from journalsim.oracle.invariants.verdict import Status
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.bulk import BATCH, CASES_EACH, Book, Found, search_batch
from journalsim.search.candidates import OF_GENERATED
from journalsim.search.execute import Executor, workspace
from journalsim.search.reduce import Reduced, smallest
from journalsim.search.results import CaseResult, Failure, Tally
from journalsim.search.workers import Brake, Job, Stop, run_pieces


@frozen(kw_only=True)
class Search:
    """What to search, and for how long.

    Attributes:
        adapter: as the user named it.
        seed: of the tapes.
        for_s: no batch is begun after so many real seconds; 0 for no limit.
        cases: the search ends with this case; 0 for no limit.
        jobs: processes.
        wire: some scenarios are watched over links that break.
        on_batch: called with what is known, after each batch, in order.
        on_shrink: called with the number, from 1, of the failure that is made smaller next, and how many there are.
    """

    adapter: str = "ref"
    seed: int = 0
    for_s: float = 60.0
    cases: int = 0
    jobs: int = 1
    wire: bool = False
    on_batch: Callable[[Book], None] = field(default=lambda book: None)
    on_shrink: Callable[[int, int], None] = field(default=lambda number, total: None)


@frozen(kw_only=True)
class Exploration:
    """What a search found.

    Attributes:
        search: what was asked for.
        book: all cases together.
        failures: the smallest case of each broken promise, in the order in which the promises broke.
        interrupted: the user stopped it.
        wall_s: real seconds of the search, without making failures smaller.
    """

    search: Search
    book: Book
    failures: tuple[Failure, ...] = ()
    interrupted: bool = False
    wall_s: float = 0.0

    @property
    def tallies(self) -> dict[str, Tally]:
        """Per promise, how often it got each answer, sorted by id."""
        counts: dict[str, dict[str, int]] = {}
        for (name, status), times in self.book.answers.items():
            counts.setdefault(name, {})[status.value.replace(" ", "_")] = times
        return {name: Tally(**counts[name]) for name in sorted(counts)}

    @property
    def exit(self) -> Exit:
        """The exit code of the command."""
        codes = [Exit.HELD]
        if any(failure.deviation for failure in self.failures):
            codes.append(Exit.NONDETERMINISTIC)
        if self.failures:
            codes.append(Exit.BROKEN)
        if self.book.trouble:
            codes.append(Exit.ADAPTER)
        if not any(status is Status.HOLDS for _, status in self.book.answers):
            codes.append(Exit.INCONCLUSIVE)
        if self.interrupted:
            codes.append(Exit.INTERRUPTED)
        return worst(codes)


def explore(search: Search) -> Exploration:
    """Runs generated scenarios until the time or the cases are used up, then makes each failure small.

    Ctrl-C, or SIGTERM, ends the search early and keeps what was found; a second one ends everything.

    Raises:
        UsageError, AdapterError: nothing could be run.
    """
    adapter = load_adapter(search.adapter)  # a bad name is an error before anything runs
    brake = Brake(for_s=search.for_s)
    book = Book()
    began = time.perf_counter()
    job = Job(run=partial(_one, search.adapter, search.seed, search.wire), cut=lambda: brake.spent, lost=_lost)
    with brake.handling_signals():
        with run_pieces(job, _batches(search.cases), brake, search.jobs) as parts:
            for part in parts:
                book.merge(part)
                search.on_batch(book)
                brake.enough = brake.enough or book.hopeless
        wall_s = time.perf_counter() - began
        failures = tuple(_failures(search, adapter, book, brake))
    return Exploration(search=search, book=book, failures=failures, interrupted=brake.pressed, wall_s=wall_s)


def _batches(cases: int) -> Iterator[tuple[int, int]]:
    """Yields batches: their number, and how many cases each may run at most."""
    for batch in itertools.count():
        left = cases - batch * BATCH * CASES_EACH if cases else BATCH * CASES_EACH
        if left <= 0:
            return
        yield batch, left


def _one(adapter: str, seed: int, wire: bool, batch: tuple[int, int], stop: Stop) -> Book:
    number, cases = batch
    return search_batch(load_adapter(adapter), seed, number, cases=cases, stop=stop, wire=wire)


def _lost(batch: tuple[int, int], death: str) -> Book:
    return Book(trouble={f"{death}, and with it a batch of cases": 1})


# --- making failures small ---------------------------------------------------------------------


def _failures(search: Search, adapter: LoadedAdapter, book: Book, brake: Brake) -> Iterator[Failure]:
    """Yields the failures, each made small; Ctrl-C in here leaves the rest as large as they are."""
    before = brake.pressed
    found = sorted(book.found.values(), key=lambda one: one.number)
    for number, one in enumerate(found, start=1):
        search.on_shrink(number, len(found))
        yield failure_of(adapter, one, stop=lambda: brake.pressed and not before)


def failure_of(adapter: LoadedAdapter, found: Found, stop: Stop = lambda: False) -> Failure:
    """Returns the smallest case that breaks the promise as ``found`` does, confirmed in a fresh run.

    Args:
        adapter: under test.
        found: by the search.
        stop: called between runs; True leaves the case as small as it has become.
    """
    cause = (found.violation.invariant, found.violation.line)
    with workspace() as folder:
        reduced = host(
            lambda it: smallest(
                it, adapter, folder, found.scenario, found.case, cause, candidates=OF_GENERATED, stop=stop
            )
        )
        scenario = _named(reduced.scenario)
        case = evolve(reduced.result.case, scenario=scenario.name)
        again = host(lambda it: Executor(scenario, adapter, folder).judge(it, case))
    return _failure(scenario, case, found, reduced, again)


def _named(scenario: Scenario) -> Scenario:
    """Returns the scenario under a name that only its content can have."""
    digest = hashlib.sha256(dump_scenario(scenario).encode()).hexdigest()
    return evolve(scenario, name=f"{scenario.name}-{digest[:6]}")


def _failure(scenario: Scenario, case: Case, found: Found, reduced: Reduced, again: CaseResult) -> Failure:
    history = reduced.result.history
    ours, theirs = trace_hash(history.events), trace_hash(again.history.events)
    deviation = "" if ours == theirs else f"a fresh run of the same case gave trace {theirs} instead of {ours}"
    if reduced.violation is None:
        deviation = "it failed in the search, and not when it was run again"
    return Failure(
        scenario=scenario,
        violation=reduced.violation or evolve(found.violation, evidence=()),
        case=case,
        also=(found.case,) * (found.times - 1),
        history=history,
        trace_hash=ours,
        deviation=deviation,
    )
