"""Very many hostile streams, cut anywhere: read by the decoder, sent through links, and shown by pages.

    python tests/properties/sse_fuzz.py [ROUNDS] [SEED]

``.ci/run`` runs it; the first disagreement ends it.  One process is right: more than a
million streams take about two minutes.
"""

from __future__ import annotations

import random
import sys

from attrs import define
from sse_rules import by_the_decoder, by_the_rules, cut_up, hostile_wire

from journalsim.actors.page.page import Page
from journalsim.actors.programs.profiles import program_for
from journalsim.actors.programs.program import Ask, Deliver, Effects, Sleep
from journalsim.actors.wire.byte_link import ByteLink
from journalsim.actors.wire.byte_pipe import BytePipe, Fault, Place, Shape
from journalsim.contract.frames import Frame
from journalsim.contract.stream_port import Control, decode_event, encode_control, encode_frame

ROUNDS = 1_200_000
LINK_EVERY = 8  # so many streams are read for each that also goes through a link
PAGE_EVERY = 32  # and for each run that is shown by a page, which takes fifty times as long

_TEXTS = (
    "a",
    "data: x\n\n",
    "id: 7\r\n",
    "\r",
    "\u2028",
    "\u0085",
    "\ufeff",
    "é北",
    "😀",
    "\ud83d",
    "\ude00",
    "\0",
    "",
)
_KINDS = ("browser", "fetch-sse", "fetch-event-source", "ai-sdk-ui", "cli")


@define
class Counts:
    """How much there was of everything."""

    streams: int = 0
    chunks: int = 0
    events: int = 0
    links: int = 0
    pages: int = 0
    connections: int = 0


def fuzz(seed: int, rounds: int) -> Counts:
    """Reads ``rounds`` hostile streams, each as a whole and cut up; some go through a link that does what it likes.

    Between them, runs are shown by pages whose connections break.
    """
    chance, counts = random.Random(seed), Counts()
    for number in range(rounds):
        wire = hostile_wire(chance)
        chunks = cut_up(chance, wire)
        whole = by_the_decoder([wire])
        assert whole == by_the_decoder(chunks), (wire, chunks)
        assert whole == by_the_rules(wire), wire
        counts.streams += 1
        counts.chunks += len(chunks)
        counts.events += len(whole.events)
        if number % LINK_EVERY == 0:
            through_a_link(chance, chunks)
            counts.links += 1
        if number % PAGE_EVERY == 0:
            counts.connections += onto_a_page(chance)
            counts.pages += 1
    return counts


def any_fault(chance: random.Random, frames: int) -> Fault:
    """Something happens at some byte, of the first connection or of each."""
    return Fault(
        at=Place(frames=chance.randrange(frames + 2), byte=chance.randrange(90)),
        kind=chance.choice(("cut", "reset", "end", "half_open")),
        lasts_ns=chance.choice((0, 0, 9)),
        connection=chance.choice((0, 1, 1, 2)),
    )


def any_shape(chance: random.Random) -> Shape:
    """A way that is slow, or holds back, or cuts what it passes on."""
    return Shape(
        latency_ns=chance.choice((0, 5)),
        gather_ns=chance.choice((0, 0, 7, None)),
        gather_bytes=chance.choice((0, 8)),
        chunk_bytes=chance.choice((0, 1, 3, 50)),
        split_at=(chance.randrange(20),),
        ns_per_byte=chance.choice((0, 2)),
    )


def through_a_link(chance: random.Random, frames: list[bytes]) -> None:
    """What a client reads through any pipe is what it would read of the bytes that arrived, in one piece."""
    wire = b"".join(frames)
    fault = any_fault(chance, len(frames))
    pipe = BytePipe(any_shape(chance), (fault,) if chance.random() < 0.7 else ())
    pipe.strike(0)
    for moment, frame in enumerate(frames):
        pipe.write(moment, frame)
    pipe.finish(len(frames))
    arrived = []
    while (due := pipe.next_due_ns()) is not None:
        arrived += pipe.advance(due)
    received = [arrival.data for arrival in arrived if arrival.kind == "bytes"]
    assert wire.startswith(b"".join(received)), (wire, received)
    assert by_the_decoder(received) == by_the_decoder([b"".join(received)])
    assert sum(arrival.kind in ("end", "error") for arrival in arrived) <= 1


