"""What the harness sees of the journal and of its disk."""

from __future__ import annotations

from typing import ClassVar

from journalsim.contract.events.event_record import EventRecord, record
from journalsim.contract.items import Item, Statistics


@record
class DiskFailed(EventRecord):
    """An operation of the disk failed as the scenario says.

    Attributes:
        operation: such as ``disk.sync#3``.
        fault: its kind.
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
    """An append to a store raised.

    Attributes:
        run: the run.
        item_id: id of the row, if it has one.
        item: the row.
        outcome: ``failed`` (certainly not stored) or ``unknown``.
        error: what it raised.
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
    """The journal was read: what a page opened now would display.

    Attributes:
        items: the rows.
        reason: why: ``reload``, ``gap``, ``poll``, ``quiet`` ….
        session: the conversation.
        cursor: the cursor behind the rows, where the adapter gives one.
        since: position of the first event that happened while the read was under way; None if none did.
    """

    kind: ClassVar[str] = "journal.read"
    items: tuple[Item, ...]
    reason: str
    session: str
    cursor: str | None = None
    since: int | None = None


@record
class RecoveryRead(EventRecord):
    """The journal was read after one more kill and restart at the very end.

    Attributes:
        items: the rows.
        session: the conversation.
        times: how many extra kills came before.
    """

    kind: ClassVar[str] = "recovery.read"
    items: tuple[Item, ...]
    session: str
    times: int


@record
class JournalContext(EventRecord):
    """The system said what its next model call would be given.

    Attributes:
        items: the context.
        session: the conversation.
    """

    kind: ClassVar[str] = "journal.context"
    items: tuple[Item, ...]
    session: str


@record
class StatisticsTaken(EventRecord):
    """The sizes of the partial cache were read.

    Attributes:
        statistics: the sizes.
        quiet: whether no run was active.
    """

    kind: ClassVar[str] = "statistics.taken"
    statistics: Statistics
    quiet: bool
