"""Decides about runs and messages, as pure functions from the state to the rows to append.

Each ``decide_…`` reads the state and returns the rows to write, no rows when the request is already fulfilled, or
:class:`Refused`. It changes nothing: the caller appends the rows in one batch and folds them in, with no other step in
between, and that is the critical section of the journal.

Four rules hold for all of them:

* **The first durable terminal divides.**  A completion that is decided before it
  wins over any stored part of the message; one that is decided after it
  becomes a ``terminal.rejected`` row, which only an auditor reads.
* **A durable stop leads to an interrupted run.**  From then on no message
  opens, no text is added, no tool starts; only messages and tools that were already
  completed or running still count.
* **Identity, never text.**  Ids decide whether two reports are one message or one call.
* **No empty shells.**  A message without content gets no row.

The decisions about tool calls are in :mod:`journalsim_reference.calls`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from attrs import frozen

from journalsim_reference.batch import Batch, Buffered, Stamp, nothing_buffered
from journalsim_reference.content import Content, content_to_data
from journalsim_reference.events import Event, RowOrigin
from journalsim_reference.lifecycle import AT_WORK, MESSAGE, RUN
from journalsim_reference.state import LEAD, Run, Speaker, State

Terminal = Literal["run.completed", "run.aborted", "run.expired", "run.failed"]
Reason = Literal["busy", "key_reused", "unknown", "ended", "stopping", "replaced", "not_open", "stale", "empty"]


@frozen
class Refused:
    """A refusal: nothing may be written."""

    reason: Reason


Decision: TypeAlias = tuple[Event, ...] | Refused


# --- runs begin --------------------------------------------------------------------------------


def decide_accept(
    state: State,
    stamp: Stamp,
    *,
    session_id: str,
    run_id: str,
    key: str,
    text: str,
    busy: str = "refuse",
    buffered: Buffered = nothing_buffered,
) -> Decision:
    """Accepts a prompt and stops the runs that it displaces; writes nothing if the prompt's key already has a run."""
    session = state.session(session_id)
    if key in session.keys:
        known = state.runs[session.keys[key]]
        user = next(iter(known.messages.values()))
        return () if user.content.text == text else Refused("key_reused")
    active = session.active_runs()
    if active and busy == "refuse":
        return Refused("busy")
    batch = Batch(stamp)
    run = Run(run_id, session_id)
    batch.add(run, "run.accepted", "user", key=key, text=text, message_id=f"{run_id}/user")
    if busy == "cancel_earlier":
        for earlier in active:
            if earlier.state != "cancelling":
                batch.stop_requested(earlier, "stopped", "interrupt", "newer prompt", buffered)
    return batch.rows()


def decide_start(state: State, stamp: Stamp, run_id: str) -> Decision:
    """Starts an accepted run."""
    run = current(state, stamp, run_id)
    if isinstance(run, Refused):
        return run
    if run.state != "accepted":
        return Refused("stopping")
    batch = Batch(stamp)
    batch.add(run, "run.started")
    return batch.rows()


# --- messages ----------------------------------------------------------------------------------


def decide_open(
    state: State,
    stamp: Stamp,
    run_id: str,
    *,
    stale: Iterable[str] = (),
    source: str | None = None,
    speaker: Speaker = LEAD,
) -> Decision:
    """Opens a message, which replaces the ``stale`` ones of a failed attempt."""
    run = current(state, stamp, run_id)
    if isinstance(run, Refused):
        return run
    if run.state not in AT_WORK:
        return Refused("stopping")
    batch = Batch(stamp)
    batch.superseded(run, stale)
    batch.opened(run, source, speaker)
    return batch.rows()


def decide_spill(state: State, stamp: Stamp, run_id: str, message_id: str, content: Content) -> Decision:
    """Moves text of an open message into the journal."""
    run = current(state, stamp, run_id)
    if isinstance(run, Refused):
        return run
    message = run.messages[message_id]
    if message.state != "open":
        return Refused("not_open")
    batch, actor = Batch(stamp), message.speaker.actor
    batch.aliased(run, message_id, message.content.aliases, content.aliases, actor)
    if not content.empty:
        batch.add(run, "message.delta", "model", actor=actor, message_id=message_id, **content_to_data(content))
    return batch.rows()


def decide_complete(
    state: State,
    stamp: Stamp,
    run_id: str,
    message_id: str | None,
    content: Content,
    *,
    reason: str = "end_turn",
    stale: Iterable[str] = (),
    speaker: Speaker = LEAD,
) -> Decision:
    """Completes a message, or opens and completes one that no chunk had opened.

    An interrupted message is superseded under the same id. A message that is already completed is the same message
    reported again, whatever its text.
    """
    run = state.runs[run_id]
    message = None if message_id is None else run.messages[message_id]
    if message is not None and message.state == "completed":
        return ()
    if stamp.epoch < run.epoch:
        return Refused("replaced")
    if run.ended:
        return _rejected(run, stamp, "message.completed", message_id=message_id, **content_to_data(content))
    if message is not None and "message.completed" not in MESSAGE[message.state]:
        return Refused("not_open")
    batch = Batch(stamp)
    batch.superseded(run, stale)
    if content.empty:
        return batch.rows()
    if message is None:
        message_id = batch.opened(run, next(iter(content.aliases), None), speaker)
    assert message_id is not None
    known = () if message is None else message.content.aliases
    actor = (speaker if message is None else message.speaker).actor
    batch.aliased(run, message_id, known, content.aliases, actor)
    data = content_to_data(content)
    batch.add(run, "message.completed", "model", actor=actor, message_id=message_id, reason=reason, **data)
    batch.requested(run, message_id, content.calls, stale, actor)
    return batch.rows()


