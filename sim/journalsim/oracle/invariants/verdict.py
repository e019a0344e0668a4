"""Verdicts and violations, as values."""

from __future__ import annotations

from enum import Enum
from typing import Literal, TypeAlias, get_args

from attrs import field, frozen

Grade: TypeAlias = Literal["", "emitted", "received", "accepted", "synced", "sent", "applied"]
"""How far a lost message or result had come; empty without a loss."""

GRADES: tuple[Grade, ...] = get_args(Grade)
"""From the lightest loss to the worst."""


class Status(Enum):
    """The five possible verdicts."""

    HOLDS = "holds"
    VIOLATED = "violated"
    NOT_EXERCISED = "not exercised"
    NOT_CLAIMED = "not claimed"
    UNDECIDED = "undecided"


@frozen(kw_only=True)
class Violation:
    """One violation, with its evidence.

    Attributes:
        invariant: kebab-case id, or ``expect`` for a line of the scenario.
        promised: the invariant applied to this history, one sentence.
        found: the observation that contradicts it, one sentence.
        evidence: positions of the relevant events, in order; the last one shows the violation.
        expected: journal rows that should be there, one line of text each.
        actual: journal rows that are there, one line of text each.
        subject: the message, call or run.
        line: line of the scenario file for expectations; 0 otherwise.
        grade: of a loss, how far the message or result had come.
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
    """The verdict of one invariant on one history.

    Attributes:
        invariant: the id.
        status: the verdict.
        violations: the violations, for ``VIOLATED``.
        reason: the reason for ``NOT_CLAIMED`` and ``UNDECIDED``, one phrase.
        exercised: how many times the invariant was tested.
    """

    invariant: str
    status: Status
    violations: tuple[Violation, ...] = ()
    reason: str = ""
    exercised: int = field(default=0)
