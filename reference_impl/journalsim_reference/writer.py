"""Writes the journal: holds state, store and buffers of a process, and the critical section around them.

Every operation is one ``store.append`` step. Inside it nothing waits: the
decision is taken on the state as it is, its rows are written, folded in and
announced, and only then may any other task look. So a decision is never taken on
a state that is about to change, a row is never announced before it is durable,
and a buffer is never dropped before its row is.

When the store fails
--------------------
A batch that was certainly not stored is appended again, at once and then, by a worker,
after pauses: a disk that was full for a moment costs only time. A batch
with an unknown outcome is looked for: the rows that the store then returns are certain, and
the batch, whose ids the journal minted, is among them or is appended again. The journal folds in
and announces only certain rows.

If the store cannot settle the outcome, or a newer process has opened it, the process fences
itself: it releases the store, cancels its workers and writes nothing more. The next process reads
its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import ClassVar, TypeVar

import trio
from attrs import Factory, define

from journalsim.contract.adapters import OutcomeUnknown
from journalsim.contract.capabilities import POLICIES
from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.contract.ports import Ports
from journalsim_reference.batch import Stamp
from journalsim_reference.content import Content
from journalsim_reference.events import BARRIERS, Event
from journalsim_reference.frames import frame, unseen
from journalsim_reference.journal import Decision, Refused
from journalsim_reference.lifecycle import TERMINALS
from journalsim_reference.partials import Partials
from journalsim_reference.projections import context, delegated, history
from journalsim_reference.state import LEAD, Run, State
from journalsim_reference.stores.base import DuplicateRow, StaleWriter, Store, StoreClosed, StoreError
from journalsim_reference.stream import Streams

T = TypeVar("T")

SECOND = 1_000_000_000  # nanoseconds

TRIES_MAX = 3
"""The number of immediate attempts to append a batch: an error that comes once, or twice, is over by then."""

PAUSES_NS = (100_000_000, 400_000_000, 1_600_000_000, 6_400_000_000)
"""Pauses of a worker before it tries again: a disk that is full for longer than some seconds stays full."""


@define(eq=False)
class Control:
    """The signals of a run without a terminal.

    Attributes:
        scope: cancelled by a stop; a stop before the run begins is latched in it.
        done: set when the terminal is durable.
        answered: for each call that waits for a person, set when the answer is durable.
    """

    scope: trio.CancelScope = Factory(trio.CancelScope)
    done: trio.Event = Factory(trio.Event)
    answered: dict[str, trio.Event] = Factory(dict)


class Writer:
    """Decides, writes and announces, one thing at a time.

    Args:
        store: a store that was just opened.
        ports: the ports of the harness.

    Attributes:
        policies: every option, with the defaults of those that the scenario does not set.
        controls: the controls of the runs without a terminal.
        streams: the streams of the readers.
        closing: True once no new work is accepted.
        fenced: why this process writes nothing more; empty while it writes.
    """

    streams_class: ClassVar[type[Streams]] = Streams
    partials_class: ClassVar[type[Partials]] = Partials

    def __init__(self, store: Store, ports: Ports) -> None:
        self.store = store
        self.ports = ports
        self.policies: Mapping[str, str] = {name: words[0] for name, words in POLICIES.items()} | dict(ports.policies)
        self.state = State()
        self.partials = self.partials_class()
        self.controls: dict[str, Control] = {}
        self.streams = self.streams_class(self.state, self.policies, self.partials.content)
        self.closing = False
        self.fenced = ""
        self._safe = True

    @property
    def closes_on_write(self) -> bool:
        """True if open calls are closed in the journal, rather than when it is read."""
        return self.policies["orphans"] == "on_write"

    def critical(self, session_id: str) -> AbstractAsyncContextManager[None]:
        """Returns the one operation on the journal of a session; its body must not wait."""
        return self.ports.step("store.append", touches=(f"journal:{session_id}",))

    async def append(self, session_id: str, decide: Callable[[Stamp], Decision]) -> Decision:
        """Decides and commits on behalf of a worker, in a critical section of its own."""
        return await self.insist(session_id, lambda: self.commit(decide))

    async def insist(self, session_id: str, work: Callable[[], T]) -> T:
        """Does a worker's work in a critical section, and again after a pause if the store stored nothing of it.

        A worker has no caller to report a failure to, so if all attempts fail the process fences itself.
        """
        for pause_ns in PAUSES_NS:
            try:
                async with self.critical(session_id):
                    return work()
            except StoreError:
                if self.fenced:
                    raise
            await self.ports.sleep(pause_ns)
        async with self.critical(session_id):
            try:
                return work()
            except StoreError as error:
                self.fence(error)
                raise

    def commit(self, decide: Callable[[Stamp], Decision]) -> Decision:
        """Takes a decision and, if it has rows, makes them durable, folds them in and announces them.

        Raises:
            StoreError: no row was stored.
            OutcomeUnknown: only the next process can decide.
        """
        if self.fenced:
            raise StoreClosed(self.fenced)
        decision = decide(Stamp(self.store.epoch, self.ports.now_ns()))
        if decision and not isinstance(decision, Refused):
            self._store_rows(decision)
            for event in decision:
                self.state.apply(event)
            for event in decision:
                self._committed(event)
        return decision

    def _store_rows(self, rows: tuple[Event, ...]) -> None:
        """Stores rows: returns once they are certainly stored; a StoreError means that they certainly are not."""
        barrier = self.policies["sync"] == "every_event" or any(event.kind in BARRIERS for event in rows)
        self._safe = barrier
        failure: Exception | None = None
        for _ in range(TRIES_MAX):
            try:
                self.store.append(rows, barrier=barrier)
            except (DuplicateRow, StaleWriter, StoreClosed) as error:
                self.fence(error)
                raise
            except StoreError as error:
                failure = error
            except OutcomeUnknown as error:
                if self._are_there(rows, error):
                    return
                failure = error
            else:
                return
        raise StoreError(f"tried {TRIES_MAX} times: {failure}") from failure

    def _are_there(self, rows: tuple[Event, ...], unknown: OutcomeUnknown) -> bool:
        """Settles an unknown outcome by reading the store."""
        try:
            there = {event.event_id: event for event in self.store.load()}
        except StoreError as error:
            self.fence(error)
            raise OutcomeUnknown(f"{unknown}, and then {error}") from unknown
        found = [there.get(event.event_id) for event in rows]
        if found == [None] * len(rows):
            return False
        if found != list(rows):
            self.fence(StaleWriter("rows of another writer are in the place of this one's"))
            raise StoreClosed(self.fenced)
        return True

    def fence(self, reason: Exception) -> None:
        """Releases the store for good, and cancels every task that would write to it."""
        self.fenced = f"this process has fenced itself: {reason}"
        self.store.crash()
        self.streams.close()
        for control in self.controls.values():
            control.scope.cancel()
            control.done.set()

    def _committed(self, event: Event) -> None:
        """Does the work that must follow a durable row."""
        if event.kind in ("message.completed", "message.interrupted", "message.superseded"):
            self.partials.evict(event.payload["message_id"])
        announced = frame(self.state, event)
        if announced is not None and event.kind == "message.delta":
            announced = unseen(announced, self.partials.content(event.payload["message_id"]))
        if event.kind in TERMINALS:
            self.partials.clear(event.run_id)
        self.streams.enter(event, announced, safe=self._safe)
        if announced is not None:
            self.ports.publish(event.session_id, announced)
        control = self.controls.get(event.run_id)
        if control is not None and event.kind == "run.stop_requested":
            control.scope.cancel()
        if control is not None and event.kind == "approval.resolved":
            control.answered.pop(event.payload["call_id"]).set()
        if control is not None and event.kind in TERMINALS:
            self.release(control, event)

    def release(self, control: Control, event: Event) -> None:
        """Forgets a run whose terminal is durable, and wakes the tasks that wait for it."""
        del self.controls[event.run_id]
        control.done.set()

    # --- views

    def shown(self, session_id: str) -> tuple[Item, ...]:
        """Returns the items that a page opened now would display."""
        return history(self.state, session_id, self.policies, self.partials.content)

    def given(self, session_id: str) -> tuple[Item, ...]:
        """Returns the context of the next model call."""
        return context(self.state, session_id, self.policies)

    def given_to_agent(self, run_id: str, call_id: str) -> tuple[Item, ...]:
        """Returns the next context of the sub-agent that carries out a call."""
        return delegated(self.state, run_id, call_id, self.policies)

    # --- time

    def time_limit(self, name: str, spent_ns: int = 0) -> trio.CancelScope:
        """Returns a scope that is cancelled at a limit, ``spent_ns`` nanoseconds of which are over."""
        limit_ns = self.ports.limits_ns.get(name)
        return trio.CancelScope() if limit_ns is None else trio.move_on_after(max(0, limit_ns - spent_ns) / SECOND)

    # --- buffers

    def snapshot(self, message_id: str) -> Content:
        """Returns the text that an interruption stores for an open message, on top of its rows."""
        return self.partials.content(message_id)

    def holds(self, message_id: str, piece: Content) -> bool:
        """Returns True if a piece may wait in a buffer for its row, rather than becoming a row at once.

        When every event is synced, text is in the journal before any page displays it, and a crash takes no displayed
        text away.
        """
        return self.policies["sync"] != "every_event" and self.partials.fits(message_id, piece)

    def buffer(self, run: Run, message_id: str, piece: Content, source: str | None) -> None:
        """Adds a piece to an open message and sends it to the readers; its row will follow."""
        if run.messages[message_id].state == "open":
            self.partials.add(run.run_id, message_id, piece)

            if (piece.text or piece.reasoning) and run.messages[message_id].speaker == LEAD:
                delta = Frame("message.delta", run.run_id, message_id, piece.text, piece.reasoning, source=source)
                self.send(run.session_id, delta)

    def send(self, session_id: str, frame: Frame) -> None:
        """Sends a frame to the readers that has no row yet."""
        self.streams.show(session_id, frame)
        self.ports.publish(session_id, frame)
