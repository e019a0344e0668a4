"""An invariant: an id, a one-sentence statement, and a pure function that judges a history."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from attrs import frozen

from journalsim.history import History
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.invariants.verdict import Status, Verdict, Violation


@frozen
class Held:
    """The invariant was tested once and holds."""


@frozen
class Unsure:
    """The invariant was tested without a decision; ``reason`` is one phrase."""

    reason: str


HELD = Held()
Finding: TypeAlias = Held | Unsure | Violation
Judge: TypeAlias = Callable[[Facts], Iterable[Finding]]


@frozen(kw_only=True)
class Explanation:
    """The text that ``explain`` prints: each part is a few sentences.

    Attributes:
        meaning: the invariant in full.
        example: a history that violates it.
        usual_cause: the usual mistake in the code of a system that violates it.
        cases: public reports, ``owner/name#number``.
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
    """Returns no reason: every adapter claims the invariant."""
    return ""


def needs(capability: str) -> Callable[[History], str]:
    """Returns a function that gives the reason why an adapter without ``capability`` does not claim an invariant."""

    def unclaimed(history: History) -> str:
        return "" if getattr(history.capabilities, capability) else f"the adapter does not declare {capability}"

    return unclaimed


@frozen(kw_only=True)
class Invariant:
    """An invariant of journals.

    Attributes:
        id: kebab-case claim.
        family: the module of the invariant.
        statement: one sentence.
        unclaimed: returns the reason why the adapter of a history does not claim it; empty if it does.
        judge: yields one finding per test of the invariant.
        explain: the explanation for users.
    """

    id: str
    family: str
    statement: str
    judge: Judge
    explain: Explanation
    unclaimed: Callable[[History], str] = always


def verdict(invariant: Invariant, facts: Facts) -> Verdict:
    """Returns the verdict of one invariant.

    An undecided test does not count if another test holds.
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
