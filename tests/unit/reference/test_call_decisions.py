"""Decisions about tool calls: one question, one answer, one closure."""

from __future__ import annotations

import pytest
from reference_fakes import Book, call

from journalsim_reference.batch import CUT_OFF, DENIED
from journalsim_reference.calls import decide_ask, decide_cut_off, decide_decline, decide_tool_end, decide_tool_start
from journalsim_reference.content import Content
from journalsim_reference.journal import Refused, decide_complete, decide_open, decide_spill
from journalsim_reference.state import Call, Speaker

SCOUT = Speaker("sub:scout", "c1")


def kinds_of(decision: object) -> list[str]:
    assert isinstance(decision, tuple)
    return [row.kind for row in decision]


def asked(*calls: str) -> Book:
    """A run whose calls wait for a person."""
    book = Book().started()
    book.complete("r1", book.open(), "May I?", *(call(call_id) for call_id in calls))
    for call_id in calls:
        book.ask(call_id)
    return book


def one(book: Book, call_id: str = "c1") -> Call:
    return book.state.runs["r1"].calls[call_id]


# --- questions and answers


def test_a_call_is_asked_about_once() -> None:
    book = asked("c1")
    assert book.kinds()[-1] == "approval.requested"
    assert book.ask("c1") == Refused("stopping")


def test_a_call_that_was_approved_may_start() -> None:
    book = asked("c1")
    (row,) = book.answer("c1")  # type: ignore[misc]  # not refused
    assert (row.kind, row.origin, row.payload["approved"], row.payload["reason"]) == (
        "approval.resolved",
        "user",
        True,
        "person",
    )
    assert kinds_of(book.take(decide_tool_start, "r1", "c1")) == ["tool.started"]


def test_a_call_that_was_denied_is_closed_in_the_same_batch() -> None:
    book = asked("c1")
    assert kinds_of(book.answer("c1", approved=False)) == ["approval.resolved", "tool.aborted"]
    assert (one(book).state, one(book).outcome, one(book).text) == ("aborted", "not_started", DENIED)
    assert book.state.runs["r1"].state == "running"
    assert book.take(decide_tool_start, "r1", "c1") == Refused("stopping")


@pytest.mark.parametrize("approved", [True, False])
def test_the_same_answer_again_adds_nothing_and_another_one_comes_too_late(approved: bool) -> None:
    book = asked("c1")
    book.answer("c1", approved)
    assert book.answer("c1", approved) == ()
    assert book.answer("c1", not approved) == Refused("not_open")
    book.end()
    assert book.answer("c1", approved) == ()


def test_an_answer_after_the_stop_comes_too_late() -> None:
    book = asked("c1")
    book.stop()
    assert book.answer("c1") == Refused("stopping")
    book.end(kind="run.aborted")
    assert book.answer("c1") == Refused("ended")
    assert one(book).outcome == "not_started"


@pytest.mark.parametrize(("call_id", "run", "session"), [("c9", "r1", "s1"), ("c1", "r9", "s1"), ("c1", "r1", "s9")])
def test_an_answer_about_an_unknown_or_foreign_call_is_refused(call_id: str, run: str, session: str) -> None:
    assert asked("c1").answer(call_id, run=run, session=session) == Refused("unknown")


def test_an_answer_about_a_call_that_nobody_asked_about_is_refused() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    assert book.answer("c1") == Refused("unknown")


def test_other_calls_start_and_messages_open_while_one_waits() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Both", call("c1"), call("c2"))
    book.ask("c1")
    assert kinds_of(book.take(decide_tool_start, "r1", "c2")) == ["tool.started"]
    assert kinds_of(book.take(decide_open, "r1", speaker=Speaker("sub:scout", "c2"))) == ["message.opened"]


def test_a_run_that_waits_does_not_complete() -> None:
    assert asked("c1").end() == Refused("stopping")


def test_a_stopped_run_closes_what_waits_as_not_started() -> None:
    book = asked("c1", "c2")
    book.answer("c2")
    book.stop()
    assert kinds_of(book.end(kind="run.aborted")) == ["tool.aborted", "tool.aborted", "run.aborted"]
    assert {c.outcome for c in book.state.runs["r1"].calls.values()} == {"not_started"}


def test_after_a_stop_nobody_is_asked_and_nothing_is_declined() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    book.stop()
    assert book.ask("c1") == book.take(decide_decline, "r1", "c1", "No.") == Refused("stopping")


def test_a_call_that_is_declined_says_why() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    assert kinds_of(book.take(decide_decline, "r1", "c1", "No.")) == ["tool.aborted"]
    assert (one(book).outcome, one(book).text) == ("not_started", "No.")


# --- time limits


def test_a_call_that_takes_too_long_is_closed_as_unknown_and_the_run_goes_on() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    book.tool("c1")
    assert kinds_of(book.take(decide_cut_off, "r1", "c1")) == ["tool.aborted"]
    assert (one(book).outcome, one(book).text, book.state.runs["r1"].state) == ("unknown", CUT_OFF, "running")
    assert book.take(decide_cut_off, "r1", "c1") == Refused("not_open")


