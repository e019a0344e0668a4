"""Takes the steps of a resolved scenario at the right moments.

A step happens in one of four ways:

* it is *placed*: at a point, a scheduler step or a time;
* it *follows* another step, by ``after``, or because no timing is given and it
  is not a ``send``: then it follows the step above it;
* it is a ``send``, ``approve`` or ``deny`` without timing: it waits until everything is quiet, and for
  the steps before it to have had their chance;
* it never happens: it is placed at ``never``, its moment never comes, or the step that
  it follows never happens.  The last two are recorded, so that a report can say so.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from journalsim.case import Never
from journalsim.contract.events.harness_events import StepSkipped, StepTaken
from journalsim.engine.world import World
from journalsim.scenario.values.moves import Step
from journalsim.scenario.values.scenario import Scenario

Take = Callable[[Step], None]


class Progress(Enum):
    """Where a step stands."""

    WAITING = "waiting"
    DONE = "done"
    NEVER = "never"


class Director:
    """Walks through the steps of one case.

    Args:
        world: the case's world.
        scenario: resolved, so that every step has its place.
        take: makes a step happen.
    """

    def __init__(self, world: World, scenario: Scenario, take: Take) -> None:
        self._world = world
        self._steps = scenario.steps
        self._take = take
        self._progress = [Progress.WAITING] * len(scenario.steps)
        self._followers: dict[int, list[int]] = {}

    def begin(self) -> None:
        """Places what is placed and takes the steps that need nothing before them."""
        for position, step in enumerate(self._steps):
            self._arrange(position, step)

    def on_quiet(self) -> bool:
        """Takes the next ``send`` that waits for quiet; returns False when none is left."""
        for position, step in enumerate(self._steps):
            if self._progress[position] is Progress.WAITING and step.waits_for_quiet:
                self._take_up(position)
                return True
        return False

    def finish(self) -> None:
        """Records the steps whose moment never came."""
        for position, step in enumerate(self._steps):
            if self._progress[position] is Progress.WAITING:
                reason = f"its moment never came: {step.timing.at or step.timing.after or 'the step above'}"
                self._world.record(step.actor, StepSkipped(verb=step.verb, label=step.label, reason=reason))

    @property
    def reached(self) -> bool:
        """Whether every step that is placed at a moment happened."""
        placed = [p for p, step in enumerate(self._steps) if step.timing.at is not None]
        return all(self._progress[p] is not Progress.WAITING for p in placed)

    # --- arranging

    def _arrange(self, position: int, step: Step) -> None:
        at, after = step.timing.at, step.timing.after
        if isinstance(at, Never):
            self._progress[position] = Progress.NEVER
        elif at is not None:
            self._world.place(at, lambda: self._take_up(position))
        elif after is not None:
            self._followers.setdefault(self._anchor(position, after), []).append(position)
        elif not step.waits_for_quiet:
            if position:
                self._followers.setdefault(position - 1, []).append(position)
            else:
                self._later(position)

    def _anchor(self, position: int, label: str) -> int:
        return max(p for p in range(position) if self._steps[p].label == label)

    # --- happening

    def _take_up(self, position: int) -> None:
        """Takes a step whose moment has come: at once, unless a delay was asked for."""
        if self._steps[position].timing.delay_ns:
            self._later(position)
        else:
            self._happen(position)

    def _happen(self, position: int) -> None:
        step = self._steps[position]
        if self._progress[position] is not Progress.WAITING:
            return
        self._progress[position] = Progress.DONE
        self._world.record(step.actor, StepTaken(verb=step.verb, label=step.label))
        self._take(step)
        for follower in self._followers.get(position, ()):
            self._later(follower)

    def _later(self, position: int) -> None:
        """Takes a step in the lane of its person, when its delay is over."""
        step = self._steps[position]
        lane = f"person.{step.actor}"
        if step.timing.delay_ns:
            self._world.scheduler.after(step.timing.delay_ns, lane, lambda: self._happen(position))
        else:
            self._world.scheduler.soon(lane, lambda: self._happen(position))
