"""One event of a history in a few words, and the lane that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from journalsim.history import Event, plain
from journalsim.report.escape import elide, quoted
from journalsim.report.lanes import WIDE

Parts: TypeAlias = tuple[str, ...]

ROWS_MAX = 12  # a list of journal rows longer than this says how many more there are
FIELD_COLUMNS = 60  # for anything that is not a text of a model, a user or a tool

_WIDE_KINDS = frozenset(
    (
        *("server.started", "server.crashed", "server.shut_down", "clock.jumped", "quiet.reached"),
        *("deadlock.found", "bound.hit", "trace.differs", "step.taken", "step.skipped"),
    )
)
_JOURNAL = ("store", "journal", "statistics", "disk", "recovery")
_LANES = {"model": "model", "tool": "tools", **dict.fromkeys(_JOURNAL, "journal")}


def lane(event: Event) -> str:
    """Returns the lane of an event: ``model``, ``tools``, ``server``, ``journal``, a client, or ``WIDE``."""
    if event.kind in _WIDE_KINDS:
        return WIDE
    area = event.kind.partition(".")[0]
    return event.actor if area == "client" else _LANES.get(area, "server")


def describe(event: Event, width: int = 24) -> str:
    """Returns what happened, on one line of visible text.

    Args:
        event: the event.
        width: how many columns a text of a model, a user or a tool may take.
    """
    writer = _WRITERS.get(event.kind, _unknown)
    return _joined(writer(_Words(event, width)))


def _joined(parts: Parts) -> str:
    """Joins the parts that are not empty; punctuation clings to what stands before it."""
    line = ""
    for part in parts:
        line += part if not line or part.startswith((",", ":")) else f" {part}" if part else ""
    return line


class _Words:
    """Fields of an event, each as visible text; a field that is not there is empty."""

    def __init__(self, event: Event, width: int) -> None:
        self._event = event
        self._width = width

    def __getattr__(self, name: str) -> str:
        return self.after("", name)

    @property
    def kind(self) -> str:
        return elide(self._event.kind, FIELD_COLUMNS)

    @property
    def run(self) -> str:
        return elide(self._event.run or "", FIELD_COLUMNS)

    @property
    def subject(self) -> str:
        """The message, turn or call; the model's lane needs no ``model.`` before it."""
        return elide((self._event.subject or "").removeprefix("model."), FIELD_COLUMNS)

    def raw(self, name: str) -> Any:
        return self._event.data.get(name)

    def after(self, before: str, name: str) -> str:
        """The field as plain words, ``before`` it; nothing when it has no value."""
        value = self.raw(name)
        if not value:
            return ""
        return before + elide(value if isinstance(value, str) else str(plain(value)), FIELD_COLUMNS)

    def quote(self, name: str) -> str:
        value = self.raw(name)
        return quoted(str(value), self._width) if value else ""

    def rows(self, name: str) -> str:
        return row_labels(self.raw(name) or ())

    def row(self, name: str) -> str:
        value = self.raw(name)
        return row_line(value, self._width) if value is not None else ""


def row_labels(items: Sequence[Any]) -> str:
    """Returns journal rows by their ids (or kinds), each with its state unless it is completed."""
    labels = [_label(plain(item)) for item in items[:ROWS_MAX]]
    more = [f"and {len(items) - ROWS_MAX} more"] if len(items) > ROWS_MAX else []
    return "[" + ", ".join(labels + more) + "]"


def row_line(item: Any, width: int = 40) -> str:
    """Returns one journal row: id, kind, state and what it says."""
    row = plain(item)
    if not isinstance(row, Mapping):
        return elide(str(row), width)
    words = [_label(row), elide(str(row.get("kind", "")), FIELD_COLUMNS) if row.get("id") else ""]
    words += [elide(str(row[key]), FIELD_COLUMNS) for key in ("call_id", "name") if row.get(key)]
    words += [quoted(str(row[key]), width) for key in ("text", "arguments") if row.get(key)]
    return " ".join(word for word in words if word)


def _label(row: Any) -> str:
    if not isinstance(row, Mapping):
        return elide(str(row), FIELD_COLUMNS)
    name = elide(str(row.get("id") or row.get("kind") or "row"), FIELD_COLUMNS)
    state = row.get("state", "completed")
    return name if state == "completed" else f"{name} {elide(str(state), FIELD_COLUMNS)}"


def _frame(w: _Words) -> Parts:
    kind = w.frame.removeprefix("message.")
    return kind, w.message or w.run, w.state, w.quote("text") or w.quote("reasoning")


def _called(w: _Words) -> Parts:
    again = w.after("attempt ", "attempt") if w.raw("attempt") not in (None, 1) else ""
    purpose = w.after("for ", "purpose") if w.raw("purpose") != "turn" else ""
    return w.subject, "called", again, purpose


def _chunk(w: _Words) -> Parts:
    part = w.part if w.part != "text" else ""
    return w.subject, w.after("c", "chunk"), part, w.call_id, w.name, w.quote("text")


def _stop(w: _Words) -> Parts:
    return w.named or w.run, w.mode if w.mode != "interrupt" else ""


def _copy(w: _Words) -> str:
    """A request that travelled twice; the first copy needs no remark."""
    copy = w.raw("copy")
    return "again" if isinstance(copy, int) and copy > 1 else ""


def _connection(w: _Words) -> str:
    return w.after("#", "connection")


def _statistics(w: _Words) -> Parts:
    record = plain(w.raw("statistics"))
    record = record if isinstance(record, Mapping) else {}
    return (f"cache: {record.get('partial_messages', 0)} partials, {record.get('partial_bytes', 0)} bytes",)


