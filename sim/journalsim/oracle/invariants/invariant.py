"""What an invariant is: a promise, and a pure function that judges it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from attrs import frozen

from journalsim.history import History
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.invariants.verdict import Status, Verdict, Violation


@frozen
class Held:
    """The promise was put to the test once and kept."""


@frozen
class Unsure:
    """The promise was put to the test, and nobody can say: ``reason`` is one phrase."""

    reason: str


HELD = Held()
Finding: TypeAlias = Held | Unsure | Violation
Judge: TypeAlias = Callable[[Facts], Iterable[Finding]]


@frozen(kw_only=True)
class Explanation:
    """What ``explain`` prints, each in a few sentences.

    Attributes:
        meaning: what the promise says in full.
        example: one history that breaks it.
        usual_cause: what is mostly wrong in the code of a system that breaks it.
        cases: public reports of it, ``owner/name#number``.
    """

    meaning: str
    example: str
    usual_cause: str
    cases: tuple[str, ...] = ()

    def __str__(self) -> str:
        paragraphs = [self.meaning, f"Example: {self.example}", f"Usual cause: {self.usual_cause}"]
        paragraphs += [f"Seen in public: {', '.join(self.cases)}"] if self.cases else []
        return "\n\n".join(paragraphs)


def always(history: History) -> str:
    """Says that every adapter makes this promise."""
    return ""


def needs(capability: str) -> Callable[[History], str]:
    """Returns a function that says why the promise is not claimed without ``capability``."""

    def unclaimed(history: History) -> str:
        return "" if getattr(history.capabilities, capability) else f"the adapter does not declare {capability}"

    return unclaimed


@frozen(kw_only=True)
class Invariant:
    """A promise about journals.

    Attributes:
        id: kebab-case claim.
        family: the module that holds it.
        statement: one sentence.
        unclaimed: says why a history's adapter does not make the promise; empty if it does.
        judge: yields one finding for every time that the promise was put to the test.
        explain: for people.
    """

    id: str
    family: str
    statement: str
    judge: Judge
    explain: Explanation
    unclaimed: Callable[[History], str] = always


def verdict(invariant: Invariant, facts: Facts) -> Verdict:
    """Returns the answer of one invariant.

    One test that nobody can decide does not take away from others that held.
    """
    reason = invariant.unclaimed(facts.history)
    if reason:
        return Verdict(invariant=invariant.id, status=Status.NOT_CLAIMED, reason=reason)
    violations: list[Violation] = []
    unsure: list[str] = []
    exercised = 0
    for finding in invariant.judge(facts):
        if isinstance(finding, Unsure):
            unsure.append(finding.reason)
            continue
        exercised += 1
        if isinstance(finding, Violation):
            violations.append(finding)
    if violations:
        status = Status.VIOLATED
    elif exercised:
        status = Status.HOLDS
    else:
        status = Status.UNDECIDED if unsure else Status.NOT_EXERCISED
    return Verdict(
        invariant=invariant.id,
        status=status,
        violations=tuple(violations),
        reason=unsure[0] if status is Status.UNDECIDED else "",
        exercised=exercised,
    )
