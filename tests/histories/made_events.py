"""Events for tests: a record from the name of its kind and the fields that matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import NOTHING

from journalsim.contract.events.client_events import ViewAfter
from journalsim.contract.events.event_record import EventRecord, record_fields
from journalsim.contract.events.event_table import RECORDS
from journalsim.contract.events.harness_events import StuckTask
from journalsim.contract.events.model_events import AskedCall
from journalsim.contract.items import Item, Statistics
from journalsim.history import Event, EventOf

_NEUTRAL: Mapping[str, Any] = {
    "str": "",
    "ViewAfter": ViewAfter("", None, None),
    "int": 1,
    "bool": False,
    "StopMode": "interrupt",
    "Outcome": "ok",
    "FrameKind": "message.delta",
    "ModelEventKind": "text",
    "Statistics": Statistics(),
    "Item": Item(kind="user"),
}
_ELEMENTS: Mapping[str, Any] = {
    "tuple[StuckTask, ...]": (StuckTask("\x1b[2J", "\r\u202e"),),
    "tuple[AskedCall, ...]": (AskedCall("\x1b[2J", "\r", "\u202e"),),
}
_LEAD = {"who": "lead", "purpose": "turn"}


def made(kind: str, run: str | None = None, subject: str | None = None, **data: Any) -> EventRecord:
    """Returns a record; a field that is not given is empty."""
    cls = RECORDS[kind]
    if kind == "client.applied" and "shown" in data:
        data["view"] = ViewAfter(data.pop("cursor", ""), data.pop("shown"), data.pop("shown_reasoning", ""))
    given = {**data, **({cls.subject_field: subject} if cls.subject_field else {})}
    values = {}
    for field in record_fields(cls):
        if field.name == "run":
            values["run"] = run
        elif field.name in given:
            values[field.name] = given.pop(field.name)
        elif field.default is NOTHING:
            values[field.name] = _LEAD.get(field.name, _neutral(str(field.type)))
    given.pop(cls.subject_field, None)
    assert not given, f"{kind} has no field {', '.join(given)}"
    return cls(**values)


def filled(kind: str, text: str) -> EventRecord:
    """Returns a record in which every field that holds text, or rows, holds this text."""
    cls = RECORDS[kind]
    rows = tuple(Item(kind="assistant", id=text, text=text, name=text, call_id=text, state=text) for _ in range(2))
    values: dict[str, Any] = {}
    for field in record_fields(cls):
        annotation = str(field.type)
        if "Item" in annotation:
            values[field.name] = rows if annotation.startswith("tuple[") else rows[0]
        elif annotation.startswith("Mapping["):
            values[field.name] = {text: text}
        elif annotation.startswith("tuple["):
            values[field.name] = _ELEMENTS.get(annotation, (text, text))
        else:
            neutral = _neutral(annotation.removesuffix(" | None"))
            values[field.name] = text if isinstance(neutral, str) else neutral
    return cls(**values)


def made_event(
    position: int, time_ns: int, actor: str, kind: str, run: str | None = None, subject: str | None = None, **data: Any
) -> Event:
    """Returns an event at a position, which is its scheduler step, too."""
    return EventOf(position, time_ns, position, actor, made(kind, run, subject, **data))


def _neutral(annotation: str) -> Any:
    if annotation.endswith("| None"):
        return None
    if annotation.startswith("tuple["):
        return ()
    return {} if annotation.startswith("Mapping[") else _NEUTRAL[annotation]
