"""The ends of runs, and their work around a stop."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.events.client_events import ClientDetached, ClientSent
from journalsim.contract.events.model_events import ModelCalled, ModelChunk, ToolStarted
from journalsim.contract.events.server_events import ReaderDisconnected, RunRefused
from journalsim.contract.items import Item
from journalsim.history import Event
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.facts.records import Run, Stop

OF_ITSELF = ("timed_out", "lost_lease")
"""Causes of an interruption that a run reaches only by continuing."""


def end_of(run: Run, facts: Facts) -> tuple[str, str | None]:
    """Returns state and cause of the end of a run: as announced, else from its marker, else ``("", None)``."""
    if run.ended is not None and run.ended.data.state:
        return str(run.ended.data.state), run.ended.data.cause
    markers = facts.markers.get(run.id, ())
    return (markers[0].state, markers[0].cause) if markers else ("", None)


def how_ended(state: str, cause: str | None) -> str:
    """Returns state and cause as text."""
    return f"{state} ({cause})" if cause else state


def during(event: Event, run: Run) -> bool:
    """Returns True if the event lies between the request of the run and its announced end."""
    return run.asked < event.position < run.end


def readers_gone(facts: Facts) -> list[Event]:
    """Returns the events of clients that detached and of connections that the server saw close, in order."""
    return facts.index.in_order(ClientDetached, ReaderDisconnected)


def work_of(run: Run, facts: Facts, after: float) -> Iterator[Event]:
    """Yields the model calls and tool starts of a run after a position, without tools that a user denied."""
    for event in facts.index.either(ModelCalled, ToolStarted):
        if event.run == run.id and event.position > after and event.subject not in facts.denied:
            yield event


def went_on(run: Run, stop: Stop, facts: Facts) -> bool:
    """Returns True if a run continued after the answer to its stop and reached another end."""
    state, cause = end_of(run, facts)
    if stop.answered is None or (state == "interrupted" and cause not in OF_ITSELF):
        return False
    answered = stop.answered.position
    chunks = [event for event in facts.of(ModelChunk) if event.run == run.id and event.position > answered]
    # one chunk may have been in flight
    return len(chunks) > 1 or next(work_of(run, facts, answered), None) is not None


def own_end(run: Run, stop: Stop, facts: Facts) -> str:
    """Returns the end that a run was about to reach by itself at its stop, or an empty text.

    Its terminal may have been in flight, and the first durable terminal wins.
    """
    stop_at = stop.delivered.position
    before = [m for m in facts.messages.values() if m.run == run.id and m.begin < stop_at]
    if not before:
        return ""
    last = before[-1]
    if last.failed is not None and last.failed.position < stop_at:
        return "failed"
    if last.completed is None or not last.completed_before(stop_at) or last.calls:
        return ""
    more = any(event.position < stop_at for event in work_of(run, facts, last.completed.position))
    return "" if more else "completed"


def cancelled_by_start(run: Run, facts: Facts) -> bool:
    """Returns True if, by policy, a new message may have cancelled the run.

    The server accepts the new message after it has cancelled the run: perhaps after the announced end, or never
    if it crashes.  The history does not show the order of two requests in flight.
    """
    history = facts.history
    if history.policies.get("busy", history.capabilities.concurrent_runs) != "cancel_earlier":
        return False
    others = [other for other in facts.runs.values() if other.session == run.session]
    if any(other is not run and other.asked < run.end and run.asked < other.end for other in others):
        return True
    answered = [other.key for other in others] + [event.data.key for event in facts.of(RunRefused)]
    open_ones = (event for event in facts.of(ClientSent) if event.data.key not in answered)
    return any(event.position < run.end and event.data.session == run.session for event in open_ones)


def interrupted_from(run: Run, facts: Facts) -> float:
    """Returns the position from which the run may have been interrupted; infinite without an interruption.

    A stop has a position.  Other interruptions show only in the end of the run, so they may have
    begun at any moment.
    """
    if run.stop is not None:
        return run.stop.delivered.position
    if end_of(run, facts)[0] == "interrupted" or facts.crashed_between(run.asked, run.end):
        return 0
    return float("inf")


def run_of_row(item: Item, ref: str | None, facts: Facts) -> str | None:
    """Returns the run of a row: the run that the row names, else the run of its message or call."""
    if item.run_id in facts.runs:
        return item.run_id
    if ref is not None:
        return facts.users[ref].run if ref in facts.users else facts.messages[ref].run
    tool = facts.tools.get(item.call_id or "")
    return item.run_id if tool is None else tool.run
