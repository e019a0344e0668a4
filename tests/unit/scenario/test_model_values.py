"""Small questions that a scenario answers itself."""

from __future__ import annotations

import pytest

from journalsim.scenario.loader import load_scenario
from journalsim.scenario.values.cast import ToolSpec
from journalsim.scenario.values.speech import Text


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (Text(chunks=("a", "b")), ("a", "b")),
        (Text(words=3), ("t2w1 ", "t2w2 ", "t2w3 ")),
        (Text(), ()),
        (Text(words=2, bytes=20), ("t2w1----- ", "t2w2----- ")),
        (Text(words=2, bytes=1), ("t2w1 ", "t2w2 ")),
    ],
)
def test_generated_words_name_their_turn(text: Text, pieces: tuple[str, ...]) -> None:
    assert text.pieces(2) == pieces


def test_tool_that_nobody_scripted_answers_at_once(everything: str) -> None:
    scenario = load_scenario(everything.encode(), "x")
    assert scenario.tool("search").duration_ns == 1_500_000_000
    assert scenario.tool("never named") == ToolSpec(name="never named")


def test_calls_come_in_the_order_of_the_script(everything: str) -> None:
    scenario = load_scenario(everything.encode(), "x")
    assert [call.id for call in scenario.calls()] == ["t1", "t2", "t3", "t4", "t5"]
