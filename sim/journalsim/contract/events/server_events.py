"""Defines the events of the server: runs, stops, answers, live frames, processes and maintenance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from journalsim.contract.capabilities import StopMode
from journalsim.contract.events.event_record import EventRecord, Json, record
from journalsim.contract.frames import Frame, FrameKind


@record
class RunAccepted(EventRecord):
    """``start`` returned: the user's message is accepted.

    Attributes:
        run: the adapter's id of the run.
        key: idempotency key of the request.
        text: the user's words.
        session: the conversation.
        again: whether the same run had been accepted before.
    """

    kind: ClassVar[str] = "run.accepted"
    run: str
    key: str
    text: str
    session: str
    again: bool


@record
class RunRefused(EventRecord):
    """``start`` refused the user's message.

    Attributes:
        key: idempotency key of the request.
        reason: why.
        session: the conversation.
    """

    kind: ClassVar[str] = "run.refused"
    key: str
    reason: str
    session: str


@record
class RunEnded(EventRecord):
    """The system announced the end of a run.

    Attributes:
        run: the run.
        state: how it ended.
        cause: why, for a run that was interrupted.
    """

    kind: ClassVar[str] = "run.ended"
    run: str | None
    state: str | None
    cause: str | None


@record
class StopDelivered(EventRecord):
    """The harness called ``stop`` on the adapter.

    Attributes:
        run: the run to stop.
        named: the same.
        mode: the effect of the stop on the run.
        active: the runs that had not ended.
    """

    kind: ClassVar[str] = "stop.delivered"
    run: str
    named: str
    mode: StopMode
    active: tuple[str, ...]


@record
class StopAnswered(EventRecord):
    """``stop`` returned or raised.

    Attributes:
        run: the run to stop.
        named: the same.
        answer: ``stopping``, ``ended`` or ``unknown``; ``error`` if it raised.
    """

    kind: ClassVar[str] = "stop.answered"
    run: str
    named: str
    answer: str


@record
class AnswerDelivered(EventRecord):
    """The harness called ``answer`` on the adapter.

    Attributes:
        run: the run.
        call_id: the tool call.
        approved: whether the call may run.
    """

    kind: ClassVar[str] = "answer.delivered"
    subject_field: ClassVar[str] = "call_id"
    run: str
    call_id: str | None
    approved: bool


@record
class AnswerAnswered(EventRecord):
    """``answer`` returned or raised.

    Attributes:
        run: the run.
        call_id: the tool call.
        answer: ``resolved``, ``late`` or ``unknown``; ``error`` if it raised.
    """

    kind: ClassVar[str] = "answer.answered"
    subject_field: ClassVar[str] = "call_id"
    run: str
    call_id: str | None
    answer: str


@record
class ReaderDisconnected(EventRecord):
    """The server noticed that a client disconnected.

    Attributes:
        client: name of the client.
        active: the runs that had not ended.
    """

    kind: ClassVar[str] = "reader.disconnected"
    client: str
    active: tuple[str, ...]


@record
class FramePublished(EventRecord):
    """The system published a live frame.

    Attributes:
        run: the run of the frame.
        frame: kind of the frame.
        message: the journal's id of the message, for message frames.
        text: text of the frame.
        source: the provider's id of the message, if the frame has it.
        call_id: the call, for tool frames.
        state: state of the frame.
        event_id: id of the journal row behind the frame.
    """

    kind: ClassVar[str] = "frame.published"
    run: str
    frame: FrameKind
    message: str | None
    text: str
    source: str | None
    call_id: str | None
    state: str | None
    event_id: str | None

    @classmethod
    def of(cls, frame: Frame) -> FramePublished:
        """Returns the event of a frame that was published."""
        return cls(
            run=frame.run_id,
            frame=frame.kind,
            message=frame.message_id,
            text=frame.text,
            source=frame.source,
            call_id=frame.call_id,
            state=frame.state,
            event_id=frame.event_id,
        )

    @property
    def as_frame(self) -> Frame:
        """The frame, without its reasoning and cause, which the event does not hold."""
        return Frame(
            kind=self.frame,
            run_id=self.run,
            message_id=self.message,
            text=self.text,
            call_id=self.call_id,
            state=self.state,
            event_id=self.event_id,
            source=self.source,
        )


@record
class ServerStarted(EventRecord):
    """A server process started.

    Attributes:
        incarnation: number of the process, from 1.
    """

    kind: ClassVar[str] = "server.started"
    incarnation: int


@record
class ServerShutDown(EventRecord):
    """The server ended in good order."""

    kind: ClassVar[str] = "server.shut_down"


@record
class ServerCrashed(EventRecord):
    """The server process was killed.

    Attributes:
        lose: the loss of the disk; None if only memory was lost.
    """

    kind: ClassVar[str] = "server.crashed"
    lose: str | None = None


@record
class MaintenanceDone(EventRecord):
    """A maintenance verb returned.

    Attributes:
        verb: ``annotate``, ``compact`` or ``clear``.
        session: the conversation.
        item: the id of the annotated row.
        metadata: the flags that it set.
    """

    kind: ClassVar[str] = "maintenance.done"
    verb: str
    session: str
    item: str | None
    metadata: Mapping[str, Json]


@record
class MaintenanceRefused(EventRecord):
    """A maintenance verb was refused.

    Attributes:
        verb: ``annotate``, ``compact`` or ``clear``.
        session: the conversation.
        reason: why.
    """

    kind: ClassVar[str] = "maintenance.refused"
    verb: str
    session: str
    reason: str
