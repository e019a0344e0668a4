"""Defines the search strategies, which choose among the entries that may happen next.

First in, first out is no strategy at all (the scheduler's own order). Each strategy here draws from a generator that
is seeded when the case is made, and the scheduler records every choice as delays, so that saving, shrinking and
replaying a case needs neither the strategy nor its seed.

``KeyedDelays`` holds single entries back and is the workhorse: its findings are already in the form that shrinks best.
``Uniform`` is the plain random walk. ``Pct`` is probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010):
random priorities with ``depth - 1`` points where the running lane drops to the bottom. It needs an estimate of the
number of choices in a run, and a horizon that is too short finds nothing, so the horizon is measured, never guessed.
"""

from __future__ import annotations

import random  # the search seeds every generator, and records its choices as delays
from collections.abc import Callable

from journalsim.engine.entries import Entry, Strategy, first_in_turn

TURNS_MAX = 6  # a longer delay rarely matters: six other entries have gone first


class KeyedDelays(Strategy):
    """Holds each new entry back with ``probability`` for one to ``turns_max`` turns."""

    def __init__(self, seed: int, probability: float, turns_max: int = TURNS_MAX) -> None:
        self._draw = random.Random(seed).random
        self._probability = probability
        self._turns_max = turns_max

    def arrive(self, entry: Entry) -> None:
        if self._draw() < self._probability:
            entry.turns = 1 + int(self._draw() * self._turns_max)

    def pick(self, ready: list[Entry]) -> int:
        return first_in_turn(ready)


class Uniform(Strategy):
    """Chooses every ready entry with equal chance."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed).random

    def pick(self, ready: list[Entry]) -> int:
        return int(self._draw() * len(ready))


class Pct(Strategy):
    """Gives each lane a random priority, lowered at ``depth - 1`` random choices out of ``horizon``.

    Args:
        seed: seed of the generator.
        depth: the number of ordering constraints that the bug may need.
        horizon: the measured number of choices in a run of this scenario.
    """

    def __init__(self, seed: int, depth: int, horizon: int) -> None:
        generator = random.Random(seed)
        self._draw = generator.random
        self._changes = frozenset(generator.randrange(max(horizon, 1)) for _ in range(depth - 1))
        self._priority: dict[str, float] = {}
        self._lowest = 0.0
        self.choices = 0

    def arrive(self, entry: Entry) -> None:
        if entry.lane not in self._priority:
            self._priority[entry.lane] = 1.0 + self._draw()

    def pick(self, ready: list[Entry]) -> int:
        priorities = [self._priority[entry.lane] for entry in ready]
        position = priorities.index(max(priorities))
        if self.choices in self._changes:
            self._lowest -= 1.0
            self._priority[ready[position].lane] = self._lowest
        self.choices += 1
        return position


class CountChoices(Strategy):
    """Chooses first in, first out and counts the choices, which measures the horizon for :class:`Pct`."""

    def __init__(self) -> None:
        self.choices = 0

    def pick(self, ready: list[Entry]) -> int:
        self.choices += 1
        return 0


def portfolio(horizon: int) -> list[tuple[str, Callable[[int], Strategy]]]:
    """Returns the strategies that a search takes in turn, by name, each as a function of its seed.

    This mix found most per run when measured: mostly keyed delays at three densities, some uniform walks, some PCT.
    """
    return [
        ("delays 0.1", lambda s: KeyedDelays(s, 0.1)),
        ("delays 0.3", lambda s: KeyedDelays(s, 0.3)),
        ("uniform", Uniform),
        ("delays 0.03", lambda s: KeyedDelays(s, 0.03)),
        ("pct 3", lambda s: Pct(s, 3, horizon)),
    ]
