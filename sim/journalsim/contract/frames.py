"""Defines live events: the frames that a system publishes to every reader of a session."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

FrameKind = Literal[
    "run.started",
    "message.opened",
    "message.delta",
    "message.completed",
    "message.interrupted",
    "message.superseded",
    "tool.requested",
    "tool.closed",
    "approval.requested",
    "approval.resolved",
    "run.ended",
]


@frozen
class Frame:
    """One live event for the readers of a session.

    Attributes:
        kind: kind of the event.
        run_id: the run that it belongs to.
        message_id: the journal's id of the message, for message frames.
        text: the delta of a ``message.delta``; the whole text of completed or interrupted ones.
        reasoning: like ``text``, for reasoning.
        call_id: the call, for tool frames.
        state: for ``run.ended`` how it ended, for ``tool.closed`` the closure's state.
        cause: for interrupted runs, why.
        event_id: ``<run_id>:<seq>`` of the journal row behind it; None when nothing durable is behind it.
        source: the provider's id of the message, when the system knows it.
    """

    kind: FrameKind
    run_id: str
    message_id: str | None = None
    text: str = ""
    reasoning: str = ""
    call_id: str | None = None
    state: str | None = None
    cause: str | None = None
    event_id: str | None = None
    source: str | None = None
