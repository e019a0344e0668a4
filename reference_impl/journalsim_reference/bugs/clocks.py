"""Seeded bugs of clocks that serve as more than data."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import evolve

from journalsim.contract.items import Item
from journalsim.contract.ports import Ports
from journalsim_reference.batch import Stamp
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.bugs.views import AltersViews
from journalsim_reference.journal import Decision, Refused
from journalsim_reference.stores.base import Store

MILLISECOND = 1_000_000


class _NamesByClock(AltersViews):
    """Uses the millisecond in which a result is written as its identity."""

    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.born: dict[tuple[str | None, str | None], int] = {}

    def commit(self, decide: Callable[[Stamp], Decision]) -> Decision:
        decision = super().commit(decide)
        for event in () if isinstance(decision, Refused) else decision:
            if event.kind in ("tool.completed", "tool.failed", "tool.aborted"):
                self.born[event.run_id, event.payload["call_id"]] = event.at // MILLISECOND
        return decision

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        for item in items:
            born = self.born.get((item.run_id, item.call_id)) if item.kind == "tool_result" else None
            yield item if born is None else evolve(item, id=f"result-{born}")


CLOCKS = (
    Bug(
        name="same-millisecond-same-id",
        summary="Tool results that are written in the same millisecond have the same id.",
        failure_mode="CL-11",
        trips=("stable-identity",),
        build=with_parts(writer=_NamesByClock),
    ),
)
