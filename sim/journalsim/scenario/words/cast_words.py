"""Actors: the model, the tools, and the people with their client programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve, fields, frozen

from journalsim.scenario.shapes.composites import Key, MapOf, Record
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.nodes import Node, Scalar, describe
from journalsim.scenario.shapes.reading import Bad, Reading
from journalsim.scenario.shapes.scalars import Choice, Data, Flag, Name, Schema, Shape
from journalsim.scenario.values.cast import ClientSpec, ModelSpec, StoreSpec, ToolSpec
from journalsim.scenario.words.names import CLIENT, DURATION, WORD, words_of

RESERVED = ("server", "maintenance", "clock", "store", "adapter", "request", "tool", "never")
"""Names that points and steps use for something else."""

_IS = ("llm", "tool", "client", "store")
_FIXED = {"model": "llm", "store": "store"}
"""Actors of which there is one, under a name of its own."""


def _actor(kind: str, what: str, cls: Any, keys: Mapping[str, Key], **rules: Any) -> Record:
    def build(is_: str, **values: Any) -> dict[str, Any]:
        return values

    def take(spec: Any) -> dict[str, Any]:
        taken = {a.name: getattr(spec, a.name) for a in fields(cls)}
        if taken.get("observes") is not None:
            taken["session"] = None  # it is the other's
        return {"is_": kind, **taken}

    first = {"is": Key(Choice((kind,), "a kind of actor"), "is_", required=True, doc="llm, tool, client or store")}
    return Record(what=what, cls=cls, build=build, take=take, keys={**first, **keys}, **rules)


_ACTORS: Mapping[str, Record] = {
    "llm": _actor(
        "llm",
        "the model",
        ModelSpec,
        {"ids": Key(Choice(words_of(ModelSpec, "ids"), "what ids do"), doc="what the provider's message ids do")},
    ),
    "tool": _actor(
        "tool",
        "a tool",
        ToolSpec,
        {
            "duration": Key(DURATION, "duration_ns", doc="how long a call takes"),
            "approval": Key(Flag()),
            "agent": Key(Flag()),
        },
    ),
    "client": _actor(
        "client",
        "a client",
        ClientSpec,
        {
            "kind": Key(Choice(words_of(ClientSpec, "kind"), "a kind of client")),
            "observes": Key(CLIENT),
            "session": Key(WORD),
            "latency": Key(DURATION, "latency_ns"),
            "retry": Key(DURATION, "retry_ns"),
            "wire": Key(Flag()),
        },
        exclusive=(("observes", "session"),),
    ),
    "store": _actor(
        "store",
        "the store",
        StoreSpec,
        {
            "latency": Key(DURATION, "latency_ns", doc="how long each of its operations takes"),
            "engine": Key(Choice(tuple(filter(None, words_of(StoreSpec, "engine"))), "a kind of store")),
        },
    ),
}
_CLASSES: Mapping[str, Any] = {"llm": ModelSpec, "tool": ToolSpec, "client": ClientSpec, "store": StoreSpec}


@frozen(kw_only=True)
class Actor(Shape):
    """One actor; ``is`` says which kind."""

    what: str = "a mapping such as {is: client}"

    def read(self, node: Node, reading: Reading) -> Any:
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
                near=_IS,
                word=kind,
            )
        return _ACTORS[kind].read(node, reading)

    def write(self, value: Any) -> Data:
        kind = next(kind for kind, cls in _CLASSES.items() if isinstance(value, cls))
        return _ACTORS[kind].write(value)

    def schema(self) -> Schema:
        return {"anyOf": [record.schema() for record in _ACTORS.values()]}


def _kind(node: Node) -> str:
    found = node.get("is") if isinstance(node, MappingNode) else None
    return found.text if isinstance(found, Scalar) else ""


@frozen(kw_only=True)
class Actors(MapOf):
    """Every actor by name, as a dict of specifications."""

    def read(self, node: Node, reading: Reading) -> Any:
        if not isinstance(node, MappingNode):
            reading.actors_known = False
            return self.wrong(node, reading)
        kinds = {key.text: _kind(value) for key, value in node.entries if key.text not in RESERVED}
        reading.actors |= {name: kind if kind in _ACTORS else "?" for name, kind in kinds.items()}
        if "client" not in reading.actors.values():
            reading.actors["client"] = "client"
        return super().read(node, reading)

    def read_entry(self, key: Scalar, value: Node, reading: Reading) -> Any:
        values = self.of.read(value, reading)
        kind = _kind(value)
        if key.text in RESERVED and kind != _FIXED.get(key.text):
            return reading.error("E027", key.at, f'the name "{key.text}" is taken', note="choose another name")
        if kind in _ACTORS and kind != _FIXED.get(key.text, kind):
            return reading.error("E027", key.at, "the model, and only the model, is called model")
        fixed = next((name for name, one in _FIXED.items() if one == kind), key.text)
        if key.text != fixed:
            return reading.error("E027", key.at, f"the {fixed}, and only the {fixed}, is called {fixed}")
        return values if isinstance(values, Bad) else _CLASSES[kind](name=key.text, **values)


ACTORS = Actors(what="actors", name=Name(what="the name of an actor"), of=Actor())


def declared(actors: Mapping[str, Any], script: Mapping[str, Any]) -> dict[str, Any]:
    """Returns model, tools and clients as a scenario holds them.

    Args:
        actors: specifications by name, without what the script says.
        script: turns of the model, and replies of tools, by name.
    """
    model = actors.get("model", ModelSpec())
    named = {name: spec for name, spec in actors.items() if isinstance(spec, ToolSpec)}
    named |= {name: ToolSpec(name=name) for name in script if name != "model" and name not in named}
    clients = [spec for spec in actors.values() if isinstance(spec, ClientSpec)] or [ClientSpec(name="client")]
    by_name = {client.name: client for client in clients}
    return {
        "model": ModelSpec(ids=model.ids, turns=script.get("model", ())),
        "tools": tuple(evolve(spec, replies=script.get(name, ())) for name, spec in named.items()),
        "clients": tuple(_in_session(client, by_name) for client in clients),
        "store": actors.get("store", StoreSpec()),
    }


def _in_session(client: ClientSpec, by_name: Mapping[str, ClientSpec]) -> ClientSpec:
    watched = client
    for _ in by_name:  # a circle, which is reported elsewhere, ends here too
        watched = by_name.get(watched.observes or "", watched)
    return evolve(client, session=watched.session)


def taken(
    model: ModelSpec, tools: tuple[ToolSpec, ...], clients: tuple[ClientSpec, ...], store: StoreSpec
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns ``actors`` and ``script`` of a scenario, the way back from :func:`declared`."""
    actors: dict[str, Any] = {} if model.ids == ModelSpec().ids else {"model": model}
    if any(tool != ToolSpec(name=tool.name, replies=tool.replies) or not tool.replies for tool in tools):
        actors |= {tool.name: tool for tool in tools}
    if clients != (ClientSpec(name="client"),):
        actors |= {client.name: client for client in clients}
    if store != StoreSpec():
        actors["store"] = store
    script: dict[str, Any] = {"model": model.turns} if model.turns else {}
    script |= {tool.name: tool.replies for tool in tools if tool.replies}
    return actors, script
