"""Seeded bugs of synthetic words: notes and payloads of the system in the model's name."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from journalsim.contract.items import Item
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.bugs.views import AltersViews, cut_short, stop_marker


class _AnswersWithItsState(AltersViews):
    """Records the state that it hands to the next run as the answer of a run without one."""

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        for item in items:
            if stop_marker(item) and not self._answered(item.run_id or ""):
                payload = f'{{"run":"{item.run_id}","state":"interrupted"}}'
                yield Item(
                    kind="assistant", text=payload, id=f"{item.run_id}/state", run_id=item.run_id, origin="model"
                )
            yield item

    def _answered(self, run_id: str) -> bool:
        messages = self.state.runs[run_id].messages.values()
        return any(m.role == "assistant" and m.state in ("completed", "interrupted") for m in messages)


class _NotesInside(AltersViews):
    """Writes the note into the text, for want of another field."""

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        for item in items:
            noted = cut_short(item) and item.text
            yield evolve(item, text=f"{item.text}\n\n[Response interrupted by user]") if noted else item


SYNTHETIC = (
    Bug(
        name="internal-data-as-answer",
        summary="A run that is stopped before it has answered gets data of the system as its answer.",
        failure_mode="CX-19",
        trips=("honest-provenance",),
        build=with_parts(writer=_AnswersWithItsState),
    ),
    Bug(
        name="note-inside-the-text",
        summary="The note that an answer was interrupted is written into the answer.",
        failure_mode="CL-6",
        trips=("honest-provenance",),
        build=with_parts(writer=_NotesInside),
    ),
)