# --- runs end ----------------------------------------------------------------------------------


def decide_stop(
    state: State,
    stamp: Stamp,
    session_id: str,
    run_id: str,
    *,
    cause: str = "stopped",
    mode: str = "interrupt",
    by: str = "person",
    buffered: Buffered = nothing_buffered,
) -> Decision:
    """Latches a stop, and stores the buffered text of the open messages in the same batch.

    The snapshot is durable before the worker receives the stop: no later act of the worker, and no crash, can take text
    away.
    """
    run = state.runs.get(run_id)
    if run is None or run.session_id != session_id:
        return Refused("unknown")
    refusal = current(state, stamp, run_id)
    if isinstance(refusal, Refused):
        return refusal
    if run.state == "cancelling":
        return ()
    batch = Batch(stamp)
    batch.stop_requested(run, "rolled_back" if mode == "rollback" else cause, mode, by, buffered)
    return batch.rows()


def decide_end(
    state: State,
    stamp: Stamp,
    run_id: str,
    kind: Terminal,
    cause: str | None,
    *,
    reason: str = "",
    buffered: Buffered = nothing_buffered,
    closures: bool,
) -> Decision:
    """Ends a run: interrupts or closes everything open, and adds the terminal last, all in one batch.

    Args:
        state: the journal.
        stamp: the writer's epoch and the time.
        run_id: the run.
        kind: the terminal.
        cause: why; ignored for a run that is being stopped, whose stop has set the cause.
        reason: a description.
        buffered: buffers of open messages.
        closures: True closes open calls here; False leaves their closures to the read.
    """
    run = state.runs[run_id]
    if stamp.epoch < run.epoch:
        return Refused("replaced")
    if run.ended:
        return _rejected(run, stamp, kind, cause=cause)
    if kind not in RUN[run.state]:
        return Refused("stopping")
    if run.state == "cancelling":
        cause = run.cause
    batch = Batch(stamp)
    batch.left_open(run, cause, buffered, closures)
    batch.add(run, kind, cause=cause, reason=reason)
    return batch.rows()


# --- maintenance -------------------------------------------------------------------------------


def decide_annotate(
    state: State, stamp: Stamp, session_id: str, message_id: str, metadata: Mapping[str, Any]
) -> Decision:
    """Sets flags of a message, as an event of its own, so that no later write can undo them by accident."""
    message = state.messages.get(message_id)
    if message is None or state.runs[message.run_id].session_id != session_id:
        return Refused("unknown")
    if "message.annotated" not in MESSAGE[message.state]:
        return Refused("unknown")
    batch = Batch(stamp)
    seq = state.session(session_id).seq
    batch.add_to_session(
        session_id, seq, "message.annotated", "synthetic", message_id=message_id, metadata=dict(metadata)
    )
    return batch.rows()


def decide_compact(state: State, stamp: Stamp, session_id: str, *, base: int, text: str) -> Decision:
    """Replaces the model's context by a summary, if the session is idle and at revision ``base``."""
    if not text:
        return Refused("empty")
    return _rewritten(state, stamp, session_id, base, "model", operation="compact", text=text)


def decide_clear(state: State, stamp: Stamp, session_id: str, *, base: int) -> Decision:
    """Empties history and context, if the session is idle and still at revision ``base``; the rows stay."""
    return _rewritten(state, stamp, session_id, base, "synthetic", operation="clear")


def _rewritten(state: State, stamp: Stamp, session_id: str, base: int, origin: RowOrigin, **payload: str) -> Decision:
    session = state.session(session_id)
    if session.active_runs():
        return Refused("busy")
    if session.revision != base:
        return Refused("stale")
    batch = Batch(stamp)
    batch.add_to_session(session_id, session.seq, "history.rewritten", origin, base=base, **payload)
    return batch.rows()


# --- shared pieces -----------------------------------------------------------------------------


def current(state: State, stamp: Stamp, run_id: str) -> Run | Refused:
    """Returns a run to which this writer may still add."""
    run = state.runs[run_id]
    if stamp.epoch < run.epoch:
        return Refused("replaced")
    return Refused("ended") if run.ended else run


def _rejected(run: Run, stamp: Stamp, kind: str, **payload: Any) -> Decision:
    batch = Batch(stamp)
    batch.add(run, "terminal.rejected", what=kind, reason=f"the run is {run.state}", **payload)
    return batch.rows()
