"""The rows of one batch: how each fact about a run is written down.

What *may* be written is decided in :mod:`reference_impl.journal`; here is only in
which rows it is said, and with which numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from attrs import frozen

from reference_impl.content import NOTHING, Content, content_to_data, whole
from reference_impl.events import Event, RowOrigin
from reference_impl.lifecycle import MESSAGE, OUTCOMES
from reference_impl.state import Message, Run
from sim.adapters.protocol import ToolCall

CLOSURES: Mapping[str, str] = {
    "not_started": "This call was not started: the run was interrupted.",
    "unknown": "The run was interrupted while this call was running; whether it took effect is not known.",
}
"""What a closure says to people and to the model: what is known, and nothing else."""

Buffered: TypeAlias = Callable[[str], Content]
"""What is buffered of an open message, by its id."""


def nothing_buffered(message_id: str) -> Content:
    """The buffers of a process that has just started."""
    return NOTHING


@frozen
class Stamp:
    """Who writes, and when: the writer's epoch, and virtual nanoseconds."""

    epoch: int
    at: int


class Batch:
    """Numbers the rows of one batch as they are added."""

    def __init__(self, stamp: Stamp) -> None:
        self._stamp = stamp
        self._rows: list[Event] = []
        self._added: dict[str, int] = {}

    def rows(self) -> tuple[Event, ...]:
        """Returns all of them, in order."""
        return tuple(self._rows)

    def add(
        self, run: Run, kind: str, origin: RowOrigin = "synthetic", *, attempt: int | None = None, **payload: Any
    ) -> None:
        """Adds the next row of a run."""
        actor = "system" if origin == "synthetic" else "lead"
        number = run.attempt if attempt is None else attempt
        self._add(run.run_id, run.session_id, run.seq, number, kind, actor, origin, payload)

    def add_to_session(self, session_id: str, seq: int, kind: str, origin: RowOrigin, **payload: Any) -> None:
        """Adds a row that belongs to no run; ``seq`` is the number of the last such row."""
        self._add(f"@{session_id}", session_id, seq, 1, kind, "system", origin, payload)

    def _add(
        self,
        run_id: str,
        session_id: str,
        seq: int,
        attempt: int,
        kind: str,
        actor: str,
        origin: RowOrigin,
        payload: Mapping[str, Any],
    ) -> None:
        self._added[run_id] = added = self._added.get(run_id, 0) + 1
        self._rows.append(
            Event(
                run_id=run_id,
                session_id=session_id,
                seq=seq + added,
                attempt=attempt,
                epoch=self._stamp.epoch,
                at=self._stamp.at,
                kind=kind,
                actor=actor,
                origin=origin,
                payload=payload,
            )
        )

    # --- messages

    def opened(self, run: Run, attempt: int, source: str | None) -> str:
        """Opens a message and returns the id that it has from now on."""
        message_id = f"{run.run_id}/m{len(run.messages)}"  # the person's message is number 0
        self.add(run, "message.opened", "model", attempt=attempt, message_id=message_id, source=source)
        return message_id

    def aliased(self, run: Run, message_id: str, known: tuple[str, ...], aliases: tuple[str, ...]) -> None:
        """Notes ids of the provider that are new."""
        new = [alias for alias in aliases if alias not in known]
        if new:
            self.add(run, "message.id_aliased", "model", message_id=message_id, aliases=new)

    def superseded(self, run: Run, stale: Iterable[str], attempt: int) -> None:
        """Lets a later attempt take the place of what an earlier one left."""
        for message_id in stale:
            if "message.superseded" in MESSAGE[run.messages[message_id].state]:
                reason = f"attempt {attempt} answers"
                self.add(run, "message.superseded", attempt=attempt, message_id=message_id, reason=reason)

    def interrupted(self, run: Run, message: Message, cause: str | None, buffered: Buffered) -> tuple[ToolCall, ...]:
        """Keeps what there is of an open message, if anything, and returns its calls."""
        content = message.content.plus(buffered(message.message_id))
        if content.empty:
            return ()
        self.aliased(run, message.message_id, message.content.aliases, content.aliases)
        data = content_to_data(content)
        self.add(run, "message.interrupted", "model", message_id=message.message_id, cause=cause, **data)
        return content.calls

    # --- tool calls

    def requested(self, run: Run, message_id: str, calls: Iterable[ToolCall], stale: Iterable[str] = ()) -> list[str]:
        """Requests the calls of a message that nobody has requested yet, and returns their ids."""
        gone = [m.message_id for m in run.messages.values() if m.state == "superseded"] + list(stale)
        known = [call.call_id for call in run.calls.values() if call.message_id not in gone]
        new = [call for call in calls if call.call_id not in known]
        for call in new:
            self.add(
                run,
                "tool.requested",
                "model",
                message_id=message_id,
                call_id=call.call_id,
                name=call.name,
                arguments=call.arguments,
            )
        return [call.call_id for call in new]

    def closed(self, run: Run, call_id: str, state: str) -> None:
        """Closes a call that never returned, and claims no more than its state allows."""
        outcome = OUTCOMES[state]
        self.add(
            run,
            "tool.aborted",
            call_id=call_id,
            closure_id=f"{call_id}#closure",
            outcome=outcome,
            text=CLOSURES[outcome],
            reason="the run ended",
        )

    # --- stops and ends

    def stop_requested(self, run: Run, cause: str, mode: str, by: str, buffered: Buffered) -> None:
        """Latches a stop together with what it keeps."""
        origin: RowOrigin = "user" if cause in ("stopped", "rolled_back") else "synthetic"
        self.add(run, "run.stop_requested", origin, cause=cause, mode=mode, reason=by)
        if mode != "rollback":
            for message in run.open_messages():
                self.interrupted(run, message, cause, buffered)

    def left_open(self, run: Run, cause: str | None, buffered: Buffered, closures: bool) -> None:
        """Interrupts every open message, requests the calls it had asked for, and closes every open call."""
        requested: list[str] = []
        for message in run.messages.values():
            calls = message.content.calls if message.state == "interrupted" else ()
            if message.state == "open":
                calls = self.interrupted(run, message, cause, buffered)
            # Half a call is evidence in its message's row, and nothing that could be run, shown or closed.
            requested += self.requested(run, message.message_id, (call for call in calls if whole(call)))
        if closures:
            states = {call.call_id: call.state for call in run.calls.values() if call.open}
            for call_id, state in (states | dict.fromkeys(requested, "requested")).items():
                self.closed(run, call_id, state)
