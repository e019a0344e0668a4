"""Pieces of a message add up to the message."""

from __future__ import annotations

import pytest
from reference_fakes import call

from journalsim_reference.content import NOTHING, Content, content_from_data, content_to_data, whole


def test_text_and_reasoning_grow_side_by_side() -> None:
    content = Content(text="Hel").plus(Content(reasoning="hm")).plus(Content(text="lo"))
    assert content == Content(text="Hello", reasoning="hm")


def test_arguments_go_to_the_call_that_they_name() -> None:
    opened = Content(calls=(call("c1", ""), call("c2", "")))
    grown = opened.plus(Content(calls=(call("c1", '{"a"', name=""),))).plus(
        Content(calls=(call("c1", ":1}", name=""),))
    )
    assert grown.calls == (call("c1", '{"a":1}'), call("c2", ""))


def test_aliases_are_kept_once_and_in_order() -> None:
    content = Content(aliases=("a",)).plus(Content(aliases=("b",))).plus(Content(aliases=("a",)))
    assert content.aliases == ("a", "b")


@pytest.mark.parametrize("content", [Content(text="a"), Content(reasoning="a"), Content(calls=(call("c1"),))])
def test_content_with_any_part_is_not_empty(content: Content) -> None:
    assert not content.empty


@pytest.mark.parametrize("content", [NOTHING, Content(aliases=("a",))])
def test_an_alias_alone_is_nothing_to_see(content: Content) -> None:
    assert content.empty


def test_size_counts_bytes_of_every_part() -> None:
    assert Content(text="aé", reasoning="b", calls=(call("c1", "{}"),)).size == 6


def test_size_survives_half_a_code_point() -> None:
    assert Content(text="\ud83d").size == 3


@pytest.mark.parametrize(
    ("arguments", "is_whole"),
    [('{"a": 1}', True), ("{}", True), ('{"a":', False), ("", False), ("1", False), ("free words", False)],
)
def test_arguments_are_whole_once_they_are_a_json_object(arguments: str, is_whole: bool) -> None:
    assert whole(call("c1", arguments)) is is_whole


def test_data_holds_only_the_parts_that_are_there() -> None:
    assert content_to_data(Content(text="a")) == {"text": "a"}
    assert content_to_data(NOTHING) == {}


def test_content_comes_back_from_its_data_without_aliases() -> None:
    content = Content("a", "b", (call("c1"),), ("x",))
    assert content_from_data(content_to_data(content)) == Content("a", "b", (call("c1"),))
