"""Seeded bugs of tool calls."""

from __future__ import annotations

from functools import partial
from typing import Literal

import trio

from journalsim.contract.items import Item
from journalsim.contract.model_call import ToolCall, ToolError, ToolTraits
from journalsim_reference.batch import Stamp
from journalsim_reference.bugs.bug import BufferedWriter, Bug, with_parts
from journalsim_reference.calls import decide_tool_end, decide_tool_start
from journalsim_reference.content import Content
from journalsim_reference.journal import Decision
from journalsim_reference.model_calls import Response
from journalsim_reference.state import LEAD, Call, Run, Speaker
from journalsim_reference.worker import Worker
from journalsim_reference.writer import Writer

End = Literal["tool.completed", "tool.failed"]


class _FlushesPerIteration(Worker):
    """Gathers the messages and results of an iteration, and writes them at its end."""

    def __init__(self, writer: Writer, run: Run, speaker: Speaker = LEAD) -> None:
        super().__init__(writer, run, speaker)
        self.gathered: list[tuple[str, Content, str]] = []

    async def complete(self, response: Response, reason: str, source: str | None) -> None:
        message_id = response.current
        if message_id is None or not self.run_state.messages[message_id].content.empty:
            await super().complete(response, reason, source)
        elif message_id not in [known for known, _, _ in self.gathered]:
            self.gathered.append((message_id, self.content(response, source), reason))
            self.writer.partials.evict(message_id)

    async def ask(self) -> Response | None:
        self.gathered.clear()
        response = await super().ask()
        if response is not None:
            calls = [call for _, content, _ in self.gathered for call in content.calls if self._plain(call)]
            results = await self._results(calls) if response.reason == "tool_use" else {}
            async with self.writer.critical(self.run_state.session_id):
                if self.run_state.state == "running":
                    self._flush(response, results)
        return response

    def _plain(self, call: ToolCall) -> bool:
        return self.writer.ports.tool_traits(call.name) == ToolTraits()  # others take longer than an iteration

    def _flush(self, response: Response, results: dict[str, tuple[End, str]]) -> None:
        for message_id, content, reason in self.gathered:
            self.commit_completion(response, message_id, content, reason)
        for call_id, (kind, text) in results.items():
            self.writer.commit(partial(self._decide_call, call_id, None, ""))
            self.writer.commit(partial(self._decide_call, call_id, kind, text))

    def _decide_call(self, call_id: str, kind: End | None, text: str, stamp: Stamp) -> Decision:
        run_id = self.run_state.run_id
        if kind is None:
            return decide_tool_start(self.state, stamp, run_id, call_id)
        return decide_tool_end(self.state, stamp, run_id, call_id, kind, text)

    async def _results(self, calls: list[ToolCall]) -> dict[str, tuple[End, str]]:
        results: dict[str, tuple[End, str]] = {}

        async def run_one(call: ToolCall) -> None:
            try:
                text = await self.writer.ports.call_tool(self.run_state.run_id, call)
                results[call.call_id] = ("tool.completed", text)
            except ToolError as error:
                results[call.call_id] = ("tool.failed", str(error))

        async with trio.open_nursery() as nursery:
            for call in calls:
                nursery.start_soon(run_one, call, name=f"tool:{call.call_id}")
        return results

    async def run_tools(self, calls: list[Call]) -> None:
        missing = [call for call in calls if call.state == "requested"]
        if missing:
            await super().run_tools(missing)


class _StripsOrphans(Writer):
    """Leaves out every call that did not return, so that a conversation is always well formed."""

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return self._stripped(super().shown(session_id))

    def given(self, session_id: str) -> tuple[Item, ...]:
        return self._stripped(super().given(session_id))

    def _stripped(self, items: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(item for item in items if item.call_id is None or not self._orphan(item))

    def _orphan(self, item: Item) -> bool:
        run = self.state.runs[item.run_id or ""]
        call = run.calls[item.call_id or ""]
        message = run.messages[call.message_id]
        # The calls of a message with nothing else stay: otherwise the whole message would be gone.
        return call.state == "aborted" and bool(message.content.text or message.content.reasoning)


TOOLS = (
    Bug(
        name="stop-discards-iteration",
        summary="Finished messages and tool results are written at the end of an iteration, and a stop comes before.",
        failure_mode="GO-1",
        trips=("no-lost-completed-message", "replay-equals-live"),
        build=with_parts(writer=BufferedWriter, worker=_FlushesPerIteration),
    ),
    Bug(
        name="orphan-request-stripped",
        summary="An interrupted tool call is removed from the history without a trace.",
        failure_mode="GO-6",
        trips=("paired-tool-calls",),
        build=with_parts(writer=_StripsOrphans),
    ),
)
