"""The invariant ``no-clobber``: only a rewrite removes or changes rows."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.events.model_events import ModelCalled
from journalsim.contract.events.server_events import MaintenanceDone
from journalsim.contract.items import Item
from journalsim.history import Event, EventOf
from journalsim.oracle.facts.changes import Change, changes
from journalsim.oracle.facts.evidence import evidence, row_expected
from journalsim.oracle.facts.facts import NEVER, REWRITES, Facts
from journalsim.oracle.facts.row_lines import row_text, rows_text
from journalsim.oracle.invariants.fencing import is_fencing
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant
from journalsim.oracle.invariants.verdict import Violation


def no_clobber(facts: Facts) -> Iterator[Finding]:
    """Judges rows of two reads, annotated metadata, and messages that arrived during a rewrite."""
    found = [change for change in facts.once(changes).values() if not is_fencing(change)]
    yield from (_changed(change, facts) for change in found)
    if not found:
        yield from (HELD for reads in facts.reads.values() for _ in reads[1:])
    yield from _judge_metadata(facts)
    for event in facts.of(MaintenanceDone):
        if event.data.verb == "compact":
            yield from _judge_rewrite(event, facts)


def _changed(change: Change, facts: Facts) -> Violation:
    item, now = change.item, change.now
    return Violation(
        invariant="no-clobber",
        promised=f"a row of run {change.run.id} that the journal held after the end of the run stays unchanged",
        found="the row is gone" if now is None else f"the row has changed{_flags(item, now)}",
        evidence=evidence(facts, change.run, change.before.position, change.after.position),
        expected=(row_text(item),),
        actual=() if now is None else (row_text(now),),
        subject=change.subject,
    )


def _flags(item: Item, now: Item) -> str:
    lost = [f"{key}: {value}" for key, value in item.metadata.items() if now.metadata.get(key) != value]
    return f": it has lost {', '.join(lost)}" if lost else ""


# --- metadata ------------------------------------------------------------------------------------


def _judge_metadata(facts: Facts) -> Iterator[Finding]:
    """Judges the flags of every annotated message whose annotations agree."""
    wanted: dict[tuple[str, str], tuple[list[object], EventOf[MaintenanceDone]]] = {}
    for event in facts.of(MaintenanceDone):
        ref = _annotated(event, facts) if event.data.verb == "annotate" else None
        for key, value in event.data.metadata.items() if ref is not None else ():
            wanted.setdefault((str(ref), key), ([], event))[0].append(value)
    for (ref, key), (values, first) in wanted.items():
        rows = facts.stored(ref)
        if not rows or any(value != values[0] for value in values) or facts.crashed_between(first.position, NEVER):
            continue
        if any(row.metadata.get(key) == values[0] for row in rows):
            yield HELD
            continue
        yield Violation(
            invariant="no-clobber",
            promised=f"{ref} was annotated with {key}: {values[0]}",
            found=f"the journal holds {key}: {rows[-1].metadata.get(key)}",
            evidence=evidence(facts, facts.runs.get(rows[-1].run_id or ""), first.position),
            actual=rows_text(rows),
            subject=ref,
        )


def _annotated(event: EventOf[MaintenanceDone], facts: Facts) -> str | None:
    """Returns the message of an annotation: the meaning of its name in the read of the journal before it."""
    reads = facts.reads.get(facts.session(event), ())
    read = next((r for r in reversed(reads) if r.position < event.position and r.data.reason == "annotate"), None)
    name = event.data.item or ""
    if read is None:
        return None
    pairs = tuple(zip(facts.items(read), facts.refs_in(read), strict=True))
    if name.startswith("user"):
        people = [ref for item, ref in pairs if item.kind == "user"]
        number = int(name.removeprefix("user") or 0)
        return people[number - 1] if 0 < number <= len(people) else None
    alias = f"msg-{name.removeprefix('model.')}"
    return next((ref for item, ref in pairs if alias in item.aliases), None)


# --- rewrites ------------------------------------------------------------------------------------


def _judge_rewrite(done: Event, facts: Facts) -> Iterator[Finding]:
    """Judges messages that arrived while a summary was made: the summary lacks them, so they stay."""
    session = facts.session(done)
    calls = (c for c in facts.of(ModelCalled) if c.data.purpose == "compaction" and c.position < done.position)
    begun = next((call for call in reversed(tuple(calls)) if facts.session(call) == session), None)
    if begun is None or session not in facts.final_reads:
        return
    later = any(e.position > done.position and e.data.verb in REWRITES for e in facts.of(MaintenanceDone))
    if later or facts.crashed_between(begun.position, NEVER):
        return
    for ref, position in _new(session, facts):
        if begun.position < position < done.position:
            yield HELD if facts.stored(ref) else _rewritten(ref, begun, done, facts)


def _new(session: str, facts: Facts) -> Iterator[tuple[str, int]]:
    """Yields new messages of a session with their positions, without messages that may be missing for other reasons."""
    for user in facts.users.values():
        run = facts.runs.get(user.run or "")
        if run is not None and run.session == session and not (run.rolled_back or user.ref in facts.unwritten):
            yield user.ref, run.asked
    for message in facts.messages.values():
        run = facts.runs.get(message.run or "")
        if run is not None and run.session == session and message.completed_before(run.end) and not message.empty:
            assert message.completed is not None
            if not (message.superseded or run.rolled_back or message.ref in facts.unwritten):
                yield message.ref, message.completed.position


def _rewritten(ref: str, begun: Event, done: Event, facts: Facts) -> Violation:
    user = facts.users.get(ref)
    row = row_expected(facts.messages[ref], "completed", facts) if user is None else None
    return Violation(
        invariant="no-clobber",
        promised=f"{ref} arrived while the summary was made, and the summary does not include it",
        found="the rewrite removed it",
        evidence=evidence(facts, None, begun.position, done.position),
        expected=(row or row_text(Item(kind="user", text=user.text if user is not None else "")),),
        subject=ref,
    )


NO_CLOBBER = Invariant(
    id="no-clobber",
    family="truth",
    statement="Only a rewrite removes or changes rows and their flags, and only rows that it was based on.",
    judge=no_clobber,
    explain=Explanation(
        meaning="A row that the journal held after the end of its run stays, with the same text and flags, whatever "
        "later runs do; a flag that maintenance set survives every stop. A compaction replaces the rows of its "
        "summary, and no row that arrived during its work. Losses during the run of a row are reported by other "
        "invariants.",
        example="Old messages are marked as hidden from the model; Stop makes the server write back its own, older "
        "copy of the session, and the model receives them again.",
        usual_cause="The session is stored by deleting all rows and inserting a copy from memory, without a check of "
        "the revision that the copy is based on.",
        cases=("aaif-goose/goose#7785", "aaif-goose/goose#7827", "hermes-webui#4205", "hermes-webui#6554"),
    ),
)
