"""Takes the author's steps at the right moments.

A step happens in one of four ways:

* it is *placed*, by its own ``at`` or by a sweep axis: at a point, a scheduler
  step or a time;
* it *follows* another step, by ``after``, or because no timing is given and it
  is not a ``send``: then it follows the step above it;
* it is a ``send``, ``approve`` or ``deny`` without timing: it waits until everything is quiet, and for
  the steps before it to have had their chance;
* it never happens: the axis says so, its moment never comes, or the step that
  it follows never happens.  That is noted, so that a verdict can say so.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from attrs import evolve

from journalsim.case import Case, Placement
from journalsim.contract.events.harness_events import StepSkipped, StepTaken
from journalsim.engine.world import World
from journalsim.scenario.disk_needs import loss_of
from journalsim.scenario.values.disk_fault import MEMORY
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
        scenario: the steps.
        case: where they are placed.
        take: makes a step happen.
    """

    def __init__(self, world: World, scenario: Scenario, case: Case, take: Take) -> None:
        self._world = world
        self._steps = scenario.steps
        self._case = case
        self._take = take
        self._progress = [Progress.WAITING] * len(scenario.steps)
        self._followers: dict[int, list[tuple[int, int]]] = {}
        self._extra = 0

    def begin(self) -> None:
        """Places what is placed and takes the steps that need nothing before them."""
        for position, step in enumerate(self._steps):
            self._arrange(position, step)
        for action in self._case.actions:
            self._world.place(action.at, self._extra_action(action.actor, action.verb))

    def on_quiet(self) -> bool:
        """Takes the next ``send`` that waits for quiet; returns False when none is left."""
        for position, step in enumerate(self._steps):
            if self._progress[position] is Progress.WAITING and _waits_for_quiet(step):
                self._after_pause(position)
                return True
        return False

    def finish(self) -> None:
        """Notes the steps whose moment never came."""
        for position, step in enumerate(self._steps):
            if self._progress[position] is Progress.WAITING:
                reason = f"its moment never came: {self._placement(step) or step.timing.after or 'the step above'}"
                self._world.record(step.actor, StepSkipped(verb=step.verb, label=step.label, reason=reason))

    @property
    def reached(self) -> bool:
        """Whether every step that the case places really happened."""
        placed = [p for p, step in enumerate(self._steps) if step.timing.axis or step.timing.at]
        happened = all(self._progress[p] is not Progress.WAITING for p in placed)
        return happened and self._extra == len(self._case.actions)

    # --- arranging

    def _arrange(self, position: int, step: Step) -> None:
        placement = self._placement(step)
        if placement is not None and placement.kind == "never":
            self._progress[position] = Progress.NEVER
        elif placement is not None and placement.kind == "after":
            self._follow(self._anchor(position, placement.name), position, placement.number + self._pause_ns(step))
        elif placement is not None:
            self._world.place(placement, lambda: self._after_pause(position))
        elif step.timing.after is not None:
            self._follow(self._anchor(position, step.timing.after), position, self._pause_ns(step))
        elif not _waits_for_quiet(step):
            if position:
                self._follow(position - 1, position, self._pause_ns(step))
            else:
                self._later(step, self._pause_ns(step), position)

    def _placement(self, step: Step) -> Placement | None:
        if step.timing.axis is not None:
            return self._case.axis(step.timing.axis)
        return step.timing.at

    def _anchor(self, position: int, label: str) -> int:
        return max(p for p in range(position) if self._steps[p].label == label)

    def _follow(self, anchor: int, position: int, delay_ns: int) -> None:
        self._followers.setdefault(anchor, []).append((position, delay_ns))

    def _pause_ns(self, step: Step) -> int:
        """The pause before a step: its ``delay``, and what a search chose of its ``within``."""
        chosen = self._case.axis(f"{step.label}.within") if step.timing.within_ns else None
        return step.timing.delay_ns + (chosen.number if chosen is not None else 0)

    # --- happening

    def _after_pause(self, position: int) -> None:
        """Takes a step whose moment has come: at once, unless a pause was asked for."""
        step = self._steps[position]
        pause_ns = self._pause_ns(step)
        if pause_ns:
            self._later(step, pause_ns, position)
        else:
            self._happen(position)

    def _happen(self, position: int) -> None:
        step = self._steps[position]
        if self._progress[position] is not Progress.WAITING:
            return
        self._progress[position] = Progress.DONE
        self._world.record(step.actor, StepTaken(verb=step.verb, label=step.label))
        self._take(step if step.lose == MEMORY else evolve(step, lose=loss_of(step, self._case)))
        for follower, delay_ns in self._followers.get(position, ()):
            self._later(self._steps[follower], delay_ns, follower)

    def _later(self, step: Step, delay_ns: int, position: int) -> None:
        lane = f"person.{step.actor}"
        if delay_ns:
            self._world.scheduler.after(delay_ns, lane, lambda: self._happen(position))
        else:
            self._world.scheduler.soon(lane, lambda: self._happen(position))

    def _extra_action(self, actor: str, verb: str) -> Callable[[], None]:
        def happen() -> None:
            self._extra += 1
            self._world.record(actor, StepTaken(verb=verb, label=f"extra {verb}"))
            self._take(Step(actor=actor, verb=verb, label=f"extra {verb}"))

        return happen


def _waits_for_quiet(step: Step) -> bool:
    timing = step.timing
    return (
        step.verb in ("send", "approve", "deny") and timing.at is None and timing.axis is None and timing.after is None
    )