@pytest.mark.parametrize("state", ["accepted", "running", "waiting"])
def test_a_run_expires_whatever_it_is_doing(state: str) -> None:
    book = Book()
    book.accept()
    if state != "accepted":
        book = asked("c1") if state == "waiting" else Book().started()
    assert book.state.runs["r1"].state == state
    assert kinds_of(book.end(kind="run.expired", cause="timed_out"))[-1] == "run.expired"
    assert (book.state.runs["r1"].state, book.state.runs["r1"].cause) == ("interrupted", "timed_out")


def test_a_run_that_expires_keeps_its_partial() -> None:
    book = Book().started()
    message = book.open(text="Ans")
    assert kinds_of(book.end(kind="run.expired", cause="timed_out")) == ["message.interrupted", "run.expired"]
    assert (book.state.messages[message].content.text, book.state.messages[message].cause) == ("Ans", "timed_out")


def test_a_stop_that_was_first_is_what_ended_the_run() -> None:
    book = Book().started()
    book.stop()
    assert book.end(kind="run.expired", cause="timed_out") == Refused("stopping")
    book.end(kind="run.aborted")
    assert book.state.runs["r1"].cause == "stopped"


def test_a_time_limit_that_was_first_makes_the_stop_too_late() -> None:
    book = Book().started()
    book.end(kind="run.expired", cause="timed_out")
    assert book.stop() == Refused("ended")


# --- sub-agents


def delegating(*own: str) -> tuple[Book, str]:
    """A run whose sub-agent is in the middle of a message, after one that asked for calls of its own."""
    book = Book().started()
    book.complete("r1", book.open(), "Ask", call("c1", name="scout"), call("c2"))
    book.tool("c1")
    if own:
        content = Content("Wait", calls=tuple(call(call_id) for call_id in own))
        book.take(decide_complete, "r1", None, content, speaker=SCOUT)
    message = book.open(text="Seen ", speaker=SCOUT)
    return book, message


def test_the_closure_of_a_delegated_call_interrupts_and_closes_what_its_sub_agent_left_open() -> None:
    book, message = delegating("t1", "t2")
    book.ask("t1")
    decision = book.take(decide_cut_off, "r1", "c1", buffered=book.buffered)
    assert kinds_of(decision) == [
        "message.interrupted",
        "approval.resolved",
        "tool.aborted",
        "tool.aborted",
        "tool.aborted",
    ]
    kept = book.state.messages[message]
    assert (kept.state, kept.content.text, kept.cause) == ("interrupted", "Seen ", "timed_out")
    assert {one(book, call_id).outcome for call_id in ("t1", "t2")} == {"not_started"}
    assert (one(book, "c2").state, book.state.runs["r1"].state) == ("requested", "running")


def test_a_sub_agent_that_fails_leaves_its_half_answer_behind_in_its_own_name() -> None:
    book, message = delegating()
    decision = book.take(decide_tool_end, "r1", "c1", "tool.failed", "overloaded", buffered=book.buffered)
    assert [(row.kind, row.actor) for row in decision] == [  # type: ignore[union-attr]  # not refused
        ("message.interrupted", "sub:scout"),
        ("tool.failed", "lead"),
    ]
    assert book.state.messages[message].cause == "failed"


def test_a_run_that_is_being_stopped_waits_for_nobody() -> None:
    book, _ = delegating("t1")
    book.ask("t1")
    book.stop()
    assert "approval.resolved" not in kinds_of(book.take(decide_cut_off, "r1", "c1"))
    assert one(book, "t1").outcome == "not_started"


def test_a_stop_keeps_what_a_sub_agent_was_saying_in_its_own_name() -> None:
    book, message = delegating()
    book.buffers[message] = Content("Seen ", calls=(call("t9"),), aliases=("a",))
    stopped = book.stop()
    assert [(row.kind, row.actor) for row in stopped] == [  # type: ignore[union-attr]  # not refused
        ("run.stop_requested", "lead"),
        ("message.id_aliased", "sub:scout"),
        ("message.interrupted", "sub:scout"),
    ]
    ended = book.end(kind="run.aborted")
    assert (ended[0].kind, ended[0].actor) == ("tool.requested", "sub:scout")  # type: ignore[index]  # not refused
    assert one(book, "c1").outcome == "unknown"


def test_text_of_a_sub_agent_is_spilled_in_its_own_name() -> None:
    book, message = delegating()
    (row,) = book.take(decide_spill, "r1", message, Content("Seen "))  # type: ignore[misc]  # not refused
    assert (row.kind, row.actor) == ("message.delta", "sub:scout")


def test_a_message_keeps_its_speaker_whoever_completes_it() -> None:
    book, message = delegating()
    decision = book.take(decide_complete, "r1", message, Content("Seen it."))
    assert [row.actor for row in decision] == ["sub:scout"]  # type: ignore[union-attr]  # not refused


# --- fencing


def test_a_writer_that_was_replaced_and_a_run_that_has_ended_take_no_decision_about_calls() -> None:
    for reason in ("replaced", "ended"):
        book = Book(epoch=2).started()
        book.complete("r1", book.open(), "Look", call("c1"))
        if reason == "ended":
            book.end(kind="run.failed", cause="failed")
        else:
            book.epoch = 1
        refused = [
            book.take(decide_ask, "r1", "c1"),
            book.take(decide_decline, "r1", "c1", "No."),
            book.take(decide_cut_off, "r1", "c1"),
            book.answer("c1"),
        ]
        assert [decision for decision in refused if decision != Refused(reason)] == []
