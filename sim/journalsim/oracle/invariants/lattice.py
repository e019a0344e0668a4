"""Grades of a loss: how far a message had come before it was lost.

A loss is worse if more parties relied on the message.  The grades, with their
evidence in a history:

* *emitted*: the harness handed the message over;
* *received*: the system asked for more, or acted on the message;
* *accepted*: ``start`` returned, the store acknowledged the row, or a frame named
  the row;
* *synced*: the row survived a crash;
* *sent*: a frame announced the message to readers;
* *applied*: a client displayed the message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from journalsim.contract.events.client_events import ClientApplied, ClientReloaded
from journalsim.contract.events.journal_events import StoreAcknowledged
from journalsim.oracle.facts.displayed import LiveFrame
from journalsim.oracle.facts.facts import NEVER, Facts
from journalsim.oracle.invariants.verdict import GRADES, Grade

_SAID: Mapping[Grade, str] = {
    "emitted": "the model had emitted it",
    "received": "the system had received it",
    "accepted": "it had been accepted",
    "synced": "it had survived a crash of the server",
    "sent": "it had been sent to clients",
}
_TEXT_FRAMES = ("message.delta", "message.completed", "message.interrupted")
_RESULTS = ("completed", "failed")


def with_grade(found: str, grade: Grade, who: str = "") -> str:
    """Returns the sentence extended by the grade; ``who`` is a client that displayed the message."""
    if not grade:
        return found
    return f"{found}; {_SAID[grade] if grade != 'applied' else f'{who} had displayed it'}"


def grade_of_message(ref: str, facts: Facts, before: float = NEVER) -> tuple[Grade, str]:
    """Returns the grade that a message had before a position, and a client that displayed it."""
    crossed: list[tuple[Grade, str]] = [("emitted", "")]
    for frame in _frames(ref, facts, before):
        crossed.append(("applied", frame.actor) if isinstance(frame.data, ClientApplied) else ("sent", ""))
        crossed += [("accepted", "")] if frame.data.event_id is not None else []
    if ref in facts.users:
        since = facts.users[ref].sent.position
        crossed += [("accepted", "")] if facts.users[ref].accepted is not None else []
    else:
        since = facts.messages[ref].begin
        crossed += _received(since, facts.messages[ref].run, facts, before)
    crossed += _read(ref, since, facts, before)
    crossed += [("accepted", "")] if _acknowledged(ref, facts, before) else []
    return max(crossed, key=lambda line: GRADES.index(line[0]))


def grade_of_result(call_id: str, facts: Facts) -> tuple[Grade, str]:
    """Returns the grade that the result of a tool had, and a client that displayed it."""
    tool = facts.tools[call_id]
    end = tool.returned or tool.failed or next(iter(tool.started), None)  # a sub-agent's call has none of them
    crossed: list[tuple[Grade, str]] = [("emitted", "")]
    crossed += _received(end.position, tool.run, facts, NEVER) if end is not None else []
    for event in facts.of(ClientApplied):
        closed = event.data.frame == "tool.closed" and event.data.call_id == call_id
        crossed += [("applied", event.actor)] if closed and event.data.state in _RESULTS else []
    for stored in facts.of(StoreAcknowledged):
        item = stored.data.item
        crossed += [("accepted", "")] if item.call_id == call_id and item.state in _RESULTS else []
    return max(crossed, key=lambda line: GRADES.index(line[0]))


def _frames(ref: str, facts: Facts, before: float) -> Iterator[LiveFrame]:
    for journal_id, own in facts.displayed_as.items():
        for event in facts.frames[journal_id] if own == ref else ():
            if event.position < before and event.data.frame in _TEXT_FRAMES:
                yield event


def _received(since: int, run: str | None, facts: Facts, before: float) -> list[tuple[Grade, str]]:
    """Returns the grade *received* if the system acted for the run after a hand-over."""
    after = facts.history.events[since + 1 :]
    own = (e for e in after if e.run == run and e.position < before and not e.kind.startswith("stop."))
    return [("received", "")] if next(own, None) is not None else []


def _read(ref: str, since: int, facts: Facts, before: float) -> list[tuple[Grade, str]]:
    """Returns the grades that reads of the journal with the message prove."""
    crossed: list[tuple[Grade, str]] = []
    for read in (read for reads in facts.reads.values() for read in reads):
        if since < read.position < before and ref in facts.refs_in(read):
            crossed.append(("synced" if facts.crashed_between(since, read.position) else "accepted", ""))
            for event in facts.of(ClientReloaded):
                if read.position < event.position < before and event.data.items == read.data.items:
                    crossed.append(("applied", event.actor))
    return crossed


def _acknowledged(ref: str, facts: Facts, before: float) -> bool:
    done = [event.data.item for event in facts.of(StoreAcknowledged) if event.position < before]
    sessions = dict.fromkeys(run.session for run in facts.runs.values())
    return any(ref in facts.refs(done, session) for session in sessions)
