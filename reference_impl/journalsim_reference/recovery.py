"""Ends the runs that a crash left open, when a new process starts.

Recovery adds only facts that the rows prove. Text in the buffers is lost, so an open message is stored with the text
that had been spilled into ``message.delta`` rows, and dropped if there is none. A call that had started may have taken
effect: its closure has the outcome ``unknown``. A run with a durable stop ends with the cause of that stop; any other
has crashed.

Recovery is idempotent: once its rows are folded in no run is open, and a second pass adds nothing.
"""

from __future__ import annotations

from journalsim_reference.batch import Batch, Stamp, nothing_buffered
from journalsim_reference.events import Event
from journalsim_reference.state import State


def recover(state: State, stamp: Stamp, *, closures: bool) -> tuple[Event, ...]:
    """Returns the rows that end every run without a terminal, oldest first.

    Args:
        state: the journal as a new process finds it.
        stamp: the stamp of the new process; its epoch is higher than any before.
        closures: True closes open calls here; False leaves their closures to the read.
    """
    rows: list[Event] = []
    for run in state.active_runs():
        batch, cause = Batch(stamp), run.cause or "crashed"
        batch.left_open(run, cause, nothing_buffered, closures)
        added, evidence = [row.kind for row in batch.rows()], f"rows up to {run.run_id}:{run.seq}"
        batch.add(run, "recovery.applied", added=added, evidence=evidence, reason="the process ended")
        batch.add(run, "run.aborted", cause=cause, reason="")
        rows += batch.rows()
    return tuple(rows)
