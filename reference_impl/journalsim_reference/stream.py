"""Serves readers: decides who watches a session, from which position, and until when.

The journal enters every frame here in the critical section that makes it true, right after its row is in the journal. A
reader then pulls: it has no buffer of its own, only its position in the session's log. So a slow reader costs no more
than the log may hold, and a reader whose position has been dropped receives a gap and the end of its stream. Attaching
is one step without a wait, so there is no seam between replayed and live frames.

A stream ends when the session has no active run: the terminal is always its last frame. ``stream.end`` states why the
*stream* is over.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any, Literal

import trio
from attrs import Factory, define

from journalsim.contract.frames import Frame
from journalsim.contract.sse import encode_comment
from journalsim.contract.stream_port import Control, StreamAnswer, StreamRequest, encode_control, encode_frame
from journalsim_reference.attach import Decision, decide_attach
from journalsim_reference.batch import Buffered
from journalsim_reference.events import Event
from journalsim_reference.frame_log import BYTES_MAX, ROWS_MAX, ROWS_SHORT, Entry, FrameLog
from journalsim_reference.frames import frame
from journalsim_reference.state import Run, State

EndReason = Literal["run_terminal", "gap", "slow_consumer", "server_closed"]


@define(eq=False)
class Reader:
    """A reader who watches.

    Attributes:
        position: position in the log, behind the last frame sent to the reader.
    """

    position: int


@define(eq=False)
class Channel:
    """The readers of a session, and their log.

    Attributes:
        log: the frames of the session.
        waiting: readers at its end.
        readers: readers whose stream has begun.
    """

    log: FrameLog
    waiting: trio.lowlevel.ParkingLot = Factory(trio.lowlevel.ParkingLot)
    readers: list[Reader] = Factory(list)


class Streams:
    """The streams of one process.

    Args:
        state: the journal.
        policies: the policies of the process.
        buffered: returns the text of an open message that has no row yet.

    Attributes:
        rows_max: the largest number of entries in the log of each session.
        bytes_max: the largest number of bytes in such a log.
        heartbeat_s: the silence after which a comment is sent, seconds; None for never.
    """

    def __init__(self, state: State, policies: Mapping[str, str], buffered: Buffered) -> None:
        self.rows_max = ROWS_SHORT if policies["retention"] == "short" else ROWS_MAX
        self.bytes_max = BYTES_MAX
        self.heartbeat_s: float | None = None
        self._state = state
        self._policies = policies
        self._buffered = buffered
        self._channels: dict[str, Channel] = {}
        self._closed = False

    # --- entering frames

    def restore(self, event: Event) -> None:
        """Enters a row that an earlier process wrote, just folded in."""
        self.enter(event, frame(self._state, event), safe=True)

    def enter(self, event: Event, live: Frame | None, *, safe: bool) -> None:
        """Enters a row that has just been appended; ``safe`` if it is on the disk."""
        channel = self.channel(event.session_id)
        if event.run_id.startswith("@"):
            if event.payload.get("operation") == "clear":
                channel.log.forget()
        elif safe:
            channel.log.add_row(event.run_id, event.seq, live)
        elif live is not None:
            channel.log.add_shown(event.run_id, live)
        channel.waiting.unpark_all()

    def show(self, session_id: str, live: Frame) -> None:
        """Enters a frame that is sent before it has a row."""
        channel = self.channel(session_id)
        channel.log.add_shown(live.run_id, live)
        channel.waiting.unpark_all()

    def close(self) -> None:
        """Ends all streams: no further frame comes, and readers who have received everything are disconnected."""
        self._closed = True
        for channel in self._channels.values():
            channel.waiting.unpark_all()

    def channel(self, session_id: str) -> Channel:
        """Returns the channel of a session."""
        if session_id not in self._channels:
            self._channels[session_id] = Channel(FrameLog(self.rows_max, self.bytes_max))
        return self._channels[session_id]

    # --- looking

    def cursor(self, session_id: str) -> str | None:
        """Returns the cursor of a reader who has received everything in the history at this moment."""
        return self.channel(session_id).log.last_id if session_id in self._state.sessions else None

    def status(self, session_id: str) -> Mapping[str, Any]:
        """Returns the status of a session for people and programs; it is no cursor."""
        session = self._state.session(session_id)
        runs = (entry for entry in reversed(session.entries) if isinstance(entry, Run))
        run = next(iter(session.active_runs() or runs), None)
        if run is None:
            return {"run": None, "state": "idle", "last_seq": 0, "prompt": None}
        prompt = next(iter(run.messages.values())).content.text
        return {"run": run.run_id, "state": run.state, "last_seq": run.seq, "prompt": prompt}

    @property
    def reader_bytes(self) -> int:
        """The most bytes held for one reader, up to ``bytes_max``."""
        sizes = (channel.log.waiting_bytes(reader.position) for channel, reader in self._readers())
        return max(sizes, default=0)

    def _readers(self) -> Iterator[tuple[Channel, Reader]]:
        return ((channel, reader) for channel in self._channels.values() for reader in channel.readers)

    # --- readers

    def attach(self, request: StreamRequest) -> StreamAnswer:
        """Answers a reader; the reader's first frames are settled when this returns."""
        if request.session_id not in self._state.sessions:
            return StreamAnswer(status=404)
        decision = self.decide(request)
        if decision.status != 200:
            return StreamAnswer(status=decision.status)
        channel = self.channel(request.session_id)
        begin = self.begin(decision, channel.log)
        return StreamAnswer(status=200, body=self.body(request.session_id, channel, decision, begin))

    def decide(self, request: StreamRequest) -> Decision:
        """Decides how to attach a reader of an existing session."""
        log = self.channel(request.session_id).log
        return decide_attach(self._state, log, request.session_id, request.cursor, self._policies)

    def begin(self, decision: Decision, log: FrameLog) -> list[bytes]:
        """Returns the first events: the control event ``stream.open``, and the runs that come in one piece."""
        opened = Control(
            kind="stream.open",
            attachment=decision.attachment,
            whole_turn=decision.whole_turn,
            run_id=decision.run_id,
            message_id=decision.message_id,
        )
        whole = list(decision.first_frames(self._buffered))
        ids = [None] * (len(whole) - 1) + [log.last_id]  # the page has applied all of it, or nothing
        return [encode_control(opened), *map(encode_frame, whole, ids)]

    async def body(
        self, session_id: str, channel: Channel, decision: Decision, begin: list[bytes]
    ) -> AsyncGenerator[bytes, None]:
        """Yields the stream, one event at a time, as fast as its reader takes it."""
        log, reader = channel.log, Reader(decision.position)
        channel.readers.append(reader)
        try:
            for piece in begin:
                yield piece
            if decision.attachment == "gap":
                yield self.gap(decision.run_id, f"the cursor is {decision.cursor}")
                yield _end(decision.run_id, "gap")
                return
            while not self.missed(log, reader):
                if reader.position < log.high:
                    entry = log[reader.position]
                    reader.position += 1
                    if entry.run_id in decision.others:
                        continue
                    for piece in self.events_of(log, decision, entry):
                        yield piece
                elif self.over(session_id):
                    yield _end(decision.run_id, "run_terminal")
                    return
                elif self._closed:
                    yield _end(decision.run_id, "server_closed")
                    return
                elif not await self._woken(channel):
                    yield encode_comment("waiting")
            yield self.gap(decision.run_id, "this reader is too slow")
            yield _end(decision.run_id, "slow_consumer")
        finally:
            channel.readers.remove(reader)

    def missed(self, log: FrameLog, reader: Reader) -> bool:
        """Returns True if the log has dropped the reader's next entry."""
        return reader.position < log.low

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        """Yields the events of an entry for the reader of a decision."""
        if entry.frame is not None:
            yield encode_frame(entry.frame, self.id_of(entry))

    def gap(self, run_id: str | None, reason: str) -> bytes:
        """Returns the event for a reader who misses frames."""
        return encode_control(Control(kind="stream.gap", run_id=run_id, reason=reason))

    def id_of(self, entry: Entry) -> str | None:
        """Returns the id under which an entry is sent."""
        return entry.id

    def over(self, session_id: str) -> bool:
        """Returns True if no further frame will come to a reader who has received everything."""
        return not self._state.session(session_id).active_runs()

    async def _woken(self, channel: Channel) -> bool:
        with trio.move_on_after(self.heartbeat_s if self.heartbeat_s is not None else float("inf")) as patience:
            await channel.waiting.park()
        return not patience.cancelled_caught


def _end(run_id: str | None, reason: EndReason) -> bytes:
    return encode_control(Control(kind="stream.end", run_id=run_id, reason=reason))
