"""Defines the events of the journal and its disk, as the harness observes them."""

from __future__ import annotations

from typing import ClassVar

from journalsim.contract.events.event_record import EventRecord, record
from journalsim.contract.items import Item, Statistics


@record
class DiskFailed(EventRecord):
    """A disk operation failed, as scripted in the scenario.

    Attributes:
        operation: name of the operation, such as ``disk.sync#3``.
        fault: kind of the fault.
    """

    kind: ClassVar[str] = "disk.failed"
    subject_field: ClassVar[str] = "operation"
    operation: str
    fault: str


@record
class StoreAcknowledged(EventRecord):
    """An append to a store returned.

    Attributes:
        run: the run.
        item_id: id of the row, if it has one.
        item: the row.
    """

    kind: ClassVar[str] = "store.acknowledged"
    subject_field: ClassVar[str] = "item_id"
    run: str
    item_id: str | None
    item: Item


@record
class StoreFailed(EventRecord):
    """An append to a store raised an error.

    Attributes:
        run: the run.
        item_id: id of the row, if it has one.
        item: the row.
        outcome: ``failed`` (certainly not stored) or ``unknown``.
        error: the error as text.
    """

    kind: ClassVar[str] = "store.failed"
    subject_field: ClassVar[str] = "item_id"
    run: str
    item_id: str | None
    item: Item
    outcome: str
    error: str


@record
class JournalRead(EventRecord):
    """The harness read the journal: the rows that a page opened now would display.

    Attributes:
        items: the rows.
        reason: why: ``reload``, ``gap``, ``poll``, ``quiet`` ….
        session: the conversation.
        cursor: the cursor behind the rows, if the adapter gives one.
        since: position of the first event during the read; None if there was none.
    """

    kind: ClassVar[str] = "journal.read"
    items: tuple[Item, ...]
    reason: str
    session: str
    cursor: str | None = None
    since: int | None = None


@record
class RecoveryRead(EventRecord):
    """The harness read the journal after an extra kill and restart at the very end.

    Attributes:
        items: the rows.
        session: the conversation.
        times: the number of extra kills before this read.
    """

    kind: ClassVar[str] = "recovery.read"
    items: tuple[Item, ...]
    session: str
    times: int


@record
class JournalContext(EventRecord):
    """The system reported the context of its next model call.

    Attributes:
        items: the context.
        session: the conversation.
    """

    kind: ClassVar[str] = "journal.context"
    items: tuple[Item, ...]
    session: str


@record
class StatisticsTaken(EventRecord):
    """The harness read the sizes of the partial cache.

    Attributes:
        statistics: the sizes.
        quiet: whether no run was active.
    """

    kind: ClassVar[str] = "statistics.taken"
    statistics: Statistics
    quiet: bool
