"""What people and their client programs do and see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, TypeAlias

from attrs import frozen

from journalsim.contract.capabilities import StopMode
from journalsim.contract.events.event_record import EventRecord, record
from journalsim.contract.frames import FrameKind
from journalsim.contract.items import Item

Outcome: TypeAlias = Literal["ok", "failed", "unknown"]
"""How a request came out for the client: definitely done, definitely not done, not known."""


@record
class ClientSent(EventRecord):
    """A person sent a message.

    Attributes:
        key: idempotency key of the request.
        text: the words.
        session: the conversation.
        label: of the step.
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
        run: the run that is meant, once the client knows it.
        named: the run, or the key of the request while the run has no id yet; None if there is neither.
        mode: what a stop does to the run.
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
        run: the run in the answer, if there is one.
        verb: ``start``, ``stop`` or ``answer``.
        key: of the request; empty for a stop.
        outcome: how the request came out.
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
    """What a page on the wire shows of a message after it applied a frame.

    Attributes:
        cursor: the last frame that the page has applied.
        text: the visible text of the message; None if the page shows no such message.
        reasoning: likewise.
    """

    cursor: str
    text: str | None
    reasoning: str | None


@record
class ClientApplied(EventRecord):
    """A client put a frame into its view.

    Attributes:
        run: the run of the frame.
        frame: its kind.
        message: the journal's id of the message, for message frames.
        text: of the frame.
        reasoning: of the frame.
        source: the provider's id of the message, if the frame has it.
        call_id: the call, for tool frames.
        state: of the frame.
        event_id: of the journal row behind the frame.
        view: what the page shows afterwards; None for a client that does not watch over the wire.
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
    """A client dropped its view and displayed what the journal holds.

    Attributes:
        items: the rows displayed.
    """

    kind: ClassVar[str] = "client.reloaded"
    items: tuple[Item, ...]


@record
class ClientDetached(EventRecord):
    """A client stopped watching, and stopped nothing else."""

    kind: ClassVar[str] = "client.detached"


@record
class ClientDisconnected(EventRecord):
    """A client's connection broke, because the server went away."""

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
        control: its kind.
        attachment: how the server understood the cursor, if the event says so.
        whole_turn: whether the server sends the whole turn again.
        message: the message that the event names, if it names one.
        reason: why, in the server's words.
        sent: the cursor that the request had sent.
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
    """What a page displays, looked at when nothing can happen any more.

    Attributes:
        items: the rows displayed.
        cursor: the last frame that the page has applied; empty if none.
        reason: ``quiet``, or ``healed`` after the last reattachment.
        attached: whether the client watches at all.
        missing: whether the page knows that it lacks something.
        watching: whether its program still has or wants a connection.
        gave_up: why its program stopped asking, or None.
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
