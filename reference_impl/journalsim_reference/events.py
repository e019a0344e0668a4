"""Journal rows: the only thing that is ever stored."""

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
    "run.stop_requested": "an accepted stop, with cause and who",
    "run.completed": "terminal: the run did what was asked",
    "run.aborted": "terminal, the marker: the run was interrupted; not a user turn",
    "run.expired": "terminal: the run took too long",
    "run.failed": "terminal: the run could not go on",
    "terminal.rejected": "what came after the terminal, kept for audit",
    "message.opened": "first content of a message; its id is minted here",
    "message.delta": "text of an open message; never needed once it is completed",
    "message.id_aliased": "ids that the provider uses for the message",
    "message.completed": "appended the moment the message completes",
    "message.interrupted": "what was kept of an open message",
    "message.superseded": "a later attempt takes its place",
    "message.annotated": "metadata only",
    "tool.requested": "the model asks for a call",
    "tool.started": "the tool is about to run",
    "tool.progress": "the tool says how far it is",
    "tool.completed": "appended the moment the tool returns",
    "tool.failed": "appended the moment the tool raises",
    "tool.aborted": "synthetic closure of a call that never returned",
    "approval.requested": "the run waits for a person",
    "approval.resolved": "the person answered",
    "history.rewritten": "compaction or clear, on a base revision",
    "recovery.applied": "what a recovery pass added, and from which evidence",
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

They are what people are told is done, and what a recovery goes by when it says that a
call was not started.  What is left may go with the power: text of an open message.
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
        actor: ``lead``, ``sub:NAME`` or ``system``; only what the lead says is ever shown as the answer.
        origin: who made the content; a synthetic row that stands in for something says why under ``reason``.
        payload: the rest, as JSON data.
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
        """``<run_id>:<seq>``, opaque to everybody else."""
        return f"{self.run_id}:{self.seq}"


_FIELDS = ("run_id", "session_id", "seq", "epoch", "at", "kind", "actor", "origin", "payload", "v")
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def to_json(event: Event) -> str:
    """Returns a row as one line of ASCII JSON, so that any text survives any store."""
    return _encode({name: getattr(event, name) for name in _FIELDS})


def from_json(line: str) -> Event:
    """Returns the row that :func:`to_json` wrote.

    Raises:
        ValueError: it is not JSON, or not a row, of another format, or of a kind that nobody knows.
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
