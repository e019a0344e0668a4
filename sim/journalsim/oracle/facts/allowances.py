"""The outcomes that a history allows.

A race may have several correct outcomes.  If a stop and a completion tie, either
may win.  If the server crashes between a hand-over and its acknowledgement, the
message may be stored or not.  The judges of messages compute the allowed outcomes
here before they report a violation.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from attrs import frozen

from journalsim.contract.events.journal_events import JournalRead, StoreAcknowledged, StoreFailed
from journalsim.contract.events.server_events import (
    FramePublished,
    MaintenanceDone,
    ServerCrashed,
    ServerShutDown,
    StopDelivered,
)
from journalsim.contract.items import Item
from journalsim.history import Event, EventOf
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.losses import end_was_lost
from journalsim.oracle.facts.records import ModelMessage, Run
from journalsim.oracle.facts.run_ends import end_of, readers_gone, run_of_row, work_of

EITHER = ("completed", "interrupted")
COMPLETED = ("completed",)
INTERRUPTED = ("interrupted",)


def allowed_states(message: ModelMessage, facts: Facts) -> tuple[str, ...]:
    """Returns the states that the row of a model message may have.

    The first durable terminal of the run decides.  The history shows when the terminal
    was announced, not when it became durable, so a completion between the stop and the
    announcement may lie on either side.
    """
    run = facts.runs.get(message.run or "")
    if message.completed is None:
        return INTERRUPTED
    handed_over = message.completed.position
    if run is None:
        return EITHER if message.late else COMPLETED
    if handed_over > run.end:
        return INTERRUPTED if facts.history.capabilities.terminals else EITHER
    if message.late or facts.crashed_between(handed_over, run.end):
        return EITHER
    if run.session in facts.final_reads and end_was_lost(run, facts):
        return EITHER  # the crash may have taken the completion too: reported by acknowledged-is-durable
    if run.stop is not None:
        return COMPLETED if handed_over < run.stop.delivered.position else EITHER
    # Something else may have interrupted the run at an unknown moment;
    # but a run that continues has received the completion.
    if end_of(run, facts)[0] == "interrupted" and next(work_of(run, facts, handed_over), None) is None:
        return EITHER
    return COMPLETED


def excused(message: ModelMessage, run: Run, facts: Facts) -> bool:
    """Returns True if the history explains why a completed message is missing from the journal."""
    assert message.completed is not None
    bare = not (message.whole_text or message.whole_reasoning)
    return (
        message.superseded
        or run.rolled_back
        or message.ref in facts.unwritten
        or facts.rewritten(run.session, message.completed.position)
        or (bare and not facts.history.capabilities.tools)
    )


def lost_by_crash(message: ModelMessage, run: Run, since: int, facts: Facts) -> bool:
    """Returns True if a crash after ``since`` explains why a message is missing.

    Before the announced end of its run a message may be lost.  The loss of a message
    that was acknowledged before the crash is reported by acknowledged-is-durable.
    """
    if facts.crashed_between(since, run.end):
        return True
    later = [position for position in facts.crashes if position > since]
    return bool(later) and _acknowledged(message, later[-1], facts)


def _acknowledged(message: ModelMessage, before: int, facts: Facts) -> bool:
    frames = (
        event.data.message
        for event in facts.of(FramePublished)
        if event.position < before and event.data.frame in ("message.completed", "message.interrupted")
    )
    if any(facts.displayed_as.get(journal_id or "") == message.ref for journal_id in frames):
        return True
    seen = [
        ref for reads in facts.reads.values() for read in reads if read.position < before for ref in facts.refs_in(read)
    ]
    stored = [event.data.item for event in facts.of(StoreAcknowledged) if event.position < before]
    session = facts.runs[message.run or ""].session
    return message.ref in (*seen, *facts.refs(stored, session))


def dropped_whole(message: ModelMessage, run: Run, facts: Facts) -> bool:
    """Returns True if an adapter with ``atomic_turn`` dropped the whole turn of this message.

    It may drop only the turn that was open: the last turn of the run.
    """
    if not facts.history.capabilities.atomic_turn or end_of(run, facts)[0] != "interrupted":
        return False
    own = [other for other in facts.messages.values() if other.run == run.id]
    if own[-1].turn != message.turn:
        return False
    turn = [other for other in own if other.turn == message.turn]
    calls = [call.call_id for other in turn for call in other.calls]
    return not any(facts.stored(other.ref) for other in turn) and not any(c in facts.call_rows for c in calls)


@frozen(kw_only=True)
class Taken:
    """A row that a read shows before a reader detached, and the next read does not show."""

    item: Item
    session: str
    before: EventOf[JournalRead]
    away: Event
    after: EventOf[JournalRead]


_EXCUSES = (StopDelivered, ServerCrashed, ServerShutDown, MaintenanceDone, StoreFailed)


def taken_by_disconnect(facts: Facts) -> Iterator[Taken]:
    """Yields rows that vanished or changed between two reads in which only readers detached.

    Open and interrupted messages may still be completed, so only finished rows count.
    """
    aways = readers_gone(facts)
    excuses = [event.position for kind in _EXCUSES for event in facts.of(kind)]
    for session, reads in facts.reads.items():
        for before, after in pairwise(reads):
            between = range(before.position, after.position)
            away = next((event for event in aways if event.position in between), None)
            if (
                away is None
                or facts.rewritten(session, before.position)
                or any(position in between for position in excuses)
            ):
                continue
            remaining = [_content(item) for item in facts.items(after)]
            for item, ref in zip(facts.items(before), facts.refs_in(before), strict=True):
                run = facts.runs.get(run_of_row(item, ref, facts) or "")
                if run is not None and run.rolled_back:
                    continue
                if item.state != "open" and item.state != "interrupted" and _content(item) not in remaining:
                    yield Taken(item=item, session=session, before=before, away=away, after=after)


def _content(item: Item) -> tuple[object, ...]:
    # not the whole item: no-clobber compares metadata, and the state of a request changes when it waits for a user
    state = "" if item.kind == "tool_call" else item.state
    return (item.kind, item.id, item.text, item.call_id, item.arguments, state)
