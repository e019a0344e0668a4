"""Seeded bugs of questions to people: which answer counts, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from attrs import evolve

from journalsim.contract.items import Item
from journalsim.contract.model_call import ToolCall
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.server import Server
from journalsim_reference.writer import Writer


class _Reruns(Server):
    """Runs the tool of a call beside its worker, which knows nothing of it."""

    def rerun(self, run_id: str, call_id: str) -> None:
        call = self.state.runs[run_id].calls[call_id]
        wish = ToolCall(call_id=call_id, name=call.name, arguments=call.arguments)
        self.ports.spawn(f"again:{call_id}", partial(self._use, run_id, wish))

    async def _use(self, run_id: str, wish: ToolCall) -> None:
        await self.ports.call_tool(run_id, wish)  # its result is dropped: the call is closed


class _RunsOncePerAnswer(_Reruns):
    async def answer(self, session_id: str, run_id: str, call_id: str, approved: bool) -> str:
        run = self.state.runs.get(run_id)
        call = None if run is None else run.calls.get(call_id)
        again = call is not None and call.approved
        said = await super().answer(session_id, run_id, call_id, approved)
        if again and approved and run is not None and not run.ended:
            self.rerun(run_id, call_id)  # each approval that arrives is carried out
        return said


class _AsksNobodyElse(_Reruns):
    async def answer(self, session_id: str, run_id: str, call_id: str, approved: bool) -> str:
        said = await super().answer(session_id, run_id, call_id, approved)
        run = self.state.runs.get(run_id)
        if said == "late" and approved and run is not None and run.ended and run.calls[call_id].approved is None:
            self.rerun(run_id, call_id)  # the question is still in memory, whatever the state of its run
        return said


class _RunsWhatIsAnswered(_Reruns):
    async def answer(self, session_id: str, run_id: str, call_id: str, approved: bool) -> str:
        said = await super().answer(session_id, run_id, call_id, approved)
        if said == "resolved" and not approved and not self.state.runs[run_id].ended:
            self.rerun(run_id, call_id)  # there is an answer, so the call goes on
        return said


class _LeavesTheNote(Writer):
    """Breaks a call off while it waits for an answer, and leaves the note about that beside the result."""

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return tuple(self._noted(super().shown(session_id)))

    def given(self, session_id: str) -> tuple[Item, ...]:
        return tuple(self._noted(super().given(session_id)))

    def _noted(self, items: tuple[Item, ...]) -> Iterator[Item]:
        for item in items:
            yield item
            if item.kind == "tool_call" and self.state.runs[item.run_id or ""].calls[item.call_id or ""].approved:
                note = evolve(item, kind="tool_result", id=f"{item.id}#note", state="failed", origin="synthetic")
                yield evolve(note, name=None, arguments="", text="This call needs to be approved.")


APPROVALS = (
    Bug(
        name="double-approval-runs-twice",
        summary="Every approval that arrives runs the tool, also the second one of the same call.",
        failure_mode="GO-15",
        trips=("one-request-one-effect",),
        build=with_parts(server=_RunsOncePerAnswer),
    ),
    Bug(
        name="late-approval-runs-tool",
        summary="An approval that arrives after the end of its run still runs the tool.",
        failure_mode="GO-14",
        trips=("stop-ends-run",),
        build=with_parts(server=_AsksNobodyElse),
    ),
    Bug(
        name="denied-tool-runs",
        summary="Any answer lets a call go on, so a tool that a person denied runs.",
        failure_mode="",
        trips=("one-request-one-effect",),
        build=with_parts(server=_RunsWhatIsAnswered),
    ),
    Bug(
        name="approval-note-beside-result",
        summary="A call that waited for a person has the note about that as a second result.",
        failure_mode="TC-22",
        trips=("paired-tool-calls",),
        build=with_parts(writer=_LeavesTheNote),
    ),
)
