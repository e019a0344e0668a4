"""Collects all kinds of events and generates their documentation from the records."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import ModuleType

from attrs import NOTHING, frozen

from journalsim.contract.docstrings import attribute_docs, first_sentence
from journalsim.contract.events import (
    client_events,
    harness_events,
    journal_events,
    model_events,
    server_events,
    stream_events,
)
from journalsim.contract.events.event_record import EventRecord, record_fields

GROUPS: Mapping[str, ModuleType] = {
    "People and their programs": client_events,
    "The wire": stream_events,
    "The server": server_events,
    "The model and the tools": model_events,
    "The journal and the disk": journal_events,
    "The harness": harness_events,
}
"""Modules of records by subject, in the order of the documentation."""


def _records(module: ModuleType) -> list[type[EventRecord]]:
    found = [value for value in vars(module).values() if inspect.isclass(value) and issubclass(value, EventRecord)]
    return [cls for cls in found if cls is not EventRecord]


RECORDS: Mapping[str, type[EventRecord]] = {cls.kind: cls for module in GROUPS.values() for cls in _records(module)}
"""The record class of every kind of event."""


@frozen
class FieldDoc:
    """The documentation of one field of a record.

    Attributes:
        name: its name in a trace: ``run``, ``subject`` or a key of ``data``.
        attribute: its name in code.
        type: its annotation.
        optional: whether a trace leaves the field out while it has its default.
        doc: its description.
    """

    name: str
    attribute: str
    type: str
    optional: bool
    doc: str


def summary(cls: type[EventRecord]) -> str:
    """Returns the one-sentence description of a kind of event."""
    return first_sentence(cls)


def field_docs(cls: type[EventRecord]) -> tuple[FieldDoc, ...]:
    """Returns the documentation of a kind's fields, in order."""
    docs = attribute_docs(cls)
    return tuple(
        FieldDoc(
            name="subject" if field.name == cls.subject_field else field.name,
            attribute=field.name,
            type=str(field.type),
            optional=field.default is not NOTHING,
            doc=docs[field.name],
        )
        for field in record_fields(cls)
    )


def events_markdown() -> str:
    """Returns the documentation of all kinds of events, as Markdown."""
    parts = []
    for title, module in GROUPS.items():
        parts.append(f"## {title}\n")
        for cls in _records(module):
            parts.append(f"**`{cls.kind}`** (`{cls.__name__}`): {summary(cls)}\n")
            rows = [f"- `{doc.attribute}`{_as(doc)}: {doc.doc}" for doc in field_docs(cls)]
            parts.append("\n".join(rows) + "\n" if rows else "")
    return "\n".join(part for part in parts if part)


def _as(doc: FieldDoc) -> str:
    words = [f"`{doc.name}` in traces"] if doc.name != doc.attribute else []
    words += ["not written while it has its default"] if doc.optional else []
    return f" ({', '.join(words)})" if words else ""
