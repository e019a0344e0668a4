"""The arguments of every verb that a step can have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from attrs import field, fields, frozen

from journalsim.case import Moment, Never
from journalsim.contract.capabilities import StopMode
from journalsim.contract.docstrings import attribute_docs
from journalsim.contract.events.event_record import Json
from journalsim.scenario.shapes.durations import Duration
from journalsim.scenario.shapes.forms import Forms, Short
from journalsim.scenario.shapes.free_data import FreeData
from journalsim.scenario.shapes.keys import AnyKey, Key
from journalsim.scenario.shapes.maps import MapOf
from journalsim.scenario.shapes.nodes import Scalar
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import Bad, NameKind, Reading
from journalsim.scenario.shapes.record_shapes import Record
from journalsim.scenario.shapes.scalars import Choice, Flag, Name, Number
from journalsim.scenario.shapes.shape import ScalarShape, Shape
from journalsim.scenario.values.disk_fault import MEMORY
from journalsim.scenario.values.links import Cursor
from journalsim.scenario.values.moves import Step, Timing, Travel
from journalsim.scenario.words.cursor_words import CURSOR
from journalsim.scenario.words.disk_words import Lost
from journalsim.scenario.words.names import AFTER, CALL, DURATION, MESSAGE, SEND, TEXT, WORD
from journalsim.scenario.words.place_words import PlaceOrAxis


@frozen(kw_only=True)
class StepArguments:
    """The arguments of a step, as they are written: all of them in one mapping.

    Attributes:
        at: a place, or the name of an axis.
        label: None if the verb serves as the label.
        doubled: how much later the request arrives once more; None for never.
    """

    at: Never | Moment | str | None = None
    after: str | None = None
    delay_ns: int = 0
    within_ns: int = 0
    label: str | None = None
    late_ns: int = 0
    lost: bool = False
    doubled: int | None = None
    text: str = ""
    key: str | None = None
    of: str | None = None
    mode: StopMode = "interrupt"
    times: int = 1
    call: str | None = None
    message: str | None = None
    metadata: Mapping[str, Json] = field(factory=dict)
    lose: str = MEMORY
    cursor: Cursor | None = None
    away_ns: int = 0
    by_ns: int = 0
    session: str = "s1"


def step_of(actor: str, verb: str, arguments: StepArguments, line: int) -> Step:
    """Returns the step with these arguments."""
    at = arguments.at
    return Step(
        actor=actor,
        verb=verb,
        label=arguments.label or verb,
        timing=Timing(
            at=None if isinstance(at, str) else at,
            axis=at if isinstance(at, str) else None,
            after=arguments.after,
            delay_ns=arguments.delay_ns,
            within_ns=arguments.within_ns,
        ),
        text=arguments.text,
        key=arguments.key,
        of=arguments.of,
        mode=arguments.mode,
        times=arguments.times,
        travel=Travel(
            late_ns=arguments.late_ns,
            lost=arguments.lost,
            doubled=arguments.doubled is not None,
            double_after_ns=arguments.doubled or 0,
        ),
        call=arguments.call,
        message=arguments.message,
        metadata=arguments.metadata,
        lose=arguments.lose,
        cursor=arguments.cursor,
        away_ns=arguments.away_ns,
        by_ns=arguments.by_ns,
        session=arguments.session,
        line=line,
    )


def arguments_of(step: Step) -> StepArguments:
    """Returns the arguments of a step, the way back from :func:`step_of`."""
    return StepArguments(
        at=step.timing.at if step.timing.axis is None else step.timing.axis,
        after=step.timing.after,
        delay_ns=step.timing.delay_ns,
        within_ns=step.timing.within_ns,
        label=None if step.label == step.verb else step.label,
        late_ns=step.travel.late_ns,
        lost=step.travel.lost,
        doubled=step.travel.double_after_ns if step.travel.doubled else None,
        text=step.text,
        key=step.key,
        of=step.of,
        mode=step.mode,
        times=step.times,
        call=step.call,
        message=step.message,
        metadata=step.metadata,
        lose=step.lose,
        cursor=step.cursor,
        away_ns=step.away_ns,
        by_ns=step.by_ns,
        session=step.session,
    )


# --- keys ----------------------------------------------------------------------------------------


class Doubled(ScalarShape[int | None]):
    """``true`` for at once, or how much later; None stands for ``false``."""

    what: str = "true or a time"

    def read_scalar(self, node: Scalar, reading: Reading) -> int | Bad | None:
        if node.kind == "bool":
            return 0 if node.text == "true" else None
        return DURATION.read(node, reading)

    def write(self, value: int | None) -> Data:
        return DURATION.write(value) if value else True

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "boolean"}, DURATION.schema()]}


Keys = Mapping[str, AnyKey[object]]

_A = fields(StepArguments)
_TIMING_DOCS = attribute_docs(Timing)
_TIMING: Keys = {
    "at": Key(
        PlaceOrAxis(what="a point, time, step, never or $axis"),
        _A.at,
        doc="a fixed place, never, or $axis of the sweep",
    ),
    "after": Key(AFTER, _A.after, doc=_TIMING_DOCS["after"]),
    "delay": Key(DURATION, _A.delay_ns, doc=_TIMING_DOCS["delay_ns"]),
    "within": Key(DURATION, _A.within_ns, doc=_TIMING_DOCS["within_ns"]),
    "as": Key(
        Name(what="a label", defines=NameKind("step label", "label of a step")),
        _A.label,
        doc="a label by which other steps refer to this one",
    ),
}
_TRAVEL: Keys = {
    "late": Key(DURATION, _A.late_ns, doc="the request arrives so much later"),
    "lost": Key(Flag(), _A.lost, doc="the request never arrives"),
    "doubled": Key(Doubled(), _A.doubled, doc="the request arrives twice, at once or so much later"),
}
_OF: Keys = {"of": Key(SEND, _A.of)}
_CALL: Keys = {"call": Key(CALL, _A.call, required=True)}
_TIMES: Keys = {"times": Key(Number(min=1, max=1000), _A.times)}
_SESSION: Keys = {"session": Key(WORD, _A.session)}
_TEXT: Keys = {"text": Key(TEXT, _A.text, required=True), "key": Key(TEXT, _A.key)}
_MODE: Keys = {"mode": Key(Choice[StopMode](get_args(StopMode), "a mode"), _A.mode)}
_FLAGS = MapOf(what="flags to set", name=Name(what="a flag", pattern="[A-Za-z][A-Za-z0-9_.-]*"), of=FreeData())
_ANNOTATION: Keys = {
    "message": Key(MESSAGE, _A.message, required=True),
    "set": Key(_FLAGS, _A.metadata, required=True),
}
_EXCLUSIVE = (("at", "after"), ("lost", "doubled"), ("lost", "late"))

# --- verbs ---------------------------------------------------------------------------------------


def _arguments(verb: str, *parts: Keys) -> Record[StepArguments]:
    keys = {name: key for part in parts for name, key in part.items()}
    return Record(
        what=verb,
        cls=StepArguments,
        described=Step,
        keys=keys,
        nullable=not any(key.required for key in keys.values()),
        exclusive=tuple(pair for pair in _EXCLUSIVE if set(pair) <= set(keys)),
    )


STEPS: Mapping[str, Mapping[str, Record[StepArguments]]] = {
    "client": {
        "send": _arguments("send", _TEXT, _TIMING, _TRAVEL),
        "resubmit": _arguments("resubmit", _OF, _TIMING, _TRAVEL, _TIMES),
        "stop": _arguments("stop", _TIMING, _OF, _MODE, _TIMES, _TRAVEL),
        "approve": _arguments("approve", _CALL, _TIMING, _TRAVEL),
        "deny": _arguments("deny", _CALL, _TIMING, _TRAVEL),
        "reload": _arguments("reload", _TIMING, _TIMES),
        "detach": _arguments("detach", _TIMING),
        "attach": _arguments("attach", _TIMING, {"cursor": Key(CURSOR, _A.cursor)}),
        "hide": _arguments("hide", _TIMING),
        "show": _arguments("show", _TIMING),
        "switch": _arguments("switch", _TIMING, {"away": Key(DURATION, _A.away_ns)}),
    },
    "server": {
        "shutdown": _arguments("shutdown", _TIMING),
        "crash": _arguments("crash", _TIMING, {"lose": Key(Lost(), _A.lose)}),
        "restart": _arguments("restart", _TIMING),
    },
    "maintenance": {
        "annotate": _arguments("annotate", _ANNOTATION, _SESSION, _TIMING),
        "compact": _arguments("compact", _SESSION, _TIMING),
        "clear": _arguments("clear", _SESSION, _TIMING),
    },
    "clock": {"jump": _arguments("jump", {"by": Key(Duration(signed=True), _A.by_ns, required=True)}, _TIMING)},
}
"""The arguments of every verb of :data:`journalsim.scenario.values.moves.VERBS`."""


def _answer(verb: str) -> Forms[StepArguments]:
    return Forms[StepArguments](
        what="the id of a tool call or a mapping",
        scalar=Short(shape=CALL, wrap=lambda call: StepArguments(call=call), unwrap=lambda arguments: arguments.call),
        mapping=STEPS["client"][verb],
    )


_SHORT: Mapping[str, Shape[StepArguments]] = {
    "send": Forms[StepArguments](
        what="a text or a mapping",
        scalar=Short(shape=TEXT, wrap=lambda text: StepArguments(text=text), unwrap=lambda arguments: arguments.text),
        mapping=STEPS["client"]["send"],
    ),
    "approve": _answer("approve"),
    "deny": _answer("deny"),
}
"""Verbs whose one required argument may stand alone, with all forms of their arguments."""


def shape_of(kind: str, verb: str) -> Shape[StepArguments]:
    """Returns what may stand behind a verb of a kind of actor."""
    return _SHORT[verb] if verb in _SHORT else STEPS[kind][verb]
