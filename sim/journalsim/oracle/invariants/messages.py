"""The invariants of single messages: stored, stored once, in the right state, with the right text."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.items import Item
from journalsim.oracle.facts.allowances import (
    allowed_states,
    dropped_whole,
    excused,
    lost_by_crash,
    taken_by_disconnect,
)
from journalsim.oracle.facts.changes import changed
from journalsim.oracle.facts.evidence import evidence, moment, position_of, row_expected
from journalsim.oracle.facts.facts import NEVER, Facts
from journalsim.oracle.facts.records import ModelMessage, Run, UserMessage
from journalsim.oracle.facts.row_lines import quoted, row_text, rows_text
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant, Unsure
from journalsim.oracle.invariants.lattice import grade_of_message, with_grade
from journalsim.oracle.invariants.ownership import left_to_others, standing
from journalsim.oracle.invariants.verdict import Violation

# --- no-lost-completed-message -------------------------------------------------------------------


def no_lost_completed_message(facts: Facts) -> Iterator[Finding]:
    """Judges every completed model message and every accepted user message."""
    for user in facts.users.values():
        if user.run is not None:
            yield from _lost_user_message(user, facts.runs[user.run], facts)
    for message in facts.messages.values():
        run = facts.runs.get(message.run or "")
        if run is None or not message.completed_before(run.end) or message.empty or excused(message, run, facts):
            continue
        yield from _lost_model_message(message, run, facts)


def _lost_user_message(user: UserMessage, run: Run, facts: Facts) -> Iterator[Finding]:
    assert user.accepted is not None
    accepted, run_id = user.accepted.position, run.id
    if run.rolled_back or user.ref in facts.unwritten or facts.rewritten(run.session, run.asked):
        return
    reason = facts.unsettled(run)
    if facts.stored(user.ref):
        yield HELD
    elif reason:
        yield Unsure(reason)
    elif not (
        facts.crashed_between(accepted, NEVER)
        or changed(user.ref, run.session, facts)
        or _taken(Item(kind="user", text=user.text), facts)
    ):
        grade, who = grade_of_message(user.ref, facts)
        yield Violation(
            invariant="no-lost-completed-message",
            promised=f"{user.ref} {quoted(user.text)} was accepted for run {run_id} at {moment(accepted, facts)}",
            found=with_grade(f"the journal does not hold {user.ref} after the run", grade, who),
            evidence=evidence(facts, run, accepted),
            expected=(row_text(Item(kind="user", text=user.text, run_id=run.id)),),
            subject=user.ref,
            grade=grade,
        )


def _lost_model_message(message: ModelMessage, run: Run, facts: Facts) -> Iterator[Finding]:
    assert message.completed is not None
    done = message.completed.position
    rows = facts.stored(message.ref)
    if left_to_others(message.ref, facts) or changed(message.ref, run.session, facts):
        return
    bare = not (message.whole_text or message.whole_reasoning)
    calls = tuple(row for call in message.calls for row in facts.call_rows.get(call.call_id, ()))
    reason = facts.unsettled(run)
    if bare and not calls and run.stop is not None and run.stop.delivered.position < done:
        return  # the stop may have cut the call in half, and half a call is not stored
    if not rows and not (bare and calls):
        if reason:
            yield Unsure(reason)
        elif not (
            lost_by_crash(message, run, done, facts)
            or dropped_whole(message, run, facts)
            or _taken(Item(kind="assistant", text=message.whole_text), facts)
        ):
            yield _lost(message, run, facts, "the journal does not hold it after the run", calls)
        return
    short = [row for row in rows if row.state == "completed" and message.whole_text not in row.text]
    if len(short) == len(rows) and short:
        yield _lost(message, run, facts, "the journal holds only part of it after the run", rows)
    else:
        yield HELD


def _lost(message: ModelMessage, run: Run, facts: Facts, found: str, actual: tuple[Item, ...]) -> Violation:
    assert message.completed is not None
    done = message.completed.position
    grade, who = grade_of_message(message.ref, facts)
    return Violation(
        invariant="no-lost-completed-message",
        promised=f"message {message.ref} {quoted(message.whole_text)} of run {run.id} completed "
        f"at {moment(done, facts)}, before the end of the run",
        found=with_grade(found, grade, who),
        evidence=evidence(facts, run, done),
        expected=(row_expected(message, "completed", facts),),
        actual=rows_text(actual),
        subject=message.ref,
        grade=grade,
    )


def _taken(item: Item, facts: Facts) -> bool:
    return any(t.item.kind == item.kind and t.item.text == item.text for t in taken_by_disconnect(facts))


# --- no-duplicate-message ------------------------------------------------------------------------


def no_duplicate_message(facts: Facts) -> Iterator[Finding]:
    """Judges every message with a row; with request keys, one-request-one-effect judges user messages."""
    repeats_allowed = () if facts.history.capabilities.dedup_by_id else facts.unwritten
    by_key = facts.history.capabilities.idempotent_start
    for ref in facts.rows:
        user = facts.users.get(ref)
        # after an append with an unknown outcome the driver must retry
        if ref in repeats_allowed or (user is not None and by_key):
            continue
        rows = standing(ref, facts)
        states = [row.state for row in rows]
        if len(rows) < 2 or (user is None and len(set(states)) == len(states)):
            yield HELD
            continue
        said = f"was sent once, with key {user.key}" if user is not None else "was emitted once by the model"
        run_id = user.run if user is not None else facts.messages[ref].run
        run = facts.runs.get(run_id or "")
        yield Violation(
            invariant="no-duplicate-message",
            promised=f"message {ref} {said}",
            found=f"the journal holds it {len(rows)} times",
            evidence=evidence(facts, run, position_of(ref, facts)),
            expected=rows_text(rows[:1]),
            actual=rows_text(rows),
            subject=ref,
        )


# --- completed-wins ------------------------------------------------------------------------------


def completed_wins(facts: Facts) -> Iterator[Finding]:
    """Judges the state of every model message with a row."""
    for message in facts.messages.values():
        rows = standing(message.ref, facts)
        states = list(dict.fromkeys(row.state for row in rows))
        if not rows or message.superseded or (message.completed is None and len(states) == 1):
            continue
        run = facts.runs.get(message.run or "")
        if run is not None and changed(message.ref, run.session, facts):
            continue
        allowed = allowed_states(message, facts)
        reason = "" if run is None else facts.unsettled(run)
        if len(states) == 1 and states[0] in allowed:
            yield HELD
            continue
        if reason:
            yield Unsure(reason)
            continue
        yield Violation(
            invariant="completed-wins",
            promised=_why_allowed(message, allowed, facts),
            found=f"the journal holds it {' and '.join(states)}",
            evidence=evidence(facts, run, position_of(message.ref, facts)),
            expected=(row_expected(message, allowed[0], facts),),
            actual=rows_text(rows),
            subject=message.ref,
        )


def _why_allowed(message: ModelMessage, allowed: tuple[str, ...], facts: Facts) -> str:
    run = facts.runs.get(message.run or "")
    if message.completed is None:
        when = f"message {message.ref} never completed"
    else:
        when = f"message {message.ref} completed at {moment(message.completed.position, facts)}"
        if run is not None and message.completed.position > run.end:
            when += f", after the end of run {run.id}"
        elif run is not None and run.stop is not None:
            order = "after" if message.completed.position > run.stop.delivered.position else "before"
            when += f", {order} the stop was delivered"
    return f"{when}: it has one row, {' or '.join(allowed)}"


MESSAGES: tuple[Invariant, ...] = (
    Invariant(
        id="no-lost-completed-message",
        family="messages",
        statement="The journal holds every message that completed before the end of its run, "
        "and every accepted user message.",
        judge=no_lost_completed_message,
        explain=Explanation(
            meaning="If the model completed a message, or the server accepted a user message, and the run ended "
            "later, the journal holds that message, completed or interrupted, and a completed message has its whole "
            "text. A retry may replace an earlier attempt, a rollback may remove the run, and a compaction may "
            "replace old messages by a summary; nothing else may remove a message.",
            example="The model completes its second answer, the user presses Stop one event later, the worker is "
            "cancelled inside its append, and after a reload the answer is gone.",
            usual_cause="Messages are collected and written in one batch at the end of the run, or the write is "
            "cancelled together with the run and is not shielded from the cancellation.",
            cases=("dp-archive/archive#160", "dp-archive/archive#32", "bytedance/deer-flow#3039"),
        ),
    ),
    Invariant(
        id="no-duplicate-message",
        family="messages",
        statement="The journal holds each message once.",
        judge=no_duplicate_message,
        explain=Explanation(
            meaning="No message of the model has two rows in the same state. Two messages with the same text are two "
            "messages. A message that is both completed and interrupted is reported by completed-wins, a message in "
            "pieces by stable-identity, and two user messages for one request key by one-request-one-effect if the "
            "adapter declares idempotent_start.",
            example="The provider reports the end of one message twice, and the journal appends it twice.",
            usual_cause="Several exit paths of a run (completion, stop, clean-up) write the message, and none checks "
            "whether it is already stored.",
            cases=("bytedance/deer-flow#3572", "bytedance/deer-flow#3039", "hermes-webui#7133"),
        ),
    ),
    Invariant(
        id="completed-wins",
        family="messages",
        statement="A message that completed before the stop of its run has one row, and its state is completed.",
        judge=completed_wins,
        explain=Explanation(
            meaning="A completion may come before, during or after the write of the partial. If it came before the "
            "stop, the message is completed. Between the stop and the announced end of the run either may win, but "
            "not both. After the end of the run a completion is too late: the partial stays.",
            example="The answer is completed and stored; while the stopped run cleans up, it writes the same answer "
            "again as an interrupted partial.",
            usual_cause="The exit path writes the buffer of open messages, and the completion callback "
            "does not clear that buffer.",
            cases=("bytedance/deer-flow#3572", "bytedance/deer-flow#3039"),
        ),
    ),
)
