"""Seeded bugs at the moment at which a message completes."""

from __future__ import annotations

from attrs import evolve

from journalsim_reference.batch import Batch, Stamp
from journalsim_reference.bugs.bug import BufferedWriter, Bug, with_parts
from journalsim_reference.content import Content
from journalsim_reference.journal import Decision, Refused, Terminal
from journalsim_reference.model_calls import Response
from journalsim_reference.state import Message
from journalsim_reference.worker import Worker


class _AlsoWritesPartials(Worker):
    """Writes the gathered text when the run ends, without a check whether it was completed."""

    latest: Response | None = None

    async def receive(self, response: Response) -> None:
        self.latest = response
        await super().receive(response)

    def last_batch(self, stamp: Stamp, kind: Terminal, cause: str | None, reason: str) -> Decision:
        decision = super().last_batch(stamp, kind, cause, reason)
        gathered = [m for m in self._latest_messages() if m.state == "completed" and m.content.text]
        if isinstance(decision, Refused) or kind != "run.aborted" or self.run_state.cause == "rolled_back":
            return decision
        *rows, terminal = decision
        run = evolve(self.run_state, seq=self.run_state.seq + len(rows))
        batch = Batch(stamp)
        for number, message in enumerate(gathered, len(run.messages)):
            copy = f"{run.run_id}/m{number}"
            batch.add(run, "message.opened", "model", message_id=copy, source=None)
            batch.add(run, "message.id_aliased", "model", message_id=copy, aliases=message.content.aliases)
            batch.add(run, "message.interrupted", "model", message_id=copy, cause=run.cause, text=message.content.text)
        rows += batch.rows()
        return (*rows, evolve(terminal, seq=self.run_state.seq + len(rows) + 1))

    def _latest_messages(self) -> list[Message]:
        return [self.run_state.messages[m] for m in self.latest.messages] if self.latest is not None else []


class _AppendsLateOnes(Worker):
    def commit_completion(self, response: Response, message_id: str | None, content: Content, reason: str) -> Decision:
        if message_id is not None and self.run_state.messages[message_id].state == "interrupted":
            message_id = None  # appended as it comes, without a look at the stored partial
        return super().commit_completion(response, message_id, content, reason)


class _AppendsTwice(Worker):
    def commit_completion(self, response: Response, message_id: str | None, content: Content, reason: str) -> Decision:
        if message_id is not None and self.run_state.messages[message_id].state == "completed" and not content.calls:
            message_id = None  # each report of a finish is appended
        return super().commit_completion(response, message_id, content, reason)


class _LosesTheBatch(Worker):
    async def complete(self, response: Response, reason: str, source: str | None) -> None:
        content = self.content(response, source)
        if response.current is None or not self.run_state.messages[response.current].content.empty:
            await super().complete(response, reason, source)  # nothing to remove, or spilled in part
            return
        self.writer.partials.evict(response.current)  # out of the buffer before it is in the store
        async with self.writer.critical(self.run_state.session_id):  # and no shield
            self.commit_completion(response, response.current, content, reason)


COMPLETION = (
    Bug(
        name="partial-written-after-completion",
        summary="The exit path of a stopped run writes the gathered text of a message that is already completed.",
        failure_mode="DF-2",
        trips=("completed-wins",),
        build=with_parts(worker=_AlsoWritesPartials),
    ),
    Bug(
        name="completion-written-after-partial",
        summary="A completion that arrives after the partial was written becomes a second row.",
        failure_mode="DF-3",
        trips=("completed-wins",),
        build=with_parts(worker=_AppendsLateOnes),
    ),
    Bug(
        name="duplicate-completion-appended",
        summary="A finish that the provider reports twice gives two rows.",
        failure_mode="HW-25",
        trips=("no-duplicate-message",),
        build=with_parts(worker=_AppendsTwice),
    ),
    Bug(
        name="cancelled-flush-loses-batch",
        summary="A completed message leaves the buffer before it is written, and the write can be cancelled.",
        failure_mode="DF-16",
        trips=("no-lost-completed-message",),
        build=with_parts(writer=BufferedWriter, worker=_LosesTheBatch),
    ),
)
