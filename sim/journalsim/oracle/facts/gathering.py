"""From events to records: the making of what :class:`journalsim.oracle.facts.facts.Facts` holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve

from journalsim.history import Event
from journalsim.oracle.facts.records import ModelMessage, Run, Stop, ToolUse, UserMessage

TOOL_KINDS = ("tool.started", "tool.effect", "tool.returned", "tool.failed", "tool.cancelled")
MESSAGE_KINDS = ("model.completed", "model.failed", "model.ended_silently", "model.closed")
ByKind = Mapping[str, Sequence[Event]]


def session_of(event: Event) -> str:
    """Returns the conversation that an event names."""
    return str(event.data.get("session", ""))


def turn_of(ref: str) -> str:
    """Returns the turn of a message reference: ``model.turn2`` of ``model.turn2.m2``."""
    return ".".join(ref.split(".", 2)[:2])


def continues(call: Event) -> bool:
    """Whether a call of the model continues its conversation: neither sums it up, nor is made for a sub-agent."""
    return call.data.get("purpose") != "compaction" and call.data.get("who", "lead") == "lead"


# --- runs ----------------------------------------------------------------------------------------


def gather_runs(events: ByKind) -> dict[str, Run]:
    """Returns accepted runs by id, in order of acceptance."""
    ends: dict[str | None, Event] = {}
    for event in events.get("run.ended", ()):
        ends.setdefault(event.run, event)
    stops = _stops(events.get("stop.delivered", ()), events.get("stop.answered", ()))
    asked: dict[str, int] = {}
    for event in (*events.get("client.sent", ()), *events.get("run.accepted", ())):
        asked.setdefault(event.data["key"], event.position)
    runs: dict[str, Run] = {}
    for event in events.get("run.accepted", ()):
        run_id = str(event.run)
        if run_id not in runs:
            runs[run_id] = Run(
                id=run_id,
                key=str(event.data["key"]),
                session=session_of(event),
                text=str(event.data["text"]),
                accepted=event,
                asked=asked[event.data["key"]],
                ended=ends.get(run_id),
                stops=tuple(stop for stop in stops if stop.run == run_id),
            )
    return runs


def _stops(delivered: Sequence[Event], answered: Sequence[Event]) -> list[Stop]:
    free = list(answered)
    stops = []
    for event in delivered:
        answer = next((a for a in free if a.position > event.position and a.run == event.run), None)
        if answer is not None:
            free.remove(answer)
        mode = event.data.get("mode", "interrupt")
        stops.append(Stop(run=str(event.run), mode=mode, delivered=event, answered=answer))
    return stops


# --- messages of the model -----------------------------------------------------------------------


def gather_messages(events: ByKind) -> dict[str, ModelMessage]:
    """Returns messages of the model by reference, in order, without those that continue no conversation."""
    calls = {event.subject: event for event in events.get("model.called", ())}
    called = [event for event in calls.values() if continues(event)]
    chunks: dict[str, list[Event]] = {}
    for event in events.get("model.chunk", ()):
        chunks.setdefault(event.subject or "", []).append(event)
    marks = {kind: _first_by_subject(events.get(kind, ())) for kind in MESSAGE_KINDS}
    first = {ref: found[0] for ref, found in chunks.items()}
    for found in marks.values():
        for ref, event in found.items():
            first.setdefault(ref, event)
    messages = {}
    for ref, begin in sorted(first.items(), key=lambda pair: pair[1].position):
        call = calls.get(turn_of(ref))
        if call is None or continues(call):
            own = {kind: marks[kind].get(ref) for kind in MESSAGE_KINDS}
            message = _message(ref, begin, call, chunks.get(ref, []), own)
            messages[ref] = evolve(message, superseded=True) if _is_superseded(message, called) else message
    return messages


def _message(
    ref: str, begin: Event, called: Event | None, chunks: list[Event], marks: Mapping[str, Event | None]
) -> ModelMessage:
    data: list[Mapping[str, Any]] = [event.data for event in chunks]
    return ModelMessage(
        ref=ref,
        turn=turn_of(ref),
        begin=begin.position,
        run=begin.run,
        attempt=called.data.get("attempt", 1) if called is not None else 1,
        called=called,
        chunks=tuple(chunks),
        completed=marks["model.completed"],
        failed=marks["model.failed"] or marks["model.ended_silently"],
        closed=marks["model.closed"],
        text="".join([d["text"] for d in data if d["part"] == "text"]),
        reasoning="".join([d["text"] for d in data if d["part"] == "reasoning"]),
    )


def _first_by_subject(events: Iterable[Event]) -> dict[str, Event]:
    found: dict[str, Event] = {}
    for event in events:
        found.setdefault(event.subject or "", event)
    return found


def _is_superseded(message: ModelMessage, calls: Sequence[Event]) -> bool:
    """Whether a later attempt does the call of a message again.

    A message that had been completed is done again only by an attempt that follows
    directly and was given no more context than its own call: otherwise it goes on after it.
    """
    own = message.called
    if own is None:
        return False
    later = [call for call in calls if call.run == own.run and call.position > own.position]
    if message.completed is None or message.late:
        return any(call.data.get("attempt", 1) > message.attempt for call in later)
    again = bool(later) and later[0].data.get("attempt", 1) > message.attempt
    return again and len(later[0].data.get("context", ())) <= len(own.data.get("context", ()))


# --- tools and people -----------------------------------------------------------------------------


def gather_tools(events: ByKind, messages: Iterable[ModelMessage]) -> dict[str, ToolUse]:
    """Returns tool calls by call id, in order of request, then those that nobody requested."""
    asked = {call.call_id: message for message in messages for call in message.calls}
    found: dict[str, dict[str, list[Event]]] = {call_id: {} for call_id in asked}
    for kind in TOOL_KINDS:
        for event in events.get(kind, ()):
            found.setdefault(str(event.subject), {}).setdefault(kind, []).append(event)
    return {call_id: _tool_use(call_id, asked.get(call_id), own) for call_id, own in found.items()}


def _tool_use(call_id: str, message: ModelMessage | None, events: Mapping[str, list[Event]]) -> ToolUse:
    first = {kind: found[0] for kind, found in events.items()}
    return ToolUse(
        call_id=call_id,
        message=None if message is None else message.ref,
        run=next((event.run for event in first.values()), None) if message is None else message.run,
        started=tuple(events.get("tool.started", ())),
        effects=tuple(events.get("tool.effect", ())),
        returned=first.get("tool.returned"),
        failed=first.get("tool.failed"),
        cancelled=first.get("tool.cancelled"),
    )


def gather_users(events: ByKind, runs: Iterable[Run], *, one_run_per_key: bool) -> dict[str, UserMessage]:
    """Returns messages of people by reference, in the order in which they were sent."""
    sent: dict[str, Event] = {}
    for kind in ("client.sent", "run.accepted"):
        for event in events.get(kind, ()):
            sent.setdefault(str(event.data["key"]), event)
    accepted: dict[str, list[Run]] = {}
    for run in runs:
        accepted.setdefault(run.key, []).append(run)
    users: dict[str, UserMessage] = {}
    for number, (key, event) in enumerate(sent.items(), 1):
        ref = f"user{number}"
        text = str(event.data["text"])
        users[ref] = user = UserMessage(ref=ref, key=key, text=text, session=session_of(event), sent=event)
        for run in accepted.get(key, [])[: 1 if one_run_per_key else None]:
            session = run.session
            users[ref] = evolve(user, ref=ref, text=run.text, session=session, run=run.id, accepted=run.accepted)
            ref += ".again"
    return users
