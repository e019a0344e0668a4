"""Seeded bugs of the closures of tool calls."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from journalsim.contract.items import Item
from journalsim_reference.batch import CLOSURES
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.bugs.views import AltersViews


class _ClosesNothing(AltersViews):
    """Records a call at its request and its output at its return, and no closure otherwise."""

    @property
    def closes_on_write(self) -> bool:
        return False

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        yield from (item for item in items if "repaired" not in item.metadata)


class _SavesStepByStep(AltersViews):
    """Saves the results of calls that run side by side together, when the last of them is there."""

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        for item in items:
            yield self._unsaved(item) if item.kind == "tool_result" and self._broken_off(item) else item

    def _broken_off(self, item: Item) -> bool:
        run = self.state.runs[item.run_id or ""]
        step = run.calls[item.call_id or ""].message_id
        beside = [call for call in run.calls.values() if call.message_id == step]
        return run.ended and run.cause == "stopped" and any(call.outcome == "unknown" for call in beside)

    def _unsaved(self, item: Item) -> Item:
        if item.state == "aborted":
            return item
        return evolve(item, state="aborted", outcome="unknown", text=CLOSURES["unknown"], origin="synthetic")


CLOSED = (
    Bug(
        name="orphan-call-in-context",
        summary="A call that did not return stays without a result, and every later request is refused.",
        failure_mode="CX-2",
        trips=("paired-tool-calls",),
        build=with_parts(writer=_ClosesNothing),
    ),
    Bug(
        name="parallel-results-lost",
        summary="The result of a call that had returned is lost when a stop breaks off the call beside it.",
        failure_mode="GO-1",
        trips=("executed-tool-recorded",),
        build=with_parts(writer=_SavesStepByStep),
    ),
)
