"""One event of a history in a few words, and the lane that it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from journalsim.contract.events.client_events import (
    ClientAnswered,
    ClientApplied,
    ClientAttached,
    ClientControl,
    ClientDetached,
    ClientDisconnected,
    ClientReloaded,
    ClientSent,
    ClientTold,
    ClientView,
    StopPressed,
)
from journalsim.contract.events.event_record import EventRecord
from journalsim.contract.events.harness_events import (
    AdapterRaised,
    BoundHit,
    ClockJumped,
    DeadlockFound,
    QuietReached,
    StepSkipped,
    StepTaken,
    TraceDiffers,
)
from journalsim.contract.events.journal_events import (
    DiskFailed,
    JournalContext,
    JournalRead,
    RecoveryRead,
    StatisticsTaken,
    StoreAcknowledged,
    StoreFailed,
)
from journalsim.contract.events.model_events import (
    ModelCalled,
    ModelChunk,
    ModelClosed,
    ModelCompleted,
    ModelEndedSilently,
    ModelFailed,
    ToolCancelled,
    ToolEffect,
    ToolFailed,
    ToolReturned,
    ToolStarted,
)
from journalsim.contract.events.server_events import (
    AnswerAnswered,
    AnswerDelivered,
    FramePublished,
    MaintenanceDone,
    MaintenanceRefused,
    ReaderDisconnected,
    RunAccepted,
    RunEnded,
    RunRefused,
    ServerCrashed,
    ServerShutDown,
    ServerStarted,
    StopAnswered,
    StopDelivered,
)
from journalsim.contract.events.stream_events import (
    LinkBroke,
    RequestDelivered,
    RequestLost,
    StreamAnswered,
    StreamAsked,
    StreamClosed,
    StreamEndless,
    StreamGivenUp,
    StreamOver,
    StreamSent,
)
from journalsim.history import Event, plain
from journalsim.report.escape import elide, quoted
from journalsim.report.lanes import WIDE

Parts: TypeAlias = tuple[str, ...]

ROWS_MAX = 12  # a list of journal rows longer than this says how many more there are
_FIRST_WORDING = "its moment never came: "
FIELD_COLUMNS = 60  # for anything that is not a text of a model, a user or a tool

_WIDE_KINDS = (
    *(ServerStarted, ServerCrashed, ServerShutDown, ClockJumped, QuietReached),
    *(DeadlockFound, BoundHit, TraceDiffers, StepTaken, StepSkipped),
)
_JOURNAL = ("store", "journal", "statistics", "disk", "recovery")
_LANES = {"model": "model", "tool": "tools", **dict.fromkeys(_JOURNAL, "journal")}


def lane(event: Event) -> str:
    """Returns the lane of an event: ``model``, ``tools``, ``server``, ``journal``, a client, or ``WIDE``."""
    if isinstance(event.data, _WIDE_KINDS):
        return WIDE
    area = event.kind.partition(".")[0]
    return event.actor if area == "client" else _LANES.get(area, "server")


def describe(event: Event, width: int = 24) -> str:
    """Returns what happened, on one line of visible text.

    Args:
        event: the event.
        width: how many columns a text of a model, a user or a tool may take.
    """
    return _joined(WRITERS[type(event.data)](event.data, width))


def _joined(parts: Parts) -> str:
    """Joins the parts that are not empty; punctuation clings to what stands before it."""
    line = ""
    for part in parts:
        line += part if not line or part.startswith((",", ":")) else f" {part}" if part else ""
    return line


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


def _named(value: object) -> str:
    """A field as plain words; empty when it has no value."""
    if not value:
        return ""
    return elide(value if isinstance(value, str) else str(plain(value)), FIELD_COLUMNS)


def _after(before: str, value: object) -> str:
    """A field as plain words with ``before`` in front; empty when it has no value."""
    return before + _named(value) if value else ""


def _said(text: str | None, width: int) -> str:
    """A text of a model, a user or a tool, quoted; empty when there is none."""
    return quoted(text, width) if text else ""


def _turn(name: str | None) -> str:
    """A message or turn; the model's lane needs no ``model.`` before it."""
    return elide((name or "").removeprefix("model."), FIELD_COLUMNS)


def _frame(data: ClientApplied | FramePublished, width: int) -> Parts:
    reasoning = data.reasoning if isinstance(data, ClientApplied) else ""
    kind = _named(data.frame).removeprefix("message.")
    return kind, _named(data.message or data.run), _named(data.state), _said(data.text or reasoning, width)


