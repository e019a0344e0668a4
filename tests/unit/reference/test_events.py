"""Rows survive being written down."""

from __future__ import annotations

import pytest
from attrs import evolve

from journalsim_reference.events import BARRIERS, KINDS, Event, from_json, to_json

ROW = Event(
    run_id="r1",
    session_id="s1",
    seq=3,
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


@pytest.mark.parametrize("line", ["[]", "{}", "null", "0", '{"run_id": "r1"}', to_json(ROW)[:-1] + ',"colour":1}'])
def test_what_is_not_a_row_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a journal row"):
        from_json(line)


def test_a_damaged_page_that_gives_no_text_at_all_is_no_row() -> None:
    with pytest.raises(ValueError, match="not a journal row"):
        from_json(None)  # type: ignore[arg-type]  # what SQLite returns for NULL


@pytest.mark.parametrize("line", ["", "None", to_json(ROW)[:-5]])
def test_what_is_not_even_json_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"line 1 column \d+"):
        from_json(line)


def test_a_row_of_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="has format 2"):
        from_json(to_json(evolve(ROW, v=2)))


def test_a_row_of_a_kind_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="is not one that this version writes"):
        from_json(to_json(evolve(ROW, kind="message.sung")))


def test_barriers_are_kinds() -> None:
    assert set(BARRIERS) <= set(KINDS)
