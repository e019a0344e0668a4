"""The zoo: known bugs of public systems, each a small variation of the reference journal.

Every entry must trip the invariants that it declares and no others; that is how
we know that a check can see what it claims to see.
"""

from __future__ import annotations

from reference_impl.bugs.agents import AGENTS
from reference_impl.bugs.approvals import APPROVALS
from reference_impl.bugs.attaching import ATTACHING
from reference_impl.bugs.bubbles import BUBBLES
from reference_impl.bugs.bug import Bug
from reference_impl.bugs.clocks import CLOCKS
from reference_impl.bugs.closures import CLOSED
from reference_impl.bugs.completion import COMPLETION
from reference_impl.bugs.context import CONTEXT
from reference_impl.bugs.crashes import CRASHES
from reference_impl.bugs.early_stops import EARLY_STOPS
from reference_impl.bugs.failing_disks import FAILING_DISKS
from reference_impl.bugs.fencing import FENCING
from reference_impl.bugs.harness import HARNESS
from reference_impl.bugs.identity import IDENTITY
from reference_impl.bugs.kept import KEPT
from reference_impl.bugs.log_files import LOG_FILES
from reference_impl.bugs.markers import MARKERS
from reference_impl.bugs.partial_texts import PARTIAL_TEXTS
from reference_impl.bugs.prompts import PROMPTS
from reference_impl.bugs.replays import REPLAYS
from reference_impl.bugs.rewrites import REWRITES
from reference_impl.bugs.runs import RUNS
from reference_impl.bugs.stop import STOP
from reference_impl.bugs.stream_bytes import STREAM_BYTES
from reference_impl.bugs.stream_ends import STREAM_ENDS
from reference_impl.bugs.stream_ids import STREAM_IDS
from reference_impl.bugs.synthetic import SYNTHETIC
from reference_impl.bugs.tools import TOOLS

BUGS: tuple[Bug, ...] = (
    *STOP,
    *EARLY_STOPS,
    *PARTIAL_TEXTS,
    *COMPLETION,
    *IDENTITY,
    *TOOLS,
    *CONTEXT,
    *APPROVALS,
    *AGENTS,
    *RUNS,
    *REWRITES,
    *HARNESS,
    *MARKERS,
    *CLOSED,
    *SYNTHETIC,
    *KEPT,
    *CLOCKS,
    *FENCING,
    *PROMPTS,
    *CRASHES,
    *STREAM_BYTES,
    *STREAM_IDS,
    *STREAM_ENDS,
    *LOG_FILES,
    *FAILING_DISKS,
    *ATTACHING,
    *REPLAYS,
    *BUBBLES,
)

__all__ = ["BUGS", "Bug"]
