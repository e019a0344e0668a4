"""The zoo: seeded bugs of public systems, each a small variation of the reference journal.

Every entry must trip the invariants that it declares and no others; that proves that a check sees what it claims to
see.
"""

from __future__ import annotations

from journalsim_reference.bugs.agents import AGENTS
from journalsim_reference.bugs.approvals import APPROVALS
from journalsim_reference.bugs.attaching import ATTACHING
from journalsim_reference.bugs.bubbles import BUBBLES
from journalsim_reference.bugs.bug import Bug
from journalsim_reference.bugs.clocks import CLOCKS
from journalsim_reference.bugs.closures import CLOSED
from journalsim_reference.bugs.completion import COMPLETION
from journalsim_reference.bugs.context import CONTEXT
from journalsim_reference.bugs.crashes import CRASHES
from journalsim_reference.bugs.early_stops import EARLY_STOPS
from journalsim_reference.bugs.failing_disks import FAILING_DISKS
from journalsim_reference.bugs.fencing import FENCING
from journalsim_reference.bugs.harness import HARNESS
from journalsim_reference.bugs.identity import IDENTITY
from journalsim_reference.bugs.interrupted_texts import INTERRUPTED_TEXTS
from journalsim_reference.bugs.log_files import LOG_FILES
from journalsim_reference.bugs.markers import MARKERS
from journalsim_reference.bugs.partial_texts import PARTIAL_TEXTS
from journalsim_reference.bugs.prompts import PROMPTS
from journalsim_reference.bugs.replays import REPLAYS
from journalsim_reference.bugs.rewrites import REWRITES
from journalsim_reference.bugs.runs import RUNS
from journalsim_reference.bugs.stop import STOP
from journalsim_reference.bugs.stream_bytes import STREAM_BYTES
from journalsim_reference.bugs.stream_ends import STREAM_ENDS
from journalsim_reference.bugs.stream_ids import STREAM_IDS
from journalsim_reference.bugs.synthetic import SYNTHETIC
from journalsim_reference.bugs.tools import TOOLS

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
    *INTERRUPTED_TEXTS,
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
