"""SSE coding on texts, bytes and cuts that nobody thought of."""

from __future__ import annotations

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from sse_fuzz import fuzz
from sse_rules import by_the_decoder, by_the_rules, cut_up, hostile_wire

from journalsim.actors.programs.dialects import FetchEventSourceDecoder, HttpxSseDecoder
from journalsim.contract.sse import (
    Decoder,
    EventTooLargeError,
    SseEvent,
    encode_comment,
    encode_event,
    encode_json,
    join_surrogates,
)

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


def test_hostile_streams_are_read_alike_wherever_they_are_cut() -> None:
    """The small form of what ``.ci/run`` does with more than a million."""
    counts = fuzz(seed=1, rounds=8_000)
    assert counts.chunks > 2 * counts.streams
    assert counts.events > counts.streams // 2
    assert (counts.links, counts.pages) == (1_000, 250)
    assert counts.connections > counts.pages
