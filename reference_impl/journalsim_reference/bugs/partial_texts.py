"""Seeded bugs of the stored text of a message that a stop interrupts."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from journalsim.contract.capabilities import StopMode
from journalsim.contract.items import Item
from journalsim.contract.model_call import ModelEvent
from journalsim.contract.ports import Ports
from journalsim_reference.batch import Batch, Stamp
from journalsim_reference.bugs.bug import BufferedWriter, Bug, with_parts
from journalsim_reference.content import NOTHING, Content
from journalsim_reference.journal import Decision, Refused, Terminal
from journalsim_reference.model_calls import Response
from journalsim_reference.server import Server
from journalsim_reference.state import Run
from journalsim_reference.stores.base import Store
from journalsim_reference.worker import Worker
from journalsim_reference.writer import Writer


class _KeepsPlainText(BufferedWriter):
    """Gathers only plain strings, and drops typed parts."""

    def snapshot(self, message_id: str) -> Content:
        return evolve(super().snapshot(message_id), reasoning="")


class _SkipsThoughts(BufferedWriter):
    """Looks for text in an interrupted message, and skips one that has none."""

    def snapshot(self, message_id: str) -> Content:
        content = super().snapshot(message_id)
        spilled = self.state.messages[message_id].content
        return content if content.text or not spilled.empty else NOTHING


class _KeepsTheLastMessage(BufferedWriter):
    """Has one text buffer per turn; a newer message pushes the older one out of it for good."""

    def __init__(self, store: Store, ports: Ports) -> None:
        super().__init__(store, ports)
        self.pushed_out: dict[str, bool] = {}

    def snapshot(self, message_id: str) -> Content:
        spilled = not self.state.messages[message_id].content.empty
        return super().snapshot(message_id) if spilled or message_id not in self.pushed_out else NOTHING


class _WritesAtTheEndOfTheTurn(Worker):
    """Completes the messages of a response together, when the model has finished it."""

    async def take(self, response: Response, event: ModelEvent) -> None:
        if event.kind == "message" and not response.finished and response.current is not None:
            assert isinstance(self.writer, _KeepsTheLastMessage)
            self.writer.pushed_out[response.current] = True
            response.current = None
        else:
            await super().take(response, event)

    async def complete(self, response: Response, reason: str, source: str | None) -> None:
        last = response.current
        for message_id in [m for m in response.messages if m != last and not response.finished]:
            response.current = message_id
            await super().complete(response, "end_turn", None)
        response.current = last
        await super().complete(response, reason, source)


class _KeepsTextOfARollback(Server):
    """Stores the gathered text of any aborted run, also of a rollback."""

    async def stop(
        self, session_id: str, run_id: str, mode: StopMode = "interrupt", cause: str = "stopped", by: str = "person"
    ) -> str:
        cause = "rolled_back" if mode == "rollback" else cause
        return await super().stop(session_id, run_id, "interrupt", cause, by)


class _ShowsTextOfARollback(Writer):
    def shown(self, session_id: str) -> tuple[Item, ...]:
        return tuple(self._with_partials(super().shown(session_id)))

    def given(self, session_id: str) -> tuple[Item, ...]:
        return tuple(self._with_partials(super().given(session_id)))

    def _with_partials(self, items: tuple[Item, ...]) -> Iterator[Item]:
        for item in items:
            if item.kind == "marker" and item.cause == "rolled_back":
                yield from _partials(self.state.runs[item.run_id or ""])
            yield item


def _partials(run: Run) -> Iterator[Item]:
    for message in run.messages.values():
        if message.cause == "rolled_back" and message.content.text:
            yield Item(
                kind="assistant",
                text=message.content.text,
                id=message.message_id,
                aliases=message.content.aliases,
                reasoning=message.content.reasoning,
                state="interrupted",
                run_id=run.run_id,
                cause="rolled_back",
                origin="model",
            )


class _ApologizesForTheModel(Worker):
    """Rounds off a stopped conversation with an answer that the model never gave."""

    def last_batch(self, stamp: Stamp, kind: Terminal, cause: str | None, reason: str) -> Decision:
        decision = super().last_batch(stamp, kind, cause, reason)
        if isinstance(decision, Refused) or self.run_state.cause == "rolled_back":
            return decision
        *rows, terminal = decision
        cut_short = any(message.state in ("open", "interrupted") for message in self.run_state.messages.values())
        if terminal.kind != "run.aborted" or cut_short or "tool.aborted" not in [row.kind for row in rows]:
            return decision
        run, batch = evolve(self.run_state, seq=self.run_state.seq + len(rows)), Batch(stamp)
        made_up = f"{run.run_id}/m{_next(run, [row.kind for row in rows])}"
        batch.add(run, "message.opened", "model", message_id=made_up, source=None)
        said = "I was interrupted before the tool returned. How should we go on?"
        batch.add(run, "message.completed", "model", message_id=made_up, reason="end_turn", text=said)
        rows += batch.rows()
        return (*rows, evolve(terminal, seq=self.run_state.seq + len(rows) + 1))


def _next(run: Run, kinds: list[str]) -> int:
    return len(run.messages) + kinds.count("message.opened")


PARTIAL_TEXTS = (
    Bug(
        name="stop-keeps-plain-text-only",
        summary="A stop stores the text of a message and drops its thinking.",
        failure_mode="DF-9",
        trips=("partial-is-prefix",),
        build=with_parts(writer=_KeepsPlainText),
    ),
    Bug(
        name="thinking-without-text-dropped",
        summary="A stop drops a message that has only thinking so far.",
        failure_mode="DF-10",
        trips=("partial-is-prefix",),
        build=with_parts(writer=_SkipsThoughts),
    ),
    Bug(
        name="text-written-at-end-of-turn",
        summary="Messages are stored when their turn ends, and a stop stores only the one that was streaming.",
        failure_mode="GO-11",
        trips=("no-lost-completed-message",),
        build=with_parts(writer=_KeepsTheLastMessage, worker=_WritesAtTheEndOfTheTurn),
    ),
    Bug(
        name="rollback-keeps-partial",
        summary="A run that was taken back leaves its interrupted text behind.",
        failure_mode="DF-12",
        trips=("stop-ends-run",),
        build=with_parts(server=_KeepsTextOfARollback, writer=_ShowsTextOfARollback),
    ),
    Bug(
        name="made-up-answer-after-stop",
        summary="A stop in a tool call leaves an answer that the model never gave.",
        failure_mode="GO-5",
        trips=("honest-provenance",),
        build=with_parts(worker=_ApologizesForTheModel),
    ),
)
