"""All invariants, and one call that asks them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sim.history import History
from sim.invariants.attempts import RETRY_IS_ATOMIC
from sim.invariants.clobber import NO_CLOBBER
from sim.invariants.contexts import STORE_EQUALS_CONTEXT
from sim.invariants.durability import DURABILITY
from sim.invariants.executions import EXECUTED_TOOL_RECORDED
from sim.invariants.facts import Facts
from sim.invariants.fencing import FENCED_WRITER
from sim.invariants.harness import HARNESS
from sim.invariants.identity import STABLE_IDENTITY
from sim.invariants.invariant import Invariant, verdict
from sim.invariants.messages import MESSAGES
from sim.invariants.ordering import ORDERED_HISTORY
from sim.invariants.partials import PARTIALS
from sim.invariants.requests import ONE_REQUEST_ONE_EFFECT, PROMPT_FIRST
from sim.invariants.row_judges import HONEST_PROVENANCE, NO_EMPTY_MESSAGE
from sim.invariants.runs import RUNS
from sim.invariants.stops import STOPS
from sim.invariants.stream_rules import BOUNDED_STREAM_BUFFERS, HONEST_CURSOR, LEGAL_WIRE, READERS_ARE_PURE
from sim.invariants.stream_views import REPLAY_EQUALS_LIVE, SINGLE_VISIBLE_SOURCE, STREAM_TERMINATES
from sim.invariants.tools import TOOLS
from sim.invariants.verdict import Verdict

_FAMILIES: tuple[tuple[Invariant, ...], ...] = (
    (*MESSAGES, *PARTIALS, NO_EMPTY_MESSAGE, STABLE_IDENTITY),
    (*TOOLS, EXECUTED_TOOL_RECORDED),
    (*RUNS, *STOPS, FENCED_WRITER, RETRY_IS_ATOMIC, ONE_REQUEST_ONE_EFFECT),
    (HONEST_PROVENANCE, NO_CLOBBER, ORDERED_HISTORY, PROMPT_FIRST, STORE_EQUALS_CONTEXT),
    DURABILITY,
    (REPLAY_EQUALS_LIVE, HONEST_CURSOR, STREAM_TERMINATES, SINGLE_VISIBLE_SOURCE),
    (READERS_ARE_PURE, BOUNDED_STREAM_BUFFERS, LEGAL_WIRE),
    HARNESS,
)

INVARIANTS: Mapping[str, Invariant] = {invariant.id: invariant for family in _FAMILIES for invariant in family}
"""Every invariant by id, in the order in which reports list them."""


def check_history(
    history: History,
    exempt: Collection[str] = (),
    only: Collection[str] | None = None,
    facts: Facts | None = None,
) -> tuple[Verdict, ...]:
    """Judges one history.

    Args:
        history: what happened in one case.
        exempt: ids that are not asked.
        only: ids that are asked; None asks all.
        facts: of this history, when the caller has them already.

    Returns:
        One verdict per invariant that was asked, in the order of :data:`INVARIANTS`.
    """
    known = facts or Facts(history)
    asked = (i for i in INVARIANTS.values() if i.id not in exempt and (only is None or i.id in only))
    return tuple(verdict(invariant, known) for invariant in asked)
