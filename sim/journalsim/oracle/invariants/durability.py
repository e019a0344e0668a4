"""The invariants of crashes: durability of acknowledged rows, and recovery.

A crash is a kill of the process, or a power cut.  Everything acknowledged before it
must be stored after it; everything in flight may be stored or not.  These events are
acknowledgements:

* ``start`` returns: of the user message;
* a frame announces the end of a run: of its terminal;
* a frame announces a completed message, or its append returns: of the message;
* a frame announces the result of a tool: of the result;
* a delta names its row: of that text.  Under the policy ``sync: barriers`` a power
  cut may take rows of text that no barrier follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from journalsim.contract.events.harness_events import AdapterRaised
from journalsim.contract.events.journal_events import DiskFailed, StoreAcknowledged
from journalsim.contract.events.server_events import FramePublished
from journalsim.contract.items import Cause, Item, ItemState
from journalsim.history import EventOf, History
from journalsim.oracle.facts.allowances import dropped_whole, excused
from journalsim.oracle.facts.changes import changed
from journalsim.oracle.facts.evidence import evidence, moment, row_expected
from journalsim.oracle.facts.facts import NEVER, Facts
from journalsim.oracle.facts.item_keys import as_states
from journalsim.oracle.facts.losses import end_was_lost, power_cut_between, prompt_was_lost, repeats, will_not_start
from journalsim.oracle.facts.records import ModelMessage, Run, UserMessage
from journalsim.oracle.facts.row_lines import quoted, row_text, rows_text
from journalsim.oracle.facts.run_ends import end_of, how_ended
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant, Unsure
from journalsim.oracle.invariants.lattice import grade_of_message, grade_of_result, with_grade
from journalsim.oracle.invariants.ownership import left_to_others
from journalsim.oracle.invariants.verdict import Violation

# --- acknowledged-is-durable ---------------------------------------------------------------------


def acknowledged_is_durable(facts: Facts) -> Iterator[Finding]:
    """Judges every acknowledgement before the last crash."""
    if not facts.crashes:
        return
    refused = will_not_start(facts)
    for run in facts.runs.values():
        if run.accepted.position > facts.crashes[-1] or run.rolled_back:
            continue
        if refused is not None:
            yield _shut_out(run, refused, facts)
            return
        if not facts.rewritten(run.session, run.asked):
            yield from _judge_run(run, facts)
    yield from _judge_repeats(facts)


def _judge_repeats(facts: Facts) -> Iterator[Finding]:
    """Judges that the rows of the final read survive one more crash."""
    for again in repeats(facts):
        if again.gone:
            yield Violation(
                invariant="acknowledged-is-durable",
                promised=f"the journal held {row_text(again.gone[0])} at rest",
                found="after one more crash and restart the row is gone",
                evidence=(again.before.position, again.after.position),
                expected=rows_text(facts.items(again.before)),
                actual=rows_text(as_states(again.after.data.items)),
                grade="accepted",
            )


def _shut_out(run: Run, refused: EventOf[AdapterRaised], facts: Facts) -> Violation:
    accepted = run.accepted.position
    return Violation(
        invariant="acknowledged-is-durable",
        promised=f"{quoted(run.text)} was accepted for run {run.id} at {moment(accepted, facts)}, "
        "so the journal holds it after a crash",
        found=f"the server does not start after the crash: {refused.data.error}",
        evidence=(accepted, facts.crashes[-1], refused.position),
        subject=run.id,
        grade="accepted",
    )


def _judge_run(run: Run, facts: Facts) -> Iterator[Finding]:
    reason = facts.unsettled(run)
    if reason:
        yield Unsure(reason)
        return
    user = next((user for user in facts.users.values() if user.run == run.id), None)
    if user is not None and user.ref not in facts.unwritten and not changed(user.ref, run.session, facts):
        yield from _judge_prompt(user, run, facts)
        if not facts.stored(user.ref):
            return  # one loss, reported once
    yield from _judge_end(run, facts)
    for message in facts.messages.values():
        if message.run == run.id:
            yield from _judge_message(message, run, facts)
    for call_id, tool in facts.tools.items():
        if tool.run == run.id:
            yield from _judge_result(call_id, run, facts)


def _judge_prompt(user: UserMessage, run: Run, facts: Facts) -> Iterator[Finding]:
    if facts.stored(user.ref):
        yield HELD
    elif prompt_was_lost(user, run, facts):
        accepted = run.accepted.position
        yield _lost(
            run,
            facts,
            f"{user.ref} {quoted(user.text)} was accepted for run {run.id} at {moment(accepted, facts)}",
            "after the crash the journal does not hold it",
            Item(kind="user", text=user.text, run_id=run.id),
            user.ref,
            accepted,
        )


def _judge_end(run: Run, facts: Facts) -> Iterator[Finding]:
    if run.ended is None or run.ended.position > facts.crashes[-1] or not facts.history.capabilities.terminals:
        return
    if changed(f"marker {run.id}", run.session, facts):
        return
    if not end_was_lost(run, facts):
        yield HELD
        return
    state, cause = end_of(run, facts)
    markers = facts.markers.get(run.id, ())
    says = " and ".join(how_ended(marker.state, marker.cause) for marker in markers)
    yield _lost(
        run,
        facts,
        f"run {run.id} was announced as {how_ended(state, cause)} at {moment(run.ended.position, facts)}",
        f"after the crash its terminal says {says}" if markers else "after the crash the journal has no terminal of it",
        Item(kind="marker", run_id=run.id, state=cast(ItemState, state), cause=cast(Cause | None, cause)),
        run.id,
        run.ended.position,
        markers,
    )


def _judge_message(message: ModelMessage, run: Run, facts: Facts) -> Iterator[Finding]:
    rows = facts.stored(message.ref)
    elsewhere = left_to_others(message.ref, facts) or changed(message.ref, run.session, facts)
    if elsewhere or message.superseded or message.empty:
        return
    done = _announced(message, facts)
    if done is not None and message.completed is not None:
        if excused(message, run, facts) or dropped_whole(message, run, facts):
            return
        if any(row.state == "completed" for row in rows) or _stored_as_calls(message, facts):
            yield HELD
        elif not (_stopped_first(message, run) or (rows and not facts.crashed_between(done, run.end))):
            # a row with another state in an ended run is reported by completed-wins
            yield _lost_message(message, run, done, rows, facts)
    elif not any(row.state == "completed" for row in rows):
        yield from _judge_text(message, run, rows, facts)


def _stored_as_calls(message: ModelMessage, facts: Facts) -> bool:
    """Returns True if a message without text and reasoning is stored as its tool calls."""
    bare = not (message.whole_text or message.whole_reasoning)
    return bare and any(call.call_id in facts.call_rows for call in message.calls)


def _stopped_first(message: ModelMessage, run: Run) -> bool:
    """Returns True if the stop came before the completion, so a partial is correct too."""
    assert message.completed is not None
    return run.stop is not None and run.stop.delivered.position < message.completed.position


def _announced(message: ModelMessage, facts: Facts) -> int | None:
    """Returns the position at which a completed message was acknowledged before the last crash."""
    done = next(_published(message, "message.completed", facts.crashes[-1], facts), None)
    if done is not None:
        return done.position
    session = facts.runs[message.run or ""].session
    stored = (
        event.position
        for event in facts.of(StoreAcknowledged)
        if event.position < facts.crashes[-1]
        and (event.data.item.kind, event.data.item.state) == ("assistant", "completed")
        and message.ref in facts.refs([event.data.item], session)
    )
    return next(stored, None)


def _published(message: ModelMessage, kind: str, before: int, facts: Facts) -> Iterator[EventOf[FramePublished]]:
    """Yields the frames of one kind about a message before a position."""
    for journal_id, ref in facts.displayed_as.items():
        for frame in facts.of(FramePublished) if ref == message.ref else ():
            if frame.data.message == journal_id and frame.data.frame == kind and frame.position < before:
                yield frame


def _lost_message(message: ModelMessage, run: Run, done: int, rows: tuple[Item, ...], facts: Facts) -> Violation:
    grade, who = grade_of_message(message.ref, facts, facts.crashes[-1])
    found = (
        "after the crash the journal holds only part of it" if rows else "after the crash the journal does not hold it"
    )
    return Violation(
        invariant="acknowledged-is-durable",
        promised=f"message {message.ref} {quoted(message.whole_text)} was acknowledged at {moment(done, facts)}",
        found=with_grade(found, grade, who),
        evidence=evidence(facts, run, done, facts.crashes[-1]),
        expected=(row_expected(message, "completed", facts),),
        actual=rows_text(rows),
        subject=message.ref,
        grade=grade,
    )


def _judge_text(message: ModelMessage, run: Run, rows: tuple[Item, ...], facts: Facts) -> Iterator[Finding]:
    """Judges the text of an open message with rows before the crash."""
    first = facts.crashes[0]
    lazy = facts.history.policies.get("sync") == "barriers" and power_cut_between(0, NEVER, facts)
    if lazy or run.end < first or dropped_whole(message, run, facts):
        return
    deltas = _published(message, "message.delta", first, facts)
    named = [frame for frame in deltas if frame.data.event_id is not None]
    text = "".join(frame.data.text for frame in named)
    if not text:
        return
    stored = max((row.text for row in rows), key=len, default="")
    if len(stored) >= len(text):
        yield HELD
        return
    yield _lost(
        run,
        facts,
        f"{quoted(text)} of message {message.ref} was sent with its rows by {moment(named[-1].position, facts)}",
        f"the journal holds {quoted(stored)}" if rows else "the journal does not hold the message",
        Item(kind="assistant", text=text, state="interrupted", run_id=run.id),
        message.ref,
        named[-1].position,
        rows,
    )


def _judge_result(call_id: str, run: Run, facts: Facts) -> Iterator[Finding]:
    for frame in facts.of(FramePublished):
        closed = frame.data.frame == "tool.closed" and frame.data.call_id == call_id
        if closed and frame.data.state in ("completed", "failed") and frame.position < facts.crashes[-1]:
            rows = tuple(row for row in facts.call_rows.get(call_id, ()) if row.kind == "tool_result")
            if any(row.state == frame.data.state for row in rows):
                yield HELD
                return
            grade, who = grade_of_result(call_id, facts)
            yield Violation(
                invariant="acknowledged-is-durable",
                promised=f"the result of call {call_id} was announced at {moment(frame.position, facts)}",
                found=with_grade("after the crash the journal does not hold it", grade, who),
                evidence=evidence(facts, run, frame.position, facts.crashes[-1]),
                actual=rows_text(rows),
                subject=call_id,
                grade=grade,
            )
            return


def _lost(
    run: Run,
    facts: Facts,
    promised: str,
    found: str,
    expected: Item,
    subject: str,
    position: int,
    actual: tuple[Item, ...] = (),
) -> Violation:
    return Violation(
        invariant="acknowledged-is-durable",
        promised=promised,
        found=found,
        evidence=evidence(facts, run, position, facts.crashes[-1]),
        expected=(row_text(expected),),
        actual=rows_text(actual),
        subject=subject,
        grade="sent" if expected.kind != "user" else "accepted",
    )


# --- recovery-adds-only-proven -------------------------------------------------------------------


def recovery_adds_only_proven(facts: Facts) -> Iterator[Finding]:
    """Judges the end of every run that a crash cut off."""
    for run in facts.runs.values():
        asked, markers = run.asked, facts.markers.get(run.id, ())
        if not facts.crashed_between(asked, run.end) or facts.rewritten(run.session, asked) or run.rolled_back:
            continue
        if facts.unsettled(run) or len(markers) != 1:
            continue  # none or several terminals are reported by one-terminal-per-run
        wrong = _unproven(markers[0], run, facts)
        if not wrong:
            yield HELD
            continue
        crash = next(position for position in facts.crashes if asked < position < run.end)
        yield Violation(
            invariant="recovery-adds-only-proven",
            promised=f"the crash at {moment(crash, facts)} cut off run {run.id}, "
            "and recovery records only what its rows prove",
            found=f"its terminal says {how_ended(markers[0].state, markers[0].cause)}, and {wrong}",
            evidence=evidence(facts, run, crash),
            expected=(row_text(Item(kind="marker", run_id=run.id, state="interrupted", cause="crashed")),),
            actual=rows_text(markers),
            subject=run.id,
        )


def _unproven(marker: Item, run: Run, facts: Facts) -> str:
    """Returns the unproven part of the end of a run; empty if its rows prove the end."""
    own = [message for message in facts.messages.values() if message.run == run.id]
    if marker.state != "completed":
        return ""  # a false stop is reported by stop-ends-run
    if not own or own[-1].completed is None:
        return "the model never completed its answer"
    return "the model had not received the results of its tools" if own[-1].calls else ""


# --- recovery-is-idempotent ----------------------------------------------------------------------


def recovery_is_idempotent(facts: Facts) -> Iterator[Finding]:
    """Judges the journal after each further restart, at the end of a case with a crash."""
    for again in repeats(facts):
        if again.gone:
            continue  # other differences follow from the loss, which acknowledged-is-durable reports
        if not (again.new or again.altered):
            yield HELD
            continue
        what = f"adds {row_text(again.new[0])}" if again.new else f"changes a row to {row_text(again.altered[0])}"
        yield Violation(
            invariant="recovery-is-idempotent",
            promised="the case had come to rest, so one more crash and restart changes nothing",
            found=f"it {what}",
            evidence=(again.before.position, again.after.position),
            expected=rows_text(facts.items(again.before)),
            actual=rows_text(as_states(again.after.data.items)),
        )


# --- the family ----------------------------------------------------------------------------------


def crash_unclaimed(history: History) -> str:
    """Returns the reason why crashes are not judged: the adapter does not declare them, or the disk lied."""
    if history.capabilities.crash == "none":
        return "the adapter does not declare crash"
    lie = next((event for event in history.of(DiskFailed) if event.data.fault == "lie"), None)
    return f"the disk lied: {lie.subject} reported success without a sync, so no journal is durable" if lie else ""


DURABILITY: tuple[Invariant, ...] = (
    Invariant(
        id="acknowledged-is-durable",
        family="durability",
        statement="The journal holds after a crash everything acknowledged before it: accepted messages, announced "
        "ends, completed messages, results, and text whose rows a frame named.",
        judge=acknowledged_is_durable,
        unclaimed=crash_unclaimed,
        explain=Explanation(
            meaning="A kill takes the memory of the process; a power cut also takes data that is not synced. Neither "
            "may take anything that the system acknowledged: an accepted message, the end of a run with its cause, a "
            "completed answer, the result of a tool. Data in flight may be stored or not. With the policy "
            "sync: barriers a power cut may take text of an open answer.",
            example="The journal runs SQLite in WAL mode with synchronous=NORMAL; an answer is announced as completed, "
            "the power fails, and after the restart the answer is gone, without any error.",
            usual_cause="The commit is acknowledged before it is synced, the file is synced but not its folder, the "
            "error of a failed write is ignored, or a torn line destroys its neighbour.",
            cases=("openai/codex#29500", "cline/cline#4043"),
        ),
    ),
    Invariant(
        id="recovery-adds-only-proven",
        family="durability",
        statement="Recovery records for a run that a crash cut off only what the rows of the run prove.",
        judge=recovery_adds_only_proven,
        unclaimed=crash_unclaimed,
        explain=Explanation(
            meaning="After a crash recovery ends the open runs. Their cause is the crash, unless the rows prove "
            "another end: a run without a completed answer is not completed, and a run without a stop is not "
            "stopped. Invented texts and results are reported by honest-provenance.",
            example="The server crashes in mid-answer; the next process marks every open run as completed, and "
            "readers take the half answer for the whole one.",
            usual_cause="Recovery sets the state of the normal path for every open run that it finds.",
        ),
    ),
    Invariant(
        id="recovery-is-idempotent",
        family="durability",
        statement="After one recovery, further crashes and restarts of the server change nothing.",
        judge=recovery_is_idempotent,
        unclaimed=crash_unclaimed,
        explain=Explanation(
            meaning="A server that crashes once may crash again, even during recovery. At the end of every case with "
            "a crash the harness kills the server once more at rest and starts it again: the journal must hold the "
            "same rows as before.",
            example="Every restart adds another notice that the run was interrupted.",
            usual_cause="Recovery does not check which repairs it has already made, or it writes its rows under new "
            "ids.",
        ),
    ),
)