def _called(data: ModelCalled, width: int) -> Parts:
    again = _after("attempt ", data.attempt) if data.attempt != 1 else ""
    purpose = _after("for ", data.purpose) if data.purpose != "turn" else ""
    return _turn(data.turn), "called", again, purpose


def _chunk(data: ModelChunk, width: int) -> Parts:
    part = _named(data.part) if data.part != "text" else ""
    call, name = _named(data.call_id), _named(data.name)
    return _turn(data.message), _after("c", data.chunk), part, call, name, _said(data.text, width)


def _completed(data: ModelCompleted, width: int) -> Parts:
    late = "late" if data.late else ""
    return _turn(data.message), "completed", late, _said(data.text, width), _named(data.reason)


def _stop(named: str | None, run: str | None, mode: str) -> Parts:
    return _named(named or run), _named(mode) if mode != "interrupt" else ""


def _connection(number: int) -> str:
    return _after("#", number)


def _statistics(data: StatisticsTaken, width: int) -> Parts:
    sizes = data.statistics
    messages, size = getattr(sizes, "partial_messages", 0), getattr(sizes, "partial_bytes", 0)
    return (f"cache: {messages} partials, {size} bytes",)


def _jumped(data: ClockJumped, width: int) -> Parts:
    return "clock jumps", "back" if data.by_ns < 0 else "forward", f"{abs(data.by_ns) // 1_000_000} ms"


def _skipped(data: StepSkipped, width: int) -> Parts:
    """Traces keep the reason in its first wording, since a trace hash counts every word."""
    place = data.reason.removeprefix(_FIRST_WORDING)
    reason = f"{place} was never reached" if place != data.reason else data.reason
    return "step", _named(data.label or data.verb), "skipped", _after(": ", reason)


def _deadlock(data: DeadlockFound, width: int) -> Parts:
    pairs = [elide(f"{task.name} at {task.last_point}", FIELD_COLUMNS) for task in data.tasks]
    return "DEADLOCK", f": {', '.join(pairs)}" if pairs else ""


def _differs(data: TraceDiffers, width: int) -> Parts:
    first = _after("from event ", data.first) or "from event 0"
    return "ANOTHER TRACE", first, _after(", here ", data.ours), _after(", there ", data.theirs)


Writer: TypeAlias = Callable[[Any, int], Parts]
D = TypeVar("D", bound=EventRecord)


def _row(kind: type[D], write: Callable[[D, int], Parts]) -> tuple[type[EventRecord], Writer]:
    return kind, write


