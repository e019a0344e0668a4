"""The space-time table of a failure: who did what when, around the evidence.

Time runs down, and every actor has a lane.  A row is one event, or a run of like
chunks and their deltas folded into one.  What lies far from the evidence is left out,
with a count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from journalsim.contract.events.client_events import ClientApplied
from journalsim.contract.events.model_events import ModelChunk
from journalsim.contract.events.server_events import FramePublished
from journalsim.history import Event, History
from journalsim.report.describe import describe, lane
from journalsim.report.escape import elide, visible
from journalsim.report.lanes import LANE_MIN, WIDE, draw, lane_starts
from journalsim.report.words import clock, clock_digits, count

ROWS_MAX = 28  # one screen
BEFORE, AFTER = 3, 2  # rows of context around each piece of evidence
FOLD_MIN = 3  # fewer rows than this are no easier to read when folded

_NOISE = frozenset({"step.taken", "statistics.taken", "journal.context", "stream.sent"})
_FIXED_LANES = ("model", "tools", "server", "journal")


@frozen
class Row:
    """One row of the table: an event with its mark, or a folded run of events."""

    events: Sequence[Event]
    mark: str = " "

    @property
    def number(self) -> str:
        """The position of the event, or those of the first and the last."""
        first, last = self.events[0].position, self.events[-1].position
        return str(first) if first == last else f"{first}-{last}"

    def cells(self) -> dict[str, str]:
        """The text of each lane in this row."""
        by_lane: dict[str, list[Event]] = {}
        for event in self.events:
            by_lane.setdefault(lane(event), []).append(event)
        return {name: _fold(group) for name, group in by_lane.items()}


def table(history: History, evidence: Sequence[int] = (), clients: Iterable[str] = (), width: int = 100) -> list[str]:
    """Returns the part of a history that explains a violation, as lines.

    Args:
        history: what happened.
        evidence: positions that matter; the last one decides and is marked ``>``, the others ``*``.
        clients: their lanes, in order; those that only the history knows come after them.
        width: columns.
    """
    stretches = _chosen(_rows(history.events, evidence))
    if not stretches:
        return ["(nothing happened)"]
    return _drawn(stretches, clients, width)


def marks(evidence: Sequence[int]) -> dict[int, str]:
    """Returns the mark of each piece of evidence, by position."""
    return dict.fromkeys(evidence, "*") | dict.fromkeys(evidence[-1:], ">")


# --- which rows --------------------------------------------------------------------------------


def _rows(events: Sequence[Event], evidence: Sequence[int]) -> list[Row]:
    """Returns all rows: evidence as it is, noise dropped, like deltas folded."""
    marked = marks(evidence)
    rows: list[Row] = []
    pending: list[Event] = []
    for event in events:
        mark = marked.get(event.position)
        if mark is None and event.kind in _NOISE:
            continue
        alike = mark is None and _is_delta(event)
        if not alike or _is_another_message(pending, event):
            rows += _run(pending)
            pending = []
        if alike:
            pending.append(event)
        else:
            rows.append(Row((event,), mark or " "))
    return rows + _run(pending)


def _run(events: Sequence[Event]) -> list[Row]:
    return [Row((event,)) for event in events] if len(events) < FOLD_MIN else [Row(tuple(events))]


def _is_delta(event: Event) -> bool:
    data = event.data
    if isinstance(data, ModelChunk):
        return data.part in ("text", "reasoning", "tool_arguments")
    return isinstance(data, FramePublished | ClientApplied) and data.frame == "message.delta"


def _is_another_message(pending: Sequence[Event], event: Event) -> bool:
    if not isinstance(event.data, ModelChunk):
        return False
    chunk = next((e for e in pending if isinstance(e.data, ModelChunk)), event)
    return chunk.subject != event.subject


def _chosen(rows: Sequence[Row]) -> list[list[Row]]:
    """Returns the rows around the evidence in unbroken stretches; the latest if there are too many."""
    wanted: set[int] = set()
    for index in reversed(range(len(rows))):
        if rows[index].mark != " ":
            window = set(range(max(0, index - BEFORE), min(len(rows), index + AFTER + 1)))
            if wanted and len(wanted | window) > ROWS_MAX:
                break
            wanted |= window
    if not wanted:
        wanted = set(range(max(0, len(rows) - ROWS_MAX // 2), len(rows)))
    stretches: list[list[Row]] = []
    for index in sorted(wanted):
        if index - 1 not in wanted:
            stretches.append([])
        stretches[-1].append(rows[index])
    return stretches


# --- how they look -----------------------------------------------------------------------------


def _fold(group: Sequence[Event]) -> str:
    first, last = group[0], group[-1]
    if len(group) == 1:
        return describe(first)
    if isinstance(first.data, ModelChunk) and isinstance(last.data, ModelChunk):
        turn = visible(first.data.message.removeprefix("model."))
        return f"{turn} c{first.data.chunk}…c{last.data.chunk}"
    return f"{'sends' if isinstance(first.data, FramePublished) else 'displays'} {len(group)} deltas"


def _drawn(stretches: Sequence[Sequence[Row]], clients: Iterable[str], width: int) -> list[str]:
    rows = [row for stretch in stretches for row in stretch]
    cells = {row.number: row.cells() for row in rows}
    lanes = _lanes(cells.values(), clients)
    digits = clock_digits(row.events[0].time_ns for row in rows)
    number_width = max(len("event"), *map(len, cells))
    margin = 2 + number_width + 2 + digits + 5 + 2
    starts = lane_starts(list(cells.values()), lanes, width - margin)
    names = {name: elide(name, LANE_MIN - 1) for name in lanes}
    title = draw(names, starts, width - margin)[0] if names else ""
    lines = [f"  {'event':>{number_width}}  {'virtual':>{digits + 5}}  {title}"]
    for n, stretch in enumerate(stretches):
        if n:
            hidden = stretch[0].events[0].position - stretches[n - 1][-1].events[-1].position - 1
            lines.append(" " * margin + f"… {count(hidden, 'event')} …")
        for row in stretch:
            time = clock(row.events[0].time_ns, digits)
            front = f"{row.mark} {row.number:>{number_width}}  {time:>{digits + 5}}  "
            for part in draw(cells[row.number], starts, width - margin):
                lines.append(front + part)
                front = " " * margin
    return [line.rstrip() for line in lines]


def _lanes(rows: Iterable[Iterable[str]], clients: Iterable[str]) -> list[str]:
    used = {name for row in rows for name in row} - {WIDE}
    named = list(dict.fromkeys([*_FIXED_LANES, *clients]))
    return [name for name in named if name in used] + sorted(used - set(named))
