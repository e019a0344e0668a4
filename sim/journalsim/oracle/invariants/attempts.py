"""The promise that a retry takes the place of the attempt before it."""

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
    """Judges every message of an attempt that was made again, and every row that came of it."""
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
            continue  # the retry may have brought nothing yet
        if left:
            yield _beside(message, after, left, facts)
        elif not any(fault.owner == "retry-is-atomic" for other in after for fault in faults_of(other.ref, facts)):
            yield HELD


def _of_the_retry(message: ModelMessage, facts: Facts) -> tuple[ModelMessage, ...]:
    """Returns the messages that took the place of a failed attempt's, those of further failed attempts among them."""
    tries = attempts_of(message, facts)
    later = [other for other in tries if other.begin > message.begin]
    later += [o for o in facts.messages.values() if o.turn == tries[-1].turn and o.begin > tries[-1].begin]
    return tuple(other for other in later if other.turn != message.turn)


def _may_be_of(row: Item, message: ModelMessage) -> bool:
    """Whether a row that was taken for the retry's may be the failed attempt's, which began in the same way."""
    told = any(alias not in message.provider_ids for alias in row.aliases)
    return not told and message.whole_text.startswith(row.text) and message.whole_reasoning.startswith(row.reasoning)


def _calls_left(message: ModelMessage, after: tuple[ModelMessage, ...], facts: Facts) -> tuple[Item, ...]:
    """Returns rows of calls that only the failed attempt asked for, and whose tools never ran."""
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
        promised=f"attempt {after[0].attempt} took the place of {message.ref}, so nothing of {message.ref} is shown",
        found=f"the journal shows both: {message.ref} and {after[-1].ref}",
        evidence=evidence(facts, facts.runs[str(message.run)], message.begin, after[0].begin),
        expected=rows_text(rows),
        actual=rows_text((*left, *rows)),
        subject=message.ref,
    )


RETRY_IS_ATOMIC = Invariant(
    id="retry-is-atomic",
    family="runs",
    statement="A message is the output of one attempt, and of a failed attempt nothing is shown beside the retry.",
    judge=retry_is_atomic,
    explain=Explanation(
        meaning="When a call of the model breaks off and is made again, the second attempt begins from the start. What "
        "the first had brought is taken back when the second brings something: it is neither shown before it nor "
        "glued to it, in text, thinking or the arguments of tool calls. If no retry comes, it may stay, interrupted.",
        example='The first attempt says "One, two," and breaks off, the second says "One, two, three."; the journal '
        'holds "One, two,One, two, three.".',
        usual_cause="The retry is made below the loop that appends chunks, which goes on appending to the same buffer; "
        "or messages are stored as they complete and nobody marks them when the attempt fails.",
        cases=("aden-hive/hive#5923", "HKUDS/nanobot#4038", "LibreChat#4350", "aaif-goose/goose#7785"),
    ),
)
