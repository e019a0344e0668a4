"""Buffers of open messages stay within their bounds and forget on time."""

from __future__ import annotations

from journalsim_reference.content import NOTHING, Content
from journalsim_reference.partials import BYTES_MAX, MESSAGES_MAX, Partials


def test_pieces_of_a_message_add_up() -> None:
    partials = Partials()
    partials.add("r1", "m1", Content(text="Hel"))
    partials.add("r1", "m1", Content(text="lo"))
    assert partials.content("m1") == Content(text="Hello")
    assert (len(partials), partials.bytes) == (1, 5)


def test_a_message_without_a_buffer_has_no_content() -> None:
    assert Partials().content("m1") is NOTHING


def test_a_piece_beyond_the_bytes_does_not_fit() -> None:
    partials = Partials(bytes_max=4)
    partials.add("r1", "m1", Content(text="abc"))
    assert partials.fits("m1", Content(text="d"))
    assert not partials.fits("m1", Content(text="é"))
    assert not partials.fits("m2", Content(text="ef"))


def test_a_message_beyond_the_number_does_not_fit_but_the_others_go_on() -> None:
    partials = Partials(messages_max=1)
    partials.add("r1", "m1", Content(text="a"))
    assert not partials.fits("m2", Content(text="b"))
    assert partials.fits("m1", Content(text="b"))


def test_evicting_a_message_gives_its_bytes_back() -> None:
    partials = Partials()
    partials.add("r1", "m1", Content(text="abc"))
    partials.add("r1", "m2", Content(text="de"))
    partials.evict("m1")
    partials.evict("m1")
    assert (len(partials), partials.bytes) == (1, 2)


def test_clearing_a_run_leaves_the_others_alone() -> None:
    partials = Partials()
    partials.add("r1", "m1", Content(text="abc"))
    partials.add("r1", "m2", Content(text="de"))
    partials.add("r2", "m3", Content(text="f"))
    partials.clear("r1")
    assert (len(partials), partials.bytes) == (1, 1)
    assert dict(partials.of_run("r2")) == {"m3": Content(text="f")}


def test_the_bounds_are_the_declared_ones() -> None:
    partials = Partials()
    assert (partials.messages_max, partials.bytes_max) == (MESSAGES_MAX, BYTES_MAX)
