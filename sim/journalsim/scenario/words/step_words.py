"""Steps: what people, the server, maintenance and the clock do, as ``actor.verb: arguments``."""

from __future__ import annotations

from journalsim.scenario.shapes.lists import ListOf
from journalsim.scenario.shapes.near_words import nearest
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.nodes import Node, Scalar, walk
from journalsim.scenario.shapes.one_key import only_entry
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.problems import quoted
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.scalars import dollar_name
from journalsim.scenario.shapes.shape import Shape
from journalsim.scenario.values.moves import VERBS, Step
from journalsim.scenario.words.other_words import OTHER_WORDS
from journalsim.scenario.words.scenario_reading import ScenarioReading, StepLabel, of_scenario, step_at
from journalsim.scenario.words.step_arguments import STEPS, arguments_of, shape_of, step_of

_ACTOR_WORDS = {
    "client": ("a client", "clients can"),
    "server": ("the server", "the server can"),
    "maintenance": ("maintenance", "maintenance can"),
    "clock": ("the clock", "the clock can"),
    "tool": ("a tool", "it acts only by the script"),
    "llm": ("the model", "it acts only by the script"),
    "?": ("any actor", "see: journalsim schema"),
}


class StepShape(Shape[Step]):
    """One step."""

    what: str = "a step, such as alice.send: Hi"

    def read(self, node: Node, reading: Reading) -> Step | Bad:
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
        return self._step(key, actor, verb, value, of_scenario(reading))

    def _step(self, key: Scalar, actor: str, verb: str, value: Node, reading: ScenarioReading) -> Step | Bad:
        kind = reading.actors.get(actor, None if reading.actors_known else "?")
        meant = _meant(verb, kind)
        known = kind is not None or _unknown_actor(key, actor, reading)
        likely = meant[1] if meant else verb
        reading.labels.append(StepLabel(name=_label(value) or likely, step=step_at(reading.within), verb=likely))
        if meant is None or meant[1] != verb:
            if known:
                _unknown_verb(key, actor, verb, kind or "?", reading)
            if meant is None:
                _use_axes(value, reading)
                return BAD
        arguments = shape_of(*meant).read(value, reading)
        if meant[1] != verb or not known or isinstance(arguments, Bad):
            return BAD
        return step_of(actor, verb, arguments, key.at.line)

    def write(self, value: Step) -> Data:
        kind = value.actor if value.actor in STEPS else "client"
        return {f"{value.actor}.{value.verb}": shape_of(kind, value.verb).write(arguments_of(value))}

    def schema(self) -> Schema:
        clients: Schema = {
            rf"^(?!(server|maintenance|clock)\.)[a-z][a-z0-9_-]*\.{verb}$": shape_of("client", verb).schema()
            for verb in STEPS["client"]
        }
        others: Schema = {
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


def _meant(verb: str, kind: str | None) -> tuple[str, str] | None:
    """Returns the kind of actor and the verb that the author probably means, or None."""
    kinds = list(VERBS) if kind in (None, "?") else [kind]
    for candidate in kinds:
        near = nearest(verb, VERBS.get(candidate or "", ()), OTHER_WORDS)
        if near is not None:
            return candidate, near
    return None


def _label(value: Node) -> str:
    label = value.get("as") if isinstance(value, MappingNode) else None
    return label.text if isinstance(label, Scalar) else ""


def _unknown_actor(key: Scalar, actor: str, reading: ScenarioReading) -> bool:
    at = key.at.part(0 if key.plain else 1, len(actor))
    clients = [name for name, kind in reading.actors.items() if kind == "client"]
    known = [*clients, *(kind for kind in VERBS if kind != "client")]
    note = f"actors: {', '.join(known)}"
    help = "" if nearest(actor, known, OTHER_WORDS) else f"for a person, add actors: {{{actor}: {{is: client}}}}"
    reading.error("E102", at, f"unknown actor {quoted(actor)}", note=note, help=help, near=known, word=actor)
    return False


def _unknown_verb(key: Scalar, actor: str, verb: str, kind: str, reading: Reading) -> None:
    at = key.at.part(len(actor) + (1 if key.plain else 2), len(verb))
    who, can = _ACTOR_WORDS[kind]
    verbs = sorted(VERBS.get(kind, ()))
    note = f"{can}: {', '.join(verbs)}" if verbs else can
    reading.error("E103", at, f"unknown action {quoted(verb)} for {who}", note=note, near=verbs, word=verb)


def _use_axes(value: Node, reading: Reading) -> None:
    """Records the axes that a step uses whose verb is unknown."""
    for node in walk(value):
        name = dollar_name(node.text) if isinstance(node, Scalar) else None
        if name is not None:
            reading.refer("axis", name, node.at)


STEP_LIST = ListOf(of=StepShape(), what="a list of steps", min=0)
