"""The invariant ``store-equals-context``: the model receives the rows of the journal, except by policy or flag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from journalsim.contract.events.journal_events import JournalContext, JournalRead
from journalsim.contract.events.model_events import ModelCalled
from journalsim.contract.events.server_events import MaintenanceDone
from journalsim.contract.items import HIDDEN_FROM_MODEL, Item
from journalsim.history import Event, EventOf
from journalsim.oracle.facts.evidence import evidence
from journalsim.oracle.facts.facts import REWRITES, Facts
from journalsim.oracle.facts.losses import end_was_lost
from journalsim.oracle.facts.records import ModelMessage, Run
from journalsim.oracle.facts.row_lines import quoted, row_text, rows_text
from journalsim.oracle.facts.run_ends import end_of, run_of_row
from journalsim.oracle.facts.texts import is_whole, same_arguments
from journalsim.oracle.invariants.invariant import HELD, Explanation, Finding, Invariant, needs
from journalsim.oracle.invariants.ownership import left_to_others
from journalsim.oracle.invariants.verdict import Violation


def store_equals_context(facts: Facts) -> Iterator[Finding]:
    """Judges every context of the model against the final read of the journal."""
    looks: list[EventOf[ModelCalled | JournalContext]] = [*facts.calls, *facts.of(JournalContext)]
    for event in looks:
        read = facts.final_reads.get(facts.session(event))
        if read is None or not facts.was_seen(event):
            continue
        look = _look(event, read, facts)
        bad = next(_wrong(look, facts), None)
        yield HELD if bad is None else bad


_OWN_DOING = ("model.", "tool.", "store.", "frame.published")


@frozen(kw_only=True)
class _Look:
    """One context of the model.

    Attributes:
        event: the event with the context.
        session: the session.
        since: events after this position may be too late for the context.
        rows: the rows of the final read, by key.
        given: the items of the context, by key.
        run: the run that calls the model, or None.
    """

    event: EventOf[ModelCalled | JournalContext]
    session: str
    since: int
    rows: Mapping[str, Sequence[Item]]
    given: Mapping[str, Sequence[Item]]
    run: Run | None = None


def _look(event: EventOf[ModelCalled | JournalContext], read: EventOf[JournalRead], facts: Facts) -> _Look:
    run = facts.runs.get(event.run or "") if isinstance(event.data, ModelCalled) else None
    return _Look(
        event=event,
        session=facts.session(event),
        since=_since(event, run, facts),
        rows=facts.keyed(read),
        given=facts.keyed(event),
        run=run,
    )


def _since(event: Event, run: Run | None, facts: Facts) -> int:
    """Returns the position of the last event that surely came before the context of a call was built.

    It is the last event of the run's own work; events of clients and other tasks prove nothing about the context.
    """
    if not isinstance(event.data, ModelCalled):
        return event.position
    asked = 0 if run is None else run.asked  # the request of a run without an acceptance is not known
    before = facts.history.events[asked : event.position]
    own = (e.position for e in reversed(before) if e.run == event.run and e.kind.startswith(_OWN_DOING))
    return next(own, asked)


@frozen(kw_only=True)
class _Wanted:
    """A row that the model must receive once the journal holds it.

    Attributes:
        key: the key of the row.
        rows: the row and its copies.
        run: the run of the row.
        message: the model message of the row or of its call; None for user rows.
    """

    key: str
    rows: Sequence[Item]
    run: Run
    message: ModelMessage | None


def _wanted(facts: Facts) -> Mapping[str, tuple[_Wanted, ...]]:
    """Returns the rows of each session that no policy, flag or rewrite removes from the context."""
    return {session: tuple(_wanted_of(read, facts)) for session, read in facts.final_reads.items()}


def _wanted_of(read: EventOf[JournalRead], facts: Facts) -> Iterator[_Wanted]:
    rewritten = _rewritten_from(facts.session(read), facts)
    for key, rows in facts.keyed(read).items():
        item, ref = rows[0], _ref(key, facts)
        run = facts.runs.get(run_of_row(item, ref, facts) or "")
        tool = facts.tools.get(item.call_id or "")
        message = facts.messages.get(key if tool is None else tool.message or "")
        copies = len(rows) > 1 and item.kind != "user"
        if run is None or copies or run.asked < rewritten or left_to_others(key, facts):
            continue
        if _is_given(item, ref, message, facts):
            yield _Wanted(key=key, rows=rows, run=run, message=message)


def _is_given(item: Item, ref: str | None, message: ModelMessage | None, facts: Facts) -> bool:
    if item.kind == "marker":
        run = facts.runs.get(item.run_id or "")
        if run is not None and end_was_lost(run, facts):
            return False  # the model received another terminal
        return item.state == "interrupted" and facts.history.policies.get("stopped_turn", "marker") == "marker"
    if item.kind in ("tool_call", "tool_result"):
        # without a row of its message the policies for a call are unknown
        asked = facts.stored(message.ref) if message is not None else ()
        return bool(asked) and not _taken_out(asked[0], facts)
    if item.kind == "assistant" and not (item.text or item.reasoning):
        return False  # an empty row is judged by no-empty-message
    return ref is not None and not _taken_out(item, facts)


# --- differences ---------------------------------------------------------------------------------


def _wrong(look: _Look, facts: Facts) -> Iterator[Violation]:
    for key, items in look.given.items():
        rows = look.rows.get(key, ())
        if len(items) == len(rows) == 1 and _plainly_same(items[0], rows[0]):
            continue
        found = _wrong_item(key, items, rows, look, facts)
        if found:
            yield _bad(look, found, rows, items, facts)
    for wanted in facts.once(_wanted)[look.session]:
        if wanted.key not in look.given and _was_there(wanted, look, facts):
            yield _bad(look, f"it lacks {row_text(wanted.rows[0])}", wanted.rows, (), facts)


def _plainly_same(item: Item, row: Item) -> bool:
    """Returns True if two items are equal and no flag or policy applies; calls need a check of their pairs."""
    return item.text == row.text and row.state == "completed" and not row.metadata and item.call_id is None


def _wrong_item(key: str, items: Sequence[Item], rows: Sequence[Item], look: _Look, facts: Facts) -> str:
    """Returns the fault of items in a context, as a sentence; empty without one."""
    item, ref = items[0], _ref(key, facts)
    if item.kind in ("tool_call", "tool_result"):
        return _wrong_call(item, rows, look, facts)
    if item.kind not in ("user", "assistant") or left_to_others(key, facts):
        return ""
    run = facts.runs.get(run_of_row(item, ref, facts) or "")
    if not rows:
        return _unseen(item, ref, run, look, facts)
    if len(items) > len(rows):
        return f"it holds {row_text(item)} {len(items)} times"
    if ref is None or len(rows) > 1:
        return ""  # duplicates in the journal are reported by no-duplicate-message
    if _hidden_at(rows[0], key, look, facts):
        return f"it holds {row_text(item)}, which is hidden from the model"
    if run is None or run.end > look.since or end_was_lost(run, facts):
        return ""
    if item.kind == "assistant" and rows[0].state == "interrupted" and _leaves_partials_out(facts):
        return f"it holds {row_text(item)}, but by policy it omits interrupted text"
    late = ref in facts.messages and facts.messages[ref].late
    if not late and rows[0].text != item.text:
        return f"it holds {quoted(item.text)}, the journal holds {quoted(rows[0].text)}"
    return ""


def _ref(key: str, facts: Facts) -> str | None:
    return key if key in facts.users or key in facts.messages else None


def _unseen(item: Item, ref: str | None, run: Run | None, look: _Look, facts: Facts) -> str:
    """Returns the fault of an item that the final read lacks; empty without one."""
    if ref is None:
        # foreign text in the journal is reported by honest-provenance
        return "" if item.origin == "synthetic" else f"it holds {row_text(item)}, which has no author"
    if run is None:
        return ""
    if end_of(run, facts)[1] == "rolled_back":
        return f"it holds {row_text(item)} of a run that was rolled back" if run.end < look.since else ""
    # the context at the end is read with the journal; the row of an earlier context may be lost since
    over = run.end < look.since and not isinstance(look.event.data, ModelCalled)
    return f"it holds {row_text(item)}, which the journal lacks" if over else ""


def _wrong_call(item: Item, rows: Sequence[Item], look: _Look, facts: Facts) -> str:
    call_id = item.call_id
    there = [kind for kind in ("tool_call", "tool_result") if f"{kind} {call_id}" in look.given]
    stored = [kind for kind in ("tool_call", "tool_result") if f"{kind} {call_id}" in look.rows]
    if len(there) == 1 and len(stored) == 2 and facts.history.policies.get("orphans", "on_write") == "on_write":
        lacks = "result" if there == ["tool_call"] else "request"
        return f"it holds call {call_id} without its {lacks}"
    if item.kind == "tool_call" and _half(call_id, facts, stored=bool(rows)):
        return f"it holds half of a call, {row_text(item)}"
    if item.kind == "tool_call" and rows and not same_arguments(item.arguments, rows[0].arguments):
        return f"it holds {row_text(item)}, which differs from the request in the journal"
    return ""


def _half(call_id: str | None, facts: Facts, *, stored: bool) -> bool:
    """Returns True if the model was cut off inside a request, so that its arguments are incomplete.

    A stored request of a failed attempt is reported by retry-is-atomic.
    """
    tool = facts.tools.get(call_id or "")
    message = facts.messages.get((tool and tool.message) or "")
    if message is None or message.completed is not None or (stored and message.superseded):
        return False
    return any(call.call_id == call_id and not is_whole(call.arguments) for call in message.calls)


# --- required rows -------------------------------------------------------------------------------


def _was_there(wanted: _Wanted, look: _Look, facts: Facts) -> bool:
    """Returns True if the journal held the row for good before the model was called."""
    if wanted.run is not look.run:
        return wanted.run.end < look.since
    if wanted.message is None:
        return not facts.history.capabilities.user_first  # else prompt-first reports the loss
    earlier = wanted.message.turn != look.event.subject and wanted.message.completed_before(look.since)
    return earlier and not wanted.message.superseded


def _taken_out(item: Item, facts: Facts) -> bool:
    """Returns True if a policy or a flag may remove a message from the context."""
    partial = item.kind == "assistant" and item.state != "completed"
    return _ever_hidden(item, facts) or (partial and _leaves_partials_out(facts))


def _leaves_partials_out(facts: Facts) -> bool:
    policies = facts.history.policies
    return policies.get("partial_in_context") == "none" or policies.get("stopped_turn") == "user_only"


def _rewritten_from(session: str, facts: Facts) -> int:
    """Returns the position before which a run must be requested to be part of the last rewrite; -1 without one."""
    done = (e for e in facts.of(MaintenanceDone) if e.data.verb in REWRITES)
    begun = [_begun(event, facts) for event in done if facts.session(event) == session]
    return max((*begun, *facts.kills_in_rewrites), default=-1)


def _begun(done: EventOf[MaintenanceDone], facts: Facts) -> int:
    """Returns the position from which a rewrite ignores new messages."""
    calls = [e for e in facts.of(ModelCalled) if e.data.purpose == "compaction"]
    calls = [e for e in calls if e.position < done.position and facts.session(e) == facts.session(done)]
    return calls[-1].position if calls and done.data.verb == "compact" else done.position


# --- flags ---------------------------------------------------------------------------------------


def _hidden_at(row: Item, ref: str, look: _Look, facts: Facts) -> bool:
    """Returns True if a message was surely hidden from the model when the context was built."""
    flags = [e for e in facts.of(MaintenanceDone) if HIDDEN_FROM_MODEL in e.data.metadata]
    own = [event for event in flags if event.data.item == ref]
    before = [event for event in own if event.position < look.since]
    hidden = bool(row.metadata.get(HIDDEN_FROM_MODEL))
    return hidden and bool(before) and all(event.data.metadata[HIDDEN_FROM_MODEL] for event in own)


def _ever_hidden(row: Item, facts: Facts) -> bool:
    flagged = bool(row.metadata.get(HIDDEN_FROM_MODEL))
    done = any(HIDDEN_FROM_MODEL in event.data.metadata for event in facts.of(MaintenanceDone))
    return flagged or done


def _bad(look: _Look, found: str, rows: Sequence[Item], items: Sequence[Item], facts: Facts) -> Violation:
    subject = (*items, *rows)[0]
    run = facts.runs.get(subject.run_id or "")
    at = look.event.subject if look.run is not None else None
    return Violation(
        invariant="store-equals-context",
        promised="the model receives the rows of the journal, except rows that a policy or a flag removes",
        found=f"the context of {at or 'the next call'} differs: {found}",
        evidence=tuple(sorted({*evidence(facts, run), look.event.position})),
        expected=rows_text(rows),
        actual=rows_text(items),
        subject=subject.call_id or subject.id or at,
    )


STORE_EQUALS_CONTEXT = Invariant(
    id="store-equals-context",
    family="truth",
    statement="The model receives the same rows that users see, except rows that policies, flags or rewrites remove.",
    judge=store_equals_context,
    unclaimed=needs("context"),
    explain=Explanation(
        meaning="History and context are two views of one journal. Each call of the model, above all the first one "
        "after a stop, receives every message, call and result that users see, once and with the same text; and the "
        "marker of an interrupted run, so that the model does not continue the stopped work. A policy or flag may "
        "remove interrupted text and flagged messages, a summary replaces compacted rows, a call comes with its "
        "result or not at all, and the model receives no row that users do not see.",
        example="Stop stores the half answer for the page only. The user asks about it, and the model denies the "
        "answer.",
        usual_cause="Display and model memory are two stores, and one exit path of a run writes to only one of them; "
        "or recovery restores a message in only one.",
        cases=(
            "bytedance/deer-flow#3572",
            "dp-archive/archive#160",
            "hermes-webui#2353",
            "hermes-webui#4283",
            "aaif-goose/goose#11996",
            "aaif-goose/goose#11997",
        ),
    ),
)
