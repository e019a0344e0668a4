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
    """One thing that may happen next, once: a step of a source, or the release of a task.

    Attributes:
        lane: to whom it belongs.
        step: what a source does; None for a task.
        task: whom it releases; None for a source.
        touches: what the step touches.
        raises: what the task is woken with instead of returning.
        spent: it was made ready, or never will be.
        nth: its number within its lane, from 0; this and the next two are set when it is made ready, if anybody counts.
        turns: how many more entries go first, for strategies that count turns.
        due: the step at which it would happen, if every entry before it went first and none behind it.
    """

    __slots__ = ("due", "lane", "nth", "raises", "spent", "step", "task", "touches", "turns")

    nth: int
    turns: int
    due: int

    def __init__(self, lane: str, step: Callable[[], None] | None, task: Task | None, touches: tuple[str, ...]) -> None:
        self.lane = lane
        self.step = step
        self.task = task
        self.touches = touches
        self.raises: Callable[[], None] | BaseException | None = None
        self.spent = False

    def cancel(self) -> None:
        """Makes the step of a timer never happen; does nothing once it has become ready."""
        self.spent = True


Timer = Entry  # one class for both: attributes of two classes at one place in the hot path are twice as slow


class Strategy(Protocol):
    """Chooses among several entries that may happen next."""

    def arrive(self, entry: Entry) -> None:
        """Looks at an entry that has just become ready; a strategy that does not care leaves this out."""
        return

    def pick(self, ready: list[Entry]) -> int:
        """Returns the position of the entry that happens next; ``ready`` has two or more."""
        ...


def first_in_turn(ready: list[Entry]) -> int:
    """Returns the position of the first entry whose turn it is; those before it have waited one turn more."""
    for position, entry in enumerate(ready):
        if entry.turns <= 0:
            for held in ready[:position]:
                held.turns -= 1
            return position
    return 0
