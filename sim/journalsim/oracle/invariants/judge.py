"""All invariants, and one call that judges a history by them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from journalsim.history import History
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.invariants.attempts import RETRY_IS_ATOMIC
from journalsim.oracle.invariants.clobber import NO_CLOBBER
from journalsim.oracle.invariants.contexts import STORE_EQUALS_CONTEXT
from journalsim.oracle.invariants.durability import DURABILITY
from journalsim.oracle.invariants.executions import EXECUTED_TOOL_RECORDED
from journalsim.oracle.invariants.fencing import FENCED_WRITER
from journalsim.oracle.invariants.harness import HARNESS
from journalsim.oracle.invariants.identity import STABLE_IDENTITY
from journalsim.oracle.invariants.invariant import Invariant, verdict
from journalsim.oracle.invariants.messages import MESSAGES
from journalsim.oracle.invariants.ordering import ORDERED_HISTORY
from journalsim.oracle.invariants.partials import PARTIALS
from journalsim.oracle.invariants.requests import ONE_REQUEST_ONE_EFFECT, PROMPT_FIRST
from journalsim.oracle.invariants.row_judges import HONEST_PROVENANCE, NO_EMPTY_MESSAGE
from journalsim.oracle.invariants.runs import RUNS
from journalsim.oracle.invariants.stops import STOPS
from journalsim.oracle.invariants.stream_rules import (
    BOUNDED_STREAM_BUFFERS,
    HONEST_CURSOR,
    LEGAL_WIRE,
    READERS_ARE_PURE,
)
from journalsim.oracle.invariants.stream_views import REPLAY_EQUALS_LIVE, SINGLE_VISIBLE_SOURCE, STREAM_TERMINATES
from journalsim.oracle.invariants.tools import TOOLS
from journalsim.oracle.invariants.verdict import Verdict

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
        history: the history of one case.
        exempt: ids to skip.
        only: ids to judge; None for all.
        facts: the facts of this history, if the caller has them already.

    Returns:
        One verdict per invariant that was judged, in the order of :data:`INVARIANTS`.
    """
    known = facts or Facts(history)
    asked = (i for i in INVARIANTS.values() if i.id not in exempt and (only is None or i.id in only))
    return tuple(verdict(invariant, known) for invariant in asked)
