"""A system that runs its own loop: the harness plants the model and the tools, and the loop stays as it is.

One JSON line a row, one trio cancel scope a run.  What a Stop cuts short is kept as
a partial, and every call that is left open is closed.  It takes a response for one
message and makes no second attempt; the scenarios about these show what that costs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import trio

from journalsim.contract.adapters import RunBusy
from journalsim.contract.capabilities import Capabilities
from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.contract.model_call import ModelError, ModelRequest, ToolCall, ToolError
from journalsim.contract.ports import Ports


class LittleAgent:
    """A runner-level adapter."""

    capabilities = Capabilities(
        level="runner", partials=True, tools=True, terminals=True, user_first=True, concurrent_runs="refuse"
    )

    async def setup(self, where: str, ports: Ports) -> None:
        self._file = Path(where) / "chat.jsonl"
        self._ports = ports
        self._active: dict[str, tuple[str, trio.CancelScope]] = {}
        self._why = "stopped"

    async def start(self, session_id: str, text: str, key: str) -> str:
        if session_id in self._active:
            raise RunBusy(session_id)
        run = self._ports.mint("run")
        self._active[session_id] = (run, trio.CancelScope())
        self._write(session_id, Item(kind="user", text=text, run_id=run))
        self._ports.spawn(f"agent:{run}", partial(self._run, session_id, run))
        return run

    async def stop(self, session_id: str, run_id: str, mode: str = "interrupt") -> str:
        run, scope = self._active.get(session_id, ("", trio.CancelScope()))
        if run != run_id:
            return "ended"
        scope.cancel()
        return "stopping"

    async def read(self, session_id: str) -> Sequence[Item]:
        lines = self._file.read_text().splitlines() if self._file.exists() else []
        rows = (json.loads(line) for line in lines)
        return [Item(**row) for session, row in rows if session == session_id]

    async def shutdown(self) -> None:
        self._why = "shut_down"
        for _, scope in self._active.values():
            scope.cancel()
        while self._active:
            await self._ports.sleep(1_000_000)

    # --- the loop

    async def _run(self, session: str, run: str) -> None:
        state, cause = "completed", None
        self._open: list[ToolCall] = []
        with self._active[session][1] as scope:
            try:
                while await self._turn(session, run):
                    pass
            except ModelError:
                state = "failed"
        if scope.cancelled_caught:
            state, cause = "interrupted", self._why
        for call in self._open:
            self._row(session, run, kind="tool_result", call_id=call.call_id, state="aborted", outcome="unknown")
        self._row(session, run, kind="marker", state=state, cause=cause)
        del self._active[session]
        self._ports.publish(session, Frame("run.ended", run, state=state, cause=cause))

    async def _turn(self, session: str, run: str) -> bool:
        """Asks the model once and runs the tools that it wants; returns whether there were any."""
        message, text, calls, done = self._ports.mint("m"), "", dict[str, ToolCall](), False
        context = tuple(await self.read(session))
        try:
            async with self._ports.model(ModelRequest(run_id=run, session_id=session, context=context)) as stream:
                async for event in stream:
                    if event.kind == "text":
                        text += event.text
                        self._ports.publish(session, Frame("message.delta", run, message, text=event.text))
                    if event.kind == "tool_call" and event.call_id is not None:
                        calls[event.call_id] = ToolCall(call_id=event.call_id, name=event.name or "")
                    done = done or event.kind == "finish"
            if not done:
                raise ModelError("silent_end")
        finally:  # whatever ends the stream, what there is of the message is kept
            if text:
                kept = "completed" if done else "interrupted"
                self._row(session, run, kind="assistant", id=message, text=text, state=kept)
                self._ports.publish(session, Frame(f"message.{kept}", run, message, text=text))
            self._open = list(calls.values()) if done else []
            for call in self._open:
                self._row(session, run, kind="tool_call", call_id=call.call_id, name=call.name)
        for call in calls.values():
            try:
                found, state = await self._ports.call_tool(run, call), "completed"
            except ToolError as error:
                found, state = str(error), "failed"
            self._row(session, run, kind="tool_result", call_id=call.call_id, text=found, state=state)
            self._open.remove(call)
        return bool(calls)

    def _row(self, session: str, run: str, **fields: object) -> None:
        self._write(session, Item(run_id=run, **fields))  # type: ignore[arg-type]

    def _write(self, session: str, item: Item) -> None:
        fields = ("kind", "id", "text", "call_id", "name", "state", "outcome", "run_id", "cause")
        with self._file.open("a") as file:
            file.write(json.dumps([session, {name: getattr(item, name) for name in fields}]) + "\n")


def make() -> LittleAgent:
    """The factory: journalsim run -a python:tests.adapters.little_agent:make"""
    return LittleAgent()
