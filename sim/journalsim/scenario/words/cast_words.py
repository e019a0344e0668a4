"""Actors: the model, the tools, the people with their client programs, and the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from attrs import evolve, fields

from journalsim.scenario.shapes.derived import Converted
from journalsim.scenario.shapes.keys import AnyKey, Key, Mark
from journalsim.scenario.shapes.maps import MapOf
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.nodes import Node, Scalar, describe
from journalsim.scenario.shapes.one_key import AnyBranch, Branch
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.record_shapes import R, Record
from journalsim.scenario.shapes.scalars import Choice, Flag, Name
from journalsim.scenario.shapes.shape import Shape
from journalsim.scenario.values.cast import ClientSpec, ModelSpec, StoreSpec, ToolSpec
from journalsim.scenario.words.names import CLIENT, DURATION, WORD, words_of
from journalsim.scenario.words.scenario_reading import of_scenario

RESERVED = ("server", "maintenance", "clock", "store", "adapter", "request", "tool", "never")
"""Names that points and steps use for something else."""

_FIXED = {"model": "llm", "store": "store"}
"""Actors of which there is one, under a name of its own."""

ActorSpec: TypeAlias = ModelSpec | ToolSpec | ClientSpec | StoreSpec


def _actor(
    kind: Literal["llm", "tool", "client", "store"],
    what: str,
    cls: type[R],
    keys: Mapping[str, AnyKey[object]],
    exclusive: tuple[tuple[str, str], ...] = (),
) -> Record[R]:
    """Returns the shape of a kind of actor; the name is added later."""
    is_kind = Mark(Choice((kind,), "a kind of actor"), kind, doc="llm, tool, client or store")
    return Record(what=what, cls=cls, given={"name": ""}, keys={"is": is_kind, **keys}, exclusive=exclusive)


_MODEL, _TOOL, _CLIENT, _STORE = fields(ModelSpec), fields(ToolSpec), fields(ClientSpec), fields(StoreSpec)
_CLIENT_SHAPE = _actor(
    "client",
    "a client",
    ClientSpec,
    {
        "kind": Key(Choice(words_of(ClientSpec, _CLIENT.kind), "a kind of client"), _CLIENT.kind),
        "observes": Key(CLIENT, _CLIENT.observes),
        "session": Key(WORD, _CLIENT.session),
        "latency": Key(DURATION, _CLIENT.latency_ns),
        "retry": Key(DURATION, _CLIENT.retry_ns),
        "wire": Key(Flag(), _CLIENT.wire),
    },
    exclusive=(("observes", "session"),),
)


def _without_session_of_the_other(client: ClientSpec) -> ClientSpec:
    """Returns a client as it is written: one that observes another has no session of its own."""
    return client if client.observes is None else evolve(client, session=ClientSpec(name=client.name).session)


_ACTORS: Mapping[str, AnyBranch[ActorSpec]] = {
    "llm": Branch[ModelSpec](
        _actor(
            "llm",
            "the model",
            ModelSpec,
            {
                "ids": Key(
                    Choice(words_of(ModelSpec, _MODEL.ids), "what ids do"),
                    _MODEL.ids,
                    doc="what the provider's message ids do",
                )
            },
        ),
        ModelSpec,
    ),
    "tool": Branch[ToolSpec](
        _actor(
            "tool",
            "a tool",
            ToolSpec,
            {
                "duration": Key(DURATION, _TOOL.duration_ns, doc="how long a call takes"),
                "approval": Key(Flag(), _TOOL.approval),
                "agent": Key(Flag(), _TOOL.agent),
            },
        ),
        ToolSpec,
    ),
    "client": Branch[ClientSpec](
        Converted(written=_CLIENT_SHAPE, convert=lambda client: client, revert=_without_session_of_the_other),
        ClientSpec,
    ),
    "store": Branch[StoreSpec](
        _actor(
            "store",
            "the store",
            StoreSpec,
            {
                "latency": Key(DURATION, _STORE.latency_ns, doc="how long each of its operations takes"),
                "engine": Key(Choice(words_of(StoreSpec, _STORE.engine), "a kind of store"), _STORE.engine),
                "disk": Key(Flag(), _STORE.disk),
            },
        ),
        StoreSpec,
    ),
}


class Actor(Shape[ActorSpec]):
    """One actor, still without its name; ``is`` says which kind."""

    what: str = "a mapping such as {is: client}"

    def read(self, node: Node, reading: Reading) -> ActorSpec | Bad:
        if not isinstance(node, MappingNode):
            return self.wrong(node, reading)
        kind = _kind(node)
        if kind not in _ACTORS:
            found = node.get("is")
            at = node.at if found is None else found.at
            got = "" if found is None else f", found {describe(found)}"
            return reading.error(
                "E025" if found else "E030",
                at,
                f'an actor needs "is"{got}',
                note="llm, tool, client or store",
                near=_ACTORS,
                word=kind,
            )
        return _ACTORS[kind].read(node, reading)

    def write(self, value: ActorSpec) -> Data:
        written = (branch.write(value) for branch in _ACTORS.values())
        return next(data for data in written if not isinstance(data, Bad))

    def schema(self) -> Schema:
        return {"anyOf": [branch.schema() for branch in _ACTORS.values()]}


def _kind(node: Node) -> str:
    found = node.get("is") if isinstance(node, MappingNode) else None
    return found.text if isinstance(found, Scalar) else ""


class Actors(MapOf[ActorSpec]):
    """Every actor by name."""

    def read(self, node: Node, reading: Reading) -> Mapping[str, ActorSpec] | Bad:
        known = of_scenario(reading)
        if not isinstance(node, MappingNode):
            known.actors_known = False
            return self.wrong(node, reading)
        kinds = {key.text: _kind(value) for key, value in node.entries if key.text not in RESERVED}
        known.actors |= {name: kind if kind in _ACTORS else "?" for name, kind in kinds.items()}
        if "client" not in known.actors.values():
            known.actors["client"] = "client"
        return super().read(node, reading)

    def read_entry(self, key: Scalar, value: Node, reading: Reading) -> ActorSpec | Bad:
        found = self.of.read(value, reading)
        kind = _kind(value)
        if key.text in RESERVED and kind != _FIXED.get(key.text):
            return reading.error("E027", key.at, f'the name "{key.text}" is taken', note="choose another name")
        if kind in _ACTORS and kind != _FIXED.get(key.text, kind):
            return reading.error("E027", key.at, "the model, and only the model, is called model")
        fixed = next((name for name, one in _FIXED.items() if one == kind), key.text)
        if key.text != fixed:
            return reading.error("E027", key.at, f"the {fixed}, and only the {fixed}, is called {fixed}")
        return BAD if isinstance(found, Bad) else evolve(found, name=key.text)


ACTORS = Actors(what="actors", name=Name(what="the name of an actor"), of=Actor())
