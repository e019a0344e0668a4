"""Reading a tape: one place after the other, each the answer to one question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

VALUES = 256  # of one place


class Slots:
    """A block of a tape.  What the tape does not say is 0, which is always the stock answer.

    Args:
        values: its places, as far as the tape goes.
        length: how many places the block has.

    Attributes:
        length: of the block.
        asked: how many places were read.
    """

    def __init__(self, values: Sequence[int], length: int) -> None:
        self.length = length
        self.asked = 0
        self._values = values

    def next(self) -> int:
        """Returns the next place as it is: 0 to 255."""
        at, self.asked = self.asked, self.asked + 1
        return self._values[at] if at < len(self._values) else 0

    def choose(self, stock: T, *others: T, odds: int) -> T:
        """Returns ``stock``, or in ``odds`` of 256 cases one of the others; larger places are later ones."""
        beyond = self.next() - (VALUES - odds)
        return stock if beyond < 0 else others[beyond * len(others) // odds]

    def flag(self, odds: int) -> bool:
        """Returns True in ``odds`` of 256 cases."""
        return self.choose(False, True, odds=odds)
