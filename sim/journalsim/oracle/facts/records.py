"""What the judges know about runs, messages and tools, each as a value.

:class:`journalsim.oracle.facts.facts.Facts` makes them from a history.  Every ``position``
is the position of an event in that history; "handed over" means that the harness
gave something to the system under test.
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
        run: the run that it named.
        mode: how it stops.
        delivered: the event.
        answered: the event of its answer, if it was answered.
    """

    run: str
    mode: StopMode
    delivered: EventOf[StopDelivered]
    answered: EventOf[StopAnswered] | None = None

    @property
    def answer(self) -> str:
        """``stopping``, ``ended``, ``unknown``, or empty while nobody has answered."""
        return "" if self.answered is None else self.answered.data.answer


@frozen(kw_only=True, eq=False)
class Run:
    """One run that was accepted.

    Attributes:
        id: the adapter's id.
        key: the request key that began it.
        session: its conversation.
        text: the user's words.
        accepted: the event; for a run that was accepted again under the same id, the first.  The journal may
            have had the run for a while by then: it is the return of ``start``.
        asked: position of the first event that tells of its request; nothing of the run came before it.
        ended: the event that announced its end first, if there is one.
        stops: those that named it, in order of delivery.
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
        """Position of its announced end; infinite if there is none."""
        return float("inf") if self.ended is None else self.ended.position

    @cached_property
    def stop(self) -> Stop | None:
        """The stop that counts: the first that came before the announced end and was not answered otherwise."""
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
        """Whether a stop asked for everything of this run to be taken back."""
        return any(stop.mode == "rollback" and stop.delivered.position < self.end for stop in self.stops)


@frozen(kw_only=True, eq=False)
class ModelMessage:
    """One message of the model, as the harness handed it over.

    Attributes:
        ref: ``model.turn2``, or ``model.turn2.m2`` for a further message of the same turn.
        turn: ``model.turn2``.
        begin: position of its first event.
        run: the run that asked for it.
        attempt: of the call.
        called: the event of the call, if the history has it.
        chunks: its chunks, in order.
        completed: the event of its completion, or None.
        failed: the event of an error or of a silent end, or None.
        closed: the event of the system closing the stream early, or None.
        text: all visible text that was handed over in chunks.
        reasoning: likewise.
        superseded: a later attempt of the same run does this call again.
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
        """Whether the completion came after the system had closed the stream."""
        return self.completed is not None and self.completed.data.late

    @property
    def whole_text(self) -> str:
        """The text of the completion, else what was handed over so far."""
        return self.text if self.completed is None else self.completed.data.text

    @property
    def whole_reasoning(self) -> str:
        """The reasoning of the completion, else what was handed over so far."""
        return self.reasoning if self.completed is None else self.completed.data.reasoning

    @cached_property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the completed message; of an incomplete one those that were opened, as far as they got."""
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
        """Every id that the provider gave to it, in order of appearance."""
        ids = [chunk.data.provider_id for chunk in self.chunks]
        ids += self.completed.data.provider_ids if self.completed is not None else ()
        return tuple(dict.fromkeys(i for i in ids if i is not None))

    @property
    def empty(self) -> bool:
        """Whether there is nothing to keep: no text, no reasoning, no call."""
        return not (self.whole_text or self.whole_reasoning or self.calls)

    def completed_before(self, position: float) -> bool:
        """Whether the stream's own finish was handed over before this position."""
        return self.completed is not None and not self.late and self.completed.position < position


@frozen(kw_only=True, eq=False)
class UserMessage:
    """One message that a person sent.

    Attributes:
        ref: ``user1``, ``user2`` … in the order in which they were sent.
        key: its request key.
        text: the words.
        session: its conversation.
        sent: the first event that tells of it: sent, or accepted when no client sent it.
        run: the run that it began, if it was accepted.
        accepted: the event, or None if it never was.
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
    """One tool call, from the model's request to the tool's end.

    Attributes:
        call_id: pairs request and result.
        message: the message that asked for it, if the history has it.
        run: the run.
        started: every start.
        effects: every side effect.
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
    """What one client showed of one message at a moment.

    Attributes:
        client: its name.
        text: visible text.
        reasoning: likewise.
        position: of the last event that contributed.
    """

    client: str = ""
    text: str = ""
    reasoning: str = ""
    position: int = field(default=-1)
