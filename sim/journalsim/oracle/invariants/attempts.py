"""The invariant ``retry-is-atomic``: a retry replaces the attempt before it."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.items import Item
from journalsim.oracle.facts.evidence import evidence
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.records import ModelMessage
from journalsim.oracle.facts.row_lines import rows_text
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant
from journalsim.oracle.invariants.ownership import attempts_of, faults_of, standing
from journalsim.oracle.invariants.row_judges import bad_rows
from journalsim.oracle.invariants.verdict import Violation


def retry_is_atomic(facts: Facts) -> Iterator[Finding]:
    """Judges every message of an attempt that was retried, and its rows."""
    yield from bad_rows("retry-is-atomic", "the text of a message is the output of one attempt", facts)
    for message in facts.messages.values():
        run = facts.runs.get(message.run or "")
        if not message.superseded or run is None or run.rolled_back:
            continue
        after = _of_the_retry(message, facts)
        rows = tuple(row for other in after for row in facts.stored(other.ref))
        own = standing(message.ref, facts)
        if not rows:
            continue
        left = (*own, *_calls_left(message, after, facts))
        if left and not own and all(_may_be_of(row, message) for row in rows):
            continue  # the retry may have emitted nothing so far
        if left:
            yield _beside(message, after, left, facts)
        elif not any(fault.owner == "retry-is-atomic" for other in after for fault in faults_of(other.ref, facts)):
            yield HELD


def _of_the_retry(message: ModelMessage, facts: Facts) -> tuple[ModelMessage, ...]:
    """Returns the messages that replaced the message of a failed attempt, including further failed attempts."""
    tries = attempts_of(message, facts)
    later = [other for other in tries if other.begin > message.begin]
    later += [o for o in facts.messages.values() if o.turn == tries[-1].turn and o.begin > tries[-1].begin]
    return tuple(other for other in later if other.turn != message.turn)


def _may_be_of(row: Item, message: ModelMessage) -> bool:
    """Returns True if a row matched to the retry may belong to the failed attempt, because both share a prefix."""
    foreign = any(alias not in message.provider_ids for alias in row.aliases)
    return not foreign and message.whole_text.startswith(row.text) and message.whole_reasoning.startswith(row.reasoning)


def _calls_left(message: ModelMessage, after: tuple[ModelMessage, ...], facts: Facts) -> tuple[Item, ...]:
    """Returns rows of calls that only the failed attempt requested, and whose tools never ran."""
    again = [call.call_id for other in after for call in other.calls]
    return tuple(
        row
        for call in message.calls
        if call.call_id not in again and not facts.tools[call.call_id].started
        for row in facts.call_rows.get(call.call_id, ())
    )


def _beside(message: ModelMessage, after: tuple[ModelMessage, ...], left: tuple[Item, ...], facts: Facts) -> Violation:
    rows = tuple(row for other in after for row in facts.stored(other.ref))
    return Violation(
        invariant="retry-is-atomic",
        promised=f"attempt {after[0].attempt} replaced {message.ref}, so the journal holds nothing of {message.ref}",
        found=f"the journal holds both {message.ref} and {after[-1].ref}",
        evidence=evidence(facts, facts.runs[str(message.run)], message.begin, after[0].begin),
        expected=rows_text(rows),
        actual=rows_text((*left, *rows)),
        subject=message.ref,
    )


RETRY_IS_ATOMIC = Invariant(
    id="retry-is-atomic",
    family="runs",
    statement="A message is the output of one attempt; a retry replaces everything that the failed attempt stored.",
    judge=retry_is_atomic,
    explain=Explanation(
        meaning="When a call of the model fails and is retried, the second attempt starts from the beginning. As soon "
        "as it emits something, the journal removes the output of the first: it neither precedes the output of the "
        "second nor is joined to it, in text, reasoning or tool arguments. Without a retry it may stay, interrupted.",
        example='The first attempt emits "One, two," and fails, the second emits "One, two, three."; the journal '
        'holds "One, two,One, two, three.".',
        usual_cause="The retry happens below the loop that appends chunks, which continues to append to the same "
        "buffer; or messages are stored as they complete and no code marks them when the attempt fails.",
        cases=("aden-hive/hive#5923", "HKUDS/nanobot#4038", "LibreChat#4350", "aaif-goose/goose#7785"),
    ),
)
