"""Folds the rows into the state of the journal.

:meth:`State.apply` folds one row into the state. It refuses a row that the lifecycle tables do not list, a gap in the
numbers of a run, and a writer whose epoch is over. All knowledge of the journal comes from here, so a new process on
the same rows has the same state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import Factory, define, frozen

from journalsim.contract.items import Item
from journalsim_reference.content import NOTHING, Content, content_from_data
from journalsim_reference.events import Event
from journalsim_reference.lifecycle import ENDED, MESSAGE, OUTCOMES, RUN, TERMINALS, TOOL_CALL, advance


class BrokenSequence(Exception):
    """A row does not follow the one before it, or its writer has been replaced."""


@frozen
class Speaker:
    """The author of a message: the lead, or the sub-agent that carries out one of its calls.

    Attributes:
        actor: the actor in the rows.
        call_id: the lead's call that is being carried out; None for the lead itself.
    """

    actor: str = "lead"
    call_id: str | None = None


LEAD = Speaker()


@define(eq=False)
class Message:
    """One logical message, under the id that the journal minted.

    Attributes:
        message_id: the id, which never changes.
        run_id: the run of the message.
        role: ``user`` or ``assistant``.
        speaker: the author; people speak to the lead, so theirs counts as the lead's.
        state: a state of :data:`journalsim_reference.lifecycle.MESSAGE`.
        content: the content in the rows: spilled text while the message is open, then its stored content.
        cause: for an interrupted message, why.
        metadata: flags set by annotations.
        row: event id of the row that gave it its content.
    """

    message_id: str
    run_id: str
    role: str
    speaker: Speaker = LEAD
    state: str = "new"
    content: Content = NOTHING
    cause: str | None = None
    metadata: dict[str, Any] = Factory(dict)
    row: str = ""


@define(eq=False)
class Call:
    """One tool call: its request, and its closure once there is one.

    Attributes:
        call_id: the provider's id.
        message_id: the message that requested it.
        name: name of the tool.
        arguments: the arguments as streamed.
        speaker: the speaker that requested it.
        state: a state of :data:`journalsim_reference.lifecycle.TOOL_CALL`.
        approved: the person's answer; None if there is no question or no answer.
        text: text of the closure.
        outcome: for an aborted call, its known outcome.
    """

    call_id: str
    message_id: str
    name: str
    arguments: str
    speaker: Speaker = LEAD
    state: str = "new"
    approved: bool | None = None
    text: str = ""
    outcome: str = ""

    @property
    def open(self) -> bool:
        """True if the call has no closure yet."""
        return self.state in OUTCOMES


@define(eq=False)
class Run:
    """One run.

    Attributes:
        run_id: the id that the journal minted.
        session_id: its conversation.
        key: the client's request key.
        accepted_at: virtual nanoseconds.
        state: a state of :data:`journalsim_reference.lifecycle.RUN`.
        cause: why it ended, or is about to.
        seq: number of its last row.
        epoch: epoch of its last row.
        messages: in order of opening, the person's first.
        calls: in order of request; a call that a later attempt requests again replaces the earlier one.
        entries: the parts of the history, in the order of the rows: (``message``, ``request`` or ``closure``, subject).
        rendered: cached projections of this run, by name; each row clears them.
    """

    run_id: str
    session_id: str
    key: str = ""
    accepted_at: int = 0
    state: str = "new"
    cause: str | None = None
    seq: int = 0
    epoch: int = 0
    messages: dict[str, Message] = Factory(dict)
    calls: dict[str, Call] = Factory(dict)
    entries: list[tuple[str, Message | Call]] = Factory(list)
    rendered: dict[str, tuple[Item, ...]] = Factory(dict)

    @property
    def ended(self) -> bool:
        """True if the run has its terminal."""
        return self.state in ENDED

    @property
    def discarded(self) -> bool:
        """True if a rollback took everything back."""
        return self.ended and self.cause == "rolled_back"

    def open_messages(self) -> Iterator[Message]:
        """Yields the messages that are neither completed nor interrupted."""
        return (message for message in self.messages.values() if message.state == "open")

    def waiting_calls(self) -> Iterator[Call]:
        """Yields the calls that wait for a person's answer."""
        return (call for call in self.calls.values() if call.state == "waiting")


