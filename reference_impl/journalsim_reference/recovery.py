"""What a new process adds for the runs that a crash left open.

Recovery adds only what the rows prove.  Text that was in the buffers is gone, so
an open message keeps what had been spilled into ``message.delta`` rows and, if
that is nothing, is not kept at all.  A call that had started may have taken
effect: its closure says ``unknown``.  A run that somebody had stopped was
stopped; any other crashed.

It is idempotent: once its rows are folded in no run is open, and a second pass
adds nothing.
"""

from __future__ import annotations

from journalsim_reference.batch import Batch, Stamp, nothing_buffered
from journalsim_reference.events import Event
from journalsim_reference.state import State


def recover(state: State, stamp: Stamp, *, closures: bool) -> tuple[Event, ...]:
    """Returns the rows that end every run without a terminal, oldest first.

    Args:
        state: the journal as a new process finds it.
        stamp: of the new process; its epoch is higher than any before.
        closures: whether open calls get a closure here rather than when they are read.
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
