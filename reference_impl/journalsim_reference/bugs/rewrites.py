"""Seeded bugs of overwritten data: old copies, late writers, and rows that wait for others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from attrs import evolve

from journalsim.contract.items import Item
from journalsim.contract.ports import Ports
from journalsim_reference.batch import Stamp
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.events import Event
from journalsim_reference.journal import Decision, decide_end
from journalsim_reference.server import Server
from journalsim_reference.state import Message, Run
from journalsim_reference.stores.base import Store
from journalsim_reference.writer import Writer

A_WHILE_NS = 300_000_000  # until a worker that counted as dead wakes up


class _CopiesConversations(Writer):
    """Copies the conversation at the start of each run, and writes the copy back when the run is stopped."""

    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.copies: dict[str, dict[str, tuple[str, Mapping[str, Any]]]] = {}

    def _committed(self, event: Event) -> None:
        if event.kind == "run.accepted":
            earlier = self._earlier(event)
            self.copies[event.run_id] = {m.message_id: (m.state, dict(m.metadata)) for m in earlier}
        elif event.kind == "run.aborted" and event.payload["cause"] == "stopped" and event.run_id in self.copies:
            self.write_back(self.copies[event.run_id], self._earlier(event))
        super()._committed(event)

    def _earlier(self, event: Event) -> list[Message]:
        runs: list[Run] = []
        for entry in self.state.session(event.session_id).entries:
            if isinstance(entry, Run):
                if entry.run_id == event.run_id:
                    break
                runs.append(entry)
        return [message for run in runs for message in run.messages.values()]

    def write_back(self, copy: Mapping[str, tuple[str, Mapping[str, Any]]], now: Iterable[Message]) -> None:
        """Writes a copy over the present state of the same messages."""
        raise NotImplementedError


class _WritesOldFlagsBack(_CopiesConversations):
    def write_back(self, copy: Mapping[str, tuple[str, Mapping[str, Any]]], now: Iterable[Message]) -> None:
        for message in now:
            if message.message_id in copy:
                message.metadata = dict(copy[message.message_id][1])
                self.state.runs[message.run_id].rendered.clear()


class _DeletesAndInserts(_CopiesConversations):
    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.deleted: dict[str, bool] = {}

    def write_back(self, copy: Mapping[str, tuple[str, Mapping[str, Any]]], now: Iterable[Message]) -> None:
        present = [name for name, (state, _) in copy.items() if state != "open"]
        stored = (m for m in now if self.state.runs[m.run_id].state == "completed")
        self.deleted |= {m.message_id: True for m in stored if m.message_id not in present}

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return tuple(item for item in super().shown(session_id) if item.id not in self.deleted)

    def given(self, session_id: str) -> tuple[Item, ...]:
        return tuple(item for item in super().given(session_id) if item.id not in self.deleted)


class _FlagsNothingInAStop(Server):
    async def annotate(self, session_id: str, message_id: str, metadata: Mapping[str, Any]) -> None:
        if all(run.state != "cancelling" for run in self.state.session(session_id).active_runs()):
            await super().annotate(session_id, message_id, metadata)


class _TakesLateEnds(Writer):
    """Lets the last ending count, whichever worker wrote it."""

    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.late: dict[str, bool] = {}

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return tuple(map(self._ended, super().shown(session_id)))

    def given(self, session_id: str) -> tuple[Item, ...]:
        return tuple(map(self._ended, super().given(session_id)))

    def _ended(self, item: Item) -> Item:
        late = item.kind == "marker" and item.run_id in self.late
        return evolve(item, state="interrupted", cause="lost_lease", text="This run lost its lease.") if late else item


class _WakesUpLate(Server):
    """Has a worker elsewhere that counted as dead, and writes its own ending over that of its successor."""

    async def recover(self) -> None:
        await super().recover()
        assert isinstance(self.writer, _TakesLateEnds)
        rejected = (event for event in self.writer.store.load() if event.kind == "terminal.rejected")
        self.writer.late |= {event.run_id: True for event in rejected if event.payload["cause"] == "lost_lease"}
        for run in self.state.runs.values():
            if run.cause == "crashed" and run.run_id not in self.writer.late:
                self.ports.spawn(f"old-worker:{run.run_id}", partial(self._end_again, run))

    async def _end_again(self, run: Run) -> None:
        await self.ports.sleep(A_WHILE_NS)
        assert isinstance(self.writer, _TakesLateEnds)
        async with self.writer.critical(run.session_id):
            self.writer.commit(self._decide(run))
            self.writer.late[run.run_id] = True

    def _decide(self, run: Run) -> Callable[[Stamp], Decision]:
        return lambda stamp: decide_end(self.state, stamp, run.run_id, "run.aborted", "lost_lease", closures=True)


REWRITES = (
    Bug(
        name="stop-writes-old-flags-back",
        summary="A stop writes back a copy of the conversation that lacks the flags set since.",
        failure_mode="GO-2",
        trips=("no-clobber",),
        build=with_parts(writer=_WritesOldFlagsBack),
    ),
    Bug(
        name="flag-set-during-stop-lost",
        summary="A flag that is set while a run is being stopped is accepted and not stored.",
        failure_mode="GO-2",
        trips=("no-clobber",),
        build=with_parts(server=_FlagsNothingInAStop),
    ),
    Bug(
        name="stop-deletes-and-inserts",
        summary="A stop deletes all rows and inserts a copy, which lacks an answer stored since.",
        failure_mode="GO-3",
        # If no page was opened in between, no observation shows that the answer had been there.
        trips=("no-clobber", "no-lost-completed-message"),
        build=with_parts(writer=_DeletesAndInserts),
    ),
    Bug(
        name="old-worker-ends-run-again",
        summary="A worker that lost its run to another process writes its own ending over the present one.",
        failure_mode="DF-31",
        # If no page was opened in between, there is one ending, and it is the wrong one.
        trips=("fenced-writer", "one-terminal-per-run"),
        build=with_parts(server=_WakesUpLate, writer=_TakesLateEnds),
    ),
)
