"""Hostile text becomes harmless, and its width is known."""

from __future__ import annotations

import pytest
from report_examples import HOSTILE

from journalsim.report.escape import clip, columns, elide, inert, pad, quoted, visible, wrap


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_visible_text_is_one_printable_line_that_can_be_encoded(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    assert shown.encode("utf-8").decode("utf-8") == shown


@pytest.mark.parametrize("width", [3, 10, 41, 80])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_elided_text_fits(text: str, width: int) -> None:
    assert columns(elide(text, width)) <= width
    assert columns(quoted(text, width)) <= width
    assert quoted(text, width).isprintable()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_wrapped_text_loses_nothing(text: str) -> None:
    shown = visible(text)
    lines = wrap(shown, 40)
    assert all(columns(line) <= 40 for line in lines)
    assert "".join(lines).replace(" ", "") == shown.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x1b[0m", "\\x1b[0m"),
        ("\u202e", "\\u202e"),
        ("\ud800", "\\ud800"),
        ("\U000e0001", "\\U000e0001"),
        ("é", "é"),
        ("a\u0301\u0301\u0301\u0301", "a\u0301\u0301\u0301\\u0301"),
        ("\xa0", "\\xa0"),
    ],
)
def test_visible_spells_out_what_cannot_be_printed(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_quoted_texts_that_differ_never_look_alike() -> None:
    assert quoted("a\nb", 40) == '"a\\nb"'
    assert quoted("a\\nb", 40) == '"a\\\\nb"'
    assert quoted('say "x"', 40) == '"say \\"x\\""'


def test_elision_keeps_whole_words_from_both_ends() -> None:
    assert elide(" ".join(f"w{n}" for n in range(1, 13)), 16) == "w1 w2 w3 … w12"
    assert elide("x" * 50, 10) == "xxxxxx…xxx"


def test_elision_never_tears_an_escape() -> None:
    assert elide("\x1b" * 50, 10) == "\\x1b…"


def test_wide_characters_count_twice_and_marks_not_at_all() -> None:
    assert columns("日本") == 4
    assert columns("e\u0301") == 1
    assert pad("日", 4) == "日  "


def test_clip_cuts_the_end() -> None:
    assert clip("abc", 3) == "abc"
    assert clip("abcd", 3) == "ab…"


def test_wrap_breaks_words_that_are_longer_than_a_line() -> None:
    assert wrap("ab cdefgh i", 3) == ["ab", "cde", "fgh", "i"]
    assert wrap("日本語", 1) == ["日", "本", "語"]
    assert wrap("", 10) == [""]


@pytest.mark.parametrize(
    ("block", "safe"),
    [
        ("::error::x", "\\x3a:error::x"),
        ("a\n  ::stop-commands::x", "a\n  \\x3a:stop-commands::x"),
        ("x.yaml::name", "x.yaml::name"),
        ("a ##[error]b", "a \\x23#[error]b"),
    ],
)
def test_no_line_is_a_command_of_a_runner(block: str, safe: str) -> None:
    assert inert(block) == safe
