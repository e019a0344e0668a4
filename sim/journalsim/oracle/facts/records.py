"""Runs, messages and tool calls of a history, as values.

:class:`journalsim.oracle.facts.facts.Facts` makes them from a history.  Every ``position``
is the position of an event in that history; the harness *hands over* chunks, completions
and results to the system under test.
"""

from __future__ import annotations

from functools import cached_property

from attrs import evolve, field, frozen

from journalsim.contract.capabilities import StopMode
from journalsim.contract.events.client_events import ClientSent
from journalsim.contract.events.model_events import (
    ModelCalled,
    ModelChunk,
    ModelClosed,
    ModelCompleted,
    ModelEndedSilently,
    ModelFailed,
    ToolCancelled,
    ToolEffect,
    ToolFailed,
    ToolReturned,
    ToolStarted,
)
from journalsim.contract.events.server_events import RunAccepted, RunEnded, StopAnswered, StopDelivered
from journalsim.contract.model_call import ToolCall
from journalsim.history import EventOf


@frozen(kw_only=True, eq=False)
class Stop:
    """One delivery of a stop to the server.

    Attributes:
        run: the run that the stop names.
        mode: how the run stops.
        delivered: the event of the delivery.
        answered: the event of the answer, or None.
    """

    run: str
    mode: StopMode
    delivered: EventOf[StopDelivered]
    answered: EventOf[StopAnswered] | None = None

    @property
    def answer(self) -> str:
        """``stopping``, ``ended``, ``unknown``, or empty without an answer."""
        return "" if self.answered is None else self.answered.data.answer


@frozen(kw_only=True, eq=False)
class Run:
    """One accepted run.

    Attributes:
        id: the adapter's id.
        key: the key of the request that started the run.
        session: the session of the run.
        text: the text of the user message.
        accepted: the first event that accepts this id.  ``start`` returns at that moment; the journal may
            hold the run earlier.
        asked: position of the first event of the request; no event of the run comes before it.
        ended: the event that first announces the end, or None.
        stops: the stops that name the run, in order of delivery.
    """

    id: str
    key: str
    session: str
    text: str
    accepted: EventOf[RunAccepted]
    asked: int = 0
    ended: EventOf[RunEnded] | None = None
    stops: tuple[Stop, ...] = ()

    @property
    def end(self) -> float:
        """Position of the announced end; infinite without one."""
        return float("inf") if self.ended is None else self.ended.position

    @cached_property
    def stop(self) -> Stop | None:
        """The effective stop: the first before the announced end, unless its answer is ``ended`` or ``unknown``."""
        return next(
            (
                stop
                for stop in self.stops
                if stop.delivered.position < self.end and stop.answer not in ("ended", "unknown")
            ),
            None,
        )

    @cached_property
    def rolled_back(self) -> bool:
        """True if a stop with mode ``rollback`` came before the announced end."""
        return any(stop.mode == "rollback" and stop.delivered.position < self.end for stop in self.stops)


