"""Holds the state of one case that must be the same in every rerun: time, history and points.

Everything in a case that could differ between two runs of it goes through the world: ids, occurrence numbers, the wall
clock, the order of events, and the points at which actions are placed.

A *point* is a named moment. Passing a point does three things: the world notes its name (a sweep later uses "every
point"), actions placed there happen at once, and, in a task, everything else that is ready gets its turn first.
"""

from __future__ import annotations

from collections.abc import Callable

from trio.lowlevel import current_task

from journalsim.case import AtPoint, AtStep, Moment
from journalsim.contract.events.harness_events import ClockJumped
from journalsim.engine.scheduler import Scheduler
from journalsim.history import D, Event, EventOf

WALL_START_NS = 1_700_000_000 * 1_000_000_000  # any fixed date works; this one looks like a date in reports
EVENTS_MAX = 50_000  # a long case writes a few hundred


class World:
    """One running case: its history, ids, clocks and points.

    Attributes:
        scheduler: time and order.
        events: the history so far.
        points: every point passed so far, in order, each once.
        last_points: per task, the last point that it reached.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.events: list[Event] = []
        self.points: dict[str, None] = {}
        self.last_points: dict[str, str] = {}
        self._placed: dict[str, list[Callable[[], None]]] = {}
        self._numbers: dict[str, int] = {}
        self._wall_offset_ns = 0

    # --- history

    def record(self, actor: str, data: D) -> EventOf[D]:
        """Adds one event to the history and returns it.

        Args:
            actor: the actor of the event.
            data: the record of the event.
        """
        events = self.events
        scheduler = self.scheduler
        event = EventOf(len(events), scheduler.now_ns, scheduler.steps, actor, data)
        events.append(event)
        return event

    # --- ids and clocks

    def number(self, name: str) -> int:
        """Returns 1 at the first call with ``name``, then 2, and so on."""
        number = self._numbers[name] = self._numbers.get(name, 0) + 1
        return number

    def mint(self, prefix: str) -> str:
        """Returns a fresh id, ``<prefix><number>``."""
        return f"{prefix}{self.number('id ' + prefix)}"

    def now_ns(self) -> int:
        """Returns virtual time in nanoseconds."""
        return self.scheduler.now_ns

    def wall_ns(self) -> int:
        """Returns the time of the wall clock in nanoseconds."""
        return WALL_START_NS + self.scheduler.now_ns + self._wall_offset_ns

    def jump_wall(self, by_ns: int) -> None:
        """Moves the wall clock by ``by_ns`` nanoseconds; virtual time, on which timeouts run, does not change."""
        self._wall_offset_ns += by_ns
        self.record("clock", ClockJumped(by_ns=by_ns))

    # --- points

    def place(self, moment: Moment, action: Callable[[], None]) -> None:
        """Makes ``action`` happen at a point, a scheduler step or a time, the first time it comes."""
        if isinstance(moment, AtPoint):
            self._placed.setdefault(moment.name, []).append(action)
        elif isinstance(moment, AtStep):
            self.scheduler.placed.setdefault(moment.number, []).append(action)
        else:
            self.scheduler.after(max(moment.time_ns - self.scheduler.now_ns, 0), "placed", action)

    def forget_placed(self) -> None:
        """Ends the scenario's phase: actions that wait for a point or a step never happen."""
        self._placed.clear()
        self.scheduler.placed.clear()

    def passed(self, name: str) -> None:
        """Passes a point without letting anything else happen first, as event sources do."""
        self.points[name] = None
        if self._placed and name in self._placed:
            for action in self._placed.pop(name):
                action()

    async def point(self, name: str, touches: tuple[str, ...] = ()) -> None:
        """Passes a point in a task; a checkpoint."""
        self.passed(name)
        self.last_points[self.scheduler.lane(current_task())] = name
        await self.scheduler.point(touches)
