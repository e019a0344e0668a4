"""The invariant ``ordered-history``: rows have the order of events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from journalsim.contract.events.journal_events import JournalContext, JournalRead
from journalsim.contract.items import Item
from journalsim.oracle.facts.event_index import Look
from journalsim.oracle.facts.evidence import evidence
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.records import Run
from journalsim.oracle.facts.row_lines import row_text, rows_text
from journalsim.oracle.facts.run_ends import run_of_row
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant
from journalsim.oracle.invariants.ownership import faults
from journalsim.oracle.invariants.verdict import Violation


def ordered_history(facts: Facts) -> Iterator[Finding]:
    """Judges the order of each session at the end, and of the last context of the model."""
    looks: list[Look] = list(facts.final_reads.values())
    if facts.history.capabilities.context:
        given: list[Look] = [*facts.calls, *facts.of(JournalContext)]
        looks += {facts.session(look): look for look in given if facts.was_seen(look)}.values()
    for look in looks:
        wrong = None if _as_at_the_end(look, facts) else _disorder(look, facts)
        if wrong is not None:
            yield _bad(look, *wrong, facts)
            return  # all later looks hold the same rows
        if len(facts.items(look)) > 1:
            yield HELD


def _as_at_the_end(look: Look, facts: Facts) -> bool:
    """Returns True if a context has the order of the final read, which is judged before it."""
    final = facts.final_reads.get(facts.session(look))
    if final is None or final is look:
        return False
    places = {key: place for place, key in enumerate(facts.keyed(final))}
    order = [places.get(key, -1) for key in facts.keyed(look)]
    return order == sorted(order) and all(len(items) == 1 for items in facts.keyed(look).values())


def _disorder(look: Look, facts: Facts) -> tuple[int, int] | None:
    """Returns the indexes of two items in the wrong order, the later one first; None without any."""
    items, refs = facts.items(look), facts.refs_in(look)
    session = facts.session(look)
    late = facts.once(faults).get(session, {}) if look is facts.final_reads.get(session) else {}
    newest: tuple[float, int] = (-1.0, 0)  # the run with the latest request so far
    said: dict[str, tuple[int, int]] = {}  # of each run, the message with the latest begin so far
    known: dict[str, bool] = {}
    results: dict[str | None, int] = {}
    for index, (item, ref) in enumerate(zip(items, refs, strict=True)):
        run = facts.runs.get(run_of_row(item, ref, facts) or "")
        if run is None or index in late:
            continue
        if run.end < newest[0]:
            return newest[1], index
        if run.asked > newest[0]:
            newest = run.asked, index
        if item.kind == "tool_result":
            results.setdefault(item.call_id, index)
        elif item.kind == "tool_call" and item.call_id in results and _once(item.call_id, items):
            return results[item.call_id], index
        elif ref is not None and ref not in known and not _replaced(ref, facts):
            known[ref] = True
            begin = -1 if item.kind == "user" else facts.messages[ref].begin
            last = said.setdefault(run.id, (begin, index))
            if begin < last[0]:
                return last[1], index
            said[run.id] = (begin, index)
    return None


def _once(call_id: str | None, items: Sequence[Item]) -> bool:
    """Returns True if a call has one request and one result; other calls are reported by paired-tool-calls."""
    return sorted(item.kind for item in items if item.call_id == call_id) == ["tool_call", "tool_result"]


def _replaced(ref: str, facts: Facts) -> bool:
    return ref in facts.messages and facts.messages[ref].superseded


def _bad(look: Look, earlier: int, later: int, facts: Facts) -> Violation:
    items, refs = facts.items(look), facts.refs_in(look)
    where = "the journal" if isinstance(look.data, JournalRead) else "the context of the model"
    run: Run | None = facts.runs.get(run_of_row(items[later], refs[later], facts) or "")
    return Violation(
        invariant="ordered-history",
        promised=f"{row_text(items[later])} came before {row_text(items[earlier])}",
        found=f"in {where} it comes after it",
        evidence=tuple(sorted({*evidence(facts, run), look.position})),
        expected=rows_text((items[later], *items[earlier:later])),
        actual=rows_text(items[earlier : later + 1]),
        subject=refs[later] or items[later].call_id or items[later].run_id,
    )


ORDERED_HISTORY = Invariant(
    id="ordered-history",
    family="truth",
    statement="Rows have the order of their runs, and within a run the order of events.",
    judge=ordered_history,
    explain=Explanation(
        meaning="A run that ended before another was requested comes before it as a whole. Within a run the user "
        "message comes first, then the messages of the model in the order of their first chunks, and each result "
        "after its request. The journal orders rows by its own numbers: a clock that jumps, or that is coarser than "
        "two events, changes nothing. Runs that overlap may mix their rows, in the order of events.",
        example="The wall clock is set back while a tool runs; rows are sorted by time, the result comes before its "
        "request, and the provider refuses the conversation.",
        usual_cause="Rows are sorted by a time stamp, or they get their number at the start and are written at the "
        "end.",
        cases=("aaif-goose/goose#9461", "aaif-goose/goose#9479", "openai/codex#42407"),
    ),
)
