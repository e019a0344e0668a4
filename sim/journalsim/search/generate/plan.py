"""A generated scenario with its actions placed by share instead of by name.

A generator cannot know the points of a run before the run, so a plan says how
far into a window of the baseline run an action goes: 0 is its first point,
255 nearly its last.  The window begins at one point and ends at another, most
often those of one message of the person and of the next.

Once the points are known a plan becomes a case.  Without a run the points that
the script alone lets one expect will do: fewer, but the same names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import field, frozen

from journalsim.case import NEVER, AtPoint, Case, Never, with_axes
from journalsim.engine.entries import Entry, Strategy
from journalsim.scenario.resolve import resolve
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import Break, CallTool, Finish, SilentEnd, Turn
from journalsim.scenario.words.crosschecks import chunk_count

SHARES = 256


@frozen(kw_only=True)
class Spot:
    """Where a swept step goes.

    Attributes:
        axis: of the step.
        share: of :data:`SHARES`, how far into the window.
        since: the point at which the window begins; empty for the first of the run.
        until: the point before which it ends; empty for the end of the run.
    """

    axis: str
    share: int
    since: str = ""
    until: str = ""


@frozen(kw_only=True)
class Hold:
    """An entry of the schedule that is held back: the one that arrives at this share of the run."""

    share: int
    turns: int


@frozen(kw_only=True, repr=False)
class Plan:
    """A scenario, and where its swept steps go.

    Attributes:
        scenario: each of its axes has one value, ``never``.
        spots: one per axis.
        holds: deviations from first in, first out.
        tape: what it was made from, without the zeros at its end.
    """

    scenario: Scenario
    spots: tuple[Spot, ...] = ()
    holds: tuple[Hold, ...] = ()
    tape: tuple[int, ...] = field(default=(), eq=False)

    def __repr__(self) -> str:
        places = {place: value for place, value in enumerate(self.tape) if value}
        return f"plan_from_tape(tape_of({places}))"

    def case(self, points: Sequence[str]) -> Case:
        """Returns the case for a baseline run that passed these points."""
        index = {name: position for position, name in enumerate(points)}
        axes = [(spot.axis, _place(spot, points, index)) for spot in self.spots]
        return with_axes(Case(scenario=self.scenario.name), axes)

    def strategy(self, steps: int) -> Strategy | None:
        """Returns what holds entries back, in a run of about ``steps`` steps; None for first in, first out."""
        if not self.holds:
            return None
        return HoldBack({hold.share * steps // SHARES: hold.turns for hold in self.holds})

    def placed(self) -> Scenario:
        """Returns a scenario without axes, its actions at points that the script lets one expect."""
        return resolve(self.scenario, self.case(tuple(expected_points(self.scenario))))


def _place(spot: Spot, points: Sequence[str], index: Mapping[str, int]) -> AtPoint | Never:
    if not points:
        return NEVER
    begin, end = index.get(spot.since, 0), index.get(spot.until, len(points))
    if begin >= end:
        begin, end = 0, len(points)
    return AtPoint(points[begin + (end - begin) * spot.share // SHARES])


class HoldBack(Strategy):
    """Holds back single entries, by the order of their arrival."""

    def __init__(self, turns: Mapping[int, int]) -> None:
        self._turns = turns
        self._arrived = 0

    def arrive(self, entry: Entry) -> None:
        entry.turns = self._turns.get(self._arrived, 0)
        self._arrived += 1

    def pick(self, ready: list[Entry]) -> int:
        return next((position for position, entry in enumerate(ready) if entry.turns <= 0), 0)


def expected_points(scenario: Scenario) -> Iterator[str]:
    """Yields points that a baseline run passes if the system calls the model as the script has it."""
    sends = [step for step in scenario.steps if step.verb == "send"]
    counts: dict[str, int] = {}
    turns = list(enumerate(scenario.model.turns, start=1))
    for position, step in enumerate(sends):
        counts[step.actor] = number = counts.get(step.actor, 0) + 1
        yield from _both(f"{step.actor}.send#{number}")
        yield from _both(f"adapter.start#{position + 1}")
        last = position == len(sends) - 1
        while turns:
            number, turn = turns.pop(0)
            yield from _turn_points(number, turn)
            if not last and _ends_run(turn):
                break


def _ends_run(turn: Turn) -> bool:
    end = turn.stream[-1]
    return isinstance(end, Finish) and end.reason != "tool_use"


def _turn_points(number: int, turn: Turn) -> Iterator[str]:
    yield from _both(f"model.turn{number}.call")
    for chunk in range(1, chunk_count(turn) + 1):
        yield from _both(f"model.turn{number}.c{chunk}")
    end = turn.stream[-1]
    if isinstance(end, Break):
        yield f"model.turn{number}.error.before"
    elif isinstance(end, SilentEnd):
        yield f"model.turn{number}.end.before"
    elif isinstance(end, Finish):
        yield from _both(f"model.turn{number}.finish")
        for call in turn.stream:
            if isinstance(call, CallTool):
                yield from _both(f"tool.{call.id}.start")
                yield from _both(f"tool.{call.id}.result")


def _both(name: str) -> tuple[str, str]:
    return f"{name}.before", f"{name}.after"
