"""What may happen next, and who chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from trio.lowlevel import Task


class Killed(BaseException):
    """Ends a task of a dead server process, or of a case that is over.

    Not an ``Exception``: code under test must not be able to survive its own death.
    """


class Entry:
    """One thing that may happen next: a step of a source, or the release of a task."""

    __slots__ = ("lane", "nth", "order", "passed", "queued", "raises", "step", "task", "touches", "turns")

    def __init__(self, lane: str, step: Callable[[], None] | None, task: Task | None, touches: tuple[str, ...]) -> None:
        self.lane = lane
        self.step = step
        self.task = task
        self.touches = touches
        self.raises: Callable[[], None] | BaseException | None = None
        self.queued = False
        self.nth = 0
        self.turns = 0  # how many more entries go first
        self.passed = 0  # how many went first
        self.order = -1  # age of the task, for entries that a cancellation made ready


class Strategy(Protocol):
    """Chooses among several entries that may happen next."""

    def arrive(self, entry: Entry) -> None:
        """Looks at an entry that has just become ready."""

    def pick(self, ready: list[Entry]) -> int:
        """Returns the position of the entry that happens next; ``ready`` has two or more."""
        ...


class Timer:
    """A step of a source that is due later; ``cancel`` makes it never happen."""

    __slots__ = ("entry", "live")

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.live = True

    def cancel(self) -> None:
        """Drops the step; does nothing once it has become ready."""
        self.live = False