WRITERS: Mapping[type[EventRecord], Writer] = dict(
    (
        _row(ClientSent, lambda e, w: ("sends", _said(e.text, w))),
        _row(StopPressed, lambda e, w: ("STOP", *_stop(e.named, e.run, e.mode))),
        _row(
            ClientTold,
            lambda e, w: ("answer:", _named(e.verb), _named(e.outcome), _named(e.run), _after(": ", e.reason)),
        ),
        _row(ClientApplied, lambda e, w: ("displays", *_frame(e, w))),
        _row(ClientReloaded, lambda e, w: ("reloads", row_labels(e.items))),
        _row(ClientAnswered, lambda e, w: ("APPROVES" if e.approved else "DENIES", _turn(e.call_id))),
        _row(ClientDisconnected, lambda e, w: ("loses its connection",)),
        _row(ClientDetached, lambda e, w: ("detaches",)),
        _row(ClientAttached, lambda e, w: ("attaches",)),
        _row(
            ClientControl,
            lambda e, w: ("receives", _named(e.control), _named(e.attachment), _after(": ", e.reason)),
        ),
        _row(ClientView, lambda e, w: ("page displays", row_labels(e.items), _after("at ", e.cursor))),
        _row(
            StreamAsked,
            lambda e, w: ("asks for a", _named(e.what), _connection(e.connection), _after("after ", e.cursor)),
        ),
        _row(StreamAnswered, lambda e, w: ("answers", _named(e.client), _named(e.status), _connection(e.connection))),
        _row(StreamSent, lambda e, w: ("writes to", _named(e.client), _said(e.data, w))),
        _row(StreamClosed, lambda e, w: ("closes", _named(e.client), _connection(e.connection), _after(": ", e.why))),
        _row(StreamOver, lambda e, w: ("stream", "ends" if e.clean else "breaks", _connection(e.connection))),
        _row(StreamGivenUp, lambda e, w: ("asks no more", _after(": ", e.reason))),
        _row(StreamEndless, lambda e, w: ("is closed after", _named(e.connections), "connections")),
        _row(LinkBroke, lambda e, w: ("link", _named(e.fault), _named(e.direction), _connection(e.connection))),
        _row(RequestDelivered, lambda e, w: ("receives", _named(e.verb), _named(e.key), "again" if e.copy > 1 else "")),
        _row(RequestLost, lambda e, w: ("never receives", _named(e.verb), _named(e.key))),
        _row(RunAccepted, lambda e, w: ("accepts", _named(e.run), _named(e.key), "again" if e.again else "")),
        _row(RunRefused, lambda e, w: ("refuses", _named(e.key), _after(": ", e.reason))),
        _row(RunEnded, lambda e, w: (_named(e.run), "ended", _after(": ", e.state), _after(", ", e.cause))),
        _row(StopDelivered, lambda e, w: ("stops", *_stop(e.named, e.run, e.mode))),
        _row(StopAnswered, lambda e, w: ("answers stop", _named(e.named), _after(": ", e.answer))),
        _row(AnswerDelivered, lambda e, w: ("takes the answer about", _turn(e.call_id))),
        _row(AnswerAnswered, lambda e, w: ("answers about", _turn(e.call_id), _after(": ", e.answer))),
        _row(ReaderDisconnected, lambda e, w: ("notices that", _named(e.client), "is gone")),
        _row(FramePublished, lambda e, w: ("sends", *_frame(e, w))),
        _row(ServerStarted, lambda e, w: ("server started", _after(", process ", e.incarnation))),
        _row(ServerShutDown, lambda e, w: ("server shut down",)),
        _row(ServerCrashed, lambda e, w: ("SERVER CRASHED", _after(", the disk loses ", e.lose))),
        _row(DiskFailed, lambda e, w: (_turn(e.operation) or "the disk", "goes wrong", _after(": ", e.fault))),
        _row(RecoveryRead, lambda e, w: ("after one more kill", row_labels(e.items))),
        _row(MaintenanceDone, lambda e, w: (_named(e.verb) or "maintenance", _named(e.item), _named(e.metadata))),
        _row(MaintenanceRefused, lambda e, w: (_named(e.verb) or "maintenance", "refused", _after(": ", e.reason))),
        _row(ModelCalled, _called),
        _row(ModelChunk, _chunk),
        _row(ModelCompleted, _completed),
        _row(ModelFailed, lambda e, w: (_turn(e.message), "breaks", _after(": ", e.error))),
        _row(ModelEndedSilently, lambda e, w: (_turn(e.message), "ends without a finish")),
        _row(ModelClosed, lambda e, w: (_turn(e.message), "closed before its end")),
        _row(ToolStarted, lambda e, w: (_turn(e.call_id), "starts", _named(e.name), _said(e.arguments, w))),
        _row(ToolEffect, lambda e, w: (_turn(e.call_id), "takes effect", _after(", time ", e.count))),
        _row(ToolReturned, lambda e, w: (_turn(e.call_id), "returns", _said(e.text, w))),
        _row(ToolFailed, lambda e, w: (_turn(e.call_id), "fails", _said(e.text, w))),
        _row(ToolCancelled, lambda e, w: (_turn(e.call_id), "cancelled")),
        _row(StoreAcknowledged, lambda e, w: ("stores", row_line(e.item, w))),
        _row(StoreFailed, lambda e, w: ("append", _named(e.outcome), _after(": ", e.error), row_line(e.item, w))),
        _row(JournalRead, lambda e, w: ("holds", row_labels(e.items))),
        _row(JournalContext, lambda e, w: ("context", row_labels(e.items))),
        _row(StatisticsTaken, _statistics),
        _row(StepTaken, lambda e, w: ("step", _named(e.label or e.verb))),
        _row(StepSkipped, _skipped),
        _row(ClockJumped, _jumped),
        _row(AdapterRaised, lambda e, w: (_named(e.verb), "raised", _after(": ", e.error))),
        _row(QuietReached, lambda e, w: ("quiet", _after(", still waiting: ", e.unfinished))),
        _row(DeadlockFound, _deadlock),
        _row(BoundHit, lambda e, w: ("cut off:", _named(e.bound), _after("over ", e.limit))),
        _row(TraceDiffers, _differs),
    )
)
"""Writes each kind of event on one line."""
