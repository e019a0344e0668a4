"""Defines the stream protocol between an adapter and its readers, down to the event.

A system that lets readers reattach has one more verb::

    async def attach(self, request: StreamRequest) -> StreamAnswer

It answers a reader, and never raises for a bad cursor.  Optional, found by name, is::

    def cursor(self, session_id: str) -> str | None

which returns the cursor of a reader that has read the history in this instant.  The harness calls it
right after ``read``, in the same step, when a page is opened.  A page whose program can send a cursor of
its own attaches with it.  Such a page misses no frame, receives none twice, and learns the end of a run
that ended in between.  Without the verb, pages attach without a cursor.

The harness iterates ``body`` in a task of the server's process, and closes it when the server notices that the reader
is gone. While the harness does not iterate, the reader is slow; the system may react as it likes, and is judged.

A body is an event stream (``text/event-stream``). In the dialect of this module, which the reference speaks, each
event is either

* a *frame*: ``event`` is the :class:`~journalsim.contract.frames.Frame`'s kind, ``data`` a JSON
  object with its other fields, and ``id`` is ``<run_id>:<seq>``, with ``.<n>`` behind it
  if one row of the journal became several frames, or if the frame was sent before a row of
  its own was safe; or
* a *control event*, which never has an id: ``stream.open`` comes first and states how the
  server understood the cursor, ``stream.gap`` states that frames are missing and that the
  page has to read the history again, ``stream.end`` is the end of the stream and
  not of the run.

Comments are heartbeats.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Literal, get_args

from attrs import asdict, fields, frozen

from journalsim.contract.frames import Frame, FrameKind
from journalsim.contract.sse import SseEvent, encode_event, json_line
from journalsim.errors import AdapterError

Attachment = Literal["fresh", "suffix", "restart", "gap", "finished"]
"""How a server understood a cursor.

``fresh``: the request had none; ``suffix``: the frames behind it follow; ``restart``: the server could not use it and
sends all frames again; ``gap``: the frames behind it are no longer stored; ``finished``: the run has ended, its
terminal follows and the stream closes.
"""

ControlKind = Literal["stream.open", "stream.gap", "stream.end"]


@frozen(kw_only=True)
class StreamRequest:
    """A reader's request to watch a session.

    Attributes:
        session_id: the conversation.
        cursor: value of the ``Last-Event-ID`` header, as sent, also if it is empty; None: no such header.
        reader: name of the reader, the same for every connection of one client.
    """

    session_id: str
    cursor: str | None = None
    reader: str = ""


@frozen(kw_only=True)
class StreamAnswer:
    """The head of an answer, and the iterator of its body.

    Attributes:
        status: HTTP status; only 200 has a body.
        content_type: content type of the body.
        body: its bytes, cut anywhere.
    """

    status: int
    content_type: str = "text/event-stream"
    body: AsyncIterator[bytes] | None = None


@frozen(kw_only=True)
class Control:
    """A control event of the stream.

    Attributes:
        kind: kind of the control event.
        attachment: for ``stream.open``, how the server understood the cursor.
        whole_turn: for ``stream.open``, True if the run's frames start again, so that the page rebuilds its message.
        run_id: the run of the stream, if there is one.
        message_id: for ``stream.open``, the message under way, so that the page continues in the same bubble.
        reason: for ``stream.gap`` and ``stream.end``, why.
    """

    kind: ControlKind
    attachment: Attachment | None = None
    whole_turn: bool = False
    run_id: str | None = None
    message_id: str | None = None
    reason: str = ""


def encode_frame(frame: Frame, event_id: str | None) -> bytes:
    """Encodes a frame as an event.

    Args:
        frame: the frame.
        event_id: the event's id; None for a frame without a row behind it.
    """
    return encode_event(_data(frame), event=frame.kind, id=event_id)


def encode_control(control: Control) -> bytes:
    """Encodes a control event."""
    return encode_event(_data(control), event=control.kind)


def decode_event(event: SseEvent) -> Frame | Control | None:
    """Decodes an event of this dialect; returns None for any other event, which a reader ignores.

    Raises:
        AdapterError: the event is one of the dialect's, and its data is malformed.
    """
    kind: type[Frame] | type[Control]
    if event.type in get_args(FrameKind):
        kind = Frame
    elif event.type in get_args(ControlKind):
        kind = Control
    else:
        return None
    try:
        return kind(**{**json.loads(event.data), "kind": event.type})
    except (ValueError, TypeError) as error:
        names = ", ".join(field.name for field in fields(kind) if field.name != "kind")
        raise AdapterError(
            f"the data of an event {event.type!r} must be a JSON object of {names}, not {event.data[:80]!r} ({error})"
        ) from error


def _data(value: Frame | Control) -> str:
    said: dict[str, Any] = asdict(value, filter=lambda field, found: field.name != "kind" and found != field.default)
    return json_line(said)  # a provider may send half a character, which has no form in UTF-8
