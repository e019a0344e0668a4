"""Recovery adds what the rows prove, once."""

from __future__ import annotations

from attrs import evolve
from reference_fakes import Book, call, shape

from journalsim_reference.batch import Stamp
from journalsim_reference.content import Content
from journalsim_reference.journal import decide_spill
from journalsim_reference.recovery import recover


def recovered(book: Book, closures: bool = True) -> list[str]:
    """Lets a new process find the rows, recover, and returns the kinds of what it added."""
    book.epoch += 1
    book.buffers.clear()
    rows = recover(book.state, Stamp(book.epoch, 99), closures=closures)
    for row in rows:
        book.state.apply(row)
    return [row.kind for row in rows]


def test_a_crashed_run_gets_its_marker_and_says_what_was_added() -> None:
    book = Book().started()
    assert recovered(book) == ["recovery.applied", "run.aborted"]
    assert shape(book.history()) == ["user Hi", "marker crashed interrupted"]


def test_an_accepted_prompt_is_kept() -> None:
    book = Book()
    book.accept()
    recovered(book)
    assert shape(book.history())[0] == "user Hi"


def test_text_that_was_only_buffered_is_not_invented() -> None:
    book = Book().started()
    book.open(text="Ans")
    assert "message.interrupted" not in recovered(book)


def test_text_that_was_spilled_is_kept() -> None:
    book = Book().started()
    message = book.open()
    book.take(decide_spill, "r1", message, Content("Ans"))
    assert recovered(book) == ["message.interrupted", "recovery.applied", "run.aborted"]
    assert shape(book.history())[1] == "assistant Ans interrupted"


def test_open_calls_are_closed_with_what_is_known() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"), call("c2"))
    book.tool("c1")
    recovered(book)
    closures = {item.call_id: item.outcome for item in book.history() if item.kind == "tool_result"}
    assert closures == {"c1": "unknown", "c2": "not_started"}


def test_a_call_about_which_nobody_has_answered_was_not_started() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"), call("c2"))
    book.ask("c1")
    book.ask("c2")
    book.answer("c2")
    assert recovered(book) == ["tool.aborted", "tool.aborted", "recovery.applied", "run.aborted"]
    closures = {item.call_id: item.outcome for item in book.history() if item.kind == "tool_result"}
    assert closures == {"c1": "not_started", "c2": "not_started"}
    assert "open" not in [item.state for item in book.history()]


def test_closures_can_be_left_to_the_reader() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    assert "tool.aborted" not in recovered(book, closures=False)


def test_a_run_that_somebody_had_stopped_was_stopped() -> None:
    book = Book().started()
    book.open(text="Ans")
    book.stop()
    recovered(book)
    assert shape(book.history()) == ["user Hi", "assistant Ans interrupted", "marker stopped interrupted"]


def test_a_run_that_was_to_be_rolled_back_is() -> None:
    book = Book().started()
    book.stop(mode="rollback")
    recovered(book)
    assert shape(book.history()) == ["marker rolled_back interrupted"]


def test_a_second_pass_adds_nothing() -> None:
    book = Book().started()
    book.accept("r2", session="s2")
    recovered(book)
    assert recovered(book) == []


def test_runs_of_all_sessions_are_ended_and_ended_ones_are_left_alone() -> None:
    book = Book().started()
    book.end()
    book.accept("r2", session="s2")
    book.accept("r3", session="s3")
    rows = recover(book.state, Stamp(2, 0), closures=True)
    assert [row.run_id for row in rows if row.kind == "run.aborted"] == ["r2", "r3"]


def test_the_same_rows_are_recovered_in_the_same_way() -> None:
    book = Book().started()
    book.open(text="Ans")
    first = recover(book.state, Stamp(2, 5), closures=True)
    later = recover(book.state, Stamp(2, 7), closures=True)
    assert [evolve(row, at=5) for row in later] == list(first)
