"""Defines the events of the scripted model and the scripted tools."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from journalsim.contract.events.event_record import EventRecord, record
from journalsim.contract.items import Item
from journalsim.contract.model_call import ModelEventKind


class AskedCall(NamedTuple):
    """A tool call as the model requested it."""

    call_id: str
    name: str
    arguments: str


@record
class ModelCalled(EventRecord):
    """The system called the model.

    Attributes:
        run: the run that calls.
        turn: the turn that answers, such as ``model.turn2``.
        attempt: 1, or more for a retry.
        purpose: ``turn`` or ``compaction``.
        who: ``lead``, or ``sub:NAME`` for a sub-agent.
        session: the conversation.
        context: the items that the model received; None if the harness did not see them.
    """

    kind: ClassVar[str] = "model.called"
    subject_field: ClassVar[str] = "turn"
    run: str
    turn: str
    attempt: int
    purpose: str
    who: str
    session: str
    context: tuple[Item, ...] | None


@record
class ModelChunk(EventRecord):
    """The model handed over a chunk of its stream.

    Attributes:
        run: the run that called.
        message: name of the message, such as ``model.turn2``, or ``model.turn2.m2`` for a further message of the turn.
        part: content of the chunk.
        text: text of the chunk.
        chunk: its number within the turn, from 1.
        provider_id: the provider's id of the message at this moment.
        call_id: the call, for chunks of tool calls.
        name: name of the tool, where a call begins.
    """

    kind: ClassVar[str] = "model.chunk"
    subject_field: ClassVar[str] = "message"
    run: str
    message: str
    part: ModelEventKind
    text: str
    chunk: int
    provider_id: str | None
    call_id: str | None
    name: str | None


@record
class ModelCompleted(EventRecord):
    """The model handed over the finish of a message.

    Attributes:
        run: the run that called.
        message: the message.
        text: its whole text.
        reasoning: its whole reasoning.
        calls: its tool calls.
        reason: the finish reason.
        provider_ids: every id that the provider gave it, in order.
        late: whether the system had closed the stream before.
    """

    kind: ClassVar[str] = "model.completed"
    subject_field: ClassVar[str] = "message"
    run: str
    message: str
    text: str
    reasoning: str
    calls: tuple[AskedCall, ...]
    reason: str
    provider_ids: tuple[str | None, ...]
    late: bool


@record
class ModelFailed(EventRecord):
    """The model's stream broke with an error.

    Attributes:
        run: the run that called.
        message: the message under way.
        error: the provider's word.
    """

    kind: ClassVar[str] = "model.failed"
    subject_field: ClassVar[str] = "message"
    run: str
    message: str
    error: str


@record
class ModelEndedSilently(EventRecord):
    """The model's stream ended without a finish.

    Attributes:
        run: the run that called.
        message: the message under way.
    """

    kind: ClassVar[str] = "model.ended_silently"
    subject_field: ClassVar[str] = "message"
    run: str
    message: str


@record
class ModelClosed(EventRecord):
    """The system closed the model's stream before its end.

    Attributes:
        run: the run that called.
        message: the message under way.
    """

    kind: ClassVar[str] = "model.closed"
    subject_field: ClassVar[str] = "message"
    run: str
    message: str


@record
class ToolStarted(EventRecord):
    """A tool began.

    Attributes:
        run: the run.
        call_id: the call.
        name: name of the tool.
        arguments: the arguments as the system passed them.
    """

    kind: ClassVar[str] = "tool.started"
    subject_field: ClassVar[str] = "call_id"
    run: str
    call_id: str
    name: str
    arguments: str


@record
class ToolEffect(EventRecord):
    """A tool did its side effect.

    Attributes:
        run: the run.
        call_id: the call.
        count: how often the effect of this call has happened, from 1.
    """

    kind: ClassVar[str] = "tool.effect"
    subject_field: ClassVar[str] = "call_id"
    run: str
    call_id: str
    count: int


@record
class ToolReturned(EventRecord):
    """A tool returned.

    Attributes:
        run: the run.
        call_id: the call.
        text: its output.
    """

    kind: ClassVar[str] = "tool.returned"
    subject_field: ClassVar[str] = "call_id"
    run: str
    call_id: str
    text: str


@record
class ToolFailed(EventRecord):
    """A tool raised an error.

    Attributes:
        run: the run.
        call_id: the call.
        text: the error.
    """

    kind: ClassVar[str] = "tool.failed"
    subject_field: ClassVar[str] = "call_id"
    run: str
    call_id: str
    text: str


@record
class ToolCancelled(EventRecord):
    """A tool was cancelled before it returned.

    Attributes:
        run: the run.
        call_id: the call.
    """

    kind: ClassVar[str] = "tool.cancelled"
    subject_field: ClassVar[str] = "call_id"
    run: str
    call_id: str
