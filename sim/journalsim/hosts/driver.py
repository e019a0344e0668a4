"""Drives a run on behalf of a journal that only stores rows.

A store-level adapter has no model, tools or stops; this module is the good-faith loop around it. The loop appends a
message the moment it completes, never lets a stop tear an append in two, closes every open call, and writes at most one
partial per open message. Every further loss is a loss of the store.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal

import trio
from attrs import define, evolve, field

from journalsim.contract.adapters import OutcomeUnknown, RunBusy, StoreAdapter
from journalsim.contract.capabilities import Capabilities, StopMode
from journalsim.contract.events.journal_events import StoreAcknowledged, StoreFailed
from journalsim.contract.frames import Frame
from journalsim.contract.items import HIDDEN_FROM_MODEL, Cause, Item, ItemState, Statistics
from journalsim.contract.model_call import Completion, ModelError, ModelEvent, ModelRequest, ToolCall, ToolError
from journalsim.contract.ports import Ports
from journalsim.hosts.checks import checked_items

Acknowledge = Callable[..., object]
ATTEMPTS_MAX = 3  # a provider that fails three times in a row is down


@define
class _Run:
    """The driver's state of one run, in memory."""

    id: str
    session: str
    text: str
    scope: trio.CancelScope
    state: str = "running"
    open: Item | None = None  # the message that is being streamed
    done: set[str] = field(factory=set)  # provider ids and message ids that were appended; membership only
    open_calls: dict[str, ToolCall] = field(factory=dict)
    started: set[str] = field(factory=set)  # membership only


def claims_of(store: StoreAdapter) -> Capabilities:
    """Returns the capabilities of a store together with the loop around it.

    The capabilities of the loop are added; those that need a verb which the store lacks are removed.
    """
    claimed = store.capabilities
    return evolve(
        claimed,
        user_first=True,
        context=True,
        late_completion=True,
        idempotent_start=True,
        terminals=claimed.terminals and hasattr(store, "finish"),
        partials=claimed.partials and hasattr(store, "partial"),
        statistics=claimed.statistics and hasattr(store, "statistics"),
        concurrent_runs="refuse",
        stop_modes=("interrupt",),
    )


