"""Seeded bugs of sub-agents: whose words are whose."""

from __future__ import annotations

from attrs import evolve

from journalsim_reference.batch import Batch, Stamp
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.content import content_to_data
from journalsim_reference.journal import Decision, Refused, Terminal
from journalsim_reference.worker import Worker


class _FilesAllUnderTheLead(Worker):
    """Writes every unfinished text on the bus as an answer of the lead when the run ends."""

    def last_batch(self, stamp: Stamp, kind: Terminal, cause: str | None, reason: str) -> Decision:
        decision = super().last_batch(stamp, kind, cause, reason)
        run = self.run_state
        if isinstance(decision, Refused) or kind != "run.aborted" or run.cause == "rolled_back":
            return decision
        *rows, terminal = decision
        batch = Batch(stamp)
        shifted = evolve(run, seq=run.seq + len(rows))
        strangers = [m for m in run.messages.values() if m.speaker.call_id is not None and m.state == "interrupted"]
        for number, message in enumerate(strangers, len(run.messages)):
            copy, data = f"{run.run_id}/m{number}", content_to_data(evolve(message.content, calls=()))
            if data:
                batch.add(shifted, "message.opened", "model", message_id=copy, source=None)
                batch.add(shifted, "message.interrupted", "model", message_id=copy, cause=run.cause, **data)
        rows += batch.rows()
        return (*rows, evolve(terminal, seq=run.seq + len(rows) + 1))


AGENTS = (
    Bug(
        name="sub-agent-filed-as-lead",
        summary="A stop files the unfinished text of a sub-agent as an answer of the lead.",
        failure_mode="DF-11",
        trips=("honest-provenance",),
        build=with_parts(worker=_FilesAllUnderTheLead),
    ),
)
