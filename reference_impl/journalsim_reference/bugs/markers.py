"""Seeded bugs of the marker: when it comes, what follows it, and how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from attrs import evolve

from journalsim.contract.frames import Frame
from journalsim.contract.items import Cause, Item
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.bugs.views import AltersViews, stop_marker
from journalsim_reference.journal import Terminal
from journalsim_reference.worker import Worker


class _WritesOutputsLast(AltersViews):
    """Writes the marker at the stop, and the closures of interrupted calls when they have unwound."""

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        late = [item for item in items if item.kind == "tool_result" and self._stopped(item)]
        for item in items:
            if item not in late:
                yield item
            if stop_marker(item):
                yield from (output for output in late if output.run_id == item.run_id)

    def _stopped(self, item: Item) -> bool:
        run = self.state.runs[item.run_id or ""]
        return run.ended and run.cause == "stopped" and item.state == "aborted" and not self._user_only

    @property
    def _user_only(self) -> bool:
        return self.policies["stopped_turn"] == "user_only"  # then the model gets no marker to stand behind


class _KeepsBothTerminals(AltersViews):
    """Writes a terminal on each way out of a run, without a check for an earlier one."""

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return tuple(self.alter(super(AltersViews, self).shown(session_id)))

    def given(self, session_id: str) -> tuple[Item, ...]:
        return super(AltersViews, self).given(session_id)

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        for item in items:
            if stop_marker(item) and self._had_answered(item.run_id or ""):
                yield evolve(item, id=f"{item.id}#worker", state="completed", cause=None, text="")
            yield item

    def _had_answered(self, run_id: str) -> bool:
        run = self.state.runs[run_id]
        *_, last = run.messages.values()
        return last.role == "assistant" and last.state == "completed" and not last.content.calls


class _AnnouncesFirst(Worker):
    """Announces the end of the run to the readers, and then writes its last rows."""

    async def end(self, kind: Terminal, cause: str | None, reason: str = "") -> None:
        run = self.run_state
        if run.state == "cancelling":
            frame = Frame("run.ended", run.run_id, state="interrupted", cause=cast(Cause | None, run.cause))
            self.writer.send(run.session_id, frame)
        await super().end(kind, cause, reason)


MARKERS = (
    Bug(
        name="end-announced-before-written",
        summary="Readers receive the end of a stopped run before its last rows are written.",
        failure_mode="CX-5",
        trips=("fenced-writer",),  # a page opened in between lacks the marker, and the rows that belong before it
        build=with_parts(worker=_AnnouncesFirst),
    ),
    Bug(
        name="late-output-after-marker",
        summary="The closure of an interrupted tool call is recorded behind the marker of its run.",
        failure_mode="CX-10",
        trips=("fenced-writer",),
        build=with_parts(writer=_WritesOutputsLast),
    ),
    Bug(
        name="two-terminals-kept",
        summary="A run that is stopped when its last message has completed gets a terminal from each way out.",
        failure_mode="HW-3",
        trips=("one-terminal-per-run",),
        build=with_parts(writer=_KeepsBothTerminals),
    ),
)
