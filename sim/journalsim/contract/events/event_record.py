"""Defines the base of all event records: one typed class per kind of event.

A history is a list of events, and each event carries one record with the facts of the event. The class of the record
is the kind of the event: ``facts.of(RunEnded)`` gives events whose ``data`` is a
:class:`~journalsim.contract.events.server_events.RunEnded`, and a field that is renamed or misspelled is a type error.

The fields of a record are its vocabulary: ``run`` is the run of the event, the field named by ``subject_field`` is the
message, turn, call or operation, and the others are written as ``data`` in traces and reports. A field with a default
is left out of the trace while it has that default.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, TypeAlias, TypeVar, dataclass_transform

from attrs import NOTHING, Attribute, define, fields

C = TypeVar("C")


@dataclass_transform(kw_only_default=True, frozen_default=True)
def record(cls: type[C]) -> type[C]:
    """Makes an attrs class with slots and keyword arguments.

    Type checkers see a frozen class. At run time it is not frozen, because a frozen class takes twice as long to build
    and a case builds hundreds; attrs documents this arrangement.
    """
    return define(cls, kw_only=True, eq=True)


Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class EventRecord:
    """The facts of one event.

    Attributes:
        kind: the name of the kind in traces and reports, such as ``run.ended``.
        subject_field: the field that names the message, turn, call or operation; empty if there is none.
    """

    __slots__ = ()
    kind: ClassVar[str]
    subject_field: ClassVar[str] = ""

    @property
    def run(self) -> str | None:
        """The id of the event's run, or None."""
        return None

    @property
    def subject(self) -> str | None:
        """The message, turn, call or operation of the event, or None."""
        name = self.subject_field
        found: str | None = getattr(self, name) if name else None
        return found

    @property
    def session(self) -> str:
        """The conversation that the event names; empty if it names none."""
        return ""

    def written(self) -> Iterator[tuple[str, Any]]:
        """Yields name and value of each field that a trace writes besides run and subject, in order."""
        for name, default in _written_fields(type(self)):
            value = getattr(self, name)
            if default is NOTHING or value != default:
                yield name, value


_FIELDS: dict[type[EventRecord], tuple[tuple[str, Any], ...]] = {}


def _written_fields(cls: type[EventRecord]) -> tuple[tuple[str, Any], ...]:
    if cls not in _FIELDS:
        apart = ("run", cls.subject_field)
        _FIELDS[cls] = tuple((a.name, a.default) for a in record_fields(cls) if a.name not in apart)
    return _FIELDS[cls]


def record_fields(cls: type[EventRecord]) -> tuple[Attribute[Any], ...]:
    """Returns the fields of a record class, in order."""
    found: tuple[Attribute[Any], ...] = fields(cls)  # type: ignore[arg-type]  # every subclass is an attrs class
    return found
