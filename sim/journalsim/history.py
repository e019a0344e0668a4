"""Defines the history: the events of one case, which are the only input of a verdict.

A history is a list of events in the order in which they happened. The actors and the hosts write it; the oracle reads
it. Each event carries one record, one class per kind (:mod:`journalsim.contract.events`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeAlias, TypeGuard, TypeVar, cast

from attrs import asdict, field, frozen, has

from journalsim.contract.capabilities import Capabilities
from journalsim.contract.events.event_record import EventRecord

D = TypeVar("D", bound=EventRecord)
D_co = TypeVar("D_co", bound=EventRecord, covariant=True)


class EventOf(NamedTuple, Generic[D_co]):
    """One event.

    A named tuple rather than an attrs class: a case makes hundreds, and building one of these costs a third.

    Attributes:
        position: position in the history, from 0.
        time_ns: virtual time, nanoseconds.
        step: scheduler step.
        actor: the actor that recorded it.
        data: the record; its class is the kind of the event.
    """

    position: int
    time_ns: int
    step: int
    actor: str
    data: D_co

    @property
    def kind(self) -> str:
        """The kind as traces and reports print it, such as ``run.ended``."""
        return self.data.kind

    @property
    def run(self) -> str | None:
        """The event's run id, or None."""
        return self.data.run

    @property
    def subject(self) -> str | None:
        """The event's message, turn, tool call or disk operation, or None."""
        return self.data.subject


Event: TypeAlias = EventOf[EventRecord]
"""An event of any kind."""


@frozen(kw_only=True)
class History:
    """All events of one case, with the adapter's capabilities and the policies in force.

    Attributes:
        events: the events in the order in which they happened.
        capabilities: the capabilities that the adapter declares.
        policies: options in force, such as the treatment of a busy session.
    """

    events: tuple[Event, ...]
    capabilities: Capabilities = field(factory=Capabilities)
    policies: Mapping[str, Any] = field(factory=dict)

    def of(self, kind: type[D]) -> Iterator[EventOf[D]]:
        """Yields the events of one kind."""
        return of_kind(self.events, kind)

    def last(self, kind: type[D]) -> EventOf[D] | None:
        """Returns the last event of a kind, or None."""
        return next(of_kind(reversed(self.events), kind), None)


def of_kind(events: Iterable[Event], kind: type[D]) -> Iterator[EventOf[D]]:
    """Yields the events of one kind, in the order given."""
    return (cast(EventOf[D], event) for event in events if type(event.data) is kind)  # is_kind, without the call


def is_kind(event: Event, kind: type[D]) -> TypeGuard[EventOf[D]]:
    """Returns True if an event is of a kind."""
    return isinstance(event.data, kind)


def plain(value: Any) -> Any:
    """Returns ``value`` as JSON data: attrs records become dicts without their defaults."""
    if has(type(value)):
        return {k: plain(v) for k, v in asdict(value, recurse=False).items() if v not in ((), "", None, {})}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def as_json(event: Event) -> str:
    """Returns one event as a line of canonical JSON, without a line end."""
    record: dict[str, Any] = {
        "i": event.position,
        "t": event.time_ns,
        "step": event.step,
        "actor": event.actor,
        "kind": event.kind,
    }
    run, subject = event.run, event.subject
    if run is not None:
        record["run"] = run
    if subject is not None:
        record["subject"] = subject
    if data := {name: plain(value) for name, value in event.data.written()}:
        record["data"] = data
    return json.dumps(record, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def trace_hash(events: Iterable[Event]) -> str:
    """Returns 16 hexadecimal digits that change when anything in the history changes."""
    digest = hashlib.sha256()
    for event in events:
        digest.update(as_json(event).encode())
        digest.update(b"\n")
    return digest.hexdigest()[:16]
