"""Projects the journal to two views: the history for people, and the context for the model.

The third view, for live readers, is in :mod:`journalsim_reference.frames`. None of them stores anything. History and
context are rendered per run and cached with the run until its next row, so a long conversation costs no more to read
than its last run. The policies are those of the process and never change in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, cast

from journalsim.contract.items import HIDDEN_FROM_MODEL, Cause, Item, ItemState
from journalsim_reference.batch import CLOSURES, Buffered, nothing_buffered
from journalsim_reference.content import Content
from journalsim_reference.lifecycle import OUTCOMES
from journalsim_reference.state import LEAD, Call, Message, Run, State, Summary

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
"""The wording of each marker, which is an item of its own, never part of a message."""


def history(
    state: State, session_id: str, policies: Mapping[str, str], buffered: Buffered = nothing_buffered
) -> tuple[Item, ...]:
    """Returns the items that a page opened now would display, oldest first."""
    session = state.session(session_id)
    items: list[Item] = []
    for entry in session.entries[session.shown_from :]:
        if isinstance(entry, Summary):
            items.append(_summary(entry))
        elif any(entry.open_messages()) and not entry.ended:
            items += _shown(entry, policies, buffered)
        else:
            items += _cached(entry, "history", lambda run: _shown(run, policies, buffered))
    return tuple(items)


def context(state: State, session_id: str, policies: Mapping[str, str]) -> tuple[Item, ...]:
    """Returns the context of the next model call, oldest first.

    A prompt that still waits for its turn is not part of it. Calls come with their closures or not at all. A run that
    was rolled back leaves only its marker, for the model as for people: its tools may have done something.
    """
    session = state.session(session_id)
    items: list[Item] = []
    for entry in session.entries[session.given_from :]:
        if isinstance(entry, Summary):
            items.append(_summary(entry))
        elif entry.state != "accepted":
            items += _cached(entry, "context", lambda run: _given(run, policies))
    return tuple(items)


def delegated(state: State, run_id: str, call_id: str, policies: Mapping[str, str]) -> tuple[Item, ...]:
    """Returns the context of a sub-agent that carries out a call: its task, and its own messages and calls.

    The sub-agent gets nothing else of the conversation.
    """
    run = state.runs[run_id]
    call = run.calls[call_id]
    task = Item(kind="user", text=call.arguments, id=f"{run_id}/{call_id}#task", run_id=run_id, origin="model")
    return (task, *_given(run, policies, call_id))


def _cached(run: Run, name: str, render: Callable[[Run], Iterator[Item]]) -> tuple[Item, ...]:
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
    """Renders the visible part of a sub-agent: only a call of its own that waits for a person's answer."""
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
    elif content.text or content.reasoning:  # a message with nothing but calls is displayed by its calls
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
    """Renders a request; one that waits for a person's answer is open, so that a page opened now can display it."""
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
    """Renders the closures that the policy ``orphans: on_read`` leaves to the read, marked as repaired."""
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
    """Renders a run for the lead's context, or that of the sub-agent that carries out ``of_call``."""
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
