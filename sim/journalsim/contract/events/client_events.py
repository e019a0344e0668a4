"""Defines the events of people and their client programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, TypeAlias

from attrs import frozen

from journalsim.contract.capabilities import StopMode
from journalsim.contract.events.event_record import EventRecord, record
from journalsim.contract.frames import Frame, FrameKind
from journalsim.contract.items import Item

Outcome: TypeAlias = Literal["ok", "failed", "unknown"]
"""The result of a request for the client: definitely done, definitely not done, not known."""


@record
class ClientSent(EventRecord):
    """A person sent a message.

    Attributes:
        key: idempotency key of the request.
        text: the words.
        session: the conversation.
        label: label of the step.
    """

    kind: ClassVar[str] = "client.sent"
    key: str
    text: str
    session: str
    label: str


@record
class StopPressed(EventRecord):
    """A person pressed Stop.

    Attributes:
        run: the run to stop, once the client knows it.
        named: the run, or the key of the request while the run has no id yet; None if there is neither.
        mode: the effect of the stop on the run.
    """

    kind: ClassVar[str] = "client.stop_pressed"
    run: str | None
    named: str | None
    mode: StopMode


@record
class ClientAnswered(EventRecord):
    """A person approved or denied a tool call.

    Attributes:
        run: the run that asked, if the client knows one.
        call_id: the call.
        approved: whether the call may run.
    """

    kind: ClassVar[str] = "client.answered"
    subject_field: ClassVar[str] = "call_id"
    run: str | None
    call_id: str | None
    approved: bool


@record
class ClientTold(EventRecord):
    """The answer to a request reached the client.

    Attributes:
        run: the run in the answer, if the answer names one.
        verb: ``start``, ``stop`` or ``answer``.
        key: key of the request; empty for a stop.
        outcome: the result of the request.
        reason: why, when it is not ``ok``.
    """

    kind: ClassVar[str] = "client.told"
    run: str | None
    verb: str
    key: str | None
    outcome: Outcome
    reason: str


@frozen
class ViewAfter:
    """The message that a page on the wire displays after it applied a frame.

    Attributes:
        cursor: the last frame that the page applied.
        text: the visible text of the message; None if the page displays no such message.
        reasoning: the visible reasoning, likewise.
    """

    cursor: str
    text: str | None
    reasoning: str | None


@record
class ClientApplied(EventRecord):
    """A client applied a frame to its view.

    Attributes:
        run: the run of the frame.
        frame: kind of the frame.
        message: the journal's id of the message, for message frames.
        text: text of the frame.
        reasoning: reasoning of the frame.
        source: the provider's id of the message, if the frame has it.
        call_id: the call, for tool frames.
        state: state of the frame.
        event_id: id of the journal row behind the frame.
        view: the message as the page displays it afterwards; None for a client that does not watch over the wire.
            A trace writes it as ``cursor``, ``shown`` and ``shown_reasoning``.
    """

    kind: ClassVar[str] = "client.applied"
    run: str
    frame: FrameKind
    message: str | None
    text: str
    reasoning: str
    source: str | None
    call_id: str | None
    state: str | None
    event_id: str | None
    view: ViewAfter | None = None

    @classmethod
    def of(cls, frame: Frame, event_id: str | None, view: ViewAfter | None = None) -> ClientApplied:
        """Returns the event of a frame that was put into a view.

        Args:
            frame: the frame.
            event_id: under which the client received it.
            view: what a page on the wire displays afterwards.
        """
        return cls(
            run=frame.run_id,
            frame=frame.kind,
            message=frame.message_id,
            text=frame.text,
            reasoning=frame.reasoning,
            source=frame.source,
            call_id=frame.call_id,
            state=frame.state,
            event_id=event_id,
            view=view,
        )

    @property
    def as_frame(self) -> Frame:
        """The frame that the client applied, without its cause, which the event does not hold."""
        return Frame(
            kind=self.frame,
            run_id=self.run,
            message_id=self.message,
            text=self.text,
            reasoning=self.reasoning,
            call_id=self.call_id,
            state=self.state,
            event_id=self.event_id,
            source=self.source,
        )

    def written(self) -> Iterator[tuple[str, Any]]:
        """Yields the fields of the frame, then those of the view if there is one."""
        for name, value in EventRecord.written(self):
            if name != "view":
                yield name, value
        if self.view is not None:
            yield "cursor", self.view.cursor
            yield "shown", self.view.text
            yield "shown_reasoning", self.view.reasoning


@record
class ClientReloaded(EventRecord):
    """A client dropped its view and displayed the items of the journal.

    Attributes:
        items: the rows displayed.
    """

    kind: ClassVar[str] = "client.reloaded"
    items: tuple[Item, ...]


@record
class ClientDetached(EventRecord):
    """A client stopped watching; its runs continue."""

    kind: ClassVar[str] = "client.detached"


@record
class ClientDisconnected(EventRecord):
    """A client's connection broke because the server crashed or shut down."""

    kind: ClassVar[str] = "client.disconnected"


@record
class ClientAttached(EventRecord):
    """A client began to watch, or reattached."""

    kind: ClassVar[str] = "client.attached"


@record
class ClientControl(EventRecord):
    """A page received a control event of the stream.

    Attributes:
        run: the run that the event names.
        control: kind of the control event.
        attachment: how the server understood the cursor, if the event names it.
        whole_turn: whether the server sends the whole turn again.
        message: the message that the event names, if any.
        reason: why, in the server's words.
        sent: the cursor of the request.
    """

    kind: ClassVar[str] = "client.control"
    run: str | None
    control: str
    attachment: str | None
    whole_turn: bool
    message: str | None
    reason: str
    sent: str | None


@record
class ClientView(EventRecord):
    """The rows that a page displays once nothing can happen any more.

    Attributes:
        items: the rows displayed.
        cursor: the last frame that the page applied; empty if none.
        reason: ``quiet``, or ``healed`` after the last reattachment.
        attached: whether the client watches at all.
        missing: whether the page knows that its view is incomplete.
        watching: whether its program still has or wants a connection.
        gave_up: why its program stopped reconnecting, or None.
        ended: the runs whose end the page displays.
        session: the conversation displayed.
    """

    kind: ClassVar[str] = "client.view"
    items: tuple[Item, ...]
    cursor: str
    reason: str
    attached: bool
    missing: bool
    watching: bool
    gave_up: str | None
    ended: tuple[str, ...]
    session: str
