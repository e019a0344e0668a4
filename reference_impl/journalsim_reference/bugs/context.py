"""Seeded bugs that leave calls open, out of order, or different for people and for the model."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim.contract.items import Item
from journalsim.contract.ports import Ports
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.events import Event
from journalsim_reference.stores.base import Store
from journalsim_reference.writer import Writer


def _is_closure(item: Item) -> bool:
    """Returns True if an item is the closure of a call that its run cut off."""
    return item.kind == "tool_result" and item.state == "aborted" and item.outcome == "unknown"


class _LeavesCallsOpen(Writer):
    """Writes the end of a stopped run and forgets the calls that were running."""

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return tuple(item for item in super().shown(session_id) if not self._forgotten(item))

    def _forgotten(self, item: Item) -> bool:
        return _is_closure(item) and self.state.runs[item.run_id or ""].cause == "stopped"


class _DiscardsTheRepair(Writer):
    """Closes open calls in a copy of the conversation, and gives the model the original."""

    def given(self, session_id: str) -> tuple[Item, ...]:
        return tuple(item for item in super().given(session_id) if not _is_closure(item))


class _SortsByClock(Writer):
    """Orders a request and its result by the clock of the server."""

    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.times: dict[str, int] = {}

    def _committed(self, event: Event) -> None:
        if event.kind in ("tool.requested", "tool.completed", "tool.failed"):
            name = f"{event.run_id}/{event.payload['call_id']}"
            self.times[name if event.kind == "tool.requested" else f"{name}#closure"] = self.ports.wall_ns()
        super()._committed(event)

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return tuple(self._sorted(super().shown(session_id)))

    def given(self, session_id: str) -> tuple[Item, ...]:
        return tuple(self._sorted(super().given(session_id)))

    def _sorted(self, items: tuple[Item, ...]) -> Iterator[Item]:
        early = {item.id or "": item for item in items if item.kind == "tool_result" and self._early(item)}
        for item in items:
            if item.kind == "tool_call" and f"{item.id}#closure" in early:
                yield early[f"{item.id}#closure"]
            if item.id not in early:
                yield item

    def _early(self, item: Item) -> bool:
        name = item.id or ""
        return self.times.get(name, 0) < self.times.get(name.removesuffix("#closure"), 0) and name in self.times


CONTEXT = (
    Bug(
        name="stopped-call-left-open",
        summary="A stop while a tool runs leaves its call without a closure.",
        failure_mode="DF-13",
        trips=("paired-tool-calls",),
        build=with_parts(writer=_LeavesCallsOpen),
    ),
    Bug(
        name="repair-computed-and-discarded",
        summary="People see the closure of an open call, and the model's context lacks it.",
        failure_mode="GO-7",
        trips=("store-equals-context", "paired-tool-calls"),
        build=with_parts(writer=_DiscardsTheRepair),
    ),
    Bug(
        name="rows-sorted-by-clock",
        summary="A clock that is set back while a tool runs puts the result before its request.",
        failure_mode="GO-16",
        trips=("ordered-history",),
        build=with_parts(writer=_SortsByClock),
    ),
)
