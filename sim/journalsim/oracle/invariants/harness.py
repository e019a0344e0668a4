"""Promises without which no other verdict means anything."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.events.harness_events import DeadlockFound, QuietReached, TraceDiffers
from journalsim.history import History
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant
from journalsim.oracle.invariants.verdict import Violation


def no_deadlock(facts: Facts) -> Iterator[Finding]:
    """Judges how the case ended."""
    cut = facts.cut
    if cut is None:
        yield from (HELD for _ in facts.of(QuietReached)[-1:])
        return
    if isinstance(cut.data, DeadlockFound):
        tasks = [f"{name} at {point or 'no point'}" for name, point in cut.data.tasks]
        found = "nothing can happen any more, yet tasks wait: " + ("; ".join(tasks) or "unknown ones")
    else:
        found = f"the case was cut off: {cut.data.bound} went beyond {cut.data.limit}"
    yield Violation(
        invariant="no-deadlock",
        promised="the system comes to rest, and nobody waits for ever",
        found=found,
        evidence=(cut.position,),
    )


def deterministic(facts: Facts) -> Iterator[Finding]:
    """Judges whether a rerun of the case took the same way."""
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
    return "the adapter declares a real clock: its runs can be repeated, but not bit for bit" if real else ""


HARNESS: tuple[Invariant, ...] = (
    Invariant(
        id="no-deadlock",
        family="harness",
        statement="The system comes to rest by itself; no task waits for something that can never happen.",
        judge=no_deadlock,
        explain=Explanation(
            meaning="After the last step every task ends, or waits for the next request. A task that waits for "
            "another one that waits for it, or a loop that never ends, is a fault of the system, unless the "
            "scenario scripted a tool or a model that hangs.",
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
            meaning="A verdict can be believed, and a failure repeated, only if nothing but the case decides what "
            "happens. A share of all cases is run twice and compared, event by event.",
            example="The system takes its ids from the clock of the machine, so the second run shows other ids.",
            usual_cause="Real time, random numbers, threads, or the order of a set in the code under test.",
        ),
    ),
)
