"""The zoo: known bugs of public systems, each a small variation of the reference journal.

Every entry must trip the invariants that it declares and no others; that is how
we know that a check can see what it claims to see.
"""

from __future__ import annotations

from reference_impl.bugs.agents import AGENTS
from reference_impl.bugs.approvals import APPROVALS
from reference_impl.bugs.bug import Bug
from reference_impl.bugs.completion import COMPLETION
from reference_impl.bugs.harness import HARNESS
from reference_impl.bugs.runs import RUNS
from reference_impl.bugs.stop import STOP
from reference_impl.bugs.tools import TOOLS

BUGS: tuple[Bug, ...] = (*STOP, *COMPLETION, *TOOLS, *APPROVALS, *AGENTS, *RUNS, *HARNESS)

__all__ = ["BUGS", "Bug"]
