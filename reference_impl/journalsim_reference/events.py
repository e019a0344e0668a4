"""Defines the rows of the journal, which are all that is ever stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen

FORMAT = 1

RowOrigin = Literal["user", "model", "tool", "synthetic"]

KINDS: Mapping[str, str] = {
    "run.accepted": "the prompt is durable, before any work",
    "run.started": "a writer owns the run",
    "run.stop_requested": "an accepted stop, with its cause and its author",
    "run.completed": "terminal: the run finished its work",
    "run.aborted": "terminal, the marker: the run was interrupted; not a user turn",
    "run.expired": "terminal: the run took too long",
    "run.failed": "terminal: the run could not go on",
    "terminal.rejected": "an event after the terminal, stored for audit",
    "message.opened": "first content of a message; its id is minted here",
    "message.delta": "text of an open message; never needed once it is completed",
    "message.id_aliased": "ids of the provider for the message",
    "message.completed": "appended the moment the message completes",
    "message.interrupted": "the stored content of an open message",
    "message.superseded": "a later attempt replaces it",
    "message.annotated": "metadata only",
    "tool.requested": "the model requests a call",
    "tool.started": "the tool is about to run",
    "tool.progress": "the tool reports its progress",
    "tool.completed": "appended the moment the tool returns",
    "tool.failed": "appended the moment the tool raises",
    "tool.aborted": "synthetic closure of a call that never returned",
    "approval.requested": "the run waits for a person",
    "approval.resolved": "the person answered",
    "history.rewritten": "compaction or clear, on a base revision",
    "recovery.applied": "the rows that a recovery pass added, and their evidence",
}

BARRIERS = (
    "run.accepted",
    "run.completed",
    "run.aborted",
    "run.expired",
    "run.failed",
    "run.stop_requested",
    "message.completed",
    "message.interrupted",
    "message.annotated",
    "approval.requested",
    "approval.resolved",
    "tool.started",
    "tool.completed",
    "tool.failed",
    "history.rewritten",
)
"""Kinds that must be on the disk before anything follows, under every sync policy.

These rows acknowledge actions to people, or prove to a recovery that a call was not started. A power cut may take the
other rows: text of an open message.
"""


@frozen(kw_only=True)
class Event:
    """One row.

    Attributes:
        run_id: the run it belongs to; ``@<session>`` for rows that belong to no run.
        session_id: the conversation.
        seq: position in the run, from 1, without gaps.
        epoch: the writer's fencing token.
        at: virtual nanoseconds; data, never an order.
        kind: a key of :data:`KINDS`.
        actor: ``lead``, ``sub:NAME`` or ``system``; only the lead's text is ever displayed as the answer.
        origin: the author of the content; a synthetic row that replaces something states why under ``reason``.
        payload: the other fields, as JSON data.
        v: format of the row.
    """

    run_id: str
    session_id: str
    seq: int
    epoch: int
    at: int
    kind: str
    actor: str
    origin: RowOrigin
    payload: Mapping[str, Any] = field(factory=dict)
    v: int = FORMAT

    @property
    def event_id(self) -> str:
        """``<run_id>:<seq>``, opaque to all other code."""
        return f"{self.run_id}:{self.seq}"


_FIELDS = ("run_id", "session_id", "seq", "epoch", "at", "kind", "actor", "origin", "payload", "v")
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def to_json(event: Event) -> str:
    """Returns a row as one line of ASCII JSON, so that any text survives any store."""
    return _encode({name: getattr(event, name) for name in _FIELDS})


def from_json(line: str) -> Event:
    """Returns the row that :func:`to_json` wrote.

    Raises:
        ValueError: the line is not JSON, not a row, of another format, or of an unknown kind.
    """
    try:
        event = Event(**json.loads(line))
    except TypeError as error:  # also where a damaged page gives NULL instead of a text
        raise ValueError(f"not a journal row: {error}") from None
    if event.v != FORMAT:
        raise ValueError(f"row {event.event_id} has format {event.v}, this version reads {FORMAT}")
    if event.kind not in KINDS:
        raise ValueError(f"row {event.event_id} of kind {event.kind!r} is not one that this version writes")
    return event
