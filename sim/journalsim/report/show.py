"""A whole history as text: every event, for ``journalsim show``."""

from __future__ import annotations

from collections.abc import Sequence

from journalsim.history import Event, History, trace_hash
from journalsim.report.describe import describe
from journalsim.report.escape import columns, elide, inert, pad, visible
from journalsim.report.spacetime import marks
from journalsim.report.words import clock, clock_digits, count, duration

ACTOR_COLUMNS = 16
TEXT_COLUMNS = 60


def show_text(history: History, *, title: str = "", evidence: Sequence[int] = ()) -> str:
    """Returns every event of a history, one a line, however long the line.

    Args:
        history: what happened.
        title: what it is the history of.
        evidence: positions to mark: the last one with ``>``, the others with ``*``.
    """
    events = history.events
    end = duration(events[-1].time_ns) if events else "0 ms"
    head = f"{count(len(events), 'event')}, {end} virtual, trace {trace_hash(events)}"
    lines = [f"{elide(title, 80)}  {head}" if title else head, "", *_lines(events, marks(evidence))]
    return inert("\n".join(lines))


def _lines(events: Sequence[Event], marked: dict[int, str]) -> list[str]:
    digits = clock_digits(event.time_ns for event in events)
    actors = [elide(event.actor, ACTOR_COLUMNS) for event in events]
    actor_width = max(map(columns, actors), default=0)
    kind_width = max((columns(visible(event.kind)) for event in events), default=0)
    number_width = len(str(len(events)))
    return [
        f"{marked.get(event.position, ' ')} {event.position:>{number_width}}"
        f"  {clock(event.time_ns, digits):>{digits + 5}}  {pad(actor, actor_width)}"
        f"  {pad(visible(event.kind), kind_width)}  {describe(event, TEXT_COLUMNS)}".rstrip()
        for event, actor in zip(events, actors, strict=True)
    ]
