"""Seeded bugs of stream ids: used twice, compared across runs, raised, or given to the wrong event."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import Factory, evolve, fields, frozen

from journalsim.contract.frames import Frame
from journalsim.contract.stream_port import StreamRequest, encode_frame
from journalsim_reference.attach import Decision
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.events import Event
from journalsim_reference.frame_log import Entry, FrameLog
from journalsim_reference.stream import Streams


@frozen(kw_only=True)
class _Noted(Decision):
    """A decision, with notes about one connection."""

    notes: dict[str, int] = Factory(dict)


def _noted(decision: Decision, **notes: int) -> _Noted:
    given = {field.name: getattr(decision, field.name) for field in fields(Decision)}
    return _Noted(**given, notes=notes)


def _place(log: FrameLog, entry: Entry) -> int:
    """Returns the position behind an entry."""
    return log.find(entry.run_id, entry.seq, entry.part) or 0


def _is_text(entry: Entry) -> bool:
    return entry.frame is not None and entry.frame.kind == "message.delta"


def _goes_on(decision: Decision) -> bool:
    """Returns True if a reader receives the frames behind its cursor, of a run under way."""
    return decision.attachment == "suffix" and not decision.whole_turn


class _SaysItHasEnded(Streams):
    """Sends a reader who has everything the end of the run, under the next number."""

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        next_one = decision.cursor == "equal" and _place(log, entry) == decision.position + 1
        if next_one and _is_text(entry):  # the reader then drops the true one as received
            yield encode_frame(Frame("run.ended", entry.run_id, state="failed"), entry.id)
            return
        yield from super().events_of(log, decision, entry)


class _StampsTheNewest(Streams):
    """Gives the first of several queued frames the id of the last one."""

    def decide(self, request: StreamRequest) -> Decision:
        return _noted(super().decide(request), stamped=0)

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        assert isinstance(decision, _Noted)
        place = newest = _place(log, entry)
        if place <= decision.notes["stamped"]:
            yield from (encode_frame(frame, None) for frame in (entry.frame,) if frame is not None)
            return
        while _is_text(entry) and newest < log.high and _is_text(log[newest]):
            newest += 1
        decision.notes["stamped"] = newest
        yield from super().events_of(log, decision, evolve(log[newest - 1], frame=entry.frame))


class _RaisesTheCursor(Streams):
    """Lets a reader continue behind the newest stored text, whatever its page has applied."""

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        log, position = self.channel(request.session_id).log, decision.position
        while _goes_on(decision) and position < log.high and _is_text(log[position]):
            position += 1
        return evolve(decision, position=position)


class _ComparesNumbers(Streams):
    """Compares the number of a cursor and ignores its run."""

    def decide(self, request: StreamRequest) -> Decision:
        decision = super().decide(request)
        return _noted(decision, seen=0 if decision.whole_turn else _number(request.cursor))

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        assert isinstance(decision, _Noted)
        its_own = decision.position > log.low and log[decision.position - 1].run_id == entry.run_id
        ends = entry.frame is not None and entry.frame.kind == "run.ended"
        if its_own or ends or entry.seq > decision.notes["seen"]:
            yield from super().events_of(log, decision, entry)


def _number(cursor: str | None) -> int:
    digits = (cursor or "").rpartition(":")[2].partition(".")[0]
    return int(digits) if digits.isdecimal() else 0


class _HandsOverInTheWrongOrder(Streams):
    """Takes the bound of the replay from the newest piece while the one before it is not yet there."""

    def decide(self, request: StreamRequest) -> Decision:
        decision, log = super().decide(request), self.channel(request.session_id).log
        newest = [position for position in range(max(log.low, log.high - 2), log.high) if _is_text(log[position])]
        return _noted(decision, late=newest[0] + 1 if len(newest) == 2 else 0)

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        assert isinstance(decision, _Noted)
        if _place(log, entry) != decision.notes["late"]:  # a late piece is within the bound, and dropped
            yield from super().events_of(log, decision, entry)


class _CountsFromOneAgain(Streams):
    """Counts the frames of each process from one, and identifies cursors by that count alone."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]  # the arguments of the base
        self._earlier: dict[str, int] = {}

    def restore(self, event: Event) -> None:
        super().restore(event)
        self._earlier[event.session_id] = self.channel(event.session_id).log.high

    def decide(self, request: StreamRequest) -> Decision:
        decision, earlier = super().decide(request), self._earlier.get(request.session_id, 0)
        old = _goes_on(decision) and 0 < decision.position <= earlier
        return _noted(decision, muted=earlier + decision.position if old else 0)

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        assert isinstance(decision, _Noted)
        if not (_is_text(entry) and _place(log, entry) <= decision.notes["muted"]):
            yield from super().events_of(log, decision, entry)


STREAM_IDS = (
    Bug(
        name="synthetic-end-takes-the-next-id",
        summary="A reader who has everything receives an end under the next number, and drops the true frame.",
        failure_mode="HW-35",
        trips=("replay-equals-live",),
        build=with_parts(streams=_SaysItHasEnded),
    ),
    Bug(
        name="queued-frames-take-the-newest-id",
        summary="The first of several frames that wait for a reader is sent with the id of the last one.",
        failure_mode="HW-43",
        trips=("replay-equals-live",),
        build=with_parts(streams=_StampsTheNewest),
    ),
    Bug(
        name="cursor-raised-to-the-newest",
        summary="A reader continues behind the newest stored text, and not behind the text that its page has applied.",
        failure_mode="HW-41",
        trips=("replay-equals-live",),
        build=with_parts(streams=_RaisesTheCursor),
    ),
    Bug(
        name="cursors-compared-by-number",
        summary="A cursor of an earlier run mutes all frames of the new run up to the cursor's number.",
        failure_mode="HW-45",
        trips=("replay-equals-live",),
        build=with_parts(streams=_ComparesNumbers),
    ),
    Bug(
        name="piece-lost-at-the-hand-over",
        summary="A reader who attaches while two pieces are entered gets the later one and never the earlier.",
        failure_mode="GO-17",
        trips=("replay-equals-live",),
        build=with_parts(streams=_HandsOverInTheWrongOrder),
    ),
    Bug(
        name="numbers-begin-again-after-a-restart",
        summary="A cursor from before a restart mutes as many pieces of text as that process had counted.",
        failure_mode="GO-18",
        trips=("replay-equals-live",),
        build=with_parts(streams=_CountsFromOneAgain),
    ),
)
