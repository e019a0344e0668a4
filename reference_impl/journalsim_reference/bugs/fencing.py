"""Seeded bugs of writers that save an outdated copy of the conversation."""

from __future__ import annotations

from journalsim.contract.items import Item
from journalsim.contract.ports import Ports
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.server import Server, StaleRevision
from journalsim_reference.state import Run
from journalsim_reference.stores.base import Store
from journalsim_reference.worker import Worker
from journalsim_reference.writer import Writer

TIDYING_NS = 1_000_000_000
"""The delay of a finalizer after the end of a stopped run, nanoseconds: by then the next answer is there."""


class _Overwritten(Writer):
    """Leaves out the runs, or their answers, that a later save has overwritten."""

    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.answers_of: list[str] = []
        self.all_of: list[str] = []

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return self._left(super().shown(session_id))

    def given(self, session_id: str) -> tuple[Item, ...]:
        return self._left(super().given(session_id))

    def _left(self, items: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(item for item in items if not self._gone(item))

    def _gone(self, item: Item) -> bool:
        return item.run_id in self.all_of or (item.kind == "assistant" and item.run_id in self.answers_of)


class _Finalizes(Worker):
    writer: _Overwritten

    async def run(self) -> None:
        await super().run()
        if self.run_state.cause == "stopped" and not self.writer.closing:
            self.writer.ports.spawn(f"finalizer:{self.run_state.run_id}", self.finalize)

    async def finalize(self) -> None:
        """Saves the run's copy of the conversation over everything that came after."""
        await self.writer.ports.sleep(TIDYING_NS)
        session = self.state.session(self.run_state.session_id)
        runs = [entry for entry in session.entries if isinstance(entry, Run)]
        later = runs[runs.index(self.run_state) + 1 :]
        self.writer.answers_of += [run.run_id for run in later if run.state == "completed"]


class _SavesItsSnapshot(Server):
    writer: _Overwritten

    async def compact(self, session_id: str) -> None:
        session = self.state.session(session_id)
        known = len(session.entries)
        try:
            await super().compact(session_id)
        except StaleRevision:
            since = session.entries[known:]
            self.writer.all_of += [entry.run_id for entry in since if isinstance(entry, Run) and entry.ended]
            if not since:
                raise


FENCING = (
    Bug(
        name="finalizer-overwrites-next-turn",
        summary="The finalizer of a stopped run saves its copy of the conversation over the next answer.",
        failure_mode="HW-10",
        trips=("fenced-writer",),
        build=with_parts(writer=_Overwritten, worker=_Finalizes),
    ),
    Bug(
        name="stale-snapshot-saved",
        summary="A compaction saves the snapshot with which it began over a turn that has come since.",
        failure_mode="HW-20",
        trips=("no-clobber",),
        build=with_parts(server=_SavesItsSnapshot, writer=_Overwritten),
    ),
)
