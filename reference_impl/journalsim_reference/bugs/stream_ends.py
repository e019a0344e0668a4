"""Seeded bugs at the start and the end of a stream: no replay, no end, an early end, or an unannounced gap."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from journalsim.contract.sse import encode_json
from journalsim.contract.stream_port import StreamRequest
from journalsim_reference.attach import Decision
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.frame_log import Entry, FrameLog
from journalsim_reference.stream import Channel, Reader, Streams

UNBOUNDED = 10**9


class _SetsTheBoundAndReplaysNothing(Streams):
    """Restarts behind all earlier frames."""

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        active = self._state.session(request.session_id).active_runs()
        if decision.attachment != "restart" or not active:
            return decision
        return evolve(decision, position=self.channel(request.session_id).log.high, runs=())


class _FiltersUpToTheCursor(Streams):
    """Treats a cursor that is ahead as a bound, below which everything has been sent."""

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        if decision.cursor != "ahead" or decision.attachment != "restart":
            return decision
        position = self.channel(request.session_id).log.high
        return evolve(decision, attachment="suffix", whole_turn=False, runs=(), position=position)

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        if decision.cursor != "ahead" or decision.attachment != "suffix":
            yield from super().events_of(log, decision, entry)


class _FiltersTheStop(Streams):
    """Sends a stop under the id of the frame before it, which every reader has received."""

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        frame = entry.frame
        if frame is None or frame.kind != "run.ended" or frame.cause != "stopped":
            yield from super().events_of(log, decision, entry)


class _ClosesBehindTheAnswer(Streams):
    """Treats a completed message as the end of its run."""

    def over(self, session_id: str) -> bool:
        newest = [list(run.messages.values())[-1] for run in self._state.session(session_id).active_runs()]
        return all(message.role == "assistant" and message.state == "completed" for message in newest)


class _NumbersTheGap(Streams):
    """Sends the event that announces a gap with an id, as it sends every event."""

    def gap(self, run_id: str | None, reason: str) -> bytes:
        return encode_json({"run_id": run_id, "reason": reason}, event="stream.gap", id="0")


class _DropsTheOldest(Streams):
    """Drops the frames that a slow reader has not taken, and continues with the rest."""

    def missed(self, log: FrameLog, reader: Reader) -> bool:
        reader.position = max(reader.position, log.low)
        return False


class _KeepsEverything(Streams):
    """Holds all frames until the last reader has received them."""

    def channel(self, session_id: str) -> Channel:
        if session_id not in self._channels:
            self._channels[session_id] = Channel(FrameLog(UNBOUNDED, UNBOUNDED))
        return super().channel(session_id)


STREAM_ENDS = (
    Bug(
        name="restart-without-a-replay",
        summary="A stream that is declared to restart starts behind all earlier frames.",
        failure_mode="HW-42",
        trips=("replay-equals-live", "honest-cursor"),  # a declared restart sends no earlier frame
        build=with_parts(streams=_SetsTheBoundAndReplaysNothing),
    ),
    Bug(
        name="cursor-ahead-is-a-bound",
        summary="A cursor that is ahead of everything is believed, and all frames below it are filtered out.",
        failure_mode="HW-47",
        trips=("honest-cursor",),
        build=with_parts(streams=_FiltersUpToTheCursor),
    ),
    Bug(
        name="stop-borrows-an-id",
        summary="The frame of a stop has the id of the frame before it, and is filtered out as sent.",
        failure_mode="HW-66",
        trips=("stream-terminates",),
        build=with_parts(streams=_FiltersTheStop),
    ),
    Bug(
        name="closed-behind-the-answer",
        summary="A stream ends in good order as soon as a message is complete, although its run goes on.",
        failure_mode="HW-54",
        trips=("stream-terminates",),
        build=with_parts(streams=_ClosesBehindTheAnswer),
    ),
    Bug(
        name="gap-has-an-id",
        summary="The event that announces a gap has the id 0, which its reader then sends as its cursor.",
        failure_mode="GO-19",
        trips=("legal-wire",),
        build=with_parts(streams=_NumbersTheGap),
    ),
    Bug(
        name="slow-reader-skips-ahead",
        summary="Frames that a slow reader has not taken in time are dropped without a gap event.",
        failure_mode="HW-51",
        trips=("replay-equals-live",),
        build=with_parts(streams=_DropsTheOldest),
    ),
    Bug(
        name="kept-until-everybody-has-it",
        summary="Frames that a slow reader has not taken are held for it without a bound.",
        failure_mode="",
        trips=("bounded-stream-buffers",),
        build=with_parts(streams=_KeepsEverything),
    ),
)
