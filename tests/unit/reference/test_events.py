"""Rows survive being written down."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from reference_impl.events import BARRIERS, KINDS, BadRow, Event, from_json, to_json

ROW = Event(
    run_id="r1",
    session_id="s1",
    seq=3,
    attempt=1,
    epoch=2,
    at=5,
    kind="message.completed",
    actor="lead",
    origin="model",
    payload={"message_id": "r1/m1", "text": "a\u2028b\r\n\ufeff é \ud83d"},
)


def test_a_row_is_named_by_its_run_and_number() -> None:
    assert ROW.event_id == "r1:3"


def test_any_text_survives_being_written_down() -> None:
    line = to_json(ROW)
    assert line.isascii()
    assert "\n" not in line
    assert from_json(line) == ROW


def test_a_row_is_written_in_one_way_only() -> None:
    turned = evolve(ROW, payload=dict(reversed(ROW.payload.items())))
    assert to_json(turned) == to_json(ROW)


@pytest.mark.parametrize(
    "line", ["", "[]", "{}", '{"event_id": "r1:1"}', '{"event_id": "r1:1", "colour": 1}', to_json(ROW)[:-5]]
)
def test_what_is_not_a_row_is_refused(line: str) -> None:
    with pytest.raises(BadRow, match="not a journal row"):
        from_json(line)


def _with(**changes: object) -> str:
    return json.dumps(json.loads(to_json(ROW)) | changes)


def test_a_row_of_another_format_is_refused() -> None:
    with pytest.raises(BadRow, match="has format 2"):
        from_json(_with(v=2))


@pytest.mark.parametrize("changes", [{"kind": "message.sung"}, {"event_id": "r1:4"}])
def test_a_row_that_this_version_does_not_write_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(BadRow, match="is not one that this version writes"):
        from_json(_with(**changes))


def test_barriers_are_kinds() -> None:
    assert set(BARRIERS) <= set(KINDS)
