"""Three views of one journal: what people see, what the model is given, and live frames.

None of them stores anything.  History and context are rendered per run and kept
with the run until its next row, so a long conversation costs no more to read
than its last run.  The policies are those of the process and never change in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, cast

from reference_impl.batch import CLOSURES, Buffered, nothing_buffered
from reference_impl.content import Content
from reference_impl.events import Event
from reference_impl.lifecycle import CAUSES, OUTCOMES
from reference_impl.state import LEAD, Call, Message, Run, State, Summary
from sim.adapters.protocol import HIDDEN_FROM_MODEL, Cause, Frame, Item, ItemState

MARKERS: Mapping[str | None, str] = {
    None: "",
    "stopped": "The user stopped this run.",
    "rolled_back": "The user took this run back.",
    "disconnected": "The reader went away, which stops runs here.",
    "shut_down": "The server was shut down during this run.",
    "crashed": "The server crashed during this run.",
    "lost_lease": "Another server took over during this run.",
    "timed_out": "This run took too long.",
    "failed": "This run failed.",
}
"""The wording of each marker; it stands in an item of its own, never inside a message."""


def history(
    state: State, session_id: str, policies: Mapping[str, str], buffered: Buffered = nothing_buffered
) -> tuple[Item, ...]:
    """Returns everything that a page opened now would show, oldest first."""
    session = state.session(session_id)
    items: list[Item] = []
    for entry in session.entries[session.shown_from :]:
        if isinstance(entry, Summary):
            items.append(_summary(entry))
        elif any(entry.open_messages()) and not entry.ended:
            items += _shown(entry, policies, buffered)
        else:
            items += _kept(entry, "history", lambda run: _shown(run, policies, buffered))
    return tuple(items)


def context(state: State, session_id: str, policies: Mapping[str, str]) -> tuple[Item, ...]:
    """Returns what the next model call is given, oldest first.

    A prompt that still waits for its turn is not part of it.  Calls come with
    their closures or not at all.  Of a run that was rolled back only the marker is
    left, for the model as for people: its tools may have done something.
    """
    session = state.session(session_id)
    items: list[Item] = []
    for entry in session.entries[session.given_from :]:
        if isinstance(entry, Summary):
            items.append(_summary(entry))
        elif entry.state != "accepted":
            items += _kept(entry, "context", lambda run: _given(run, policies))
    return tuple(items)


def delegated(state: State, run_id: str, call_id: str, policies: Mapping[str, str]) -> tuple[Item, ...]:
    """Returns what the sub-agent is given that carries out a call: what it was asked, and what it has said and done.

    Nothing else of the conversation is its business.
    """
    run = state.runs[run_id]
    call = run.calls[call_id]
    task = Item(kind="user", text=call.arguments, id=f"{run_id}/{call_id}#task", run_id=run_id, origin="model")
    return (task, *_given(run, policies, call_id))


def frame(state: State, event: Event) -> Frame | None:
    """Returns the live frame of a row that has just been appended and folded in, if readers are told of it."""
    make = _FRAMES.get(event.kind)
    return None if make is None else make(state, event)


def _kept(run: Run, name: str, render: Callable[[Run], Iterator[Item]]) -> tuple[Item, ...]:
    if name not in run.rendered:
        run.rendered[name] = tuple(render(run))
    return run.rendered[name]


# --- history -----------------------------------------------------------------------------------


def _shown(run: Run, policies: Mapping[str, str], buffered: Buffered) -> Iterator[Item]:
    if not run.discarded:
        for kind, subject in run.entries:
            if subject.speaker != LEAD:
                yield from _asked_on_behalf(run, kind, subject)
            elif isinstance(subject, Message):
                yield from _shown_message(run, subject, policies, buffered)
            elif run.messages[subject.message_id].state != "superseded":
                yield _request(run, subject) if kind == "request" else _closure(run, subject)
    if run.ended:
        yield from () if run.discarded else _missing_closures(run)
        yield _marker(run)


def _shown_message(run: Run, message: Message, policies: Mapping[str, str], buffered: Buffered) -> Iterator[Item]:
    if message.state == "open" and not run.ended:
        content = message.content.plus(buffered(message.message_id))
        yield from _visible(run, message, content, "open")
    elif message.state == "interrupted":
        flagged = policies.get("partial_form") == "flag"
        metadata = {"interrupted": True} if flagged else {}
        yield from _visible(run, message, message.content, "completed" if flagged else "interrupted", metadata)
    elif message.state == "completed":
        yield from _visible(run, message, message.content, "completed")


def _asked_on_behalf(run: Run, kind: str, subject: Message | Call) -> Iterator[Item]:
    """Renders what people see of a sub-agent: nothing, but for a call of its own while they are asked about it."""
    if isinstance(subject, Call) and kind == "request" and subject.state == "waiting" and not run.ended:
        yield _request(run, subject)


def _visible(
    run: Run, message: Message, content: Content, state: ItemState, metadata: Mapping[str, Any] | None = None
) -> Iterator[Item]:
    if message.role == "user":
        yield Item(
            kind="user",
            text=content.text,
            id=message.message_id,
            run_id=run.run_id,
            origin="user",
            metadata=dict(message.metadata),
        )
    elif content.text or content.reasoning:  # a message of nothing but calls is shown by its calls
        yield Item(
            kind="assistant",
            text=content.text,
            id=message.message_id,
            aliases=content.aliases,
            reasoning=content.reasoning,
            state=state,
            run_id=run.run_id,
            cause=cast(Cause | None, message.cause),
            origin="model",
            metadata={**message.metadata, **(metadata or {})},
        )


def _request(run: Run, call: Call) -> Item:
    """Renders a request; one about which a person is asked is still open, so that a page opened now can ask."""
    return Item(
        kind="tool_call",
        id=f"{run.run_id}/{call.call_id}",
        call_id=call.call_id,
        name=call.name,
        arguments=call.arguments,
        state="open" if call.state == "waiting" and not run.ended else "completed",
        run_id=run.run_id,
        origin="model",
    )


def _closure(run: Run, call: Call) -> Item:
    aborted = call.state == "aborted"
    return Item(
        kind="tool_result",
        text=call.text,
        id=f"{run.run_id}/{call.call_id}#closure",
        call_id=call.call_id,
        state=cast(ItemState, call.state),
        outcome=cast(Literal["", "unknown", "not_started"], call.outcome),
        run_id=run.run_id,
        origin="synthetic" if aborted else "tool",
    )


def _missing_closures(run: Run) -> Iterator[Item]:
    """Renders the closures that the policy ``orphans: on_read`` leaves to the reader, and says so."""
    for call in run.calls.values():
        if call.open and call.speaker == LEAD and run.messages[call.message_id].state != "superseded":
            outcome = OUTCOMES[call.state]
            yield Item(
                kind="tool_result",
                text=CLOSURES[outcome],
                id=f"{run.run_id}/{call.call_id}#closure",
                call_id=call.call_id,
                state="aborted",
                outcome=cast(Literal["unknown", "not_started"], outcome),
                run_id=run.run_id,
                origin="synthetic",
                metadata={"repaired": "on_read"},
            )


def _marker(run: Run) -> Item:
    return Item(
        kind="marker",
        text=MARKERS[run.cause],
        id=f"{run.run_id}/end",
        state=cast(ItemState, run.state),
        run_id=run.run_id,
        cause=cast(Cause | None, run.cause),
        origin="synthetic",
    )


def _summary(summary: Summary) -> Item:
    return Item(kind="summary", text=summary.text, id=summary.row, origin="model")


# --- context -----------------------------------------------------------------------------------


def _given(run: Run, policies: Mapping[str, str], of_call: str | None = None) -> Iterator[Item]:
    """Renders what the lead is given of a run, or of its own words the sub-agent that carries out ``of_call``."""
    user_only = policies.get("stopped_turn") == "user_only"
    partials = policies.get("partial_in_context") != "none" and not user_only
    own = (message for message in run.messages.values() if message.speaker.call_id == of_call)
    given = {message.message_id for message in own if _is_given(message, partials)}
    for kind, subject in run.entries:
        if subject.message_id not in given:
            continue
        if isinstance(subject, Message):
            yield from _visible(run, subject, subject.content, cast(ItemState, subject.state))
        elif run.ended or not subject.open:
            yield _request(run, subject) if kind == "request" else _closure(run, subject)
    if run.ended:
        yield from (item for item in _missing_closures(run) if run.calls[item.call_id or ""].message_id in given)
        if run.state != "completed" and not user_only:
            yield _marker(run)


def _is_given(message: Message, partials: bool) -> bool:
    if message.metadata.get(HIDDEN_FROM_MODEL):
        return False
    return message.state == "completed" or (message.state == "interrupted" and partials)


# --- frames ------------------------------------------------------------------------------------


def _run_started(state: State, event: Event) -> Frame:
    return Frame("run.started", event.run_id, event_id=event.event_id)


def _run_ended(state: State, event: Event) -> Frame:
    run = state.runs[event.run_id]
    return Frame("run.ended", event.run_id, state=run.state, cause=run.cause, event_id=event.event_id)


def _message(state: State, event: Event) -> Frame | None:
    message_id = event.payload["message_id"]
    if state.messages[message_id].speaker != LEAD:
        return None
    source = event.payload.get("source") or next(iter(state.messages[message_id].content.aliases[-1:]), None)
    return Frame(
        cast(Any, event.kind),
        event.run_id,
        message_id,
        event.payload.get("text", ""),
        event.payload.get("reasoning", ""),
        event_id=event.event_id,
        source=source,
    )


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
    says = "approved" if event.payload["approved"] else "denied"
    call_id = event.payload["call_id"]
    return Frame("approval.resolved", event.run_id, call_id=call_id, state=says, event_id=event.event_id)


def _call(state: State, event: Event) -> Call:
    return state.runs[event.run_id].calls[event.payload["call_id"]]


_FRAMES: Mapping[str, Callable[[State, Event], Frame | None]] = {
    "run.started": _run_started,
    **dict.fromkeys(CAUSES, _run_ended),
    "message.opened": _message,
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
