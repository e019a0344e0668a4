"""Seeded bugs of replays: remainders without a prefix, shifted numbers, and assumed positions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing

import trio
from attrs import evolve

from journalsim.contract.frames import Frame
from journalsim.contract.stream_port import StreamAnswer, StreamRequest, encode_frame
from journalsim_reference.attach import Decision
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.frame_log import Entry, FrameLog
from journalsim_reference.stream import Channel, Streams

BACK_WITHIN_S = 0.2
"""A reader who is back within this time counts as being at its old position, seconds."""


def _before(log: FrameLog, position: int) -> Entry | None:
    """Returns the last entry that a reader at a position has applied, if the log still holds it."""
    return log[position - 1] if log.low < position <= log.high else None


class _NeverSawItOpen(Streams):
    """Leaves out the text of a message that was opened before the reader came back."""

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        frame = entry.frame
        lost = frame is not None and frame.kind == "message.delta" and self._opened_before(log, decision, frame)
        if not lost:
            yield from super().events_of(log, decision, entry)

    def _opened_before(self, log: FrameLog, decision: Decision, delta: Frame) -> bool:
        if decision.attachment not in ("suffix", "finished") or decision.whole_turn:
            return False
        frames = (log[place].frame for place in range(max(log.low, decision.position), log.high))
        return not any(f.kind == "message.opened" and f.message_id == delta.message_id for f in frames if f is not None)


class _CountsTheRepair(Streams):
    """Opens the message again for a reader who returns inside a row, and counts that frame among the row's frames."""

    def begin(self, decision: Decision, log: FrameLog) -> list[bytes]:
        begin = super().begin(decision, log)
        inside = self._inside(log, decision)
        if inside is None:
            return begin
        again = Frame("message.opened", inside.run_id, decision.message_id)
        return [*begin, encode_frame(again, evolve(inside, part=inside.part + 1).id)]

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        inside = self._inside(log, decision)
        if inside is not None and entry.part and (entry.run_id, entry.seq) == (inside.run_id, inside.seq):
            entry = evolve(entry, part=entry.part + 1)
        yield from super().events_of(log, decision, entry)

    def _inside(self, log: FrameLog, decision: Decision) -> Entry | None:
        """Returns the part of a row behind which the reader comes back, if it does."""
        if decision.attachment != "suffix" or decision.message_id is None or decision.whole_turn:
            return None
        before = _before(log, decision.position)
        return before if before is not None and before.part else None


class _SignsTheEnd(Streams):
    """Sends the end of the stream under the id of the entry before it."""

    async def body(
        self, session_id: str, channel: Channel, decision: Decision, begin: list[bytes]
    ) -> AsyncGenerator[bytes, None]:
        async with aclosing(super().body(session_id, channel, decision, begin)) as pieces:
            async for piece in pieces:
                last = channel.log.last_id
                ends = piece.startswith(b"event: stream.end") and last is not None
                yield f"id: {last}\n".encode() + piece if ends else piece


class _ReplaysTheRest(Streams):
    """Begins a whole turn with the oldest entry that the log still holds."""

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        if not decision.runs:
            return decision
        return evolve(decision, position=self.channel(request.session_id).log.low, runs=())


class _RemembersWhatItSent(Streams):
    """Treats text that it has written to a connection as received, even if the connection broke."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]  # as the base takes them
        self._sent: dict[str, dict[bytes, None]] = {}

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        log, sent = self.channel(request.session_id).log, self._sent.get(request.reader, {})
        position = decision.position
        if decision.attachment == "suffix" and not decision.whole_turn:
            while log.low <= position < log.high and self._was_sent(log[position], sent):
                position += 1
        return evolve(decision, position=position)

    def _was_sent(self, entry: Entry, sent: dict[bytes, None]) -> bool:
        frame = entry.frame
        return frame is not None and frame.kind == "message.delta" and encode_frame(frame, self.id_of(entry)) in sent

    def attach(self, request: StreamRequest) -> StreamAnswer:
        answer = super().attach(request)
        return answer if answer.body is None else evolve(answer, body=self._noting(request.reader, answer.body))

    async def _noting(self, reader: str, body: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
        sent = self._sent.setdefault(reader, {})
        async with aclosing(body) as pieces:  # type: ignore[type-var]  # it is a generator
            async for piece in pieces:
                sent[piece] = None
                yield piece


class _TakesThemToBeThere(Streams):
    """Sends a reader that reconnects at once without a cursor the frames behind its previous cursor.

    A page reconnects like that only after the answer to its cursor announced a gap: it had a cursor whose event it had
    not seen.
    """

    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]  # as the base takes them
        self._was_at: dict[str, tuple[float, int]] = {}

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        if decision.attachment == "suffix" and decision.cursor in ("within", "equal"):
            self._was_at[request.reader] = (trio.current_time(), decision.position)
        since, position = self._was_at.get(request.reader, (float("-inf"), 0))
        if decision.attachment == "fresh" and trio.current_time() - since < BACK_WITHIN_S:
            return evolve(decision, position=position, runs=())
        return decision


REPLAYS = (
    Bug(
        name="reattach-drops-the-open-message",
        summary="A reader who reattaches in the middle of a message receives no more of it until it ends.",
        failure_mode="TC-1",
        trips=("replay-equals-live",),
        build=with_parts(streams=_NeverSawItOpen),
    ),
    Bug(
        name="repair-shifts-the-numbers",
        summary="The frame that opens a message again takes a number, and each frame behind it the next one.",
        failure_mode="TC-2",
        trips=("replay-equals-live",),
        build=with_parts(streams=_CountsTheRepair),
    ),
    Bug(
        name="end-takes-the-last-id",
        summary="The event that ends the stream has the id of the entry before it.",
        failure_mode="TC-3",
        trips=("legal-wire",),
        build=with_parts(streams=_SignsTheEnd),
    ),
    Bug(
        name="trimmed-turn-is-whole",
        summary="A turn whose first frames were dropped is replayed from its middle and declared whole.",
        failure_mode="DF-23",
        trips=("replay-equals-live", "honest-cursor"),  # a turn that is declared whole lacks its first frames
        build=with_parts(streams=_ReplaysTheRest),
    ),
    Bug(
        name="written-is-taken-for-read",
        summary="The text of an event that was under way when the connection broke is never sent again.",
        failure_mode="SSE-1",
        trips=("replay-equals-live",),
        build=with_parts(streams=_RemembersWhatItSent),
    ),
    Bug(
        name="cursor-is-taken-for-applied",
        summary="A page that starts again because its cursor was ahead receives only the frames behind that cursor.",
        failure_mode="SSE-2",
        trips=("replay-equals-live", "honest-cursor"),  # a turn that is declared whole lacks its first frames
        build=with_parts(streams=_TakesThemToBeThere),
    ),
)
