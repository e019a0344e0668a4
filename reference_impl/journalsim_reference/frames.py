"""Projects the journal to live frames, its third view.

A frame is made in one of three ways, and all of them lead readers to the same view:

* when its row is appended, and from the row again when a new process has read it (:func:`frame`);
* before it has a row, if it is text that waits in a buffer; its row then carries the rest (:func:`unseen`);
* a whole run at once, from the fold of its rows (:func:`whole_run`), for a reader
  who misses more than the log still holds.

Readers receive only the lead's messages and calls, and every question that a person must answer.
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
    """Returns the live frame of a row that has just been appended and folded in; None if the row has none."""
    make = _FRAMES.get(event.kind)
    return None if make is None else make(state, event)


def unseen(delta: Frame, shown: Content) -> Frame | None:
    """Returns the frame of a delta row without the text that readers received before; None if nothing remains."""
    text, reasoning = delta.text.removeprefix(shown.text), delta.reasoning.removeprefix(shown.reasoning)
    return evolve(delta, text=text, reasoning=reasoning) if text or reasoning else None


def whole_run(run: Run, buffered: Buffered = nothing_buffered) -> Iterator[Frame]:
    """Yields a run from its first frame to this moment, each message in one piece.

    Messages that a later attempt replaced, or a rollback took back, are left out, and so are answered questions.
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
        whole = Frame(kind, run.run_id, message.message_id, content.text, content.reasoning, source=source)
        yield evolve(whole, event_id=message.row)
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
    delta = _message(state, event)
    return delta if delta is not None and (delta.text or delta.reasoning) else None


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
    """Makes the frame of a question, also of a sub-agent: a person has to see every question."""
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
