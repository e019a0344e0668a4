"""How runs ended, and what they were doing when they were stopped."""

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
"""Causes of an interruption to which a run comes only by going on."""


def end_of(run: Run, facts: Facts) -> tuple[str, str | None]:
    """Returns state and cause with which a run ended: as announced, else as its marker says, else ``("", None)``."""
    if run.ended is not None and run.ended.data.state:
        return str(run.ended.data.state), run.ended.data.cause
    markers = facts.markers.get(run.id, ())
    return (markers[0].state, markers[0].cause) if markers else ("", None)


def how_ended(state: str, cause: str | None) -> str:
    """Returns state and cause for people."""
    return f"{state} ({cause})" if cause else state


def during(event: Event, run: Run) -> bool:
    """Whether something happened between the request for a run and its announced end."""
    return run.asked < event.position < run.end


def readers_gone(facts: Facts) -> list[Event]:
    """Returns the events of clients that stopped watching and of connections that the server saw close, in order."""
    return facts.index.in_order(ClientDetached, ReaderDisconnected)


def work_of(run: Run, facts: Facts, after: float) -> Iterator[Event]:
    """Yields the model calls and tool starts of a run after a position; not those of tools that a person denied."""
    for event in facts.index.either(ModelCalled, ToolStarted):
        if event.run == run.id and event.position > after and event.subject not in facts.denied:
            yield event


def went_on(run: Run, stop: Stop, facts: Facts) -> bool:
    """Whether a run carried on after the answer to its stop, as if nobody had stopped it, to another end."""
    state, cause = end_of(run, facts)
    if stop.answered is None or (state == "interrupted" and cause not in OF_ITSELF):
        return False
    answered = stop.answered.position
    chunks = [event for event in facts.of(ModelChunk) if event.run == run.id and event.position > answered]
    # one chunk may have been under way
    return len(chunks) > 1 or next(work_of(run, facts, answered), None) is not None


def own_end(run: Run, stop: Stop, facts: Facts) -> str:
    """Returns the end to which a run was coming by itself when its stop came, or an empty text.

    Its terminal may have been under way by then, and the first durable one wins.
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
    """Whether the policy is that a new message cancels the run before it, and there was one.

    It is accepted when it has cancelled the run, and so perhaps after the end, or never if the server is killed;
    of two that were under way together nobody sees which came first.
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
    """Returns from which position on something may have been interrupting a run; infinite if nothing was.

    A stop says when it came.  Of everything else the history only tells that the run
    ended interrupted, so there any moment may have been the one.
    """
    if run.stop is not None:
        return run.stop.delivered.position
    if end_of(run, facts)[0] == "interrupted" or facts.crashed_between(run.asked, run.end):
        return 0
    return float("inf")


def run_of_row(item: Item, ref: str | None, facts: Facts) -> str | None:
    """Returns the run of a row: the one it names, or else the run of its message or call."""
    if item.run_id in facts.runs:
        return item.run_id
    if ref is not None:
        return facts.users[ref].run if ref in facts.users else facts.messages[ref].run
    tool = facts.tools.get(item.call_id or "")
    return item.run_id if tool is None else tool.run
