"""Tool calls on a page, and questions that wait for a user."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from journalsim.contract.events.client_events import ClientApplied, ClientControl, ClientReloaded, ClientView
from journalsim.contract.events.journal_events import JournalRead
from journalsim.contract.events.server_events import FramePublished
from journalsim.contract.items import Item
from journalsim.history import EventOf
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.invariants.invariant import HELD, Finding
from journalsim.oracle.invariants.verdict import Violation

_CALLS = {"tool.requested": "tool_call", "tool.closed": "tool_result"}
Row = tuple[str, str]
"""``tool_call`` or ``tool_result``, and the id of the call."""


def calls_displayed(facts: Facts, view: EventOf[ClientView], read: EventOf[JournalRead]) -> Finding:
    """Judges the calls and results on a page: the page displays those of the reference reader, and calls of results.

    Rows that the journal holds only for a time, as of a failed attempt, may be there or not.
    """
    frames = [event.data for event in facts.of(FramePublished) if event.data.frame in _CALLS]
    published = {(_CALLS[data.frame], data.call_id or ""): True for data in frames}
    stored, displayed = _rows(read.data.items), _rows(view.data.items)
    once_there = {row: True for look in facts.reads[view.data.session] for row in _rows(look.data.items)}
    bare = [("tool_call", call) for kind, call in displayed if kind == "tool_result"]
    missing = next((row for row in stored if (row in published or row in bare) and row not in displayed), None)
    stray = next((row for row in displayed if row not in published and row not in once_there), None)
    wrong = missing or stray
    if wrong is None:
        return HELD
    kind, call = wrong[0].replace("_", " "), wrong[1]
    return Violation(
        invariant="replay-equals-live",
        promised="a page that reattaches displays the same tool calls as the reference reader",
        found=f"{view.actor} {'does not display' if missing else 'displays'} {kind} {call}, and the "
        f"reference reader {'does' if missing else 'does not'}",
        evidence=(view.position, read.position),
        subject=call,
    )


def calls_at_work(facts: Facts, view: EventOf[ClientView]) -> list[str]:
    """Returns the calls whose result the journal holds and the page does not display."""
    read = facts.final_reads.get(view.data.session)
    if read is None or facts.history.policies.get("orphans") == "on_read":  # which adds results without a frame
        return []
    stored, displayed = _rows(read.data.items), _rows(view.data.items)
    open_ones = (call for kind, call in displayed if kind == "tool_call" and ("tool_result", call) not in displayed)
    return [call for call in open_ones if ("tool_result", call) in stored]


def _rows(items: Iterable[Item]) -> list[Row]:
    return [(item.kind, item.call_id or "") for item in items if item.kind in ("tool_call", "tool_result")]


# --- questions -----------------------------------------------------------------------------------


def questions_displayed(facts: Facts, view: EventOf[ClientView], runs: Collection[str]) -> Finding:
    """Judges the questions of a page with an open stream, at rest.

    Args:
        facts: the facts of the history.
        view: the view of the page.
        runs: the active runs of its session.
    """
    waiting: dict[str, str] = {}
    for event in facts.of(FramePublished):
        if event.run in runs:
            _take(waiting, event.data)
    by_history, by_stream = _open_questions(facts, view)
    missing = next((call for call in waiting if call not in by_stream and call not in by_history), None)
    stray = next((call for call in by_stream if call not in waiting), None)
    wrong = missing or stray
    if wrong is None:
        return HELD
    return Violation(
        invariant="replay-equals-live",
        promised="a page with an open stream displays every question that waits for an answer, and no other",
        found=f"{view.actor} {'does not ask' if missing else 'asks'} about {wrong}, which "
        f"{'waits' if missing else 'does not wait'} for an answer",
        evidence=(view.position,),
        subject=wrong,
    )


def _open_questions(facts: Facts, view: EventOf[ClientView]) -> tuple[list[str], dict[str, str]]:
    """Returns the open calls in the history that the page read, and the waiting calls from the stream."""
    by_history: list[str] = []
    by_stream: dict[str, str] = {}
    events = facts.index.in_order(ClientReloaded, ClientControl, ClientApplied)
    for data in (event.data for event in events if event.actor == view.actor):
        if isinstance(data, ClientApplied):
            _take(by_stream, data)
        elif isinstance(data, ClientReloaded):
            by_history = [i.call_id or "" for i in data.items if i.kind == "tool_call" and i.state == "open"]
            by_stream.clear()
        elif isinstance(data, ClientControl) and (data.attachment == "restart" or data.whole_turn):
            by_history.clear()
            by_stream.clear()
    return by_history, by_stream


def _take(questions: dict[str, str], data: ClientApplied | FramePublished) -> None:
    """Applies a frame to the open questions, runs by call id."""
    frame, call = data.frame, data.call_id or ""
    if frame == "approval.requested":
        questions[call] = data.run or ""
    elif frame in ("approval.resolved", "tool.closed"):
        questions.pop(call, None)
    elif frame == "run.ended":
        for one in [one for one, run in questions.items() if run == data.run]:
            del questions[one]