@define(eq=False)
class Summary:
    """The summary of a compaction, which replaces everything before it for the model."""

    row: str
    text: str


@define(eq=False)
class Session:
    """One conversation.

    Attributes:
        session_id: its id.
        entries: runs and summaries, in order.
        keys: run of each request key.
        revision: number of its rows; a rewrite must be based on it.
        seq: number of its last row that belongs to no run.
        shown_from: index of the first entry that a page displays.
        given_from: index of the first entry of the model's context.
    """

    session_id: str
    entries: list[Run | Summary] = Factory(list)
    keys: dict[str, str] = Factory(dict)
    revision: int = 0
    seq: int = 0
    shown_from: int = 0
    given_from: int = 0

    def active_runs(self) -> list[Run]:
        """Returns the runs without a terminal, oldest first."""
        return [entry for entry in self.entries if isinstance(entry, Run) and not entry.ended]


class State:
    """The state of the whole journal, folded from its rows."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.runs: dict[str, Run] = {}
        self.messages: dict[str, Message] = {}

    def session(self, session_id: str) -> Session:
        """Returns a conversation; one without rows is empty."""
        return self.sessions.get(session_id) or Session(session_id)

    def active_runs(self) -> list[Run]:
        """Returns all runs without a terminal, oldest first."""
        return [run for session in self.sessions.values() for run in session.active_runs()]

    def apply(self, event: Event) -> None:
        """Folds one row into the state.

        Raises:
            BrokenSequence: the row is not the next one of its run, or its writer has been replaced.
            IllegalTransition: a lifecycle table does not list it.
        """
        session = self.sessions.setdefault(event.session_id, self.session(event.session_id))
        if event.run_id.startswith("@"):
            self._follows(event, session.seq, 0)
            _SESSION_ROWS[event.kind](self, session, event)
            session.seq = event.seq
        else:
            run = self.runs.get(event.run_id) or Run(event.run_id, event.session_id)
            self._follows(event, run.seq, run.epoch)
            _RUN_ROWS[event.kind](self, run, event)
            run.seq, run.epoch = event.seq, event.epoch
            run.rendered.clear()
        session.revision += 1

    @staticmethod
    def _follows(event: Event, seq: int, epoch: int) -> None:
        if event.seq != seq + 1:
            raise BrokenSequence(f"row {event.event_id} follows number {seq}")
        if event.epoch < epoch:
            raise BrokenSequence(f"row {event.event_id} is from epoch {event.epoch}, the run has reached {epoch}")

    # --- rows of a run

    def _run_accepted(self, run: Run, event: Event) -> None:
        run.state = advance(RUN, run.state, event.kind, run.run_id)
        payload = event.payload
        run.key, run.accepted_at = payload["key"], event.at
        user = Message(payload["message_id"], run.run_id, "user", state="completed", row=event.event_id)
        user.content = Content(payload["text"])
        self._add_message(run, user)
        session = self.sessions[event.session_id]
        self.runs[run.run_id] = run
        session.entries.append(run)
        session.keys[run.key] = run.run_id

    def _run_moved(self, run: Run, event: Event) -> None:
        run.state = advance(RUN, run.state, event.kind, run.run_id)

    def _run_stop_requested(self, run: Run, event: Event) -> None:
        run.state = advance(RUN, run.state, event.kind, run.run_id)
        run.cause = event.payload["cause"]

    def _run_ended(self, run: Run, event: Event) -> None:
        state = advance(RUN, run.state, event.kind, run.run_id)
        cause = event.payload["cause"]
        if cause == "rolled_back":
            for message in run.messages.values():
                message.state = advance(MESSAGE, message.state, event.kind, message.message_id)
        run.state, run.cause = state, cause

    def _nothing(self, run: Run, event: Event) -> None:
        """Changes nothing: audit rows have no effect on the state."""

    def _message_opened(self, run: Run, event: Event) -> None:
        speaker = Speaker(event.actor, event.payload.get("for_call"))
        message = Message(event.payload["message_id"], run.run_id, "assistant", speaker)
        message.state = advance(MESSAGE, message.state, event.kind, message.message_id)
        self._add_message(run, message)

    def _message_grew(self, run: Run, event: Event) -> None:
        message = self._moved(run, event)
        message.content = message.content.plus(content_from_data(event.payload))

    def _message_aliased(self, run: Run, event: Event) -> None:
        message = self._moved(run, event)
        message.content = message.content.with_aliases(tuple(event.payload["aliases"]))

    def _message_ended(self, run: Run, event: Event) -> None:
        message = self._moved(run, event)
        message.content = content_from_data(event.payload).with_aliases(message.content.aliases)
        message.cause = event.payload.get("cause")
        message.row = event.event_id

    def _message_moved(self, run: Run, event: Event) -> None:
        self._moved(run, event)

    def _moved(self, run: Run, event: Event) -> Message:
        message = run.messages[event.payload["message_id"]]
        message.state = advance(MESSAGE, message.state, event.kind, message.message_id)
        return message

    def _add_message(self, run: Run, message: Message) -> None:
        run.messages[message.message_id] = self.messages[message.message_id] = message
        run.entries.append(("message", message))

    def _tool_requested(self, run: Run, event: Event) -> None:
        payload = event.payload
        speaker = run.messages[payload["message_id"]].speaker
        call = Call(payload["call_id"], payload["message_id"], payload["name"], payload["arguments"], speaker)
        call.state = advance(TOOL_CALL, call.state, event.kind, call.call_id)
        run.calls[call.call_id] = call
        run.entries.append(("request", call))

    def _tool_moved(self, run: Run, event: Event) -> None:
        call = run.calls[event.payload["call_id"]]
        call.state = advance(TOOL_CALL, call.state, event.kind, call.call_id)

    def _approval_requested(self, run: Run, event: Event) -> None:
        state = advance(RUN, run.state, event.kind, run.run_id)
        self._tool_moved(run, event)
        run.state = state

    def _approval_resolved(self, run: Run, event: Event) -> None:
        state = advance(RUN, run.state, event.kind, run.run_id)
        self._tool_moved(run, event)
        run.calls[event.payload["call_id"]].approved = event.payload["approved"]
        if not any(run.waiting_calls()):
            run.state = state

    def _tool_closed(self, run: Run, event: Event) -> None:
        self._tool_moved(run, event)
        call = run.calls[event.payload["call_id"]]
        call.text, call.outcome = event.payload["text"], event.payload.get("outcome", "")
        run.entries.append(("closure", call))

    # --- rows of a session

    def _annotated(self, session: Session, event: Event) -> None:
        message = self.messages[event.payload["message_id"]]
        message.state = advance(MESSAGE, message.state, event.kind, message.message_id)
        message.metadata |= event.payload["metadata"]
        self.runs[message.run_id].rendered.clear()

    def _rewritten(self, session: Session, event: Event) -> None:
        session.given_from = len(session.entries)
        if event.payload["operation"] == "clear":
            session.shown_from = session.given_from
        else:
            session.entries.append(Summary(event.event_id, event.payload["text"]))


_RUN_ROWS: Mapping[str, Callable[[State, Run, Event], None]] = {
    "run.accepted": State._run_accepted,
    "run.started": State._run_moved,
    "run.stop_requested": State._run_stop_requested,
    **dict.fromkeys(TERMINALS, State._run_ended),
    "terminal.rejected": State._run_moved,
    "approval.requested": State._approval_requested,
    "approval.resolved": State._approval_resolved,
    "recovery.applied": State._nothing,
    "message.opened": State._message_opened,
    "message.delta": State._message_grew,
    "message.id_aliased": State._message_aliased,
    "message.completed": State._message_ended,
    "message.interrupted": State._message_ended,
    "message.superseded": State._message_moved,
    "tool.requested": State._tool_requested,
    "tool.started": State._tool_moved,
    "tool.progress": State._tool_moved,
    "tool.completed": State._tool_closed,
    "tool.failed": State._tool_closed,
    "tool.aborted": State._tool_closed,
}

_SESSION_ROWS: Mapping[str, Callable[[State, Session, Event], None]] = {
    "message.annotated": State._annotated,
    "history.rewritten": State._rewritten,
}
