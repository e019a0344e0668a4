"""A case as a value: its text, its id, its JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from journalsim.case import (
    NEVER,
    Action,
    Case,
    Delay,
    Placement,
    case_from_data,
    case_to_data,
    case_to_json,
    with_axes,
)

CASE = Case(
    scenario="stop-vs-completion",
    axes=(("crash", Placement("after", "stop", 5)), ("stop", Placement("point", "model.turn2.c7.after"))),
    actions=(Action("alice", "stop", Placement("step", number=57)),),
    delays=(Delay("worker", 3, 2),),
)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (NEVER, "never"),
        (Placement("point", "store.append#4.before"), "store.append#4.before"),
        (Placement("after", "stop"), "after:stop"),
        (Placement("after", "stop", 5), "after:stop+5ns"),
        (Placement("step", number=57), "step:57"),
        (Placement("time", number=1000), "time:1000"),
    ],
)
def test_placements_read_as_words(place: Placement, text: str) -> None:
    assert str(place) == text


def test_cases_read_as_words() -> None:
    assert str(Case(scenario="x")) == "as written"
    assert str(CASE) == "crash=after:stop+5ns, stop=model.turn2.c7.after, alice.stop@step:57, delay worker~3+2"


def test_case_survives_json() -> None:
    assert case_from_data(json.loads(case_to_json(CASE))) == CASE
    assert case_to_data(CASE)["format"] == 1
    assert "\n" not in case_to_json(CASE)


def test_case_id_is_that_of_its_value() -> None:
    assert CASE.id == case_from_data(case_to_data(CASE)).id
    assert len(CASE.id) == 6
    assert CASE.id != Case(scenario="stop-vs-completion").id


def test_axes_are_found_by_name() -> None:
    assert CASE.axis("stop") == Placement("point", "model.turn2.c7.after")
    assert CASE.axis("none") is None
    assert with_axes(CASE, [("b", NEVER), ("a", NEVER)]).axes == (("a", NEVER), ("b", NEVER))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"format": 2}, "case format 2 is not 1: write it again with this version"),
        ({}, "case format None is not 1: write it again with this version"),
        ({"format": 1}, "not a case: 'scenario'"),
        ({**case_to_data(CASE), "delays": [[1]]}, "not a case: "),
    ],
)
def test_other_data_is_no_case(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="case") as caught:
        case_from_data(data)
    assert str(caught.value).startswith(message)


def test_cursors_and_places_in_a_stream_read_as_words() -> None:
    assert str(Placement("cursor", "ahead")) == "cursor:ahead"
    assert str(Placement("cursor", "frame", 3)) == "cursor:frame 3"
    assert str(Placement("byte", number=17)) == "byte:17"
