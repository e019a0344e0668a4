"""The invariants of partials: the text of interrupted messages, and the memory for it."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from journalsim.contract.events.journal_events import StatisticsTaken
from journalsim.contract.items import Item, Statistics
from journalsim.oracle.facts.allowances import dropped_whole, lost_by_crash
from journalsim.oracle.facts.changes import changed
from journalsim.oracle.facts.evidence import evidence, position_of, row_expected
from journalsim.oracle.facts.facts import NEVER, Facts
from journalsim.oracle.facts.records import Applied, ModelMessage, Run
from journalsim.oracle.facts.row_lines import quoted, rows_text
from journalsim.oracle.facts.run_ends import end_of, work_of
from journalsim.oracle.facts.texts import common_prefix
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant, Unsure, needs
from journalsim.oracle.invariants.ownership import left_to_others
from journalsim.oracle.invariants.verdict import Violation

# --- partial-is-prefix ---------------------------------------------------------------------------


def partial_is_prefix(facts: Facts) -> Iterator[Finding]:
    """Judges the stored text of every interrupted message."""
    for message in facts.messages.values():
        run = facts.runs.get(message.run or "")
        if run is None or run.rolled_back or message.superseded or not (message.text or message.reasoning):
            continue
        stop_at = run.stop.delivered.position if run.stop is not None else NEVER
        if message.completed_before(min(stop_at, run.end)) or facts.rewritten(run.session, message.begin):
            continue
        rows = facts.stored(message.ref)
        if left_to_others(message.ref, facts) or changed(message.ref, run.session, facts):
            continue
        if message.completed is not None and any(row.state == "completed" for row in rows):
            continue
        least = _must_store(message, run, facts)
        if not rows and not (least.text or least.reasoning):
            continue
        reason = facts.unsettled(run)
        yield Unsure(reason) if reason else _judge_partial(message, run, rows, least, facts)


def _judge_partial(message: ModelMessage, run: Run, rows: tuple[Item, ...], least: Applied, facts: Facts) -> Finding:
    emitted, thought = message.whole_text, message.whole_reasoning
    for row in rows:
        if not (emitted.startswith(row.text) and thought.startswith(row.reasoning)):
            wrong = row.text if not emitted.startswith(row.text) else row.reasoning
            promised = f"the stored text of message {message.ref} is a prefix of the emitted text {quoted(emitted)}"
            return _bad_partial(message, run, rows, facts, promised, f"the journal holds {quoted(wrong)}")
    stored = max((row.text for row in rows), key=len, default="")
    stored_thought = max((row.reasoning for row in rows), key=len, default="")
    if len(stored) >= len(least.text) and len(stored_thought) >= len(least.reasoning):
        return HELD
    seen, has = (least.text, stored) if len(stored) < len(least.text) else (least.reasoning, stored_thought)
    was = "stopped" if run.stop is not None else "interrupted"
    promised = f"{least.client} displayed {quoted(seen)} of message {message.ref} when run {run.id} was {was}"
    found = f"the journal holds {quoted(has)}" if rows else "the journal does not hold the message"
    return evolve(_bad_partial(message, run, rows, facts, promised, found, least), grade="applied")


def _bad_partial(
    message: ModelMessage,
    run: Run,
    rows: tuple[Item, ...],
    facts: Facts,
    promised: str,
    found: str,
    least: Applied | None = None,
) -> Violation:
    displayed_at = (least.position,) if least is not None else ()
    return Violation(
        invariant="partial-is-prefix",
        promised=promised,
        found=found,
        evidence=evidence(facts, run, *displayed_at, position_of(message.ref, facts)),
        expected=(row_expected(message, "interrupted", facts, least),),
        actual=rows_text(rows),
        subject=message.ref,
    )


def _interrupted_at(run: Run, facts: Facts) -> int | None:
    """Returns the position up to which displayed text must be stored, or None if there is none.

    It is the stop, or for other interruptions the announced end: clients display only text that the system received.
    """
    if run.stop is not None:
        return run.stop.delivered.position
    other = run.ended is not None and end_of(run, facts) in (("interrupted", "timed_out"), ("interrupted", "stopped"))
    if not other or facts.crashed_between(run.asked, NEVER):
        return None
    return int(run.end)


def _must_store(message: ModelMessage, run: Run, facts: Facts) -> Applied:
    """Returns the most that a client displayed of a message at its interruption; empty if no text must be stored."""
    nothing = Applied()
    stop_at = _interrupted_at(run, facts)
    if stop_at is None or message.ref in facts.unwritten:
        return nothing
    broken = [event.position for event in (message.failed, message.closed) if event is not None]
    if run.stop is None and message.closed is not None and next(work_of(run, facts, broken[-1]), None) is None:
        broken.pop()  # the interruption itself closed it
    if any(position < stop_at for position in broken) or lost_by_crash(message, run, stop_at, facts):
        return nothing
    stored = facts.stored(message.ref)
    # a lost completion is reported by no-lost-completed-message; a policy may drop the whole turn
    if not stored and (message.completed_before(run.end) or dropped_whole(message, run, facts)):
        return nothing
    best = nothing
    for seen in facts.applied(message.ref, stop_at):
        text = common_prefix(seen.text, message.whole_text)
        reasoning = common_prefix(seen.reasoning, message.whole_reasoning)
        if (len(text), len(reasoning)) > (len(best.text), len(best.reasoning)):
            best = Applied(client=seen.client, text=text, reasoning=reasoning, position=seen.position)
    return best


# --- bounded-partials ----------------------------------------------------------------------------


def bounded_partials(facts: Facts) -> Iterator[Finding]:
    """Judges every measurement of the partial cache."""
    for event in facts.of(StatisticsTaken):
        sizes: Statistics = event.data.statistics
        quiet = bool(event.data.quiet)
        limits = (
            ("messages", sizes.partial_messages, sizes.partial_messages_max),
            ("bytes", sizes.partial_bytes, sizes.partial_bytes_max),
        )
        broken = [
            f"it holds {size} {unit}, and {'nothing is active' if quiet else f'{most} is the declared bound'}"
            for unit, size, most in limits
            if (quiet and size) or (not quiet and most and size > most)
        ]
        if not broken:
            yield HELD
            continue
        yield Violation(
            invariant="bounded-partials",
            promised="the partial cache is empty when no run is active"
            if quiet
            else "the partial cache stays within its declared bound",
            found="; ".join(broken),
            evidence=(event.position,),
        )


PARTIALS: tuple[Invariant, ...] = (
    Invariant(
        id="partial-is-prefix",
        family="messages",
        statement="The stored text of an interrupted message is a prefix of the emitted text, and includes "
        "everything that a client displayed at the stop or time limit of the run.",
        judge=partial_is_prefix,
        unclaimed=needs("partials"),
        explain=Explanation(
            meaning="A user who presses Stop while reading keeps the text on the page. The stored text omits "
            "nothing at the start or in the middle; added text is reported by honest-provenance. Runs with a "
            "rollback are excluded, and after a crash only the first half of the statement is judged.",
            example='The page displays "Hello there" when Stop arrives; after a reload it reads "Hello", or nothing.',
            usual_cause="Only the completion callback writes messages, and a stopped run never reaches it; or the "
            "buffer is emptied before the stop path copies it.",
            cases=("bytedance/deer-flow#3403", "bytedance/deer-flow#3571", "bytedance/deer-flow#3036"),
        ),
    ),
    Invariant(
        id="bounded-partials",
        family="messages",
        statement="The cache of partial text stays within its declared bounds and is empty when no run is active.",
        judge=bounded_partials,
        unclaimed=needs("statistics"),
        explain=Explanation(
            meaning="A system holds the text of an open message in memory until the message is completed or "
            "interrupted. It frees the text at that moment, on every exit path, so that a thousand stopped runs cost "
            "as much memory as one.",
            example="Each stopped run leaves its last message in the buffer, and a busy server runs out of memory.",
            usual_cause="Only the completion callback clears the buffer.",
            cases=("bytedance/deer-flow#3039", "n8n-io/n8n#33335"),
        ),
    ),
)
