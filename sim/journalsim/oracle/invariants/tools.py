"""The invariant ``paired-tool-calls``: each stored tool call has one request and one result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from journalsim.contract.events.journal_events import JournalRead
from journalsim.contract.events.model_events import ModelCalled
from journalsim.contract.items import Item
from journalsim.history import Event
from journalsim.oracle.facts.changes import changed
from journalsim.oracle.facts.evidence import evidence
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.records import ModelMessage, Run
from journalsim.oracle.facts.row_lines import row_text, rows_text
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant, Unsure, needs
from journalsim.oracle.invariants.ownership import faults
from journalsim.oracle.invariants.verdict import Violation


def paired_tool_calls(facts: Facts) -> Iterator[Finding]:
    """Judges every stored tool call, and every tool call of a stored completed message."""
    for message in facts.messages.values():
        yield from _missing_requests(message, facts)
    if _repaired_when_read(facts):
        for event in facts.of(ModelCalled):
            yield from _judge_pairs(event.data.context or (), event, facts)
        return
    for session, read in facts.final_reads.items():
        yield from _judge_pairs(facts.journal[session], read, facts)


def _repaired_when_read(facts: Facts) -> bool:
    history = facts.history
    policy = history.policies.get("orphans", "on_write")
    return history.capabilities.context_repair == "on_read" or policy == "on_read"


def _missing_requests(message: ModelMessage, facts: Facts) -> Iterator[Finding]:
    """Yields a violation for each call of a stored completed message, if the call has no row."""
    run = facts.runs.get(message.run or "")
    if run is None or message.superseded or not message.calls or not message.completed_before(run.end):
        return
    assert message.completed is not None
    done = message.completed.position
    stored = any(row.state == "completed" for row in facts.stored(message.ref))
    bare = not (message.whole_text or message.whole_reasoning)
    stored = stored or (bare and any(call.call_id in facts.call_rows for call in message.calls))
    if not stored or facts.rewritten(run.session, done) or facts.crashed_between(done, run.end):
        return
    unwritten = [item.call_id for item in facts.failed_appends]
    for call in message.calls:
        rows = facts.call_rows.get(call.call_id, ())
        if call.call_id in unwritten or any(row.kind == "tool_call" for row in rows):
            continue
        if _removed(call.call_id, run, facts):
            continue
        reason = facts.unsettled(run)
        yield (
            Unsure(reason)
            if reason
            else Violation(
                invariant="paired-tool-calls",
                promised=f"message {message.ref} requests tool call {call.call_id} and is stored as completed",
                found=f"the journal does not hold the request {call.call_id}",
                evidence=evidence(facts, run, done),
                expected=(
                    row_text(Item(kind="tool_call", call_id=call.call_id, name=call.name, arguments=call.arguments)),
                ),
                actual=rows_text((*facts.stored(message.ref), *rows)),
                subject=call.call_id,
            )
        )


def _removed(call_id: str, run: Run, facts: Facts) -> bool:
    """Returns True if rows of a call were removed after a read: reported by no-clobber or fenced-writer."""
    return any(changed(f"{kind} {call_id}", run.session, facts) for kind in ("tool_call", "tool_result"))


@frozen(kw_only=True)
class _Pair:
    """The rows of one call among other items."""

    requests: tuple[int, ...]
    results: tuple[int, ...]

    def fault(self, items: Sequence[Item], together: bool) -> str:
        """Returns the fault of the pair, as the object of "the journal holds"; empty without one."""
        if not self.requests:
            return "a result without a request"
        if len(self.requests) > 1:
            return f"the request {len(self.requests)} times"
        if not self.results:
            return "the request without a result"
        if len(self.results) > 1:
            return f"{len(self.results)} results"
        begin, end = self.requests[0], self.results[0]  # their order is judged by ordered-history
        run_id = items[begin].run_id
        between = [i for i in items[begin:end] if i.kind in ("user", "assistant")]
        between = [i for i in between if together or i.run_id == run_id]
        return f"{row_text(between[0])} between the request and its result" if between else ""


def _judge_pairs(items: Sequence[Item], seen: Event, facts: Facts) -> Iterator[Finding]:
    """Judges the calls in the items of event ``seen``."""
    # concurrent runs of one session may mix their rows by policy
    together = facts.history.capabilities.concurrent_runs != "keep"
    unwritten = [item.call_id for item in facts.failed_appends]
    faulty = facts.once(faults).get(facts.session(seen), {}) if isinstance(seen.data, JournalRead) else {}
    late = [index for index, fault in faulty.items() if fault.owner == "fenced-writer"]
    for call_id, pair in _pairs(items).items():
        if call_id in unwritten:
            continue
        fault = pair.fault(items, together)
        if not fault or any(index in late for index in pair.results):
            yield HELD
            continue
        run = _run_of(call_id, [items[i] for i in (*pair.requests, *pair.results)], facts)
        reason = "" if run is None else facts.unsettled(run)
        if reason:
            yield Unsure(reason)
            continue
        if run is not None and _removed(call_id, run, facts):
            continue
        where = "the context of a model call" if isinstance(seen.data, ModelCalled) else "the journal"
        begin = min((*pair.requests, *pair.results))
        tool = facts.tools.get(call_id)
        positions = [e.position for e in (tool.started[:1] if tool is not None else ())]
        yield Violation(
            invariant="paired-tool-calls",
            promised=f"tool call {call_id} has one request and, directly after it, one result",
            found=f"{where} holds {fault}",
            evidence=tuple(sorted({*evidence(facts, run, *positions), seen.position})),
            expected=_expected_rows(call_id, pair, items),
            actual=rows_text(items[begin : max((*pair.requests, *pair.results)) + 1]),
            subject=call_id,
        )


def _pairs(items: Sequence[Item]) -> dict[str, _Pair]:
    found: dict[str, tuple[list[int], list[int]]] = {}
    for index, item in enumerate(items):
        if item.kind in ("tool_call", "tool_result"):
            found.setdefault(item.call_id or "", ([], []))[item.kind == "tool_result"].append(index)
    return {c: _Pair(requests=tuple(requests), results=tuple(results)) for c, (requests, results) in found.items()}


def _run_of(call_id: str, rows: Sequence[Item], facts: Facts) -> Run | None:
    tool = facts.tools.get(call_id)
    ids = [row.run_id for row in rows] + ([tool.run] if tool is not None else [])
    return next((facts.runs[i] for i in ids if i is not None and i in facts.runs), None)


def _expected_rows(call_id: str, pair: _Pair, items: Sequence[Item]) -> tuple[str, ...]:
    request = items[pair.requests[0]] if pair.requests else Item(kind="tool_call", call_id=call_id)
    result = items[pair.results[0]] if pair.results else Item(kind="tool_result", call_id=call_id, state="aborted")
    return rows_text((request, result))


TOOLS: tuple[Invariant, ...] = (
    Invariant(
        id="paired-tool-calls",
        family="tools",
        statement="Every stored tool call has exactly one request and exactly one result, before any later message.",
        judge=paired_tool_calls,
        unclaimed=needs("tools"),
        explain=Explanation(
            meaning="Providers refuse a conversation with a tool call without a result, so one open call makes the "
            "session unusable. However a run ends, each call in the journal gets one closure: its result, its error, "
            "or a flagged abort. The closure comes after the request and before the next message.",
            example="The user presses Stop while a tool runs; the request stays without a result, and the provider "
            "refuses every later message of the session.",
            usual_cause="An exception or a break leaves the loop over a batch of calls, and the remaining calls get no "
            "closure.",
            cases=(
                "aaif-goose/goose#1541",
                "aaif-goose/goose#1624",
                "anthropics/claude-code#2261",
                "gptme/gptme#3072",
            ),
        ),
    ),
)
