"""From the actors and the script of a file to the cast of a scenario, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from attrs import evolve, frozen

from journalsim.scenario.shapes.maps import Beside
from journalsim.scenario.values.cast import ClientSpec, ModelSpec, StoreSpec, ToolSpec
from journalsim.scenario.values.speech import ToolReply, Turn
from journalsim.scenario.words.cast_words import ActorSpec

Script: TypeAlias = Beside[tuple[Turn, ...], tuple[ToolReply, ...]]
"""The turns of the model, and the replies of each tool by its name."""


@frozen(kw_only=True)
class Cast:
    """Everybody who takes part in a scenario."""

    model: ModelSpec
    tools: tuple[ToolSpec, ...]
    clients: tuple[ClientSpec, ...]
    store: StoreSpec


def cast_of(actors: Mapping[str, ActorSpec], script: Script) -> Cast:
    """Returns the cast that a file declares.

    Args:
        actors: specifications by name, without what the script says.
        script: turns of the model, and replies of tools.
    """
    specs = actors.values()
    model = next((spec for spec in specs if isinstance(spec, ModelSpec)), ModelSpec())
    tools = {spec.name: spec for spec in specs if isinstance(spec, ToolSpec)}
    tools |= {name: ToolSpec(name=name) for name in script.named if name not in tools}
    clients = [spec for spec in specs if isinstance(spec, ClientSpec)] or [ClientSpec(name="client")]
    by_name = {client.name: client for client in clients}
    return Cast(
        model=evolve(model, turns=script.special or ()),
        tools=tuple(evolve(spec, replies=script.named.get(name, ())) for name, spec in tools.items()),
        clients=tuple(_in_session(client, by_name) for client in clients),
        store=next((spec for spec in specs if isinstance(spec, StoreSpec)), StoreSpec()),
    )


def _in_session(client: ClientSpec, by_name: Mapping[str, ClientSpec]) -> ClientSpec:
    """Returns a client in the session of the client that it observes."""
    watched = client
    for _ in by_name:  # a circle, which is reported elsewhere, ends here too
        watched = by_name.get(watched.observes or "", watched)
    return client if watched is client else evolve(client, session=watched.session)


def declared(cast: Cast) -> tuple[dict[str, ActorSpec], Script]:
    """Returns the actors and the script that declare a cast, the way back from :func:`cast_of`."""
    actors: dict[str, ActorSpec] = {}
    if cast.model.ids != ModelSpec().ids:
        actors["model"] = cast.model
    if any(tool != ToolSpec(name=tool.name, replies=tool.replies) or not tool.replies for tool in cast.tools):
        actors |= {tool.name: tool for tool in cast.tools}
    if cast.clients != (ClientSpec(name="client"),):
        actors |= {client.name: client for client in cast.clients}
    if cast.store != StoreSpec():
        actors["store"] = cast.store
    replies = {tool.name: tool.replies for tool in cast.tools if tool.replies}
    return actors, Beside(special=cast.model.turns or None, named=replies)
