"""The state is what the rows add up to, and refuses rows that cannot be."""

from __future__ import annotations

import pytest
from attrs import evolve
from reference_fakes import Book, call

from journalsim_reference.batch import Batch, Stamp
from journalsim_reference.content import Content
from journalsim_reference.journal import decide_annotate, decide_clear, decide_complete
from journalsim_reference.lifecycle import IllegalTransition
from journalsim_reference.state import LEAD, BrokenSequence, Speaker, State


def test_the_same_rows_give_the_same_state() -> None:
    book = Book().started()
    book.complete("r1", book.open(text="Look"), "Look", call("c1"))
    book.tool("c1", "3 hits")
    book.end()
    again = State()
    for row in book.rows:
        again.apply(row)
    assert again.session("s1").revision == len(book.rows)
    assert {m.message_id: (m.state, m.content) for m in again.messages.values()} == {
        m.message_id: (m.state, m.content) for m in book.state.messages.values()
    }


def test_rows_of_a_run_are_numbered_without_gaps() -> None:
    book = Book().started()
    book.complete("r1", book.open())
    book.end()
    assert [row.seq for row in book.rows] == list(range(1, len(book.rows) + 1))


def test_a_gap_in_the_numbers_is_refused() -> None:
    book = Book().started()
    last = book.rows[-1]
    with pytest.raises(BrokenSequence, match="r1:4 follows number 2"):
        book.state.apply(evolve(last, seq=4))


def test_a_row_of_a_writer_that_was_replaced_is_refused() -> None:
    book = Book(epoch=2).started()
    last = book.rows[-1]
    with pytest.raises(BrokenSequence, match="is from epoch 1, the run has reached 2"):
        book.state.apply(evolve(last, seq=3, epoch=1))


def test_a_row_that_the_tables_do_not_list_changes_nothing() -> None:
    book = Book().started()
    row = evolve(book.rows[-1], seq=3)
    with pytest.raises(IllegalTransition, match=r"run.started is not possible for r1, which is running"):
        book.state.apply(row)
    assert (book.state.runs["r1"].seq, book.state.session("s1").revision) == (2, 2)


def test_a_session_without_rows_is_empty() -> None:
    session = State().session("s1")
    assert (session.revision, session.active_runs()) == (0, [])


def test_a_run_is_active_until_its_terminal() -> None:
    book = Book().started()
    assert [run.run_id for run in book.state.active_runs()] == ["r1"]
    book.end()
    assert book.state.active_runs() == []


def test_a_question_makes_the_run_wait_and_its_answer_lets_it_go_on() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    run = book.state.runs["r1"]
    book.ask("c1")
    assert (run.state, run.calls["c1"].state, run.calls["c1"].approved) == ("waiting", "waiting", None)
    book.answer("c1")
    assert (run.state, run.calls["c1"].state, run.calls["c1"].approved) == ("running", "answered", True)


def test_a_run_waits_until_its_last_question_has_an_answer() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"), call("c2"))
    run = book.state.runs["r1"]
    states = []
    for step in (book.ask, book.answer):
        for call_id in ("c1", "c2"):
            step(call_id)
            states.append(run.state)
    assert states == ["waiting", "waiting", "waiting", "running"]


def test_an_answer_that_nobody_waits_for_changes_nothing() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    batch = Batch(Stamp(1, 0))
    batch.answered(book.state.runs["r1"], "c1", True, "user", "person")
    with pytest.raises(IllegalTransition, match=r"approval.resolved is not possible for r1, which is running"):
        book.state.apply(batch.rows()[0])
    assert book.state.runs["r1"].calls["c1"].approved is None


def test_a_sub_agent_speaks_in_its_own_name() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Ask", call("c1", name="scout"))
    scout = Speaker("sub:scout", "c1")
    message = book.open(speaker=scout)
    book.take(decide_complete, "r1", message, Content("Seen", calls=(call("t1"),)), speaker=scout)
    run = book.state.runs["r1"]
    assert (run.messages[message].speaker, run.calls["t1"].speaker) == (scout, scout)
    assert (run.messages["r1/user"].speaker, run.messages["r1/m1"].speaker, run.calls["c1"].speaker) == (LEAD,) * 3
    own = [row for row in book.rows if row.payload.get("message_id") == message]
    assert {row.actor for row in own} == {"sub:scout"}
    assert [row.kind for row in own] == ["message.opened", "message.completed", "tool.requested"]


def test_progress_of_a_tool_leaves_it_running() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    book.tool("c1")
    run = book.state.runs["r1"]
    batch = Batch(Stamp(1, 0))
    batch.add(run, "tool.progress", "tool", call_id="c1")
    book.state.apply(batch.rows()[0])
    assert run.calls["c1"].state == "running"


def test_session_rows_have_numbers_of_their_own() -> None:
    book = Book().started()
    book.end()
    book.take(decide_annotate, "s1", "r1/user", {"a": 1})
    book.take(decide_clear, "s1", base=book.state.session("s1").revision)
    assert [row.event_id for row in book.rows[-2:]] == ["@s1:1", "@s1:2"]
    with pytest.raises(BrokenSequence):
        book.state.apply(book.rows[-1])


def test_a_rollback_discards_every_message() -> None:
    book = Book().started()
    book.complete("r1", book.open())
    book.open(text="half")
    book.stop(mode="rollback")
    book.end(kind="run.aborted")
    run = book.state.runs["r1"]
    assert {message.state for message in run.messages.values()} == {"discarded"}
    assert run.discarded