class StoreDriver:
    """A runner over a store-level adapter.

    Args:
        store: the adapter.
        record: records ``store.acknowledged`` and ``store.failed`` in the history.
    """

    def __init__(self, store: StoreAdapter, record: Acknowledge) -> None:
        self.store = store
        self.capabilities: Capabilities = claims_of(store)
        self._record = record
        self._runs: dict[str, _Run] = {}
        self._keys: dict[str, str] = {}

    # --- verbs

    async def setup(self, where: str, ports: Ports) -> None:
        """Opens the store."""
        self._ports = ports
        await self._store("open", where)

    async def start(self, session_id: str, text: str, key: str) -> str:
        """Appends the user's message and begins its run.

        Raises:
            RunBusy: a run is active, or the key was used for another text; nothing was done.
        """
        if key in self._keys:
            known = self._keys[key]
            if self._runs[known].text != text:
                raise RunBusy("the request key was used for another text")
            return known
        if any(run.session == session_id and run.state != "ended" for run in self._runs.values()):
            raise RunBusy("a run is active")
        run = _Run(id=self._ports.mint("r"), session=session_id, text=text, scope=trio.CancelScope())
        self._runs[run.id], self._keys[key] = run, run.id
        item = Item(kind="user", text=text, id=self._ports.mint("u"), run_id=run.id, origin="user")
        try:
            await self._append(run, item)
        except BaseException:
            del self._runs[run.id], self._keys[key]
            raise
        self._ports.spawn(f"run:{run.id}", lambda: self._drive(run))
        return run.id

    async def stop(self, session_id: str, run_id: str, mode: StopMode = "interrupt") -> str:
        """Cancels the run, which then writes its partial and its closures and ends."""
        run = self._runs.get(run_id)
        if run is None:
            return "unknown"
        if run.state == "ended":
            return "ended"
        run.state = "cancelling"
        run.scope.cancel()
        return "stopping"

    async def read(self, session_id: str) -> Sequence[Item]:
        """Returns the rows of the store."""
        return checked_items("read", await self._store("read", session_id))

    async def context(self, session_id: str) -> Sequence[Item]:
        """Returns the model's context: the store's rows without those that only people see."""
        return [item for item in await self.read(session_id) if not item.metadata.get(HIDDEN_FROM_MODEL)]

    async def annotate(self, session_id: str, item_id: str, metadata: dict[str, Any]) -> None:
        """Passes a metadata change on to the store."""
        await self._store("annotate", session_id, item_id, metadata)

    def statistics(self) -> Statistics:
        """Returns the store's own sizes, or zeros."""
        sizes = getattr(self.store, "statistics", Statistics)()
        assert isinstance(sizes, Statistics)
        return sizes

    async def shutdown(self) -> None:
        """Ends every run in good order, then closes the store."""
        for run in self._runs.values():
            if run.state == "running":
                run.state = "shutting_down"
                run.scope.cancel()
        while any(run.state != "ended" for run in self._runs.values()):
            await self._ports.sleep(1_000_000)
        await self._store("close")

    def crash(self) -> None:
        """Drops the store as a killed process would."""
        getattr(self.store, "crash", lambda: None)()

    # --- the run

    async def _drive(self, run: _Run) -> None:
        self._publish(run, "run.started")
        state: ItemState = "failed"
        cause: Cause | None = "failed"
        with run.scope:
            state, cause = await self._turns(run)
        with trio.CancelScope(shield=True):
            if run.scope.cancelled_caught:
                state, cause = "interrupted", "stopped" if run.state == "cancelling" else "shut_down"
            await self._wind_up(run, state, cause)
        run.state = "ended"
        self._publish(run, "run.ended", state=state, cause=cause)

    async def _turns(self, run: _Run) -> tuple[ItemState, Cause | None]:
        while True:
            if not await self._ask(run):
                return "failed", "failed"
            if not run.open_calls:
                return "completed", None
            await self._call_tools(run)

    async def _ask(self, run: _Run) -> bool:
        """Calls the model until a response is finished; drops the output of failed attempts."""
        for attempt in range(1, ATTEMPTS_MAX + 1):
            # read again: rows cannot be taken back, so a further attempt continues behind the messages that the last
            # one finished
            context = tuple(await self.context(run.session))
            if run.open is not None:
                self._publish(run, "message.superseded", message_id=run.open.id)
            run.open = None
            run.open_calls.clear()
            reason = None
            request = ModelRequest(run_id=run.id, session_id=run.session, attempt=attempt, context=context)
            with contextlib.suppress(ModelError):
                async with self._ports.model(request, on_late=lambda whole: self._late(run, whole)) as stream:
                    async for event in stream:
                        reason = await self._take(run, event) or reason
            if reason is not None:
                return True  # a stream that ends without a finish is not a completed message
        return False

    async def _take(self, run: _Run, event: ModelEvent) -> str | None:
        if event.kind in ("message", "finish"):
            await self._complete(run)
            return event.reason
        if event.kind == "ping":
            return None
        if run.open is None:
            run.open = Item(kind="assistant", id=self._ports.mint("m"), run_id=run.id, origin="model", state="open")
            self._publish(run, "message.opened", message_id=run.open.id, source=event.provider_id)
        message = run.open
        if event.provider_id is not None and event.provider_id not in message.aliases:
            message = evolve(message, aliases=(*message.aliases, event.provider_id))
        if event.kind == "text":
            message = evolve(message, text=message.text + event.text)
        elif event.kind == "reasoning":
            message = evolve(message, reasoning=message.reasoning + event.text)
        elif event.kind == "tool_call" and event.call_id is not None:
            run.open_calls[event.call_id] = ToolCall(call_id=event.call_id, name=event.name or "")
        elif event.call_id in run.open_calls:
            call = run.open_calls[event.call_id]
            run.open_calls[event.call_id] = evolve(call, arguments=call.arguments + event.text)
        run.open = message
        if event.kind in ("text", "reasoning"):
            text, reasoning = (event.text, "") if event.kind == "text" else ("", event.text)
            source = event.provider_id
            self._publish(run, "message.delta", message_id=message.id, text=text, reasoning=reasoning, source=source)
        return None

    async def _complete(self, run: _Run) -> None:
        message, run.open = run.open, None
        if message is None or message.id in run.done:
            return  # a finish that is reported twice, or one without a message
        run.done.add(message.id or "")
        calls = [self._call_item(run, call) for call in run.open_calls.values()]
        with trio.CancelScope(shield=True):
            for item in (evolve(message, state="completed"), *(calls if self.capabilities.tools else ())):
                await self._append(run, item)
        self._publish(run, "message.completed", message_id=message.id, text=message.text)

    async def _late(self, run: _Run, whole: Completion) -> None:
        message = run.open
        if message is None or run.state == "ended" or message.id in run.done:
            return
        run.done.add(message.id or "")
        await self._append(run, evolve(message, text=whole.text, reasoning=whole.reasoning, state="completed"))

    async def _call_tools(self, run: _Run) -> None:
        async with trio.open_nursery() as nursery:
            for call in list(run.open_calls.values()):
                nursery.start_soon(self._call_tool, run, call, name=f"tool:{call.call_id}")

    async def _call_tool(self, run: _Run, call: ToolCall) -> None:
        run.started.add(call.call_id)
        state: ItemState = "completed"
        try:
            text = await self._ports.call_tool(run.id, call)
        except ToolError as error:
            text, state = str(error), "failed"
        with trio.CancelScope(shield=True):
            await self._close_call(run, call, text, state)

    async def _wind_up(self, run: _Run, state: ItemState, cause: Cause | None) -> None:
        if run.open is not None and run.open.id in run.done:
            run.open = None  # completed while the run was winding up
        if run.open is not None and state != "completed" and (run.open.text or run.open.reasoning):
            if self.capabilities.partials:
                partial = evolve(run.open, state="interrupted", cause=cause)
                await self._write("partial", run, partial)
            self._publish(run, "message.interrupted", message_id=run.open.id, text=run.open.text)
        for call in list(run.open_calls.values()):
            if run.open is None:
                await self._close_call(run, call, "", "aborted")
        if self.capabilities.terminals:
            marker = Item(kind="marker", run_id=run.id, state=state, cause=cause, origin="synthetic")
            await self._write("finish", run, marker)
        run.open = None

    # --- the store

    async def _close_call(self, run: _Run, call: ToolCall, text: str, state: ItemState) -> None:
        outcome: Literal["", "unknown", "not_started"] = ""
        if state == "aborted":
            outcome = "unknown" if call.call_id in run.started else "not_started"
        result = Item(
            kind="tool_result",
            id=f"{call.call_id}#closure",
            call_id=call.call_id,
            text=text,
            state=state,
            outcome=outcome,
            run_id=run.id,
            origin="tool" if state != "aborted" else "synthetic",
        )
        run.open_calls.pop(call.call_id, None)
        if self.capabilities.tools:
            await self._append(run, result)

    def _call_item(self, run: _Run, call: ToolCall) -> Item:
        return Item(
            kind="tool_call",
            id=call.call_id,
            call_id=call.call_id,
            name=call.name,
            arguments=call.arguments,
            run_id=run.id,
            origin="model",
        )

    async def _append(self, run: _Run, item: Item) -> None:
        await self._write("append", run, item)

    async def _write(self, verb: str, run: _Run, item: Item) -> None:
        try:
            await self._store(verb, run.session, run.id, item)
        except Exception as error:
            outcome = "unknown" if isinstance(error, OutcomeUnknown) else "failed"
            self._record(
                "store", StoreFailed(run=run.id, item_id=item.id, item=item, outcome=outcome, error=str(error))
            )
            raise
        self._record("store", StoreAcknowledged(run=run.id, item_id=item.id, item=item))

    async def _store(self, verb: str, *arguments: Any) -> Any:
        async with self._ports.step(f"store.{verb}"):
            result = getattr(self.store, verb)(*arguments)
            if inspect.isawaitable(result):
                result = await result
            return result

    def _publish(self, run: _Run, kind: Any, **fields: Any) -> None:
        self._ports.publish(run.session, Frame(kind, run.id, **fields))
