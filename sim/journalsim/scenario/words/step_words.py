"""Steps: what people, the server, maintenance and the clock do, as ``actor.verb: argument``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from attrs import frozen

from journalsim.case import Placement
from journalsim.contract.capabilities import StopMode
from journalsim.scenario.shapes.composites import Key, ListOf, MapOf, Record, attribute_docs, only_entry
from journalsim.scenario.shapes.forms import Forms, Short
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.nodes import Node, Scalar, walk
from journalsim.scenario.shapes.problems import nearest, quoted
from journalsim.scenario.shapes.reading import BAD, Bad, Reading, StepLabel
from journalsim.scenario.shapes.scalars import (
    Choice,
    Data,
    Duration,
    Flag,
    Json,
    Name,
    Number,
    ScalarShape,
    Schema,
    Shape,
    dollar_name,
)
from journalsim.scenario.values.moves import VERBS, Step, Timing, Travel
from journalsim.scenario.words.cursor_words import CURSOR
from journalsim.scenario.words.disk_words import Lost
from journalsim.scenario.words.names import AFTER, CALL, DURATION, MESSAGE, SEND, TEXT, WORD, Place


@frozen
class Doubled(ScalarShape):
    """``true`` for at once, or how much later; None stands for ``false``."""

    what: str = "true or a time"

    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        if node.kind == "bool":
            return 0 if node.text == "true" else None
        return DURATION.read(node, reading)

    def write(self, value: Any) -> Data:
        return DURATION.write(value) if value else True

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "boolean"}, DURATION.schema()]}


_TIMING_DOCS = attribute_docs(Timing)
_TIMING: Mapping[str, Key] = {
    "at": Key(Place(what="a point, time, step or $axis", axis=True), doc="a fixed place, or $axis of the sweep"),
    "after": Key(AFTER, doc=_TIMING_DOCS["after"]),
    "delay": Key(DURATION, "delay_ns", default=0, doc=_TIMING_DOCS["delay_ns"]),
    "within": Key(DURATION, "within_ns", default=0, doc=_TIMING_DOCS["within_ns"]),
    "as": Key(
        Name(what="a label", defines="step label"), "label", doc="a label by which other steps refer to this one"
    ),
}
_TRAVEL: Mapping[str, Key] = {
    "late": Key(DURATION, "late_ns", default=0, doc="the request arrives so much later"),
    "lost": Key(Flag(), default=False, doc="the request never arrives"),
    "doubled": Key(Doubled(), doc="the request arrives twice, at once or so much later"),
}
_TIMES = Key(Number(min=1, max=1000))
_SESSION = Key(WORD)
_SET = MapOf(what="flags to set", name=Name(what="a flag", pattern="[A-Za-z][A-Za-z0-9_.-]*"), of=Json())


def _arguments(verb: str, *parts: Mapping[str, Key], **rules: Any) -> Record:
    keys = {name: key for part in parts for name, key in part.items()}
    nullable = not any(key.required for key in keys.values())
    exclusive = [pair for pair in (("at", "after"), ("lost", "doubled"), ("lost", "late")) if set(pair) <= set(keys)]
    return Record(
        what=verb, cls=Step, build=dict, take=_take, keys=keys, nullable=nullable, exclusive=tuple(exclusive), **rules
    )


_PLAIN = ("text", "key", "of", "mode", "times", "call", "message", "metadata", "lose", "cursor", "away_ns")


def _take(step: Step) -> Mapping[str, Any]:
    timing, travel = step.timing, step.travel
    return {
        **{name: getattr(step, name) for name in _PLAIN},
        "by_ns": step.by_ns,
        "session": step.session,
        "at": timing.axis if timing.axis is not None else timing.at,
        "after": timing.after,
        "delay_ns": timing.delay_ns,
        "within_ns": timing.within_ns,
        "label": None if step.label == step.verb else step.label,
        "late_ns": travel.late_ns,
        "lost": travel.lost,
        "doubled": travel.double_after_ns if travel.doubled else None,
    }


_OF = {"of": Key(SEND)}
_ANSWER = {"call": Key(CALL, required=True)}
_SEND = _arguments("send", {"text": Key(TEXT, required=True), "key": Key(TEXT)}, _TIMING, _TRAVEL)

STEPS: Mapping[str, Mapping[str, Record]] = {
    "client": {
        "send": _SEND,
        "resubmit": _arguments("resubmit", _OF, _TIMING, _TRAVEL, {"times": _TIMES}),
        "stop": _arguments(
            "stop", _TIMING, _OF, {"mode": Key(Choice(get_args(StopMode), "a mode")), "times": _TIMES}, _TRAVEL
        ),
        "approve": _arguments("approve", _ANSWER, _TIMING, _TRAVEL),
        "deny": _arguments("deny", _ANSWER, _TIMING, _TRAVEL),
        "reload": _arguments("reload", _TIMING, {"times": _TIMES}),
        "detach": _arguments("detach", _TIMING),
        "attach": _arguments("attach", _TIMING, {"cursor": Key(CURSOR)}),
        "hide": _arguments("hide", _TIMING),
        "show": _arguments("show", _TIMING),
        "switch": _arguments("switch", _TIMING, {"away": Key(DURATION, "away_ns")}),
    },
    "server": {
        "shutdown": _arguments("shutdown", _TIMING),
        "crash": _arguments("crash", _TIMING, {"lose": Key(Lost())}),
        "restart": _arguments("restart", _TIMING),
    },
    "maintenance": {
        "annotate": _arguments(
            "annotate",
            {"message": Key(MESSAGE, required=True), "set": Key(_SET, "metadata", required=True), "session": _SESSION},
            _TIMING,
        ),
        "compact": _arguments("compact", {"session": _SESSION}, _TIMING),
        "clear": _arguments("clear", {"session": _SESSION}, _TIMING),
    },
    "clock": {"jump": _arguments("jump", {"by": Key(Duration(signed=True), "by_ns", required=True)}, _TIMING)},
}
"""The arguments of every verb of :data:`journalsim.scenario.values.moves.VERBS`."""

_SHORT: Mapping[str, tuple[str, Forms]] = {
    "send": (
        "text",
        Forms(
            what="a text or a mapping",
            scalar=Short(shape=TEXT, wrap=lambda text: {"text": text}, unwrap=lambda _: None),
            mapping=_SEND,
        ),
    ),
    **{
        verb: (
            "call",
            Forms(
                what="the id of a tool call or a mapping",
                scalar=Short(shape=CALL, wrap=lambda call: {"call": call}, unwrap=lambda _: None),
                mapping=STEPS["client"][verb],
            ),
        )
        for verb in ("approve", "deny")
    },
}
"""Verbs whose one needed argument may stand alone: which argument that is, and all forms."""

_ACTOR_WORDS = {
    "client": ("a client", "clients can"),
    "server": ("the server", "the server can"),
    "maintenance": ("maintenance", "maintenance can"),
    "clock": ("the clock", "the clock can"),
    "tool": ("a tool", "it acts only by the script"),
    "llm": ("the model", "it acts only by the script"),
    "?": ("any actor", "see: journalsim schema"),
}


@frozen(kw_only=True)
class StepShape(Shape):
    """One step."""

    what: str = "a step, such as alice.send: Hi"

    def read(self, node: Node, reading: Reading) -> Any:
        if isinstance(node, Scalar) and "." in node.text:
            verb, _, argument = node.text.partition(" ")
            help = f"a colon follows the verb: {verb}: {argument}".rstrip() if node.plain else ""
            return reading.error("E108", node.at, f"expected {self.what}, found a text", help=help)
        if not isinstance(node, MappingNode):
            return self.wrong(node, reading)
        entry = only_entry(node, "a step", reading)
        if isinstance(entry, Bad):
            return BAD
        key, value = entry
        actor, dot, verb = key.text.partition(".")
        if not dot:
            return reading.error(
                "E108", key.at, f"{quoted(key.text)} names no action", note="a step is actor.action: argument"
            )
        return self._step(key, actor, verb, value, reading)

    def _step(self, key: Scalar, actor: str, verb: str, value: Node, reading: Reading) -> Any:
        kind = reading.actors.get(actor, None if reading.actors_known else "?")
        meant = _meant(verb, kind)
        known = kind is not None or _unknown_actor(key, actor, reading)
        likely = meant[1] if meant else verb
        reading.labels.append(StepLabel(name=_label(value) or likely, step=reading.step, verb=likely))
        if meant is None or meant[1] != verb:
            if known:
                _unknown_verb(key, actor, verb, kind or "?", reading)
            if meant is None:
                _use_axes(value, reading)
                return BAD
        values = _shape_of(*meant).read(value, reading)
        if meant[1] != verb or not known or values is BAD:
            return BAD
        return _built(actor, verb, values, key.at.line)

    def write(self, value: Any) -> Data:
        kind = value.actor if value.actor in STEPS else "client"
        written = STEPS[kind][value.verb].write(value)
        short = value.verb in _SHORT and list(written) == [_SHORT[value.verb][0]]
        return {f"{value.actor}.{value.verb}": written[_SHORT[value.verb][0]] if short else written}

    def schema(self) -> Schema:
        clients = {
            rf"^(?!(server|maintenance|clock)\.)[a-z][a-z0-9_-]*\.{verb}$": _shape_of("client", verb).schema()
            for verb in STEPS["client"]
        }
        others = {
            f"{kind}.{verb}": shape.schema()
            for kind in STEPS
            if kind != "client"
            for verb, shape in STEPS[kind].items()
        }
        return {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "properties": others,
            "patternProperties": clients,
            "additionalProperties": False,
        }


def _shape_of(kind: str, verb: str) -> Shape:
    return _SHORT[verb][1] if verb in _SHORT else STEPS[kind][verb]


def _meant(verb: str, kind: str | None) -> tuple[str, str] | None:
    """Returns the kind of actor and the verb that the author means, as far as one can tell."""
    kinds = list(VERBS) if kind in (None, "?") else [kind]
    for candidate in kinds:
        near = nearest(verb, VERBS.get(candidate or "", ()))
        if near is not None:
            return candidate, near
    return None


def _label(value: Node) -> str:
    label = value.get("as") if isinstance(value, MappingNode) else None
    return label.text if isinstance(label, Scalar) else ""


def _unknown_actor(key: Scalar, actor: str, reading: Reading) -> bool:
    at = key.at.part(0 if key.plain else 1, len(actor))
    clients = [name for name, kind in reading.actors.items() if kind == "client"]
    known = [*clients, *(kind for kind in VERBS if kind != "client")]
    note = f"actors: {', '.join(known)}"
    help = "" if nearest(actor, known) else f"for a person, add actors: {{{actor}: {{is: client}}}}"
    reading.error("E102", at, f"unknown actor {quoted(actor)}", note=note, help=help, near=known, word=actor)
    return False


def _unknown_verb(key: Scalar, actor: str, verb: str, kind: str, reading: Reading) -> None:
    at = key.at.part(len(actor) + (1 if key.plain else 2), len(verb))
    who, can = _ACTOR_WORDS[kind]
    verbs = sorted(VERBS.get(kind, ()))
    note = f"{can}: {', '.join(verbs)}" if verbs else can
    reading.error("E103", at, f"unknown action {quoted(verb)} for {who}", note=note, near=verbs, word=verb)


def _use_axes(value: Node, reading: Reading) -> None:
    """Counts the axes as used that a step names which cannot be read."""
    for node in walk(value):
        name = dollar_name(node.text) if isinstance(node, Scalar) else None
        if name is not None:
            reading.refer("axis", name, node.at)


def _built(actor: str, verb: str, values: dict[str, Any], line: int) -> Step:
    rest = dict(values)
    place = rest.pop("at", None)
    timing = Timing(
        at=place if isinstance(place, Placement) else None,
        axis=place if isinstance(place, str) else None,
        after=rest.pop("after", None),
        delay_ns=rest.pop("delay_ns", 0),
        within_ns=rest.pop("within_ns", 0),
    )
    doubled = rest.pop("doubled", None)
    travel = Travel(
        late_ns=rest.pop("late_ns", 0),
        lost=rest.pop("lost", False),
        doubled=doubled is not None,
        double_after_ns=doubled or 0,
    )
    return Step(actor=actor, verb=verb, label=rest.pop("label", verb), timing=timing, travel=travel, line=line, **rest)


@frozen(kw_only=True)
class StepList(ListOf):
    """All steps, in order."""

    def read_item(self, number: int, node: Node, reading: Reading) -> Any:
        reading.step = number + 1
        value = self.of.read(node, reading)
        reading.step = 0
        return value


STEP_LIST = StepList(of=StepShape(), what="a list of steps", min=0)
