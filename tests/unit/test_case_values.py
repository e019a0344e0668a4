"""A case as a value: its text, its id, its JSON."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from journalsim.case import (
    NEVER,
    Action,
    After,
    AtByte,
    AtCursor,
    AtFrame,
    AtPoint,
    AtStep,
    AtTime,
    Case,
    Delay,
    Loses,
    Placement,
    case_from_data,
    case_to_data,
    case_to_json,
    placement_from_data,
    placement_to_data,
    with_axes,
)

CASE = Case(
    scenario="stop-vs-completion",
    axes=(("crash", After("stop", 5)), ("stop", AtPoint("model.turn2.c7.after"))),
    actions=(Action("alice", "stop", AtStep(57)),),
    delays=(Delay("worker", 3, 2),),
)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (NEVER, "never"),
        (AtPoint("store.append#4.before"), "store.append#4.before"),
        (After("stop"), "after:stop"),
        (After("stop", 5), "after:stop+5ns"),
        (AtStep(57), "step:57"),
        (AtTime(1000), "time:1000"),
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


PLACEMENTS: list[tuple[Placement, list[Any]]] = [
    (NEVER, ["never", "", 0]),
    (AtPoint("store.append#4.before"), ["point", "store.append#4.before", 0]),
    (AtStep(57), ["step", "", 57]),
    (AtTime(0), ["time", "", 0]),
    (AtTime(1000), ["time", "", 1000]),
    (After("stop"), ["after", "stop", 0]),
    (After("stop", 5), ["after", "stop", 5]),
    (Loses("drawn#3"), ["loss", "drawn#3", 0]),
    (AtByte(17), ["byte", "", 17]),
    (AtFrame(3), ["frame", "", 3]),
    (AtCursor("ahead"), ["cursor", "ahead", 0]),
    (AtCursor("frame", 3), ["cursor", "frame", 3]),
]


@pytest.mark.parametrize(("place", "data"), PLACEMENTS)
def test_a_placement_is_written_as_kind_name_and_number(place: Placement, data: list[Any]) -> None:
    assert placement_to_data(place) == data
    assert placement_from_data(data) == place


def test_every_kind_of_placement_is_written() -> None:
    assert {type(place) for place, _ in PLACEMENTS} == set(get_args(Placement))


@pytest.mark.parametrize(
    "data",
    [
        None,
        "never",
        [],
        ["never"],
        ["never", "", 0, 0],
        ["nowhere", "", 0],
        ["never", "x", 0],
        ["never", "", 1],
        ["point", "", 0],
        ["point", "model.turn1.c1.after", 1],
        ["point", 5, 0],
        ["step", "x", 1],
        ["step", "", -1],
        ["step", "", True],
        ["step", "", 1.0],
        ["cursor", "sideways", 0],
        ["cursor", "frame", 0],
        ["cursor", "ahead", 1],
        {"kind": "never"},
    ],
)
def test_other_data_is_no_placement(data: Any) -> None:
    with pytest.raises(ValueError, match="is no placement"):
        placement_from_data(data)
    with pytest.raises(ValueError, match="is no placement"):
        case_from_data({**case_to_data(CASE), "axes": {"stop": data}})


def test_an_action_of_a_search_needs_a_moment() -> None:
    data = {**case_to_data(CASE), "actions": [["alice", "stop", ["after", "send", 0]]]}
    with pytest.raises(ValueError, match="after:send is no moment of an action"):
        case_from_data(data)


@pytest.mark.parametrize(("form", "number"), [("sideways", 0), ("frame", 0), ("equal", 1)])
def test_a_cursor_that_does_not_exist_cannot_be_made(form: Any, number: int) -> None:
    with pytest.raises(ValueError, match="there is no cursor"):
        AtCursor(form, number)


def test_the_id_of_a_saved_case_stays() -> None:
    assert case_to_json(CASE) == (
        '{"actions":[["alice","stop",["step","",57]]],'
        '"axes":{"crash":["after","stop",5],"stop":["point","model.turn2.c7.after",0]},'
        '"delays":[["worker",3,2]],"format":1,"scenario":"stop-vs-completion"}'
    )
    assert CASE.id == "8510ab"


def test_case_id_is_that_of_its_value() -> None:
    assert CASE.id == case_from_data(case_to_data(CASE)).id
    assert len(CASE.id) == 6
    assert CASE.id != Case(scenario="stop-vs-completion").id


def test_axes_are_found_by_name() -> None:
    assert CASE.axis("stop") == AtPoint("model.turn2.c7.after")
    assert CASE.axis("none") is None
    assert with_axes(CASE, [("b", NEVER), ("a", NEVER)]).axes == (("a", NEVER), ("b", NEVER))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"format": 2}, "case format 2 is not 1: write it again with this version"),
        ({}, "case format None is not 1: write it again with this version"),
        ({"format": 1}, "not a case: scenario is missing"),
        ({**case_to_data(CASE), "delays": [[1]]}, "not a case: expected a delay as [lane, nth, turns], found [1]"),
        ({**case_to_data(CASE), "delays": [["", 0, 1]]}, "not a case: expected a delay as [lane, nth, turns]"),
        ({**case_to_data(CASE), "delays": [["x", -1, 1]]}, "not a case: expected a delay as [lane, nth, turns]"),
        ({**case_to_data(CASE), "actions": [["a"]]}, "not a case: expected an action as [actor, verb, placement]"),
        ({**case_to_data(CASE), "axes": []}, "not a case: expected axes as an object, found []"),
        ({**case_to_data(CASE), "scenario": 5}, "not a case: expected scenario as text, found 5"),
        ({**case_to_data(CASE), "seed": 5}, "not a case: it has a key 'seed', which no case has"),
        (
            {**case_to_data(CASE), "axes": {"stop": ["nowhere", "", 0]}},
            "not a case: ['nowhere', '', 0] is no placement",
        ),
    ],
)
def test_other_data_is_no_case(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="case") as caught:
        case_from_data(data)
    assert str(caught.value).startswith(message)


def test_cursors_and_places_in_a_stream_read_as_words() -> None:
    assert str(AtCursor("ahead")) == "cursor:ahead"
    assert str(AtCursor("frame", 3)) == "cursor:frame 3"
    assert str(AtByte(17)) == "byte:17"
    assert str(AtFrame(3)) == "frame:3"
    assert str(Loses("unsynced")) == "unsynced"
