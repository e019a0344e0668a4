"""The plain seeded search over generated scenarios: no scenario of anybody's, many cases a second.

Each tape is drawn from the seed and its own number, gives one scenario, and that
scenario gives :data:`CASES_EACH` cases: the baseline, run twice to see that
it repeats; the tape's own; and others with the actions elsewhere and in other
orders.  Tapes are handed out in batches, so what a search of a given number of
cases finds does not depend on how many processes did it.

What breaks is grouped by promise, and the smallest case of each is kept;
:mod:`journalsim.search.exploration` makes a failure of it that a person can read.
"""

from __future__ import annotations

import random  # every generator is seeded by the search and the tape's number
from pathlib import Path

from attrs import define, evolve, field, frozen

from journalsim.case import Case
from journalsim.contract.capabilities import Capabilities
from journalsim.engine.entries import Strategy
from journalsim.engine.hosting import Host, host
from journalsim.engine.schedules import portfolio
from journalsim.hosts.loading import LoadedAdapter
from journalsim.oracle.invariants.verdict import Status, Violation
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.execute import Executor, audited, workspace
from journalsim.search.generate.plan import SHARES, Plan
from journalsim.search.generate.tape import TAPE_LENGTH, off_the_wire, plan_from_tape
from journalsim.search.results import CaseResult
from journalsim.search.workers import Stop

CASES_EACH = 12  # cases of one scenario: the measuring run is paid for, and a scenario is not worth hundreds
BATCH = 10  # scenarios that one process takes at a time: about half a second, so that Ctrl-C is heard
TROUBLE_MAX = 60  # cases in which an adapter may fail before the search gives up on it


@frozen(kw_only=True)
class Found:
    """The smallest failing case so far of one promise.

    Attributes:
        scenario: with its axes.
        case: of it.
        violation: what broke in it.
        events: length of its history.
        number: how many cases the search had run, this one included, when the promise first broke.
        times: failing cases.
    """

    scenario: Scenario
    case: Case
    violation: Violation
    events: int
    number: int
    times: int = 1

    @property
    def size(self) -> tuple[int, int, int]:
        """Smaller is easier to read."""
        return self.events, len(self.case.delays), self.number

    def plus(self, other: Found) -> Found:
        """Returns both together: the smaller case, the earlier number."""
        smaller = min(self, other, key=lambda found: found.size)
        return evolve(smaller, number=min(self.number, other.number), times=self.times + other.times)


@define(kw_only=True)
class Book:
    """What a search, or a part of one, has seen.

    Attributes:
        scenarios: generated and run.
        cases: run and judged.
        failed: cases with a violation.
        answers: per promise, how often it got each answer.
        found: per promise that broke.
        trouble: what the adapter did wrong, and in how many cases.
        virtual_ns: virtual time.
    """

    scenarios: int = 0
    cases: int = 0
    failed: int = 0
    answers: dict[tuple[str, Status], int] = field(factory=dict)
    found: dict[str, Found] = field(factory=dict)
    trouble: dict[str, int] = field(factory=dict)
    virtual_ns: int = 0

    @property
    def hopeless(self) -> bool:
        """Whether the adapter fails so often that going on tells nothing new."""
        return sum(self.trouble.values()) >= TROUBLE_MAX

    def enter(self, scenario: Scenario, result: CaseResult) -> None:
        """Adds one judged case."""
        self.cases += 1
        self.virtual_ns += result.virtual_ns
        self.failed += bool(result.violations)
        for verdict in result.verdicts:
            answer = (verdict.invariant, verdict.status)
            self.answers[answer] = self.answers.get(answer, 0) + 1
        broken = {violation.invariant: violation for violation in reversed(result.violations)}
        for invariant, violation in broken.items():
            found = Found(
                scenario=scenario,
                case=result.case,
                violation=violation,
                events=len(result.history.events),
                number=self.cases,
            )
            self._find(invariant, found)
        if result.trouble is not None:
            self.trouble[result.trouble] = self.trouble.get(result.trouble, 0) + 1

    def merge(self, later: Book) -> None:
        """Adds a part that comes after everything that is in here."""
        for invariant, found in later.found.items():
            self._find(invariant, evolve(found, number=found.number + self.cases))
        self.scenarios += later.scenarios
        self.cases += later.cases
        self.failed += later.failed
        self.virtual_ns += later.virtual_ns
        for answer, times in later.answers.items():
            self.answers[answer] = self.answers.get(answer, 0) + times
        for what, times in later.trouble.items():
            self.trouble[what] = self.trouble.get(what, 0) + times

    def _find(self, invariant: str, found: Found) -> None:
        known = self.found.get(invariant)
        self.found[invariant] = found if known is None else known.plus(found)


# --- searching ---------------------------------------------------------------------------------


def drawn_tape(seed: int, number: int) -> bytes:
    """Returns the tape of this number in the search with this seed."""
    return random.Random(f"tape/{seed}/{number}").randbytes(TAPE_LENGTH)


def search_batch(
    adapter: LoadedAdapter,
    seed: int,
    batch: int,
    cases: int = BATCH * CASES_EACH,
    stop: Stop = lambda: False,
    wire: bool = False,
) -> Book:
    """Runs one batch of a search.

    Args:
        adapter: under test.
        seed: of the search.
        batch: its number, from 0.
        cases: end after this many.
        stop: called between cases; True ends the batch early.
        wire: some scenarios are watched over links that break.
    """
    book = Book()
    claims = adapter.capabilities if wire else off_the_wire(adapter.capabilities)

    def over() -> bool:
        return stop() or book.hopeless or book.cases >= cases

    with workspace() as folder:
        host(lambda it: _batch(it, adapter, claims, folder, seed, batch, book, over))
    return book


async def _batch(
    it: Host,
    adapter: LoadedAdapter,
    claims: Capabilities,
    folder: Path,
    seed: int,
    batch: int,
    book: Book,
    over: Stop,
) -> None:
    for number in range(batch * BATCH, (batch + 1) * BATCH):
        if over():
            return
        plan = plan_from_tape(drawn_tape(seed, number), claims)
        try:
            await _scenario(it, Executor(plan.scenario, adapter, folder), plan, f"{seed}/{number}", book, over)
        except Exception as error:
            error.add_note(f"in generated scenario {number} of seed {seed}:\n{dump_scenario(plan.scenario)}")
            raise


async def _scenario(it: Host, executor: Executor, plan: Plan, key: str, book: Book, over: Stop) -> None:
    scenario = plan.scenario
    book.scenarios += 1
    base = plan.case(())
    first, second = await executor.run(it, base), await executor.run(it, base)
    book.enter(scenario, executor.verdict(audited(first, second)))
    for number in range(1, CASES_EACH):
        if over():
            return
        generator = random.Random(f"case/{key}/{number}")
        moved = plan if number <= 2 else _moved(plan, generator)
        strategy = _strategy(moved, number, generator, first.steps)
        book.enter(scenario, await executor.judge(it, moved.case(first.points), strategy))


def _moved(plan: Plan, generator: random.Random) -> Plan:
    """Returns the plan with its actions elsewhere."""
    return evolve(plan, spots=tuple(evolve(spot, share=generator.randrange(SHARES)) for spot in plan.spots))


def _strategy(plan: Plan, number: int, generator: random.Random, steps: int) -> Strategy | None:
    """Returns the order of a case: if it has an action, first in, first out for half, since that finds most."""
    if number == 2:
        return plan.strategy(steps)
    if number % 2 and plan.spots:
        return None
    makers = portfolio(max(steps, 1))
    return makers[number // 2 % len(makers)][1](generator.getrandbits(32))