class Watched:
    """A run, a page that watches it, and the link between the two."""

    def __init__(self, chance: random.Random) -> None:
        texts = chance.choices(_TEXTS, k=chance.randrange(1, 5))
        self.text = "".join(texts)
        told = [Frame("run.started", "r1"), Frame("message.opened", "r1", "m1")]
        told += [Frame("message.delta", "r1", "m1", text) for text in texts]
        told += [Frame("message.completed", "r1", "m1", self.text), Frame("run.ended", "r1", state="completed")]
        self.events = {f"r1:{number}": frame for number, frame in enumerate(told, start=1)}
        faults = tuple(any_fault(chance, len(told)) for _ in range(chance.randrange(3)))
        self.link = ByteLink(down=any_shape(chance), faults=faults)
        self.kind = chance.choice(_KINDS)
        self.connections = 0
        self.page = Page()
        self.program = program_for(self.kind, retry_ns=10)

    def watch(self) -> None:
        """Plays until the program asks for nothing more; ten connections are enough for any of these faults."""
        now_ns, due = 0, list(self.program.attach())
        while due and self.connections < 10:
            effect = due.pop(0)
            if isinstance(effect, Sleep):
                now_ns = max(now_ns + effect.delay_ns, self.link.closed_until_ns)
                due += self.program.woke(effect.timer)
            elif isinstance(effect, Ask):
                now_ns, after = self._serve(effect, now_ns)
                due += after

    def _serve(self, ask: Ask, now_ns: int) -> tuple[int, Effects]:
        self.connections += 1
        connection, said = self.link.connect(now_ns), self._answer(ask.cursor)
        if connection is None:
            return now_ns, self.program.ended(ask.connection, clean=False)
        if said is None:
            return now_ns, self.program.answered(ask.connection, 204, "")
        self.program.answered(ask.connection, 200)
        page, said = self.page, [*said, b""]
        while said or connection.next_due_ns() is not None:
            now_ns += 1
            if len(said) > 1:
                connection.write("server", now_ns, said.pop(0))
            elif said:
                said.clear()
                connection.end("server", now_ns)
            for signal in connection.advance(now_ns):
                if signal.side == "client" and signal.kind == "bytes":
                    self._show(ask, self.program.received(ask.connection, signal.data))
                elif signal.side == "client" and signal.kind in ("end", "error"):
                    return now_ns, self.program.ended(ask.connection, clean=signal.kind == "end")
                if self.page is not page:
                    return now_ns, self.program.attach()
        return now_ns, ()  # half-open: nobody will ever hear of it

    def _answer(self, cursor: str | None) -> list[bytes] | None:
        """What an honest server says."""
        ids = list(self.events)
        if cursor == ids[-1]:
            return None
        first = ids.index(cursor) + 1 if cursor else 0
        how = Control(
            kind="stream.open", attachment="suffix" if cursor else "fresh", run_id="r1", whole_turn=not cursor
        )
        return [encode_control(how), *(encode_frame(self.events[id], id) for id in ids[first:])]

    def _show(self, ask: Ask, effects: Effects) -> None:
        for effect in effects:
            told = decode_event(effect.event) if isinstance(effect, Deliver) else None
            if isinstance(told, Frame):
                assert isinstance(effect, Deliver)
                shown = self.page.frame(told, effect.event.id)
                assert shown is None or _units(self.text).startswith(_units(shown.text)), (self.text, shown)
                self.program.applied(effect.event)
                if told.kind == "run.ended":
                    self.program.finished()
            elif told is not None and self.page.control(told, ask.cursor) == "reopen":
                # The cursor was ahead of the page.  It is opened anew; of the history that it would read there is none.
                self.page, self.program = Page(), program_for(self.kind, retry_ns=10)
                break


def _units(text: str) -> bytes:
    """A text as JavaScript has it, to whom two halves of a character are that character."""
    return text.encode("utf-16-le", "surrogatepass")


def onto_a_page(chance: random.Random) -> int:
    """What a page shows is a beginning of the message at any moment, and all of it once it has heard of the end.

    Returns:
        How many connections that took.
    """
    watched = Watched(chance)
    watched.watch()
    if watched.page.ended and not watched.page.missing:
        shown = [(_units(item.text), item.state) for item in watched.page.items]
        assert shown == [(_units(watched.text), "completed")], (watched.text, watched.page.items)
    return watched.connections


def main(rounds: int = ROUNDS, seed: int = 2) -> None:
    counts = fuzz(seed, rounds)
    print(
        f"{counts.streams:,} hostile streams in {counts.chunks:,} chunks were read alike, {counts.events:,} events; "
        f"{counts.links:,} went through a link; {counts.pages:,} pages over {counts.connections:,} connections "
        f"showed what was said (seed {seed})"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
