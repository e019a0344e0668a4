"""Decides about tool calls: when a call may run, when a person must approve it, and how it is closed.

Three rules, beside those of :mod:`journalsim_reference.journal`:

* **A call that runs may have had its effect.**  So the journal records the call before the
  tool begins, and a closure that cuts it off states that its outcome is unknown.
* **One question, one answer.**  The first answer about a call counts; the
  same answer again changes nothing, another one comes too late.
* **The closure of a delegated call ends the sub-agent.**  The sub-agent's open messages and calls are
  interrupted and closed in the same batch, in its own name.
"""

from __future__ import annotations

from typing import Literal

from journalsim_reference.batch import CUT_OFF, DENIED, Batch, Buffered, Stamp, nothing_buffered
from journalsim_reference.journal import Decision, Refused, current
from journalsim_reference.lifecycle import AT_WORK
from journalsim_reference.state import Run, State

Ending = Literal["tool.completed", "tool.failed"]


def decide_ask(state: State, stamp: Stamp, run_id: str, call_id: str) -> Decision:
    """Requests a person's approval of a call."""
    run = _before_start(state, stamp, run_id, call_id, "requested")
    if isinstance(run, Refused):
        return run
    batch = Batch(stamp)
    batch.add(run, "approval.requested", call_id=call_id)
    return batch.rows()


def decide_answer(
    state: State, stamp: Stamp, session_id: str, run_id: str, call_id: str, *, approved: bool, by: str = "person"
) -> Decision:
    """Takes a person's answer about a call; a denial also closes the call."""
    run = state.runs.get(run_id)
    if run is None or run.session_id != session_id or call_id not in run.calls:
        return Refused("unknown")
    call = run.calls[call_id]
    if call.approved is not None:
        return () if call.approved is approved else Refused("not_open")
    refusal = current(state, stamp, run_id)
    if isinstance(refusal, Refused):
        return refusal
    if run.state == "cancelling":
        return Refused("stopping")
    if call.state != "waiting":
        return Refused("unknown")
    batch = Batch(stamp)
    batch.answered(run, call_id, approved, "user", by)
    if not approved:
        batch.closed(run, call_id, "answered", DENIED, "denied")
    return batch.rows()


def decide_decline(state: State, stamp: Stamp, run_id: str, call_id: str, text: str) -> Decision:
    """Closes a call that is not going to be run, and states why."""
    run = _before_start(state, stamp, run_id, call_id, "requested")
    if isinstance(run, Refused):
        return run
    batch = Batch(stamp)
    batch.closed(run, call_id, "requested", text, "declined")
    return batch.rows()


def decide_tool_start(state: State, stamp: Stamp, run_id: str, call_id: str) -> Decision:
    """Records that a tool is about to run."""
    run = _before_start(state, stamp, run_id, call_id, "requested", "answered")
    if isinstance(run, Refused):
        return run
    batch = Batch(stamp)
    batch.add(run, "tool.started", call_id=call_id)
    return batch.rows()


def decide_tool_end(
    state: State,
    stamp: Stamp,
    run_id: str,
    call_id: str,
    kind: Ending,
    text: str,
    *,
    buffered: Buffered = nothing_buffered,
) -> Decision:
    """Stores the result or the error of a tool, also while the run is being stopped."""
    run = _unclosed(state, stamp, run_id, call_id)
    if isinstance(run, Refused):
        return run
    batch = Batch(stamp)
    batch.delegated_left_open(run, call_id, "failed", buffered)
    batch.add(run, kind, "tool", actor=run.calls[call_id].speaker.actor, call_id=call_id, text=text)
    return batch.rows()


def decide_cut_off(
    state: State, stamp: Stamp, run_id: str, call_id: str, *, buffered: Buffered = nothing_buffered
) -> Decision:
    """Closes a call that took too long; the run goes on."""
    run = _unclosed(state, stamp, run_id, call_id)
    if isinstance(run, Refused):
        return run
    batch = Batch(stamp)
    batch.delegated_left_open(run, call_id, "timed_out", buffered)
    batch.closed(run, call_id, "running", CUT_OFF, "time limit")
    return batch.rows()


def _before_start(state: State, stamp: Stamp, run_id: str, call_id: str, *states: str) -> Run | Refused:
    """Returns the run of a call in one of ``states``; refuses if the run is being stopped."""
    run = current(state, stamp, run_id)
    if isinstance(run, Refused):
        return run
    return run if run.state in AT_WORK and run.calls[call_id].state in states else Refused("stopping")


def _unclosed(state: State, stamp: Stamp, run_id: str, call_id: str) -> Run | Refused:
    """Returns the run of a call that has no closure yet."""
    run = current(state, stamp, run_id)
    if isinstance(run, Refused):
        return run
    return run if run.calls[call_id].open else Refused("not_open")
