"""A row gives the same frame whenever it is told, and a whole run in one piece gives the same picture."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reference_fakes import Book, call
from stream_fakes import Page, log_of

from journalsim.contract.frames import Frame
from journalsim_reference.content import Content
from journalsim_reference.frames import unseen, whole_run
from journalsim_reference.journal import decide_complete, decide_spill
from journalsim_reference.state import Speaker


def page_of(frames: list[Frame]) -> Page:
    page = Page()
    for frame in frames:
        page.apply(frame)
    return page


def told_by_rows(book: Book) -> list[Frame]:
    log = log_of(book)
    return [frame for place in range(log.high) if (frame := log[place].frame) is not None]


def streams() -> Book:
    book = Book().started()
    book.take(decide_spill, "r1", book.open(), Content("Hel", "hm"))
    return book


def stopped() -> Book:
    book = streams()
    book.stop()
    book.end(kind="run.aborted")
    return book


def superseded() -> Book:
    book = streams()
    book.take(decide_complete, "r1", None, Content("Again"), stale=("r1/m1",))
    book.end()
    return book


def rolled_back() -> Book:
    book = streams()
    book.stop(mode="rollback")
    book.end(kind="run.aborted")
    book.state.runs["r1"].rendered.clear()
    return book


def tools() -> Book:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"), call("c2"), call("c3"))
    book.ask("c2")
    book.answer("c2", approved=False)
    book.ask("c3")
    book.tool("c1", "3 hits")
    return book


def sub_agent() -> Book:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1", name="helper"))
    book.tool("c1")
    own = book.open(text="mine", speaker=Speaker("sub:helper", "c1"))
    book.take(decide_spill, "r1", own, Content("mine"))
    book.complete("r1", own, "mine", call("c9"))
    book.tool("c9", "found")
    return book


STORIES = (streams, stopped, superseded, tools, sub_agent)


@pytest.mark.parametrize("story", STORIES)
def test_a_run_in_one_piece_gives_the_picture_that_its_rows_give(story: Callable[[], Book]) -> None:
    book = story()
    whole = list(whole_run(book.state.runs["r1"]))
    assert page_of(whole).view == page_of(told_by_rows(book)).view
    assert page_of(whole).view[0]


def test_a_run_in_one_piece_tells_each_message_once_with_the_row_of_its_end() -> None:
    told = [(f.kind, f.text, f.event_id) for f in whole_run(superseded().state.runs["r1"])]
    assert told == [
        ("run.started", "", None),
        ("message.opened", "", None),
        ("message.completed", "Again", "r1:7"),
        ("run.ended", "", None),
    ]


def test_a_run_in_one_piece_tells_closures_and_the_questions_that_wait() -> None:
    told = [(f.kind, f.call_id, f.state) for f in whole_run(tools().state.runs["r1"]) if f.call_id]
    assert told == [
        ("tool.requested", "c1", None),
        ("tool.requested", "c2", None),
        ("tool.requested", "c3", None),
        ("approval.requested", "c3", None),
        ("tool.closed", "c2", "aborted"),
        ("tool.closed", "c1", "completed"),
    ]


def test_a_run_in_one_piece_tells_of_a_sub_agent_nothing_but_its_questions() -> None:
    book = sub_agent()
    assert [f.call_id for f in whole_run(book.state.runs["r1"]) if f.call_id] == ["c1"]
    own = book.open(text="more", speaker=Speaker("sub:helper", "c1"))
    book.complete("r1", own, "more", call("c10"))
    book.ask("c10")
    assert [f.kind for f in whole_run(book.state.runs["r1"]) if f.call_id == "c10"] == ["approval.requested"]


def test_of_a_run_that_was_taken_back_only_the_end_is_told() -> None:
    assert [f.kind for f in whole_run(rolled_back().state.runs["r1"])] == ["run.started", "run.ended"]


def test_of_a_run_that_waits_for_its_turn_nothing_is_told() -> None:
    book = Book()
    book.accept()
    assert list(whole_run(book.state.runs["r1"])) == []


def test_text_in_a_buffer_is_told_with_the_text_of_the_rows() -> None:
    book = streams()
    book.buffers["r1/m1"] = Content("lo")
    *_, delta = whole_run(book.state.runs["r1"], book.buffered)
    assert (delta.text, delta.reasoning) == ("Hello", "hm")


def test_an_open_message_without_text_has_an_empty_bubble_only_while_it_is_open() -> None:
    book = Book().started()
    book.open()
    assert [f.kind for f in whole_run(book.state.runs["r1"])] == ["run.started", "message.opened"]


def test_a_row_tells_what_was_not_shown_before_it() -> None:
    told = Frame("message.delta", "r1", "r1/m1", "Hello", "hm")
    rest = unseen(told, Content("Hel", "hm"))
    assert rest is not None
    assert (rest.text, rest.reasoning) == ("lo", "")
    assert unseen(told, Content("Hello", "hm")) is None
    assert unseen(told, Content()) == told
