"""Seeded bugs in answers to late readers: made-up bubbles, bubbles under two names, and a history with holes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from attrs import evolve

from journalsim.contract.frames import Frame, FrameKind
from journalsim.contract.items import Item
from journalsim.contract.stream_port import encode_frame
from journalsim_reference.attach import Decision
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.events import Event
from journalsim_reference.frame_log import Entry, FrameLog
from journalsim_reference.stream import Streams
from journalsim_reference.writer import Control, Writer

RELEASE_NS = 25_000_000
"""The time for which a worker still holds a run that has ended, nanoseconds."""


class _MakesUpABubble(Streams):
    """Opens a message for every reader, and closes it where none is under way."""

    def begin(self, decision: Decision, log: FrameLog) -> list[bytes]:
        begin = super().begin(decision, log)
        if decision.attachment != "finished" or decision.run_id is None:
            return begin
        made_up = f"{decision.run_id}/answer"
        kinds: tuple[FrameKind, ...] = ("message.opened", "message.completed")
        return [*begin, *(encode_frame(Frame(kind, decision.run_id, made_up), None) for kind in kinds)]


class _NamesItAnew(Streams):
    """Forgets the name of a message as soon as its run is over, and builds the turn under a new name."""

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        frame = entry.frame
        if (
            decision.attachment == "finished"
            and decision.whole_turn
            and frame is not None
            and frame.message_id is not None
        ):
            entry = evolve(entry, frame=evolve(frame, message_id=f"{frame.run_id}/again"))
        return super().events_of(log, decision, entry)


class _ReleasesLate(Writer):
    """Displays the latest checkpoint of a run until the worker has released it, and announces its end before that."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]  # as the base takes them
        self._held: dict[str, None] = {}

    def release(self, control: Control, event: Event) -> None:
        self._held[event.run_id] = None
        self.ports.spawn(f"release:{event.run_id}", partial(self._let_go, event.run_id))
        super().release(control, event)

    async def _let_go(self, run_id: str) -> None:
        await self.ports.sleep(RELEASE_NS)
        del self._held[run_id]

    def shown(self, session_id: str) -> tuple[Item, ...]:
        return tuple(_checkpoint(i) if i.run_id in self._held else i for i in super().shown(session_id))


def _checkpoint(item: Item) -> Item:
    if item.kind != "assistant":
        return item
    return evolve(item, text=item.text[: len(item.text) // 2], state="interrupted")


BUBBLES = (
    Bug(
        name="late-reader-gets-an-empty-bubble",
        summary="A reader who reattaches after the end of a run receives a message that the model never sent.",
        failure_mode="TC-6",
        trips=("single-visible-source",),
        build=with_parts(streams=_MakesUpABubble),
    ),
    Bug(
        name="late-reader-gets-another-bubble",
        summary="A reader who reattaches after the end of a run receives its answer under another id.",
        failure_mode="TC-7",
        trips=("stable-identity",),
        build=with_parts(streams=_NamesItAnew),
    ),
    Bug(
        name="history-shrinks-after-the-end",
        summary="Readers receive the end before the history holds more than the first half of the answer.",
        failure_mode="TC-11",
        trips=("replay-equals-live", "readers-are-pure"),  # the history grows again although only readers have acted
        build=with_parts(writer=_ReleasesLate),
    ),
)
