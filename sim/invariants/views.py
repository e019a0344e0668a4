"""What a client shows, from what it was told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve

from sim.adapters.protocol import Item, ItemState
from sim.history import Event, History

_CLOSING: Mapping[str, ItemState] = {"message.completed": "completed", "message.interrupted": "interrupted"}


def view_of(history: History, client: str) -> tuple[Item, ...]:
    """Returns what a client shows at the end, oldest first.

    A reload replaces everything by what the journal held; frames then add to it.
    A frame that says nothing about a message or a tool call changes nothing.
    """
    view: dict[str, Item] = {}
    for event in history.of("client.applied", "client.reloaded"):
        if event.actor != client:
            continue
        if event.kind == "client.reloaded":
            view = {_key(item, n): item for n, item in enumerate(event.data["items"])}
        else:
            _apply(view, event)
    return tuple(view.values())


def shown(items: Iterable[Item]) -> tuple[tuple[str, str], ...]:
    """Returns what can be compared between two views: text and state of the model's messages, in order.

    The words of a person reach other clients only by a reload, and an empty message shows nothing.
    """
    return tuple((item.text, item.state) for item in items if item.kind == "assistant" and item.text)


def _key(item: Item, number: int) -> str:
    if item.kind == "assistant" and item.id is not None:
        return item.id
    return f"{item.kind}:{item.call_id or number}"


def _apply(view: dict[str, Item], event: Event) -> None:
    data = event.data
    frame, message = str(data["frame"]), data.get("message")
    if frame == "tool.requested" or frame == "tool.closed":
        _apply_tool(view, event)
    elif frame == "message.superseded":
        view.pop(str(message), None)
    elif frame == "message.opened" and message is not None:
        view[message] = _message(event)
    elif frame == "message.delta" and message is not None:
        old = view.get(message, _message(event))
        reasoning = old.reasoning + str(data.get("reasoning", ""))
        view[message] = evolve(old, text=old.text + str(data["text"]), reasoning=reasoning)
    elif frame in _CLOSING and message is not None:
        view[message] = evolve(view.get(message, _message(event)), text=data["text"], state=_CLOSING[frame])


def _apply_tool(view: dict[str, Item], event: Event) -> None:
    data = event.data
    call_id = data.get("call_id")
    if data["frame"] == "tool.requested":
        view[f"tool_call:{call_id}"] = Item(kind="tool_call", call_id=call_id, run_id=event.run)
    else:
        state: ItemState = data.get("state") or "completed"
        view[f"tool_result:{call_id}"] = Item(kind="tool_result", call_id=call_id, state=state, run_id=event.run)


def _message(event: Event) -> Item:
    source = event.data.get("source")
    aliases = () if source is None else (source,)
    return Item(kind="assistant", id=event.data["message"], aliases=aliases, state="open", run_id=event.run)
