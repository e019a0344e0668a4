"""Writes each fact about a run as rows of one batch.

:mod:`journalsim_reference.journal` decides *whether* a fact may be written; this module only chooses its rows and their
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from attrs import frozen

from journalsim.contract.model_call import ToolCall
from journalsim_reference.content import NOTHING, Content, content_to_data, whole
from journalsim_reference.events import Event, RowOrigin
from journalsim_reference.lifecycle import MESSAGE, OUTCOMES
from journalsim_reference.state import LEAD, Message, Run, Speaker

CLOSURES: Mapping[str, str] = {
    "not_started": "This call was not started: the run was interrupted.",
    "unknown": "The run was interrupted while this call was running; whether it took effect is not known.",
}
"""The wording of a closure for people and the model: only what is known."""

DENIED = "This call was not started: the user denied it."
CUT_OFF = "This call took too long and was cut off; whether it took effect is not known."

Buffered: TypeAlias = Callable[[str], Content]
"""Returns the buffered content of an open message, by its id."""


def nothing_buffered(message_id: str) -> Content:
    """Returns no content, as in a process that has just started."""
    return NOTHING


@frozen
class Stamp:
    """The writer's epoch, and the time of writing in virtual nanoseconds."""

    epoch: int
    at: int


class Batch:
    """Numbers the rows of one batch as they are added."""

    def __init__(self, stamp: Stamp) -> None:
        self._stamp = stamp
        self._rows: list[Event] = []
        self._added: dict[str, int] = {}

    def rows(self) -> tuple[Event, ...]:
        """Returns all rows, in order."""
        return tuple(self._rows)

    def add(
        self,
        run: Run,
        kind: str,
        origin: RowOrigin = "synthetic",
        *,
        actor: str = LEAD.actor,
        **payload: Any,
    ) -> None:
        """Adds the next row of a run; a synthetic row has the actor ``system``."""
        actor = "system" if origin == "synthetic" else actor
        self._add(run.run_id, run.session_id, run.seq, kind, actor, origin, payload)

    def add_to_session(self, session_id: str, seq: int, kind: str, origin: RowOrigin, **payload: Any) -> None:
        """Adds a row that belongs to no run; ``seq`` is the number of the last such row."""
        self._add(f"@{session_id}", session_id, seq, kind, "system", origin, payload)

    def _add(
        self,
        run_id: str,
        session_id: str,
        seq: int,
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
                epoch=self._stamp.epoch,
                at=self._stamp.at,
                kind=kind,
                actor=actor,
                origin=origin,
                payload=payload,
            )
        )

    # --- messages

    def opened(self, run: Run, source: str | None, speaker: Speaker) -> str:
        """Opens a message and returns its new id."""
        message_id = f"{run.run_id}/m{len(run.messages)}"  # the person's message is number 0
        data = {} if speaker.call_id is None else {"for_call": speaker.call_id}
        self.add(run, "message.opened", "model", actor=speaker.actor, message_id=message_id, source=source, **data)
        return message_id

    def aliased(
        self, run: Run, message_id: str, known: tuple[str, ...], aliases: tuple[str, ...], actor: str = LEAD.actor
    ) -> None:
        """Adds a row for new ids of the provider."""
        new = [alias for alias in aliases if alias not in known]
        if new:
            self.add(run, "message.id_aliased", "model", actor=actor, message_id=message_id, aliases=new)

    def superseded(self, run: Run, stale: Iterable[str], reason: str = "a later attempt answers") -> None:
        """Takes back messages that a page may display, mostly because a later attempt replaces an earlier one."""
        for message_id in stale:
            if "message.superseded" in MESSAGE[run.messages[message_id].state]:
                self.add(run, "message.superseded", message_id=message_id, reason=reason)

    def interrupted(self, run: Run, message: Message, cause: str | None, buffered: Buffered) -> tuple[ToolCall, ...]:
        """Stores the content of an open message, if there is any, and returns its calls."""
        content = message.content.plus(buffered(message.message_id))
        if content.empty:
            return ()
        actor = message.speaker.actor
        self.aliased(run, message.message_id, message.content.aliases, content.aliases, actor)
        data = content_to_data(content)
        self.add(run, "message.interrupted", "model", actor=actor, message_id=message.message_id, cause=cause, **data)
        return content.calls

    # --- tool calls

    def requested(
        self,
        run: Run,
        message_id: str,
        calls: Iterable[ToolCall],
        stale: Iterable[str] = (),
        actor: str = LEAD.actor,
    ) -> list[str]:
        """Requests the calls of a message that are not requested yet, and returns their ids."""
        gone = [m.message_id for m in run.messages.values() if m.state == "superseded"] + list(stale)
        known = [call.call_id for call in run.calls.values() if call.message_id not in gone]
        new = [call for call in calls if call.call_id not in known]
        for call in new:
            self.add(
                run,
                "tool.requested",
                "model",
                actor=actor,
                message_id=message_id,
                call_id=call.call_id,
                name=call.name,
                arguments=call.arguments,
            )
        return [call.call_id for call in new]

    def answered(self, run: Run, call_id: str, approved: bool, origin: RowOrigin, by: str) -> None:
        """Adds the one answer about a call."""
        self.add(run, "approval.resolved", origin, call_id=call_id, approved=approved, reason=by)

    def closed(self, run: Run, call_id: str, state: str, text: str, reason: str) -> None:
        """Closes a call that never returned, and claims no more than its state allows."""
        self.add(
            run,
            "tool.aborted",
            call_id=call_id,
            closure_id=f"{call_id}#closure",
            outcome=OUTCOMES[state],
            text=text,
            reason=reason,
        )

    # --- stops and ends

    def stop_requested(self, run: Run, cause: str, mode: str, by: str, buffered: Buffered) -> None:
        """Latches a stop, together with the interrupted messages that it stores."""
        origin: RowOrigin = "user" if cause in ("stopped", "rolled_back") else "synthetic"
        self.add(run, "run.stop_requested", origin, cause=cause, mode=mode, reason=by)
        if mode != "rollback":
            for message in run.open_messages():
                self.interrupted(run, message, cause, buffered)

    def left_open(self, run: Run, cause: str | None, buffered: Buffered, closures: bool) -> None:
        """Interrupts every open message, requests its calls, and closes every open call.

        A rollback takes all messages back, so there is nothing to interrupt.
        """
        if cause == "rolled_back":
            return
        states = self._interrupted_all(run, run.messages.values(), cause, buffered)
        states |= {call.call_id: call.state for call in run.calls.values() if call.open}
        if closures:
            for call_id, state in states.items():
                self.closed(run, call_id, state, CLOSURES[OUTCOMES[state]], "the run ended")

    def delegated_left_open(self, run: Run, call_id: str, cause: str, buffered: Buffered) -> None:
        """Does the same for the messages and calls of a sub-agent whose call is over; the run goes on."""
        messages = (message for message in run.messages.values() if message.speaker.call_id == call_id)
        states = self._interrupted_all(run, messages, cause, buffered)
        calls = (call for call in run.calls.values() if call.open and call.speaker.call_id == call_id)
        states |= {call.call_id: call.state for call in calls}
        for own, state in states.items():
            if state == "waiting" and run.state == "waiting":  # a run that is being stopped waits for no answer
                self.answered(run, own, False, "synthetic", "the sub-agent is over")
            self.closed(run, own, state, CLOSURES[OUTCOMES[state]], "the sub-agent is over")

    def _interrupted_all(
        self, run: Run, messages: Iterable[Message], cause: str | None, buffered: Buffered
    ) -> dict[str, str]:
        """Interrupts the open messages, and returns the states of calls that are requested only now."""
        requested: list[str] = []
        for message in messages:
            calls = message.content.calls if message.state == "interrupted" else ()
            if message.state == "open":
                calls = self.interrupted(run, message, cause, buffered)
                if message.content.plus(buffered(message.message_id)).empty:
                    self.superseded(run, [message.message_id], "nothing of it is left")
            # A call with incomplete arguments is evidence in its message's row; it cannot be run, displayed or closed.
            complete = (call for call in calls if whole(call))
            requested += self.requested(run, message.message_id, complete, actor=message.speaker.actor)
        return dict.fromkeys(requested, "requested")
