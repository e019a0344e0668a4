"""Seeded bugs in answers to attaching readers: a cursor is misread, trusted too far, or not the reader's own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import trio
from attrs import evolve

from journalsim.contract.items import Item
from journalsim.contract.stream_port import StreamAnswer, StreamRequest, encode_frame
from journalsim_reference.attach import Decision, read_cursor
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.frame_log import Entry, FrameLog
from journalsim_reference.server import Server
from journalsim_reference.state import Run
from journalsim_reference.stream import Channel, Streams

LOOKUP_S = 0.085
"""The time that the store of this reader's events takes to answer, seconds."""


class _TrustsOldCursors(Streams):
    """Continues behind an evicted cursor with the oldest entry that the log still holds."""

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        if decision.cursor != "evicted":
            return decision
        active = self._state.session(request.session_id).active_runs()
        low = self.channel(request.session_id).log.low
        return evolve(decision, attachment="suffix" if active else "finished", position=low)


class _LooksAndThenReads(Streams):
    """Finds the position of a cursor, and later reads from there whatever is there by then."""

    async def body(
        self, session_id: str, channel: Channel, decision: Decision, begin: list[bytes]
    ) -> AsyncGenerator[bytes, None]:
        if decision.attachment == "suffix":
            for piece in begin:
                yield piece
            begin = []
            await trio.sleep(LOOKUP_S)
            decision = evolve(decision, position=max(decision.position, channel.log.low))
        async with aclosing(super().body(session_id, channel, decision, begin)) as pieces:
            async for piece in pieces:
                yield piece


class _TakesGarbageForTheEnd(Streams):
    """Lets a reader with a malformed cursor wait for the next frame."""

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        session = self._state.session(request.session_id)
        if decision.cursor != "malformed" or not request.cursor or not session.active_runs():
            return decision
        high = self.channel(request.session_id).log.high
        return evolve(decision, attachment="suffix", whole_turn=False, position=high, runs=())


class _HeedsNoCursor(Streams):
    """Sends the run under way again on every connection, and counts its frames per connection."""

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        if request.cursor is None:
            return decision
        same = request.cursor.rpartition(":")[0] == decision.run_id
        return super().decide(evolve(request, cursor=None if same else ""))

    def begin(self, decision: Decision, log: FrameLog) -> list[bytes]:
        first, *whole = super().begin(decision, log)
        return [first, *(encode_frame(frame, None) for frame in decision.first_frames(self._buffered) if whole)]

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        if entry.frame is not None:
            place = log.find(entry.run_id, entry.seq, entry.part)
            number = (place or 0) - decision.position
            yield encode_frame(entry.frame, f"{entry.run_id}:{number}")


class _OneStoreForAll(Streams):
    """Replays the frames behind a cursor of any session, before it continues with the requested one."""

    def attach(self, request: StreamRequest) -> StreamAnswer:
        if request.session_id not in self._state.sessions:
            return super().attach(request)
        channel = self.channel(request.session_id)
        cursor = read_cursor(self._state, channel.log, request.session_id, request.cursor)
        decision = self.decide(evolve(request, cursor=None))
        if cursor.is_ != "foreign_session" or decision.status != 200:
            return super().attach(request)
        begin = self.begin(evolve(decision, attachment="suffix", whole_turn=False), channel.log)
        body = self.body(request.session_id, channel, decision, [*begin, *self._stored_behind(request.cursor or "")])
        return StreamAnswer(status=200, body=body)

    def _stored_behind(self, cursor: str) -> Iterator[bytes]:
        run_id, _, seq = cursor.rpartition(":")
        log = self.channel(self._state.runs[run_id].session_id).log
        for place in range(log.find(run_id, int(seq), 0) or log.low, log.high):
            yield from self.events_of(log, Decision(status=200), log[place])


class _OpensForNothing(Streams):
    """Opens a stream for every reader, also where no run is under way."""

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        if decision.status != 204 or decision.cursor != "absent":
            return decision
        entries = reversed(self._state.session(request.session_id).entries)
        runs = (entry.run_id for entry in entries if isinstance(entry, Run))
        return evolve(decision, status=200, attachment="finished", run_id=next(runs, None))

    async def body(
        self, session_id: str, channel: Channel, decision: Decision, begin: list[bytes]
    ) -> AsyncGenerator[bytes, None]:
        if decision.attachment == "finished" and decision.cursor == "absent":
            yield begin[0]
            await trio.sleep_forever()
        async with aclosing(super().body(session_id, channel, decision, begin)) as pieces:
            async for piece in pieces:
                yield piece


class _NotesReaders(Streams):
    """Stores the latest reader and its position, one note per session."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]  # as the base takes them
        self.notes: dict[str, str] = {}

    def attach(self, request: StreamRequest) -> StreamAnswer:
        self.notes[request.session_id] = f"{request.reader} at {self.cursor(request.session_id)}"
        return super().attach(request)


class _ShowsTheNote(Server):
    """Writes the note to the message of the run under way, where every page displays it."""

    def read(self, session_id: str) -> tuple[Item, ...]:
        streams = self.writer.streams
        assert isinstance(streams, _NotesReaders)
        note = streams.notes.get(session_id)
        active = [run.run_id for run in self.state.session(session_id).active_runs()]
        return tuple(_noted(item, note) if item.run_id in active else item for item in super().read(session_id))


def _noted(item: Item, note: str | None) -> Item:
    return item if item.kind != "user" or note is None else evolve(item, metadata={**item.metadata, "read": note})


ATTACHING = (
    Bug(
        name="evicted-cursor-is-trusted",
        summary="A cursor whose frames were dropped is answered by the oldest frames that are left.",
        failure_mode="TC-4",
        trips=("replay-equals-live", "honest-cursor"),
        build=with_parts(streams=_TrustsOldCursors),
    ),
    Bug(
        name="cursor-checked-before-the-read",
        summary="The check that a cursor has no gap behind it comes some time before the read.",
        failure_mode="TC-5",
        trips=("replay-equals-live", "honest-cursor"),  # the first frames of a whole turn may be gone by then
        build=with_parts(streams=_LooksAndThenReads),
    ),
    Bug(
        name="malformed-cursor-means-the-end",
        summary="A malformed cursor counts as that of a reader who has received everything.",
        failure_mode="DF-22",
        trips=("honest-cursor",),
        build=with_parts(streams=_TakesGarbageForTheEnd),
    ),
    Bug(
        name="every-connection-counts-anew",
        summary="The server ignores the cursor, and each connection numbers its events from one.",
        failure_mode="SSE-7",
        trips=("honest-cursor", "stream-terminates"),  # a reader with the cursor of the end is never stopped
        build=with_parts(streams=_HeedsNoCursor),
    ),
    Bug(
        name="replay-of-another-session",
        summary="A cursor of another session is answered by the frames behind it there.",
        failure_mode="SSE-8",
        trips=("honest-cursor",),
        build=with_parts(streams=_OneStoreForAll),
    ),
    Bug(
        name="stream-for-an-idle-session",
        summary="A reader who attaches to an idle session receives a stream without any frame.",
        failure_mode="TC-10",
        trips=("stream-terminates",),
        build=with_parts(streams=_OpensForNothing),
    ),
    Bug(
        name="readers-share-a-note",
        summary="The position of the latest reader is stored once per session, and appears in its history.",
        failure_mode="TC-8",
        trips=("readers-are-pure",),
        build=with_parts(server=_ShowsTheNote, streams=_NotesReaders),
    ),
)
