"""The third view of the journal: what live readers are told, as frames.

A frame is told in one of three ways, and readers end with the same picture:

* when its row is appended, and from the row again when a new process has read it (:func:`frame`);
* before it has a row, if it is text that waits in a buffer; its row then tells the rest (:func:`unseen`);
* a whole run at once, from what its rows add up to (:func:`whole_run`), for a reader
  from whom more is missing than is still kept row by row.

Only what the lead says is told, and every question that a person must answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from attrs import evolve

from journalsim.contract.frames import Frame
from journalsim_reference.batch import Buffered, nothing_buffered
from journalsim_reference.content import Content
from journalsim_reference.events import Event
from journalsim_reference.lifecycle import CAUSES
from journalsim_reference.state import LEAD, Call, Message, Run, State


def frame(state: State, event: Event) -> Frame | None:
    """Returns the live frame of a row that has just been appended and folded in, if readers are told of it."""
    make = _FRAMES.get(event.kind)
    return None if make is None else make(state, event)


def unseen(told: Frame, shown: Content) -> Frame | None:
    """Returns what of a delta readers have not been shown before its row, as the frame of the row; None if nothing."""
    text, reasoning = told.text.removeprefix(shown.text), told.reasoning.removeprefix(shown.reasoning)
    return evolve(told, text=text, reasoning=reasoning) if text or reasoning else None


def whole_run(run: Run, buffered: Buffered = nothing_buffered) -> Iterator[Frame]:
    """Yields a run from its beginning to this moment, each message in one piece.

    What a later attempt replaced, or a rollback took back, is not told any more, and no question that is answered.
    """
    if run.state != "accepted":
        yield Frame("run.started", run.run_id)
    for kind, subject in () if run.discarded else run.entries:
        if run.messages[subject.message_id].state == "superseded":
            continue
        if isinstance(subject, Message):
            yield from _whole_message(run, subject, buffered)
        elif kind == "request":
            yield from _whole_request(run, subject)
        elif subject.speaker == LEAD:
            yield Frame("tool.closed", run.run_id, call_id=subject.call_id, state=subject.state)
    if run.ended:
        yield _end(run)


# --- a whole run -------------------------------------------------------------------------------


def _whole_message(run: Run, message: Message, buffered: Buffered) -> Iterator[Frame]:
    if message.role == "user" or message.speaker != LEAD:
        return
    content = message.content
    if message.state == "open":
        content = content.plus(buffered(message.message_id))
    source = _last(content.aliases)
    yield Frame("message.opened", run.run_id, message.message_id, source=source)
    if message.state != "open":
        kind = cast(Any, f"message.{message.state}")
        told = Frame(kind, run.run_id, message.message_id, content.text, content.reasoning, source=source)
        yield evolve(told, event_id=message.row)
    elif content.text or content.reasoning:
        yield Frame("message.delta", run.run_id, message.message_id, content.text, content.reasoning, source=source)


def _whole_request(run: Run, call: Call) -> Iterator[Frame]:
    if call.speaker == LEAD:
        yield Frame("tool.requested", run.run_id, call.message_id, call_id=call.call_id)
    if call.state == "waiting":
        yield Frame("approval.requested", run.run_id, call_id=call.call_id)


# --- a row -------------------------------------------------------------------------------------


def _run_started(state: State, event: Event) -> Frame:
    return Frame("run.started", event.run_id, event_id=event.event_id)


def _run_ended(state: State, event: Event) -> Frame:
    return evolve(_end(state.runs[event.run_id]), event_id=event.event_id)


def _end(run: Run) -> Frame:
    return Frame("run.ended", run.run_id, state=run.state, cause=run.cause)


def _message(state: State, event: Event) -> Frame | None:
    message_id = event.payload["message_id"]
    if state.messages[message_id].speaker != LEAD:
        return None
    source = event.payload.get("source") or _last(state.messages[message_id].content.aliases)
    return Frame(
        cast(Any, event.kind),
        event.run_id,
        message_id,
        event.payload.get("text", ""),
        event.payload.get("reasoning", ""),
        event_id=event.event_id,
        source=source,
    )


def _delta(state: State, event: Event) -> Frame | None:
    told = _message(state, event)
    return told if told is not None and (told.text or told.reasoning) else None


def _tool_requested(state: State, event: Event) -> Frame | None:
    call = _call(state, event)
    if call.speaker != LEAD:
        return None
    return Frame("tool.requested", event.run_id, call.message_id, call_id=call.call_id, event_id=event.event_id)


def _tool_closed(state: State, event: Event) -> Frame | None:
    call = _call(state, event)
    if call.speaker != LEAD:
        return None
    return Frame("tool.closed", event.run_id, call_id=call.call_id, state=call.state, event_id=event.event_id)


def _asked(state: State, event: Event) -> Frame:
    """Whoever asks: a person has to know of every question."""
    return Frame("approval.requested", event.run_id, call_id=event.payload["call_id"], event_id=event.event_id)


def _answered(state: State, event: Event) -> Frame:
    call_id, says = event.payload["call_id"], "approved" if event.payload["approved"] else "denied"
    return Frame("approval.resolved", event.run_id, call_id=call_id, state=says, event_id=event.event_id)


def _last(aliases: tuple[str, ...]) -> str | None:
    return aliases[-1] if aliases else None


def _call(state: State, event: Event) -> Call:
    return state.runs[event.run_id].calls[event.payload["call_id"]]


_FRAMES: Mapping[str, Callable[[State, Event], Frame | None]] = {
    "run.started": _run_started,
    **dict.fromkeys(CAUSES, _run_ended),
    "message.opened": _message,
    "message.delta": _delta,
    "message.completed": _message,
    "message.interrupted": _message,
    "message.superseded": _message,
    "tool.requested": _tool_requested,
    "tool.completed": _tool_closed,
    "tool.failed": _tool_closed,
    "tool.aborted": _tool_closed,
    "approval.requested": _asked,
    "approval.resolved": _answered,
}
