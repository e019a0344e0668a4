"""What crashes took, as far as several judges must agree on whose business it is.

A prompt that a kill took is for prompt-first if the model had been called for it;
one that a power cut took is for acknowledged-is-durable.  A terminal that was
announced before a crash and is not there after it is for the latter as well.
"""

from __future__ import annotations

from sim.history import Event
from sim.invariants.facts import NEVER, Facts
from sim.invariants.records import Run, UserMessage


def power_cut_between(begin: float, end: float, facts: Facts) -> bool:
    """Whether the power failed between two positions."""
    return any(begin < event.position < end and "lose" in event.data for event in facts.of("server.crashed"))


def prompt_was_lost(user: UserMessage, run: Run, facts: Facts) -> bool:
    """Whether an accepted message is missing because a crash took it, and that is for the judges of durability."""
    accepted = run.accepted.position
    if facts.kept(user.ref) or not facts.crashed_between(accepted, NEVER):
        return False
    called = next((call for call in facts.calls if call.run == run.id), None)
    return called is None or power_cut_between(called.position, NEVER, facts)


def end_was_lost(run: Run, facts: Facts) -> bool:
    """Whether the end of a run was announced before a crash, and the journal does not have it."""
    if run.ended is None or not facts.crashed_between(run.end, NEVER):
        return False
    data = run.ended.data
    markers = facts.markers.get(run.id, ())
    says = (data.get("state"), data.get("cause"))
    return not any((marker.state, marker.cause) == says or says == (None, None) for marker in markers)


def will_not_start(facts: Facts) -> Event | None:
    """Returns the error with which the server refuses to start after the last crash, if it never comes up."""
    last = facts.crashes[-1]
    if any(event.position > last for event in facts.of("server.started")):
        return None
    refusals = [e for e in facts.of("adapter.raised") if e.data["verb"] == "setup" and e.position > last]
    return refusals[-1] if refusals else None
