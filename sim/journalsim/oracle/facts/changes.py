"""Rows that an earlier read shows and the final read does not show, or shows differently.

Two reads of one session are compared: a row of a run that ended before the earlier
read must be unchanged in the final read.  Rewrites, rollbacks, retries and crashes
are excused.  Losses during an active run are reported by the invariants about
messages, tools and terminals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, frozen

from journalsim.contract.events.journal_events import JournalRead
from journalsim.contract.events.server_events import FramePublished, MaintenanceDone
from journalsim.contract.items import Item
from journalsim.history import Event, EventOf
from journalsim.oracle.facts.allowances import dropped_whole, taken_by_disconnect
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.item_keys import FLAG, key_of
from journalsim.oracle.facts.records import ModelMessage, Run
from journalsim.oracle.facts.run_ends import cancelled_by_start, end_of, run_of_row

DERIVED = (FLAG, "repaired")
"""Metadata about the origin of a row; it may disappear when the row changes."""


@frozen(kw_only=True)
class Change:
    """One row that is gone or changed.

    Attributes:
        item: the row before.
        now: the row in the final read, or None.
        subject: message, call or run of the row.
        run: the run of the row.
        before: the last read with the row, or the frame that announced it.
        after: the final read.
        by: the run whose late end explains the change, or None.
    """

    item: Item
    now: Item | None
    subject: str
    run: Run
    before: Event
    after: Event
    by: Run | None = None


def changes(facts: Facts) -> Mapping[str, Change]:
    """Returns rows that are gone or changed, by the reference of their message, else by kind and call or run."""
    found: dict[str, Change] = {}
    for session, reads in facts.reads.items():
        own = dict(_changes_in(session, reads, facts)) if len(reads) > 1 else {}
        own |= {key: change for key, change in _unannounced(session, facts) if key not in own}
        found |= {key: evolve(change, by=_culprit(change, own, facts)) for key, change in own.items()}
    return found


def changed(key: str, session: str, facts: Facts) -> bool:
    """Returns True if the row changed, or if any row of its session is gone: then only that loss is reported."""
    found = facts.once(changes)
    if not found:
        return False
    return key in found or any(change.now is None and change.run.session == session for change in found.values())


def _changes_in(session: str, reads: Sequence[EventOf[JournalRead]], facts: Facts) -> Iterator[tuple[str, Change]]:
    final = reads[-1]
    rows = facts.keyed(final)
    same = {id(item): True for item in facts.items(final)}
    known: dict[str, bool] = {}
    for read in reversed(reads[:-1]):
        if facts.rewritten(session, read.position) or facts.crashed_between(read.position, final.position):
            return
        if all(id(item) in same for item in facts.items(read)):
            continue
        annotated = any(read.position < event.position for event in facts.of(MaintenanceDone))
        for item, ref in zip(facts.items(read), facts.refs_in(read), strict=True):
            key = key_of(item, ref)
            stranger = ref is None and item.kind in ("user", "assistant", "summary")
            if stranger or key in known or id(item) in same:
                continue
            run = _settled(item, ref, read, facts)
            now = rows.get(key, ())
            if run is None or any(_unchanged(item, row, annotated) for row in now) or _is_taken(item, facts):
                continue
            known[key] = True
            yield (
                key,
                Change(
                    item=item,
                    now=now[0] if now else None,
                    subject=ref or item.call_id or run.id,
                    run=run,
                    before=read,
                    after=final,
                ),
            )


def _settled(item: Item, ref: str | None, read: EventOf[JournalRead], facts: Facts) -> Run | None:
    """Returns the run of a row that must stay unchanged; None if the row may still change."""
    run = facts.runs.get(run_of_row(item, ref, facts) or "")
    if run is None or run.rolled_back or item.state == "open" or "repaired" in item.metadata:
        return None
    over = run.end < facts.begun(read) or any(i.kind == "marker" and i.run_id == run.id for i in facts.items(read))
    tool = facts.tools.get(item.call_id or "")
    message = facts.messages.get(ref or "") or facts.messages.get((tool and tool.message) or "")
    replaced = message is not None and (message.superseded or dropped_whole(message, run, facts))
    unwritten = ref in facts.unwritten or any(i.call_id == item.call_id for i in facts.failed_appends if i.call_id)
    return run if over and not replaced and not unwritten else None


def _unchanged(item: Item, row: Item, annotated: bool) -> bool:
    flags = (key for key in item.metadata if key not in DERIVED)
    if not annotated and any(row.metadata.get(key) != item.metadata[key] for key in flags):
        return False
    # an interrupted message may still be completed: judged by completed-wins
    return (item.kind == "assistant" and item.state == "interrupted") or _content(item) == _content(row)


def _content(item: Item) -> tuple[object, ...]:
    return (item.text, item.reasoning, item.name, item.arguments, item.state, item.outcome, item.cause)


def _is_taken(item: Item, facts: Facts) -> bool:
    if facts.history.policies.get("disconnect") == "cancel":
        return False
    return any(taken.item is item for taken in taken_by_disconnect(facts))


# --- the run that caused a change ----------------------------------------------------------------


def _unannounced(session: str, facts: Facts) -> Iterator[tuple[str, Change]]:
    """Yields completed messages of unstopped runs that a frame announced with an event id, and that have no row.

    Only after a run that was stopped or cancelled: otherwise a removed row looks like a row
    that was never written, which no-lost-completed-message reports.
    """
    if not any(run.session == session and (run.stops or cancelled_by_start(run, facts)) for run in facts.runs.values()):
        return
    for message in facts.messages.values():
        run = facts.runs.get(message.run or "")
        if run is None or run.session != session or facts.stored(message.ref) or not message.completed_before(run.end):
            continue
        final = facts.final_reads[session]
        if (
            not message.whole_text
            or _alike(message, facts)
            or facts.rewritten(session, run.asked)
            or message.superseded
        ):
            continue
        frame = _announced(message, facts)
        item = Item(kind="assistant", text=message.whole_text, run_id=run.id, aliases=message.provider_ids)
        change = Change(item=item, now=None, subject=message.ref, run=run, before=frame or final, after=final)
        if frame is not None and _culprit(change, {}, facts) is not None:
            yield message.ref, change


def _announced(message: ModelMessage, facts: Facts) -> Event | None:
    for event in facts.of(FramePublished):
        numbered = event.data.frame == "message.completed" and event.data.event_id is not None
        if numbered and facts.displayed_as.get(event.data.message or "") == message.ref:
            return event
    return None


def _alike(message: ModelMessage, facts: Facts) -> bool:
    others = (other for other in facts.messages.values() if other is not message)
    return any(other.whole_text == message.whole_text for other in others)


def _culprit(change: Change, own: Mapping[str, Change], facts: Facts) -> Run | None:
    """Returns the run that explains a change by writing its own copy of the session late, or None.

    This run was stopped, by a user or by a newer message, started before the victim, and has all its own
    rows; the victim completed without a stop.
    """
    victim = change.run
    if victim.stops or end_of(victim, facts)[0] != "completed" or facts.crashed_between(0, change.after.position):
        return None
    for run in facts.runs.values():
        before = run.session == victim.session and run.asked < victim.asked
        if before and _stopped(run, facts) and all(other.run is not run for other in own.values()):
            return run
    return None


def _stopped(run: Run, facts: Facts) -> bool:
    return run.stop is not None or (end_of(run, facts)[0] == "interrupted" and cancelled_by_start(run, facts))
