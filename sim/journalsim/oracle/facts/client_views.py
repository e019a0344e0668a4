"""What each client displays at the end of a history, folded from the frames that it applied."""

from __future__ import annotations

from collections.abc import Iterable

from journalsim.contract.events.client_events import ClientApplied, ClientReloaded, ClientView
from journalsim.contract.items import Item
from journalsim.contract.page_fold import Rows, apply_frame, items_of, rows_of
from journalsim.history import EventOf
from journalsim.oracle.facts.item_keys import as_states


def views_of(events: Iterable[EventOf[ClientApplied | ClientReloaded | ClientView]]) -> dict[str, tuple[Item, ...]]:
    """Returns what each client displays at the end, oldest first.

    A reload replaces everything by the history, and frames go on from there.  The view that a
    client on the wire reports replaces everything as well.

    Args:
        events: everything that clients applied, reloaded and reported, in order.
    """
    views: dict[str, Rows] = {}
    for event in events:
        data = event.data
        if isinstance(data, ClientApplied):
            apply_frame(views.setdefault(event.actor, {}), data.as_frame, reopening="begins anew")
        else:
            views[event.actor] = rows_of(as_states(data.items))
    return {client: items_of(rows) for client, rows in views.items()}


def told_apart(items: Iterable[Item]) -> tuple[tuple[str, str], ...]:
    """Returns what two views are compared by: text and state of the model's messages, in order.

    The words of a person reach other clients only by a reload, and an empty message displays nothing.
    """
    return tuple((item.text, item.state) for item in items if item.kind == "assistant" and item.text)
