"""The invariant ``fenced-writer``: an ended run writes no further row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from journalsim.contract.events.journal_events import JournalRead
from journalsim.contract.items import Item
from journalsim.history import EventOf
from journalsim.oracle.facts.changes import Change, changes
from journalsim.oracle.facts.evidence import evidence, moment
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.item_keys import key_of
from journalsim.oracle.facts.records import Run
from journalsim.oracle.facts.row_lines import row_text
from journalsim.oracle.facts.run_ends import run_of_row
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant
from journalsim.oracle.invariants.ownership import faults
from journalsim.oracle.invariants.row_judges import bad_rows
from journalsim.oracle.invariants.verdict import Violation


def fenced_writer(facts: Facts) -> Iterator[Finding]:
    """Judges writes after the end of each run, to its own rows and to rows of other runs."""
    late = tuple(bad_rows("fenced-writer", "a run writes nothing after its end", facts))
    late += tuple(found for reads in facts.reads.values() for pair in pairwise(reads) for found in _added(*pair, facts))
    late += tuple(_overwritten(c, facts) for c in facts.once(changes).values() if is_fencing(c))
    yield from late
    if not late:
        yield from (HELD for run in facts.runs.values() if run.id in facts.markers or run.ended is not None)


def is_fencing(change: Change) -> bool:
    """Returns True if an ended run caused the change: it overwrote another run, or its own terminal was replaced."""
    return change.by is not None or (change.item.kind == "marker" and change.now is not None)


def _added(before: EventOf[JournalRead], after: EventOf[JournalRead], facts: Facts) -> Iterator[Violation]:
    """Yields rows of a run that ended before the first read, if only the second read shows them."""
    if facts.crashed_between(before.position, after.position):
        return
    over = {run.id: run for run in facts.runs.values() if run.end < facts.begun(before)}
    if not over:
        return
    known = facts.keyed(before)
    session = facts.session(after)
    faulty = facts.once(faults)[session] if after is facts.final_reads[session] else {}
    for index, (item, ref) in enumerate(zip(facts.items(after), facts.refs_in(after), strict=True)):
        run = over.get(run_of_row(item, ref, facts) or "")
        if run is None or key_of(item, ref) in known or index in faulty or ref in facts.unwritten:
            continue
        if not any(_same_row(item, failed) for failed in facts.failed_appends):
            yield Violation(
                invariant="fenced-writer",
                promised=f"run {run.id} ended at {moment(int(run.end), facts)} and writes nothing after that",
                found=f"one of its rows appeared later: {row_text(item)}",
                evidence=evidence(facts, run, before.position, after.position),
                actual=(row_text(item),),
                subject=ref or item.call_id,
            )


def _same_row(item: Item, failed: Item) -> bool:
    """Returns True if a row belongs to a failed append, which its writer may retry."""
    if item.kind == "marker":
        return failed.kind == "marker" and failed.run_id == item.run_id
    return item.call_id is not None and item.call_id == failed.call_id


def _overwritten(change: Change, facts: Facts) -> Violation:
    by: Run = change.by or change.run
    return Violation(
        invariant="fenced-writer",
        promised=f"run {by.id} had ended and changes no row of run {change.run.id}"
        if change.by is not None
        else f"run {by.id} had its terminal, which no later writer replaces",
        found="a row of an earlier read is " + ("gone" if change.now is None else "changed"),
        evidence=evidence(facts, by, change.before.position, change.after.position),
        expected=(row_text(change.item),),
        actual=() if change.now is None else (row_text(change.now),),
        subject=change.subject,
    )


FENCED_WRITER = Invariant(
    id="fenced-writer",
    family="runs",
    statement="No row of a run appears after its end, and an ended run changes no row of another run.",
    judge=fenced_writer,
    explain=Explanation(
        meaning="The terminal is the last row of a run, and the journal holds it when the end is announced. It "
        "refuses the writes of a tool that outlives its run, of a worker that lost its lease and of a late finalizer. "
        "A stopped run that still unwinds adds no rows, and does not write its copy of the session over the next run.",
        example="Stop ends run A, and run B answers; then A's clean-up saves the session as A knew it, and B's "
        "answer is gone.",
        usual_cause="Every holder of a handle may write: the write does not compare the number of the run, its "
        "attempt or its process.",
        cases=(
            "bytedance/deer-flow#4427",
            "bytedance/deer-flow#4431",
            "hermes-webui#2136",
            "hermes-webui#6636",
        ),
    ),
)
