"""What frames make of the rows of a page: one fold for pages on the wire, for views and for the words displayed."""

from __future__ import annotations

from typing import get_args

import pytest

from journalsim.contract.events.client_events import ClientApplied, ViewAfter
from journalsim.contract.events.server_events import FramePublished
from journalsim.contract.frames import Frame, FrameKind
from journalsim.contract.items import Item
from journalsim.contract.page_fold import (
    WORDED,
    Reopening,
    Rows,
    apply_frame,
    items_of,
    row_after,
    rows_of,
    words_after,
)


def rows_after(*frames: Frame, history: tuple[Item, ...] = (), reopening: Reopening = "goes on") -> Rows:
    rows = rows_of(history)
    for frame in frames:
        apply_frame(rows, frame, reopening=reopening)
    return rows


def opened(message: str = "m1") -> Frame:
    return Frame("message.opened", "r1", message, source="msg-1")


def delta(text: str, reasoning: str = "", message: str = "m1") -> Frame:
    return Frame("message.delta", "r1", message, text, reasoning)


def test_deltas_add_their_words_to_the_message_that_was_opened() -> None:
    (item,) = items_of(rows_after(opened(), delta("a", "why "), delta("b", "not")))
    assert item == Item(
        kind="assistant", id="m1", aliases=("msg-1",), state="open", run_id="r1", text="ab", reasoning="why not"
    )


def test_delta_of_a_message_that_was_never_opened_opens_it() -> None:
    (item,) = items_of(rows_after(delta("a")))
    assert (item.id, item.aliases, item.state, item.text) == ("m1", (), "open", "a")


@pytest.mark.parametrize(
    ("kind", "state"), [("message.completed", "completed"), ("message.interrupted", "interrupted")]
)
def test_last_frame_brings_text_and_state_and_may_leave_out_the_reasoning(kind: FrameKind, state: str) -> None:
    (item,) = items_of(rows_after(delta("a", "why"), Frame(kind, "r1", "m1", "abc")))
    assert (item.text, item.reasoning, item.state) == ("abc", "why", state)
    (item,) = items_of(rows_after(delta("a", "why"), Frame(kind, "r1", "m1", "abc", "because")))
    assert item.reasoning == "because"
    (item,) = items_of(rows_after(Frame(kind, "r1", "m1", "abc")))
    assert (item.id, item.text, item.state) == ("m1", "abc", state)


def test_second_opening_goes_on_or_begins_anew_as_the_reader_does() -> None:
    twice = (opened(), delta("a", "why"), opened())
    assert [(i.text, i.reasoning) for i in items_of(rows_after(*twice))] == [("a", "why")]
    assert [(i.text, i.reasoning) for i in items_of(rows_after(*twice, reopening="begins anew"))] == [("", "")]
    closed = Frame("message.completed", "r1", "m1", "abc")
    assert items_of(rows_after(closed, opened()))[0].state == "completed"
    assert items_of(rows_after(closed, opened(), reopening="begins anew"))[0].state == "open"


def test_row_that_is_opened_again_keeps_its_place() -> None:
    frames = (opened("m1"), opened("m2"), opened("m1"))
    assert [item.id for item in items_of(rows_after(*frames, reopening="begins anew"))] == ["m1", "m2"]


def test_superseded_message_disappears_whether_or_not_it_was_displayed() -> None:
    gone = Frame("message.superseded", "r1", "m1")
    assert items_of(rows_after(delta("a"), delta("b", message="m2"), gone))[0].id == "m2"
    assert rows_after(gone) == {}
    assert apply_frame(rows_of(()), gone, reopening="goes on") is None


def test_tool_call_and_its_result_are_two_rows_found_by_the_call() -> None:
    requested = Frame("tool.requested", "r1", call_id="t1")
    closed = Frame("tool.closed", "r1", call_id="t1", state="aborted")
    assert items_of(rows_after(requested, closed, requested)) == (
        Item(kind="tool_call", call_id="t1", run_id="r1"),
        Item(kind="tool_result", call_id="t1", state="aborted", run_id="r1"),
    )
    (result,) = items_of(rows_after(Frame("tool.closed", "r1", call_id="t2")))
    assert result.state == "completed"


@pytest.mark.parametrize("kind", get_args(FrameKind))
def test_frame_that_names_no_message_and_no_call_concerns_a_row_only_if_it_is_of_a_tool(kind: FrameKind) -> None:
    frame = Frame(kind, "r1", message_id=None if kind.startswith("message.") else "m1")
    assert bool(rows_after(frame)) == kind.startswith("tool.")


def test_history_replaces_everything_and_frames_go_on_from_there() -> None:
    history = (
        Item(kind="user", text="Hi"),
        Item(kind="assistant", text="no id"),
        Item(kind="assistant", id="m1", text="a", state="open"),
        Item(kind="tool_call", call_id="t1", name="search"),
    )
    assert items_of(rows_of(history)) == history
    rows = rows_after(delta("b"), Frame("tool.closed", "r1", call_id="t1"), history=history)
    assert [item.text for item in items_of(rows)] == ["Hi", "no id", "ab", "", ""]
    assert list(rows) == ["user:0", "assistant:1", "m1", "tool_call:t1", "tool_result:t1"]
    assert items_of(rows)[0] is history[0]


def test_frames_change_rows_and_leave_copies_of_them_as_they_were() -> None:
    rows = rows_after(delta("a"))
    before = dict(rows)
    changed = apply_frame(rows, delta("b"), reopening="goes on")
    assert changed is rows["m1"]
    assert (before["m1"].text, rows["m1"].text) == ("a", "ab")


@pytest.mark.parametrize("reopening", get_args(Reopening))
@pytest.mark.parametrize("kind", WORDED)
def test_the_words_of_a_row_are_those_of_its_message(kind: FrameKind, reopening: Reopening) -> None:
    frame = Frame(kind, "r1", "m1", "b", "")
    (row,) = rows_after(delta("a", "why")).values()
    after = row_after(row, frame, reopening=reopening)
    assert after is not None
    assert words_after("a", "why", frame, reopening=reopening) == (after.text, after.reasoning)


@pytest.mark.parametrize("kind", get_args(FrameKind))
def test_an_event_gives_back_the_frame_that_it_was_made_of(kind: FrameKind) -> None:
    frame = Frame(kind, "r1", "m1", "text", "why", "t1", "aborted", event_id="r1:3", source="msg-1")
    applied = ClientApplied.of(frame, "r1:3", ViewAfter("r1:3", "text", "why"))
    assert applied.as_frame == frame
    assert applied.view == ViewAfter("r1:3", "text", "why")
    assert ClientApplied.of(frame, None).as_frame.event_id is None
    published = Frame(kind, "r1", "m1", "text", "", "t1", "aborted", event_id="r1:3", source="msg-1")
    assert FramePublished.of(frame).as_frame == published
