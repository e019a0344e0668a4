"""The invariants that all other verdicts depend on: the case comes to rest, and it repeats."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.events.harness_events import DeadlockFound, QuietReached, TraceDiffers
from journalsim.history import History
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant
from journalsim.oracle.invariants.verdict import Violation


def no_deadlock(facts: Facts) -> Iterator[Finding]:
    """Judges the end of the case."""
    cut = facts.cut
    if cut is None:
        yield from (HELD for _ in facts.of(QuietReached)[-1:])
        return
    if isinstance(cut.data, DeadlockFound):
        tasks = [f"{name} at {point or 'no point'}" for name, point in cut.data.tasks]
        found = "no event is left, but tasks wait: " + ("; ".join(tasks) or "unknown ones")
    else:
        found = f"the case was cut off: {cut.data.bound} exceeded {cut.data.limit}"
    yield Violation(
        invariant="no-deadlock",
        promised="the system comes to rest, and no task waits for ever",
        found=found,
        evidence=(cut.position,),
    )


def deterministic(facts: Facts) -> Iterator[Finding]:
    """Judges that a rerun of the case gives the same history."""
    for event in facts.of(TraceDiffers):
        data = event.data
        yield Violation(
            invariant="deterministic",
            promised="the same case gives the same history",
            found=f"event {data.first} differs: {data.ours} / {data.theirs}",
            evidence=(event.position,),
        )
        return
    if facts.history.policies.get("audited"):
        yield HELD


def _real_clock(history: History) -> str:
    real = history.capabilities.clock == "real"
    return "the adapter declares a real clock: a rerun of a case is not bit-exact" if real else ""


HARNESS: tuple[Invariant, ...] = (
    Invariant(
        id="no-deadlock",
        family="harness",
        statement="The system comes to rest by itself; no task waits for an event that can never happen.",
        judge=no_deadlock,
        explain=Explanation(
            meaning="After the last step every task ends or waits for the next request. Two tasks that wait for each "
            "other, or a loop that never ends, are a fault of the system, unless the scenario scripts a tool or a "
            "model that hangs.",
            example="Stop cancels the relay while the worker waits for room in its queue; the worker waits for ever.",
            usual_cause="A bounded queue whose reader was cancelled, a lock held across an await that is cancelled, "
            "or a retry without a limit.",
            cases=("vercel/resumable-stream#27",),
        ),
    ),
    Invariant(
        id="deterministic",
        family="harness",
        statement="Running the same case again gives the same history.",
        judge=deterministic,
        unclaimed=_real_clock,
        explain=Explanation(
            meaning="A verdict is reliable, and a failure repeatable, only if the case alone determines the history. "
            "A share of all cases is run twice and compared, event by event.",
            example="The system takes its ids from the clock of the machine, so the second run has other ids.",
            usual_cause="Real time, random numbers, threads, or the order of a set in the code under test.",
        ),
    ),
)
