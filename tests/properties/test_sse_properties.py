"""SSE coding on texts, bytes and cuts that nobody thought of."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sse_rules import by_the_decoder, by_the_rules, cut_up, hostile_wire

from sim.actors.byte_pipe import BytePipe, Fault, Place, Shape
from sim.actors.dialects import FetchEventSourceDecoder, HttpxSseDecoder
from sim.sse import Decoder, EventTooLargeError, SseEvent, encode_comment, encode_event, encode_json, join_surrogates

unhurried = settings(deadline=None)  # a busy machine is no failure

any_text = st.text(st.characters())  # surrogates too
sendable = st.text(st.characters(exclude_categories=["Cs"]))
one_line = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"))


@unhurried
@given(text=any_text, id=one_line)
def test_any_text_comes_back_from_json_as_it_was(text: str, id: str) -> None:
    """Halves of a character that stand side by side come back as that character, as in JavaScript."""
    (event,) = Decoder().feed(encode_json(text, id=id))
    assert json.loads(event.data) == join_surrogates(text)
    assert event.id == id


@unhurried
@given(data=sendable, kind=one_line, id=st.none() | one_line, retry_ms=st.none() | st.integers(0, 10**9))
def test_every_field_comes_back_as_it_was(data: str, kind: str, id: str | None, retry_ms: int | None) -> None:
    """Raw text comes back with LF for each of its line ends."""
    decoder = Decoder()
    (event,) = decoder.feed(encode_event(data, event=kind, id=id, retry_ms=retry_ms))
    expected = data.replace("\r\n", "\n").replace("\r", "\n")
    assert event == SseEvent(expected, kind or "message", id or "", id)
    assert decoder.retry_ms == retry_ms
    assert not decoder.inside_event


@unhurried
@given(before=sendable, comment=sendable, after=sendable)
def test_a_comment_leaves_the_events_around_it_alone(before: str, comment: str, after: str) -> None:
    """For every decoder, the lenient ones too: a heartbeat is never an event."""
    wire = [encode_event(before, id="1"), encode_comment(comment), encode_event(after, id="2")]
    for decoder in (Decoder(), HttpxSseDecoder(), FetchEventSourceDecoder(lambda id: None)):
        assert len(decoder.feed(b"".join(wire))) == 2


@unhurried
@given(wire=st.binary() | st.randoms(use_true_random=False).map(hostile_wire), chance=st.randoms(use_true_random=False))
def test_the_decoder_reads_what_the_rules_say_wherever_the_bytes_are_cut(wire: bytes, chance: random.Random) -> None:
    """Compared with the text of the standard, read for the whole stream at once."""
    assert by_the_decoder([wire]) == by_the_rules(wire)
    assert by_the_decoder(cut_up(chance, wire)) == by_the_rules(wire)


@unhurried
@given(wire=st.randoms(use_true_random=False).map(hostile_wire), chance=st.randoms(use_true_random=False))
def test_the_bound_is_met_at_the_same_byte_wherever_the_bytes_are_cut(wire: bytes, chance: random.Random) -> None:
    """Up to the bound every event arrives, and after it none, whatever the chunks were."""

    def read(chunks: list[bytes]) -> tuple[list[SseEvent], bool, str]:
        decoder = Decoder(event_bytes_max=8)
        events: list[SseEvent] = []
        for chunk in chunks:
            try:
                events += decoder.feed(chunk)
            except EventTooLargeError as error:
                return events + list(error.events), True, decoder.last_id_dispatched
        return events, False, decoder.last_id_dispatched

    assert read([wire]) == read(cut_up(chance, wire))


def fuzz(seed: int, rounds: int) -> tuple[int, int, int]:
    """Reads ``rounds`` hostile streams, each as a whole, cut up, and through a link that does what it likes.

    Returns:
        How many streams, chunks and events there were.
    """
    chance = random.Random(seed)
    chunk_count = events = 0
    for number in range(rounds):
        wire = hostile_wire(chance)
        chunks = cut_up(chance, wire)
        whole = by_the_decoder([wire])
        assert whole == by_the_decoder(chunks), (wire, chunks)
        assert whole == by_the_rules(wire), wire
        if number % 8 == 0:
            through_a_link(chance, chunks)
        chunk_count += len(chunks)
        events += len(whole.events)
    return rounds, chunk_count, events


def through_a_link(chance: random.Random, frames: list[bytes]) -> None:
    """What a client reads through any pipe is what it would read of the bytes that arrived, in one piece."""
    wire = b"".join(frames)
    fault = Fault(
        at=Place(frames=chance.randrange(len(frames) + 2), byte=chance.randrange(6)),
        kind=chance.choice(("cut", "reset", "end", "half_open")),
        lasts_ns=chance.choice((0, 0, 9)),
    )
    shape = Shape(
        latency_ns=chance.choice((0, 5)),
        gather_ns=chance.choice((0, 0, 7, None)),
        gather_bytes=chance.choice((0, 8)),
        chunk_bytes=chance.choice((0, 1, 3)),
        split_at=(chance.randrange(20),),
        ns_per_byte=chance.choice((0, 2)),
    )
    pipe = BytePipe(shape, (fault,) if chance.random() < 0.7 else ())
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


def test_hostile_streams_are_read_alike_wherever_they_are_cut() -> None:
    """The small form of the campaign below."""
    rounds, chunks, events = fuzz(seed=1, rounds=10_000)
    assert chunks > 2 * rounds
    assert events > rounds // 2


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(2, 12))
def test_campaign_of_hostile_streams(seed: int) -> None:
    """More than a million streams in all, and several million chunks; every eighth goes through a link."""
    rounds, chunks, events = fuzz(seed, rounds=120_000)
    assert chunks > 2 * rounds
    assert events > rounds // 2
