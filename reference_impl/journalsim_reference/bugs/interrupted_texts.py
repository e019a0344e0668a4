"""Seeded bugs of the stored content of interrupted messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import evolve

from journalsim.contract.items import Item
from journalsim.contract.ports import Ports
from journalsim_reference.batch import Stamp
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.bugs.views import AltersViews, cut_short, stop_marker
from journalsim_reference.journal import Decision, Refused
from journalsim_reference.stores.base import Store


class _OnTheScreenOnly(AltersViews):
    """Feeds the screen from the stream and the journal from the completions."""

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        yield from (item for item in items if not cut_short(item))


class _ComparesTexts(AltersViews):
    """Treats an interrupted message as stored when its text contains that of an earlier answer."""

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        answers: list[str] = []
        for item in items:
            if not (cut_short(item) and any(answer in item.text for answer in answers)):
                yield item
            if item.kind == "assistant" and item.text and not cut_short(item):
                answers.append(item.text)


class _Abandons(AltersViews):
    """Abandons a worker that still unwinds when the next message arrives, with its unsaved text."""

    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.abandoned: list[str] = []

    def commit(self, decide: Callable[[Stamp], Decision]) -> Decision:
        decision = super().commit(decide)
        for event in () if isinstance(decision, Refused) else decision:
            if event.kind == "run.accepted":
                active = self.state.session(event.session_id).active_runs()
                self.abandoned += [run.run_id for run in active if run.state == "cancelling"]
        return decision

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        yield from (item for item in items if not (cut_short(item) and item.run_id in self.abandoned))


class _KeepsShells(AltersViews):
    """Inserts the row of a message when the model is called, and fills it later."""

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        for item in items:
            if stop_marker(item) and self._unanswered(item.run_id or ""):
                yield Item(kind="assistant", id=f"{item.run_id}/m1", run_id=item.run_id, origin="model")
            yield item

    def _unanswered(self, run_id: str) -> bool:
        return len(self.state.runs[run_id].messages) == 1


class _StoresShellsAgain(AltersViews):
    """Stores a message with nothing but calls twice: by the stop and by the unwinding worker, which compare texts."""

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        done: list[str] = []
        for item in items:
            if item.kind == "tool_call":
                run = self.state.runs[item.run_id or ""]
                message = run.messages[run.calls[item.call_id or ""].message_id]
                bare = not (message.content.text or message.content.reasoning)
                if run.ended and run.cause == "stopped" and bare and message.message_id not in done:
                    done.append(message.message_id)
                    row = Item(
                        kind="assistant",
                        id=message.message_id,
                        aliases=message.content.aliases,
                        run_id=run.run_id,
                        origin="model",
                    )
                    yield from (row, evolve(row, id=f"{row.id}#again"))
            yield item


class _StripsThinking(AltersViews):
    """Stores only the visible text of an interrupted message."""

    def alter(self, items: tuple[Item, ...]) -> Iterator[Item]:
        for item in items:
            yield evolve(item, reasoning="") if cut_short(item) and not item.text else item


INTERRUPTED_TEXTS = (
    Bug(
        name="screen-text-never-stored",
        summary="Text of an interrupted message was displayed, and was never stored.",
        failure_mode="CX-3",
        # After a crash no stop exists, and the text that was announced with its rows is gone all the same.
        trips=("partial-is-prefix", "acknowledged-is-durable"),
        build=with_parts(writer=_OnTheScreenOnly),
    ),
    Bug(
        name="substring-taken-for-duplicate",
        summary="An interrupted message is dropped when its text contains that of an earlier answer.",
        failure_mode="HW-13",
        trips=("partial-is-prefix",),
        build=with_parts(writer=_ComparesTexts),
    ),
    Bug(
        name="abandoned-worker-loses-text",
        summary="A message that arrives while a stopped run unwinds deletes the text of that run.",
        failure_mode="CL-7",
        trips=("partial-is-prefix",),
        build=with_parts(writer=_Abandons),
    ),
    Bug(
        name="empty-shell-kept",
        summary="A run that is stopped before the model has sent anything leaves an empty message.",
        failure_mode="CX-4",
        trips=("no-empty-message",),
        build=with_parts(writer=_KeepsShells),
    ),
    Bug(
        name="empty-copies-pile-up",
        summary="A message with nothing but tool calls is stored once more by each way out of a stopped run.",
        failure_mode="HW-14",
        trips=("no-empty-message",),
        build=with_parts(writer=_StoresShellsAgain),
    ),
    Bug(
        name="thinking-stripped-to-nothing",
        summary="An interrupted message that has only thinking is stored without it.",
        failure_mode="DF-10",
        trips=("no-empty-message",),
        build=with_parts(writer=_StripsThinking),
    ),
)
