"""Corruptions: the same history with one thing that was observed made wrong.

A corruption of the journal is made in the final read, in the final context and in the
read after recovery alike, so that no comparison between the three gives it away.  One
of a model context, a page, a frame or another event is made there alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from attrs import evolve, frozen

from journalsim.contract.events.client_events import ClientApplied, ClientView
from journalsim.contract.events.event_record import EventRecord
from journalsim.contract.events.journal_events import JournalContext, JournalRead, RecoveryRead
from journalsim.contract.events.model_events import ModelCalled, ToolStarted
from journalsim.contract.events.server_events import FramePublished, RunEnded, StopAnswered
from journalsim.contract.items import HIDDEN_FROM_MODEL, Item
from journalsim.history import Event, EventOf, History, is_kind

Rows: TypeAlias = tuple[Item, ...]

STATES = ("open", "completed", "interrupted", "failed", "aborted")
CAUSES = (None, "stopped", "crashed", "timed_out", "shut_down", "failed", "disconnected")
ORIGINS = ("user", "model", "tool", "synthetic")
OUTCOMES = ("", "unknown", "not_started")
ENDS = ("completed", "interrupted", "failed")
STOP_ANSWERS = ("stopping", "ended", "unknown")
OTHER_ARGUMENTS = '{"q":"zz"}'
NOT_IN_CONTEXTS = ("id other", "run other", "aliases other")  # a model is given no ids
NOT_ON_PAGES = ("run other", "aliases other")  # a page displays neither


@frozen(kw_only=True)
class Corruption:
    """One corruption.

    Attributes:
        observation: ``journal``, ``context``, ``page`` or ``event``.
        entry: kind of the row or event; ``whole`` for all rows together.
        name: what was done to it.
        history: with it.
    """

    observation: str
    entry: str
    name: str
    history: History


def corruptions(history: History) -> Iterator[Corruption]:
    """Yields every single corruption of what was observed in a history."""
    for observation, entry, name, events in (
        *_of_journals(history.events),
        *_of_contexts(history.events),
        *_of_pages(history.events),
        *_of_events(history.events),
    ):
        changed = evolve(history, events=events)
        yield Corruption(observation=observation, entry=entry, name=name, history=changed)


Made: TypeAlias = tuple[str, str, str, tuple[Event, ...]]


def _of_journals(events: tuple[Event, ...]) -> Iterator[Made]:
    final = {e.data.session: e for e in events if is_kind(e, JournalRead) and e.data.reason == "quiet"}
    for session, read in final.items():
        items = read.data.items
        twins = [read.position] + [
            e.position
            for e in events
            if isinstance(e.data, JournalContext | RecoveryRead) and e.data.session == session and e.data.items == items
        ]
        for row, name, rows in (*_each_row(items), *_whole(items)):
            yield "journal", row, name, _with_rows(events, twins, rows)


def _of_contexts(events: tuple[Event, ...]) -> Iterator[Made]:
    for call in events:
        if is_kind(call, ModelCalled):
            for row, name, rows in _each_row(call.data.context or ()):
                if name not in NOT_IN_CONTEXTS:
                    yield "context", row, name, _with_rows(events, [call.position], rows)


def _of_pages(events: tuple[Event, ...]) -> Iterator[Made]:
    for view in events:
        if is_kind(view, ClientView):
            for row, name, rows in _each_row(view.data.items):
                if name not in NOT_ON_PAGES:
                    yield "page", row, name, _with_rows(events, [view.position], rows)


def _of_events(events: tuple[Event, ...]) -> Iterator[Made]:
    for event in events:
        for name, changed in _event_ops(event):
            yield "event", event.kind, name, changed_events(events, event, changed)


def _event_ops(event: Event) -> Iterator[tuple[str, EventRecord | None]]:
    """Yields what may become of one event; None drops it."""
    data = event.data
    if isinstance(data, ToolStarted):
        yield "executed with other arguments", evolve(data, arguments=OTHER_ARGUMENTS)
    elif isinstance(data, RunEnded):
        yield "never announced", None
        for state in ENDS:
            if state != data.state:
                yield f"announced {data.state}>{state}", evolve(data, state=state)
    elif isinstance(data, StopAnswered):
        for answer in STOP_ANSWERS:
            if answer != data.answer:
                yield f"answer {data.answer}>{answer}", evolve(data, answer=answer)
    elif isinstance(data, FramePublished | ClientApplied):
        gone = "not published" if isinstance(data, FramePublished) else "never displayed"
        if data.text:
            yield f"{data.frame}: text other", evolve(data, text="x" + data.text[1:])
        yield f"{data.frame}: {gone}", None


def changed_events(events: tuple[Event, ...], event: Event, data: EventRecord | None) -> tuple[Event, ...]:
    """Returns the events with another record in one of them, or without it."""
    at = event.position
    if data is not None:
        return (*events[:at], event._replace(data=data), *events[at + 1 :])
    return tuple(e._replace(position=n) for n, e in enumerate((*events[:at], *events[at + 1 :])))


def _with_rows(events: tuple[Event, ...], positions: Sequence[int], rows: Rows) -> tuple[Event, ...]:
    changed = list(events)
    for position in positions:
        event = changed[position]
        name = "context" if isinstance(event.data, ModelCalled) else "items"
        changed[position] = EventOf(*event[:4], evolve(event.data, **{name: rows}))  # type: ignore[misc]
    return tuple(changed)


# --- rows ------------------------------------------------------------------------------------------


def _each_row(items: Rows) -> Iterator[tuple[str, str, Rows]]:
    for index, row in enumerate(items):
        for name, rows in row_ops(items, index):
            yield row.kind, name, rows


def row_ops(items: Rows, index: int) -> Iterator[tuple[str, Rows]]:
    """Yields name and result of every corruption of one row."""
    row = items[index]
    before, after = items[:index], items[index + 1 :]
    yield "drop", (*before, *after)
    yield "twice, same id", (*before, row, row, *after)
    if row.id:
        yield "twice, new id", (*before, row, evolve(row, id=row.id + "x"), *after)
    if after:
        yield "swap with next", (*before, after[0], row, *after[1:])
    for name, fields in _field_ops(row):
        yield name, (*before, evolve(row, **fields), *after)


def _field_ops(row: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    if row.text:
        yield "text cut", {"text": row.text[:-1]}
        yield "text empty", {"text": ""}
        yield "text longer", {"text": row.text + "x"}
        yield "text other", {"text": "x" + row.text[1:]}
    if row.reasoning:
        yield "reasoning cut", {"reasoning": row.reasoning[:-1]}
        yield "reasoning gone", {"reasoning": ""}
    elif row.kind == "assistant":
        yield "reasoning made up", {"reasoning": "hm"}
    if row.kind in ("assistant", "tool_result", "marker"):
        yield from _other("state", row.state, STATES)
    if row.arguments:
        yield "arguments cut", {"arguments": row.arguments[:-1]}
        yield "arguments other", {"arguments": OTHER_ARGUMENTS}
    if row.kind == "marker" or (row.kind == "assistant" and row.state == "interrupted"):
        yield from _other("cause", row.cause, CAUSES)
    if row.outcome:
        yield from _other("outcome", row.outcome, OUTCOMES)
    if row.origin:
        yield from _other("origin", row.origin, ORIGINS)
    yield from _name_ops(row)
    if row.metadata:
        yield "flags gone", {"metadata": {}}
    else:
        yield "hidden flag made up", {"metadata": {HIDDEN_FROM_MODEL: True}}


def _name_ops(row: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    names = {"call id": "call_id", "tool name": "name", "run": "run_id", "id": "id"}
    for what, field in names.items():
        if value := getattr(row, field):
            yield f"{what} other", {field: value + "x"}
    if row.aliases:
        yield "aliases other", {"aliases": ("zz",)}


def _other(field: str, value: Any, values: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for other in values:
        if other != value:
            yield f"{field} {value}>{other or 'none'}", {field: other}


def _whole(items: Rows) -> Iterator[tuple[str, str, Rows]]:
    yield "whole", "made-up answer at the end", (*items, Item(kind="assistant", text="extra", id="zz1", origin="model"))
    yield "whole", "made-up question at the end", (*items, Item(kind="user", text="extra", id="zz2", origin="user"))
    results = [n for n, row in enumerate(items) if row.kind == "tool_result" and row.text]
    for one, other in pairwise(results):
        if items[one].text != items[other].text:
            rows = list(items)
            rows[one] = evolve(items[one], text=items[other].text)
            rows[other] = evolve(items[other], text=items[one].text)
            yield "whole", "results exchanged", tuple(rows)
    if items:
        yield "whole", "journal empty", ()
