"""What a judge says: verdicts as values."""

from __future__ import annotations

from enum import Enum
from typing import Literal, TypeAlias, get_args

from attrs import field, frozen

Grade: TypeAlias = Literal["", "emitted", "received", "accepted", "synced", "sent", "applied"]
"""How far something had come before it was lost; empty where nothing was."""

GRADES: tuple[Grade, ...] = get_args(Grade)
"""From the lightest loss to the worst."""


class Status(Enum):
    """The five possible answers; only two of them are opposites."""

    HOLDS = "holds"
    VIOLATED = "violated"
    NOT_EXERCISED = "not exercised"
    NOT_CLAIMED = "not claimed"
    UNDECIDED = "undecided"


@frozen(kw_only=True)
class Violation:
    """One broken promise, with what a person needs to believe it.

    Attributes:
        invariant: kebab-case id, or ``expect`` for a line of the scenario.
        promised: what the history shows was promised, one sentence.
        found: what was found instead, one sentence.
        evidence: positions of the history events that matter, in order; the last one is where it went wrong.
        expected: journal rows that should be there, one line of text each.
        actual: journal rows that are there, one line of text each.
        subject: message, call or run concerned.
        line: line of the scenario file for expectations; 0 otherwise.
        grade: of a loss, the furthest line that the lost thing had crossed.
    """

    invariant: str
    promised: str
    found: str
    evidence: tuple[int, ...] = ()
    expected: tuple[str, ...] = ()
    actual: tuple[str, ...] = ()
    subject: str | None = None
    line: int = 0
    grade: Grade = ""


@frozen(kw_only=True)
class Verdict:
    """The answer of one invariant on one history.

    Attributes:
        invariant: its id.
        status: the answer.
        violations: what broke, for ``VIOLATED``.
        reason: for ``NOT_CLAIMED`` and ``UNDECIDED`` why, one phrase.
        exercised: how many times the promise was put to the test.
    """

    invariant: str
    status: Status
    violations: tuple[Violation, ...] = ()
    reason: str = ""
    exercised: int = field(default=0)
