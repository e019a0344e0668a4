"""Mistakes about what a reader who attaches is given: its cursor is misread, trusted too far, or not its own."""

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
"""How long the store of this reader's events takes to answer, seconds."""


class _TrustsOldCursors(Streams):
    """Goes on behind a cursor with the oldest entry that it still has."""

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        if decision.cursor != "evicted":
            return decision
        active = self._state.session(request.session_id).active_runs()
        low = self.channel(request.session_id).log.low
        return evolve(decision, attachment="suffix" if active else "finished", position=low)


class _LooksAndThenReads(Streams):
    """Finds the place of a cursor, and later reads from there whatever is there by then."""

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
    """Has a reader whose cursor cannot be read wait for whatever comes next."""

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        session = self._state.session(request.session_id)
        if decision.cursor != "malformed" or not request.cursor or not session.active_runs():
            return decision
        high = self.channel(request.session_id).log.high
        return evolve(decision, attachment="suffix", whole_turn=False, position=high, runs=())


class _HeedsNoCursor(Streams):
    """Begins the run under way anew on every connection, and counts what it sends on it."""

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        if request.cursor is None:
            return decision
        same = request.cursor.rpartition(":")[0] == decision.run_id
        return super().decide(evolve(request, cursor=None if same else ""))

    def begin(self, decision: Decision, log: FrameLog) -> list[bytes]:
        first, *whole = super().begin(decision, log)
        return [first, *(encode_frame(told, None) for told in decision.first_frames(self._buffered) if whole)]

    def told(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        if entry.frame is not None:
            place = log.find(entry.run_id, entry.seq, entry.part)
            number = (place or 0) - decision.position
            yield encode_frame(entry.frame, f"{entry.run_id}:{number}")


class _OneStoreForAll(Streams):
    """Replays what is stored behind a cursor, in whichever session that is, before it goes on with this one."""

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
            yield from self.told(log, Decision(status=200), log[place])


class _OpensForNothing(Streams):
    """Opens a stream for everybody who asks, also where nothing is under way."""

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
    """Keeps who has read up to where, one note a session."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]  # as the base takes them
        self.notes: dict[str, str] = {}

    def attach(self, request: StreamRequest) -> StreamAnswer:
        self.notes[request.session_id] = f"{request.reader} at {self.cursor(request.session_id)}"
        return super().attach(request)


class _ShowsTheNote(Server):
    """Writes the note to the message of the run that is under way, where whoever opens the page finds it."""

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
        summary="A cursor of which nothing is kept any more is answered by the oldest entries that are.",
        failure_mode="TC-4",
        trips=("replay-equals-live", "honest-cursor"),
        build=with_parts(streams=_TrustsOldCursors),
    ),
    Bug(
        name="cursor-checked-before-the-read",
        summary="That nothing is missing behind a cursor is found out some time before the entries are read.",
        failure_mode="TC-5",
        trips=("replay-equals-live", "honest-cursor"),  # of a whole turn the beginning may be gone by then
        build=with_parts(streams=_LooksAndThenReads),
    ),
    Bug(
        name="malformed-cursor-means-the-end",
        summary="A cursor that cannot be read is taken for that of a reader who has everything.",
        failure_mode="DF-22",
        trips=("honest-cursor",),
        build=with_parts(streams=_TakesGarbageForTheEnd),
    ),
    Bug(
        name="every-connection-counts-anew",
        summary="The cursor is not looked at, and each connection numbers its events from one.",
        failure_mode="SSE-7",
        trips=("honest-cursor", "stream-terminates"),  # nobody is told to stop who shows a cursor at the end
        build=with_parts(streams=_HeedsNoCursor),
    ),
    Bug(
        name="replay-of-another-session",
        summary="A cursor of another session is answered by what followed it there.",
        failure_mode="SSE-8",
        trips=("honest-cursor",),
        build=with_parts(streams=_OneStoreForAll),
    ),
    Bug(
        name="stream-for-an-idle-session",
        summary="Whoever attaches where nothing is under way is given a stream on which nothing ever comes.",
        failure_mode="TC-10",
        trips=("stream-terminates",),
        build=with_parts(streams=_OpensForNothing),
    ),
    Bug(
        name="readers-share-a-note",
        summary="Where the latest reader was is kept once a session, and is written to its history.",
        failure_mode="TC-8",
        trips=("readers-are-pure",),
        build=with_parts(server=_ShowsTheNote, streams=_NotesReaders),
    ),
)
