"""The events of a history by kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

from journalsim.contract.events.event_record import EventRecord
from journalsim.contract.events.journal_events import JournalContext, JournalRead, RecoveryRead
from journalsim.contract.events.model_events import ModelCalled
from journalsim.history import D, Event, EventOf

E = TypeVar("E", bound=EventRecord)

Look: TypeAlias = EventOf[JournalRead | JournalContext | ModelCalled | RecoveryRead]
"""An event with rows: a read of the journal, or the context of a model call that was or would be made."""


class EventIndex:
    """Events by kind, each kind in order.

    Args:
        events: the events of one history.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self._by_kind: dict[type, list[Any]] = {}
        by_kind = self._by_kind
        for event in events:
            kind = type(event.data)
            if kind in by_kind:
                by_kind[kind].append(event)
            else:
                by_kind[kind] = [event]

    def either(self, one: type[D], other: type[E]) -> list[EventOf[D | E]]:
        """Returns the events of one kind, then those of another."""
        return [*self.of(one), *self.of(other)]

    def in_order(self, *kinds: type[EventRecord]) -> list[Event]:
        """Returns the events of several kinds in the order of the history."""
        return sorted((event for kind in kinds for event in self.of(kind)), key=lambda event: event.position)

    def of(self, kind: type[D]) -> Sequence[EventOf[D]]:
        """Returns the events of one kind."""
        return self._by_kind.get(kind, ())
