"""Defines the entries, which are the things that may happen next, and the strategies that choose among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from trio.lowlevel import Task


class Killed(BaseException):
    """Ends a task of a dead server process, or of a case that is over.

    ``Killed`` is no ``Exception``: code under test must not survive its own crash.
    """


class Entry:
    """One thing that may happen next, once: a step of a source, or the release of a task.

    Attributes:
        lane: the actor or task that the entry belongs to.
        step: the callable of a source; None for a task.
        task: the task to release; None for a source.
        touches: the resources that the step touches.
        raises: the error that wakes the task instead of a plain return.
        spent: True once the entry was made ready or cancelled.
        nth: its number within its lane, from 0; like the next two, set when the entry becomes ready, if a schedule is
            recorded.
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
        """Cancels the step of a timer; does nothing once the step has become ready."""
        self.spent = True


Timer = Entry  # one class for both: attributes of two classes at one place in the hot path are twice as slow


class Strategy(Protocol):
    """Chooses among several entries that may happen next."""

    def arrive(self, entry: Entry) -> None:
        """Looks at an entry that has just become ready; a strategy may leave this method out."""
        return

    def pick(self, ready: list[Entry]) -> int:
        """Returns the position of the entry that happens next; ``ready`` has two or more."""
        ...


def first_in_turn(ready: list[Entry]) -> int:
    """Returns the position of the first entry whose turn it is; each entry before it has then waited one turn more."""
    for position, entry in enumerate(ready):
        if entry.turns <= 0:
            for held in ready[:position]:
                held.turns -= 1
            return position
    return 0
