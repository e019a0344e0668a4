"""Defines the events of the harness itself."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from journalsim.contract.events.event_record import EventRecord, record


class StuckTask(NamedTuple):
    """A task that waits for ever."""

    name: str
    last_point: str


@record
class StepTaken(EventRecord):
    """A step of the scenario happened.

    Attributes:
        verb: verb of the step.
        label: label of the step.
    """

    kind: ClassVar[str] = "step.taken"
    verb: str
    label: str


@record
class StepSkipped(EventRecord):
    """A step of the scenario never became possible.

    Attributes:
        verb: verb of the step.
        label: label of the step.
        reason: why.
    """

    kind: ClassVar[str] = "step.skipped"
    verb: str
    label: str
    reason: str


@record
class ClockJumped(EventRecord):
    """The wall clock jumped.

    Attributes:
        by_ns: distance in nanoseconds, negative for backwards.
    """

    kind: ClassVar[str] = "clock.jumped"
    by_ns: int


@record
class AdapterRaised(EventRecord):
    """A verb of the adapter raised an error.

    Attributes:
        verb: name of the verb.
        error: the error as text.
    """

    kind: ClassVar[str] = "adapter.raised"
    verb: str
    error: str


@record
class QuietReached(EventRecord):
    """Nothing can happen any more.

    Attributes:
        unfinished: tasks that still wait.
        waits_for: the reasons of their waits: a scripted hang, or a person.
    """

    kind: ClassVar[str] = "quiet.reached"
    unfinished: tuple[str, ...]
    waits_for: tuple[str, ...]


@record
class DeadlockFound(EventRecord):
    """Nothing can happen, yet tasks wait without a scripted reason.

    Attributes:
        tasks: the waiting tasks, each with the last point that it passed.
    """

    kind: ClassVar[str] = "deadlock.found"
    tasks: tuple[StuckTask, ...]


@record
class BoundHit(EventRecord):
    """The harness cut the case off.

    Attributes:
        bound: which bound: ``steps`` or ``events``.
        limit: its value.
    """

    kind: ClassVar[str] = "bound.hit"
    bound: str
    limit: int


@record
class TraceDiffers(EventRecord):
    """A rerun of the same case gave another trace.

    Attributes:
        first: position of the first event that differs.
        ours: that event here.
        theirs: that event in the rerun.
    """

    kind: ClassVar[str] = "trace.differs"
    first: int
    ours: str
    theirs: str
