"""Defines the errors of the harness, and the exit code of each.

A violated invariant is never an exception: it is a value (:class:`journalsim.oracle.invariants.verdict.Violation`). An
error of this module means that somebody misused the harness, that the harness could not drive the system under test, or
that the harness is at fault.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class Exit(IntEnum):
    """Exit codes of every command; when several apply, see :func:`worst`."""

    HELD = 0
    BROKEN = 1
    USAGE = 2
    INCONCLUSIVE = 3
    NOTHING_SELECTED = 4
    NONDETERMINISTIC = 5
    ADAPTER = 6
    INTERNAL = 70
    INTERRUPTED = 130


class SimError(Exception):
    """Root of all errors of the harness; ``exit_code`` is the exit code of the command."""

    exit_code: ClassVar[Exit] = Exit.INTERNAL


class UsageError(SimError):
    """An argument, a configuration or a file cannot be used; nothing was run."""

    exit_code = Exit.USAGE


class NothingSelectedError(SimError):
    """The selection left no scenario to run."""

    exit_code = Exit.NOTHING_SELECTED


class AdapterError(SimError):
    """The system under test could not start, raised, hung, or broke the protocol."""

    exit_code = Exit.ADAPTER


class BlockedInRealTimeError(AdapterError):
    """Code under test held the thread in real time, where only virtual time may pass."""


_SEVERITY = (
    Exit.INTERNAL,
    Exit.INTERRUPTED,
    Exit.USAGE,
    Exit.NONDETERMINISTIC,
    Exit.BROKEN,
    Exit.ADAPTER,
    Exit.INCONCLUSIVE,
    Exit.NOTHING_SELECTED,
    Exit.HELD,
)


def worst(codes: list[Exit]) -> Exit:
    """Returns the exit code of a command when ``codes`` all apply.

    A violated invariant outranks an adapter error elsewhere, and both outrank "inconclusive": a certain failure comes
    first.
    """
    return min(codes, key=_SEVERITY.index, default=Exit.HELD)