@frozen(kw_only=True, eq=False)
class ModelMessage:
    """One message of the model, as the harness handed it over.

    Attributes:
        ref: ``model.turn2``, or ``model.turn2.m2`` for a further message of the same turn.
        turn: ``model.turn2``.
        begin: position of the first event.
        run: the run that called the model.
        attempt: number of the attempt of the call.
        called: the event of the call, if the history has it.
        chunks: the chunks, in order.
        completed: the event of the completion, or None.
        failed: the event of an error or of a silent end, or None.
        closed: the event of the system closing the stream early, or None.
        text: visible text of all chunks.
        reasoning: reasoning of all chunks.
        superseded: True if a later attempt of the same run repeats the call.
    """

    ref: str
    turn: str
    begin: int
    run: str | None
    attempt: int = 1
    called: EventOf[ModelCalled] | None = None
    chunks: tuple[EventOf[ModelChunk], ...] = ()
    completed: EventOf[ModelCompleted] | None = None
    failed: EventOf[ModelFailed | ModelEndedSilently] | None = None
    closed: EventOf[ModelClosed] | None = None
    text: str = ""
    reasoning: str = ""
    superseded: bool = False

    @property
    def late(self) -> bool:
        """True if the completion came after the system closed the stream."""
        return self.completed is not None and self.completed.data.late

    @property
    def whole_text(self) -> str:
        """Text of the completion, or of the chunks without one."""
        return self.text if self.completed is None else self.completed.data.text

    @property
    def whole_reasoning(self) -> str:
        """Reasoning of the completion, or of the chunks without one."""
        return self.reasoning if self.completed is None else self.completed.data.reasoning

    @cached_property
    def calls(self) -> tuple[ToolCall, ...]:
        """Tool calls of the completed message; of an incomplete one the opened calls with their arguments so far."""
        if self.completed is not None:
            return tuple(
                ToolCall(call_id=call_id, name=name, arguments=arguments)
                for call_id, name, arguments in self.completed.data.calls
            )
        opened: dict[str, ToolCall] = {}
        for data in (chunk.data for chunk in self.chunks):
            call_id = data.call_id or ""
            if data.part == "tool_call":
                opened[call_id] = ToolCall(call_id=call_id, name=data.name or "")
            elif data.part == "tool_arguments" and call_id in opened:
                call = opened[call_id]
                opened[call_id] = evolve(call, arguments=call.arguments + data.text)
        return tuple(opened.values())

    @cached_property
    def provider_ids(self) -> tuple[str, ...]:
        """Ids that the provider gave to the message, in order of appearance."""
        ids = [chunk.data.provider_id for chunk in self.chunks]
        ids += self.completed.data.provider_ids if self.completed is not None else ()
        return tuple(dict.fromkeys(i for i in ids if i is not None))

    @property
    def empty(self) -> bool:
        """True if the message has no text, no reasoning and no call."""
        return not (self.whole_text or self.whole_reasoning or self.calls)

    def completed_before(self, position: float) -> bool:
        """Returns True if the finish of the stream was handed over before this position."""
        return self.completed is not None and not self.late and self.completed.position < position


@frozen(kw_only=True, eq=False)
class UserMessage:
    """One message that a user sent.

    Attributes:
        ref: ``user1``, ``user2`` … in the order of sending.
        key: the request key.
        text: the text.
        session: the session.
        sent: the first event of the request: sent, or accepted if no client sent it.
        run: the run that the message started, or None if it was not accepted.
        accepted: the event of the acceptance, or None.
    """

    ref: str
    key: str
    text: str
    session: str
    sent: EventOf[ClientSent | RunAccepted]
    run: str | None = None
    accepted: EventOf[RunAccepted] | None = None


@frozen(kw_only=True, eq=False)
class ToolUse:
    """One tool call, from the model's request to the end of the tool.

    Attributes:
        call_id: pairs request and result.
        message: the message that requests the call, if the history has it.
        run: the run.
        started: all starts.
        effects: all side effects.
        returned: the event of the first result, or None.
        failed: the event of the first failure, or None.
        cancelled: the event of the first cancellation, or None.
    """

    call_id: str
    message: str | None = None
    run: str | None = None
    started: tuple[EventOf[ToolStarted], ...] = ()
    effects: tuple[EventOf[ToolEffect], ...] = ()
    returned: EventOf[ToolReturned] | None = None
    failed: EventOf[ToolFailed] | None = None
    cancelled: EventOf[ToolCancelled] | None = None


@frozen(kw_only=True)
class Applied:
    """The text of one message that one client displays at a moment.

    Attributes:
        client: name of the client.
        text: visible text.
        reasoning: reasoning.
        position: position of the last event that contributed.
    """

    client: str = ""
    text: str = ""
    reasoning: str = ""
    position: int = field(default=-1)
