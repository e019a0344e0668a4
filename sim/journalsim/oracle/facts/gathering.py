"""Makes the records of :class:`journalsim.oracle.facts.facts.Facts` from events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import evolve

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
from journalsim.history import D, Event, EventOf
from journalsim.oracle.facts.event_index import EventIndex
from journalsim.oracle.facts.records import ModelMessage, Run, Stop, ToolUse, UserMessage


def turn_of(ref: str) -> str:
    """Returns the turn of a message reference: ``model.turn2`` of ``model.turn2.m2``."""
    return ".".join(ref.split(".", 2)[:2])


def continues(call: EventOf[ModelCalled]) -> bool:
    """Returns True if a model call continues its session; calls for a summary or a sub-agent do not."""
    return call.data.purpose != "compaction" and call.data.who == "lead"


# --- runs ----------------------------------------------------------------------------------------


def gather_runs(events: EventIndex) -> dict[str, Run]:
    """Returns accepted runs by id, in order of acceptance."""
    ends: dict[str | None, EventOf[RunEnded]] = {}
    for end in events.of(RunEnded):
        ends.setdefault(end.data.run, end)
    stops = _stops(events.of(StopDelivered), events.of(StopAnswered))
    asked: dict[str, int] = {}
    for event in events.either(ClientSent, RunAccepted):
        asked.setdefault(event.data.key, event.position)
    runs: dict[str, Run] = {}
    for accepted in events.of(RunAccepted):
        data = accepted.data
        if data.run not in runs:
            runs[data.run] = Run(
                id=data.run,
                key=data.key,
                session=data.session,
                text=data.text,
                accepted=accepted,
                asked=asked[data.key],
                ended=ends.get(data.run),
                stops=tuple(stop for stop in stops if stop.run == data.run),
            )
    return runs


def _stops(delivered: Sequence[EventOf[StopDelivered]], answered: Sequence[EventOf[StopAnswered]]) -> list[Stop]:
    free = list(answered)
    stops = []
    for event in delivered:
        answer = next((a for a in free if a.position > event.position and a.data.run == event.data.run), None)
        if answer is not None:
            free.remove(answer)
        stops.append(Stop(run=event.data.run, mode=event.data.mode, delivered=event, answered=answer))
    return stops


# --- messages of the model -----------------------------------------------------------------------


def gather_messages(events: EventIndex) -> dict[str, ModelMessage]:
    """Returns messages of the model by reference, in order, without summaries and messages of sub-agents."""
    calls = {event.data.turn: event for event in events.of(ModelCalled)}
    called = [event for event in calls.values() if continues(event)]
    chunks: dict[str, list[EventOf[ModelChunk]]] = {}
    for chunk in events.of(ModelChunk):
        chunks.setdefault(chunk.data.message, []).append(chunk)
    completed, failed = _first_by_subject(events.of(ModelCompleted)), _first_by_subject(events.of(ModelFailed))
    ended, closed = _first_by_subject(events.of(ModelEndedSilently)), _first_by_subject(events.of(ModelClosed))
    first: dict[str, Event] = {ref: found[0] for ref, found in chunks.items()}
    for marks in (completed, failed, ended, closed):
        for ref, event in marks.items():
            first.setdefault(ref, event)
    messages = {}
    for ref, begin in sorted(first.items(), key=lambda pair: pair[1].position):
        call = calls.get(turn_of(ref))
        if call is None or continues(call):
            own = chunks.get(ref, [])
            message = ModelMessage(
                ref=ref,
                turn=turn_of(ref),
                begin=begin.position,
                run=begin.run,
                attempt=call.data.attempt if call is not None else 1,
                called=call,
                chunks=tuple(own),
                completed=completed.get(ref),
                failed=failed.get(ref) or ended.get(ref),
                closed=closed.get(ref),
                text="".join([chunk.data.text for chunk in own if chunk.data.part == "text"]),
                reasoning="".join([chunk.data.text for chunk in own if chunk.data.part == "reasoning"]),
            )
            messages[ref] = evolve(message, superseded=True) if _is_superseded(message, called) else message
    return messages


def _first_by_subject(events: Iterable[EventOf[D]]) -> dict[str, EventOf[D]]:
    found: dict[str, EventOf[D]] = {}
    for event in events:
        found.setdefault(event.subject or "", event)
    return found


def _is_superseded(message: ModelMessage, calls: Sequence[EventOf[ModelCalled]]) -> bool:
    """Returns True if a later attempt repeats the call of a message.

    A completed message is repeated only by an attempt that follows directly with a
    context that is not longer; a longer context continues after the message.
    """
    own = message.called
    if own is None:
        return False
    later = [call for call in calls if call.run == own.run and call.position > own.position]
    if message.completed is None or message.late:
        return any(call.data.attempt > message.attempt for call in later)
    again = bool(later) and later[0].data.attempt > message.attempt
    return again and len(later[0].data.context or ()) <= len(own.data.context or ())


# --- tools and users ------------------------------------------------------------------------------


def gather_tools(events: EventIndex, messages: Iterable[ModelMessage]) -> dict[str, ToolUse]:
    """Returns tool calls by call id, in order of request, then calls without a request."""
    asked = {call.call_id: message for message in messages for call in message.calls}
    started, effects = _by_call(events.of(ToolStarted)), _by_call(events.of(ToolEffect))
    returned, failed = _by_call(events.of(ToolReturned)), _by_call(events.of(ToolFailed))
    cancelled = _by_call(events.of(ToolCancelled))
    found: dict[str, str | None] = {call_id: message.run for call_id, message in asked.items()}
    for group in (started, effects, returned, failed, cancelled):
        for call_id, own in group.items():
            found.setdefault(call_id, own[0].run)
    return {
        call_id: ToolUse(
            call_id=call_id,
            message=asked[call_id].ref if call_id in asked else None,
            run=run,
            started=tuple(started.get(call_id, ())),
            effects=tuple(effects.get(call_id, ())),
            returned=_first(returned.get(call_id, ())),
            failed=_first(failed.get(call_id, ())),
            cancelled=_first(cancelled.get(call_id, ())),
        )
        for call_id, run in found.items()
    }


def _by_call(events: Iterable[EventOf[D]]) -> dict[str, list[EventOf[D]]]:
    found: dict[str, list[EventOf[D]]] = {}
    for event in events:
        found.setdefault(event.subject or "", []).append(event)
    return found


def _first(events: Sequence[EventOf[D]]) -> EventOf[D] | None:
    return events[0] if events else None


def gather_users(events: EventIndex, runs: Iterable[Run], *, one_run_per_key: bool) -> dict[str, UserMessage]:
    """Returns user messages by reference, in order of sending."""
    sent: dict[str, EventOf[ClientSent | RunAccepted]] = {}
    for event in events.either(ClientSent, RunAccepted):
        sent.setdefault(event.data.key, event)
    accepted: dict[str, list[Run]] = {}
    for run in runs:
        accepted.setdefault(run.key, []).append(run)
    users: dict[str, UserMessage] = {}
    for number, (key, event) in enumerate(sent.items(), 1):
        ref = f"user{number}"
        data = event.data
        users[ref] = user = UserMessage(ref=ref, key=key, text=data.text, session=data.session, sent=event)
        for run in accepted.get(key, [])[: 1 if one_run_per_key else None]:
            session = run.session
            users[ref] = evolve(user, ref=ref, text=run.text, session=session, run=run.id, accepted=run.accepted)
            ref += ".again"
    return users