def _jumped(w: _Words) -> Parts:
    by = w.raw("by_ns") or 0
    return "clock jumps", "back" if by < 0 else "forward", f"{abs(by) // 1_000_000} ms"


def _deadlock(w: _Words) -> Parts:
    tasks = w.raw("tasks") or ()
    pairs = [elide(" at ".join(map(str, task)) if isinstance(task, (tuple, list)) else str(task), 60) for task in tasks]
    return "DEADLOCK", f": {', '.join(pairs)}" if pairs else ""


def _unknown(w: _Words) -> Parts:
    return w.kind, w.subject, w.run


_WRITERS: Mapping[str, Callable[[_Words], Parts]] = {
    "client.sent": lambda w: ("sends", w.quote("text")),
    "client.stop_pressed": lambda w: ("STOP", *_stop(w)),
    "client.told": lambda w: ("told:", w.verb, w.outcome, w.run, w.after(": ", "reason")),
    "client.applied": lambda w: ("shows", *_frame(w)),
    "client.reloaded": lambda w: ("reloads", w.rows("items")),
    "client.answered": lambda w: ("APPROVES" if w.approved else "DENIES", w.subject),
    "client.disconnected": lambda w: ("loses its connection",),
    "client.detached": lambda w: ("detaches",),
    "client.attached": lambda w: ("attaches",),
    "client.control": lambda w: ("is told", w.control, w.attachment, w.after(": ", "reason")),
    "client.view": lambda w: ("page shows", w.rows("items"), w.after("at ", "cursor")),
    "stream.asked": lambda w: ("asks for a", w.what, _connection(w), w.after("after ", "cursor")),
    "stream.answered": lambda w: ("answers", w.client, w.status, _connection(w)),
    "stream.sent": lambda w: ("writes to", w.client, w.quote("data")),
    "stream.closed": lambda w: ("closes", w.client, _connection(w), w.after(": ", "why")),
    "stream.over": lambda w: ("stream", "ends" if w.raw("clean") else "breaks", _connection(w)),
    "stream.given_up": lambda w: ("asks no more", w.after(": ", "reason")),
    "stream.endless": lambda w: ("is closed after", w.connections, "connections"),
    "link.broke": lambda w: ("link", w.fault, w.direction, _connection(w)),
    "request.delivered": lambda w: ("receives", w.verb, w.key, _copy(w)),
    "request.lost": lambda w: ("never receives", w.verb, w.key),
    "run.accepted": lambda w: ("accepts", w.run, w.key, "again" if w.raw("again") else ""),
    "run.refused": lambda w: ("refuses", w.key, w.after(": ", "reason")),
    "run.ended": lambda w: (w.run, "ended", w.after(": ", "state"), w.after(", ", "cause")),
    "stop.delivered": lambda w: ("stops", *_stop(w)),
    "stop.answered": lambda w: ("answers stop", w.named, w.after(": ", "answer")),
    "answer.delivered": lambda w: ("takes the answer about", w.subject),
    "answer.answered": lambda w: ("answers about", w.subject, w.after(": ", "answer")),
    "reader.disconnected": lambda w: ("notices that", w.client, "is gone"),
    "frame.published": lambda w: ("sends", *_frame(w)),
    "server.started": lambda w: ("server started", w.after(", process ", "incarnation")),
    "server.shut_down": lambda w: ("server shut down",),
    "server.crashed": lambda w: ("SERVER CRASHED", w.after(", the disk loses ", "lose")),
    "disk.failed": lambda w: (w.subject or "the disk", "goes wrong", w.after(": ", "fault")),
    "recovery.read": lambda w: ("after one more kill", w.rows("items")),
    "maintenance.done": lambda w: (w.verb or "maintenance", w.item, w.metadata),
    "maintenance.refused": lambda w: (w.verb or "maintenance", "refused", w.after(": ", "reason")),
    "model.called": _called,
    "model.chunk": _chunk,
    "model.completed": lambda w: (w.subject, "completed", "late" if w.raw("late") else "", w.quote("text"), w.reason),
    "model.failed": lambda w: (w.subject, "breaks", w.after(": ", "error")),
    "model.ended_silently": lambda w: (w.subject, "ends without a finish"),
    "model.closed": lambda w: (w.subject, "closed before its end"),
    "tool.started": lambda w: (w.subject, "starts", w.name, w.quote("arguments")),
    "tool.effect": lambda w: (w.subject, "takes effect", w.after(", time ", "count")),
    "tool.returned": lambda w: (w.subject, "returns", w.quote("text")),
    "tool.failed": lambda w: (w.subject, "fails", w.quote("text")),
    "tool.cancelled": lambda w: (w.subject, "cancelled"),
    "store.acknowledged": lambda w: ("keeps", w.row("item")),
    "store.failed": lambda w: ("append", w.outcome, w.after(": ", "error"), w.row("item")),
    "journal.read": lambda w: ("holds", w.rows("items")),
    "journal.context": lambda w: ("context", w.rows("items")),
    "statistics.taken": _statistics,
    "step.taken": lambda w: ("step", w.label or w.verb),
    "step.skipped": lambda w: ("step", w.label or w.verb, "never became possible", w.after(": ", "reason")),
    "clock.jumped": _jumped,
    "adapter.raised": lambda w: (w.verb, "raised", w.after(": ", "error")),
    "quiet.reached": lambda w: ("quiet", w.after(", still waiting: ", "unfinished")),
    "deadlock.found": _deadlock,
    "bound.hit": lambda w: ("cut off:", w.bound, w.after("over ", "limit")),
    "trace.differs": lambda w: (
        "ANOTHER TRACE",
        w.after("from event ", "first") or "from event 0",
        w.after(", here ", "ours"),
        w.after(", there ", "theirs"),
    ),
}
