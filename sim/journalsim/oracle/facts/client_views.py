"""What clients show, from what they were told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from attrs import define, evolve, field

from journalsim.contract.events.client_events import ClientApplied, ClientReloaded, ClientView
from journalsim.contract.items import Item, ItemState
from journalsim.history import EventOf
from journalsim.oracle.facts.item_keys import as_states

_CLOSING: Mapping[str, ItemState] = {"message.completed": "completed", "message.interrupted": "interrupted"}


def views_of(events: Iterable[EventOf[ClientApplied | ClientReloaded | ClientView]]) -> dict[str, tuple[Item, ...]]:
    """Returns what each client shows at the end, oldest first.

    A reload replaces everything by what the journal held; frames then add to it.  A client that
    watches over the wire says itself what it shows.
    A frame that says nothing about a message or a tool call changes nothing.

    Args:
        events: everything that clients applied and reloaded, in order.
    """
    views: dict[str, dict[str, _Shown]] = {}
    for event in events:
        data = event.data
        if isinstance(data, ClientApplied):
            _apply(views.setdefault(event.actor, {}), data)
        else:
            views[event.actor] = {_key(item, n): _Shown(item) for n, item in enumerate(as_states(data.items))}
    return {client: tuple(shown.item() for shown in view.values()) for client, view in views.items()}


def told_apart(items: Iterable[Item]) -> tuple[tuple[str, str], ...]:
    """Returns what can be compared between two views: text and state of the model's messages, in order.

    The words of a person reach other clients only by a reload, and an empty message shows nothing.
    """
    return tuple((item.text, item.state) for item in items if item.kind == "assistant" and item.text)


@define
class _Shown:
    """One message on a page: what it was, and what frames have added since."""

    base: Item
    text: list[str] = field(factory=list)
    reasoning: list[str] = field(factory=list)

    def item(self) -> Item:
        if not (self.text or self.reasoning):
            return self.base
        reasoning = self.base.reasoning + "".join(self.reasoning)
        return evolve(self.base, text=self.base.text + "".join(self.text), reasoning=reasoning)


def _key(item: Item, number: int) -> str:
    if item.kind == "assistant" and item.id is not None:
        return item.id
    return f"{item.kind}:{item.call_id or number}"


def _apply(view: dict[str, _Shown], data: ClientApplied) -> None:
    frame, message = data.frame, data.message
    if frame in ("tool.requested", "tool.closed"):
        _apply_tool(view, data)
    elif message is None:
        return
    elif frame == "message.delta":
        shown = view.get(message) or view.setdefault(message, _Shown(_message(data)))
        shown.text.append(data.text)
        shown.reasoning.append(data.reasoning)
    elif frame == "message.opened":
        view[message] = _Shown(_message(data))
    elif frame == "message.superseded":
        view.pop(message, None)
    elif frame in _CLOSING:
        base = view[message].item() if message in view else _message(data)
        view[message] = _Shown(evolve(base, text=data.text, state=_CLOSING[frame]))


def _apply_tool(view: dict[str, _Shown], data: ClientApplied) -> None:
    call_id = data.call_id
    if data.frame == "tool.requested":
        view[f"tool_call:{call_id}"] = _Shown(Item(kind="tool_call", call_id=call_id, run_id=data.run))
    else:
        state = data.state or "completed"
        item = Item(kind="tool_result", call_id=call_id, state=cast(ItemState, state), run_id=data.run)
        view[f"tool_result:{call_id}"] = _Shown(item)


def _message(data: ClientApplied) -> Item:
    source = data.source
    aliases = () if source is None else (source,)
    return Item(kind="assistant", id=data.message, aliases=aliases, state="open", run_id=data.run)
