"""Every decision of the journal: what is written, and what is refused."""

from __future__ import annotations

import pytest
from reference_fakes import Book, call

from journalsim_reference.calls import decide_tool_end, decide_tool_start
from journalsim_reference.content import Content
from journalsim_reference.journal import (
    Refused,
    decide_annotate,
    decide_clear,
    decide_compact,
    decide_complete,
    decide_end,
    decide_open,
    decide_spill,
    decide_start,
)


def kinds_of(decision: object) -> list[str]:
    assert isinstance(decision, tuple)
    return [row.kind for row in decision]


# --- admission


def test_a_prompt_is_the_first_row_of_its_run() -> None:
    book = Book()
    (row,) = book.accept(text="What is SSE?")  # type: ignore[misc]  # not refused
    assert (row.kind, row.event_id, row.origin, row.actor) == ("run.accepted", "r1:1", "user", "lead")
    assert row.payload == {"key": "key-r1", "text": "What is SSE?", "message_id": "r1/user"}


def test_a_request_key_that_comes_again_adds_nothing() -> None:
    book = Book()
    book.accept(key="k")
    assert book.accept("r2", key="k") == ()


def test_a_request_key_with_another_text_is_refused() -> None:
    book = Book()
    book.accept(key="k")
    assert book.accept("r2", text="Ho", key="k") == Refused("key_reused")


def test_a_busy_session_refuses_a_second_prompt() -> None:
    book = Book().started()
    assert book.accept("r2") == Refused("busy")


def test_a_queue_takes_a_second_prompt() -> None:
    book = Book().started()
    assert kinds_of(book.accept("r2", busy="queue")) == ["run.accepted"]


def test_a_newer_prompt_stops_the_run_that_it_displaces_once() -> None:
    book = Book().started()
    book.open(text="half")
    named = {"busy": "cancel_earlier", "buffered": book.buffered}
    assert kinds_of(book.accept("r2", **named)) == ["run.accepted", "run.stop_requested", "message.interrupted"]
    assert kinds_of(book.accept("r3", **named)) == ["run.accepted", "run.stop_requested"]
    assert {run.state for run in book.state.active_runs()} == {"cancelling", "accepted"}


def test_a_run_starts_once() -> None:
    book = Book().started()
    assert book.take(decide_start, "r1") == Refused("stopping")


# --- messages


def test_the_journal_mints_the_id_of_a_message() -> None:
    book = Book().started()
    (row,) = book.take(decide_open, "r1", source="msg-1")  # type: ignore[misc]  # not refused
    assert row.payload == {"message_id": "r1/m1", "source": "msg-1"}
    assert book.open() == "r1/m2"


def test_a_completed_message_brings_its_aliases_and_the_requests_of_its_calls() -> None:
    book = Book().started()
    message = book.open(text="Look")
    content = Content("Look", "hm", (call("c1"), call("c2")), ("a", "b"))
    decision = book.take(decide_complete, "r1", message, content, reason="tool_use")
    assert kinds_of(decision) == ["message.id_aliased", "message.completed", "tool.requested", "tool.requested"]
    kept = book.state.messages[message]
    assert (kept.state, kept.content) == ("completed", content)


def test_an_alias_that_is_known_is_not_noted_again() -> None:
    book = Book().started()
    message = book.open()
    spilled = Content("Lo", aliases=("a",))
    assert kinds_of(book.take(decide_spill, "r1", message, spilled)) == ["message.id_aliased", "message.delta"]
    decision = book.take(decide_complete, "r1", message, Content("Look", aliases=("a", "b")))
    assert decision[0].payload["aliases"] == ["b"]  # type: ignore[index]  # not refused


def test_a_message_reported_again_is_the_same_message_whatever_its_text() -> None:
    book = Book().started()
    message = book.open()
    book.complete("r1", message, "Answer")
    assert book.complete("r1", message, "Another") == ()
    assert book.state.messages[message].content.text == "Answer"


def test_two_messages_of_one_text_are_two_messages() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Yes")
    book.complete("r1", book.open(), "Yes")
    assert [m.content.text for m in book.state.runs["r1"].messages.values()] == ["Hi", "Yes", "Yes"]


def test_an_empty_completion_writes_nothing() -> None:
    book = Book().started()
    assert book.complete("r1", None, "") == ()


def test_a_completion_without_a_chunk_opens_its_message() -> None:
    book = Book().started()
    decision = book.take(decide_complete, "r1", None, Content("Whole", aliases=("a",)))
    assert kinds_of(decision) == ["message.opened", "message.id_aliased", "message.completed"]
    assert decision[0].payload["source"] == "a"  # type: ignore[index]  # not refused


def test_a_completion_before_the_terminal_supersedes_the_partial() -> None:
    book = Book().started()
    message = book.open(text="Ans")
    book.stop()
    decision = book.complete("r1", message, "Answer")
    assert kinds_of(decision) == ["message.completed"]
    kept = book.state.messages[message]
    assert (kept.state, kept.content.text, kept.cause) == ("completed", "Answer", None)


def test_a_completion_after_the_terminal_is_an_audit_row() -> None:
    book = Book().started()
    message = book.open(text="Ans")
    book.stop()
    book.end(kind="run.aborted")
    before = book.history()
    decision = book.complete("r1", message, "Answer")
    assert kinds_of(decision) == ["terminal.rejected"]
    assert decision[0].payload["text"] == "Answer"  # type: ignore[index]  # not refused
    assert book.history() == before


def test_a_completion_of_a_message_that_a_later_attempt_replaced_is_refused() -> None:
    book = Book().started()
    stale = book.open(text="Uno")
    book.open(stale=[stale])
    assert book.complete("r1", stale, "Uno dos") == Refused("not_open")


def test_text_spills_only_while_its_message_is_open() -> None:
    book = Book().started()
    message = book.open(text="Ans")
    book.take(decide_spill, "r1", message, Content("Ans"))
    assert book.state.messages[message].content.text == "Ans"
    book.complete("r1", message)
    assert book.take(decide_spill, "r1", message, Content("wer")) == Refused("not_open")


def test_a_piece_that_is_nothing_but_a_new_name_is_no_text() -> None:
    book = Book().started()
    message = book.open()
    assert kinds_of(book.take(decide_spill, "r1", message, Content(aliases=("a",)))) == ["message.id_aliased"]
    assert book.take(decide_spill, "r1", message, Content(aliases=("a",))) == ()


# --- retries


def test_a_later_attempt_supersedes_what_the_earlier_one_left_and_keeps_it_auditable() -> None:
    book = Book().started()
    stale = book.open(text="Uno")
    decision = book.take(decide_open, "r1", stale=[stale])
    assert kinds_of(decision) == ["message.superseded", "message.opened"]
    assert book.state.messages[stale].state == "superseded"
    assert "message.opened" in book.kinds()


def test_a_message_is_superseded_once() -> None:
    book = Book().started()
    stale = book.open(text="Uno")
    book.open(stale=[stale])
    assert kinds_of(book.take(decide_complete, "r1", "r1/m2", Content("Dos"), stale=[stale])) == ["message.completed"]


def test_an_empty_answer_of_a_later_attempt_supersedes_too() -> None:
    book = Book().started()
    stale = book.open(text="Uno")
    decision = book.take(decide_complete, "r1", None, Content(), stale=[stale])
    assert kinds_of(decision) == ["message.superseded"]


def test_a_later_attempt_may_ask_for_the_same_call_again() -> None:
    book = Book().started()
    stale = book.open()
    book.complete("r1", stale, "Look", call("c1"))
    fresh = book.open(stale=[stale])
    assert "tool.requested" in kinds_of(book.complete("r1", fresh, "Look", call("c1")))
    assert book.state.runs["r1"].calls["c1"].message_id == fresh


def test_a_later_attempt_asks_anew_in_the_batch_that_supersedes() -> None:
    book = Book().started()
    stale = book.open()
    book.complete("r1", stale, "Look", call("c1"))
    content = Content("Look", calls=(call("c1"),))
    decision = book.take(decide_complete, "r1", None, content, stale=[stale])
    assert kinds_of(decision)[-1] == "tool.requested"


# --- tools


def test_a_call_is_requested_once() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    decision = book.complete("r1", book.open(), "Look again", call("c1"))
    assert kinds_of(decision) == ["message.completed"]


def test_a_tool_runs_once_and_ends_once() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    book.tool("c1", "3 hits")
    assert book.take(decide_tool_start, "r1", "c1") == Refused("stopping")
    assert book.take(decide_tool_end, "r1", "c1", "tool.failed", "no") == Refused("not_open")


def test_no_tool_starts_once_a_stop_is_durable() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    book.stop()
    assert book.take(decide_tool_start, "r1", "c1") == Refused("stopping")


def test_a_tool_that_returned_is_kept_while_the_run_is_being_stopped() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    book.tool("c1")
    book.stop()
    assert kinds_of(book.take(decide_tool_end, "r1", "c1", "tool.completed", "3 hits")) == ["tool.completed"]


# --- stops


def test_a_stop_keeps_what_is_buffered_in_its_own_batch() -> None:
    book = Book().started()
    message = book.open(text="Ans")
    assert kinds_of(book.stop()) == ["run.stop_requested", "message.interrupted"]
    kept = book.state.messages[message]
    assert (kept.state, kept.content.text, kept.cause) == ("interrupted", "Ans", "stopped")


def test_a_stop_keeps_spilled_and_buffered_text_as_one() -> None:
    book = Book().started()
    message = book.open(text="Ans")
    book.take(decide_spill, "r1", message, Content("Ans"))
    book.buffers[message] = Content("wer")
    book.stop()
    assert book.state.messages[message].content.text == "Answer"


def test_a_stop_is_latched_before_the_run_starts() -> None:
    book = Book()
    book.accept()
    assert kinds_of(book.stop()) == ["run.stop_requested"]
    assert book.take(decide_start, "r1") == Refused("stopping")


def test_a_second_stop_adds_nothing_and_changes_no_mode() -> None:
    book = Book().started()
    book.stop()
    assert book.stop(mode="rollback") == ()
    assert book.state.runs["r1"].cause == "stopped"


def test_a_rollback_keeps_no_partial() -> None:
    book = Book().started()
    book.open(text="Ans")
    assert kinds_of(book.stop(mode="rollback")) == ["run.stop_requested"]
    assert kinds_of(book.end(kind="run.aborted")) == ["run.aborted"]


def test_a_stop_of_an_ended_run_says_so() -> None:
    book = Book().started()
    book.end()
    assert book.stop() == Refused("ended")


@pytest.mark.parametrize(("run", "session"), [("r9", "s1"), ("r1", "s9")])
def test_a_stop_of_an_unknown_or_foreign_run_is_refused(run: str, session: str) -> None:
    book = Book().started()
    assert book.stop(run, session) == Refused("unknown")


def test_a_stop_that_nobody_pressed_is_synthetic_and_says_who() -> None:
    book = Book().started()
    (row,) = book.stop(cause="shut_down", by="server")  # type: ignore[misc]  # not refused
    assert (row.origin, row.actor, row.payload["reason"]) == ("synthetic", "system", "server")


def test_after_a_stop_no_message_opens() -> None:
    book = Book().started()
    book.stop()
    assert book.take(decide_open, "r1") == Refused("stopping")


# --- ends


def test_the_terminal_is_the_last_row_and_closes_what_is_open() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"), call("c2"), call("c3"))
    book.tool("c1", "3 hits")
    book.tool("c2")
    book.open(text="And")
    assert kinds_of(book.end(kind="run.failed", cause="failed", reason="overloaded")) == [
        "message.interrupted",
        "tool.aborted",
        "tool.aborted",
        "run.failed",
    ]
    outcomes = {c.call_id: (c.state, c.outcome) for c in book.state.runs["r1"].calls.values()}
    assert outcomes == {"c1": ("completed", ""), "c2": ("aborted", "unknown"), "c3": ("aborted", "not_started")}


def test_closures_have_ids_of_their_calls() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    (closure, _) = book.end(kind="run.failed", cause="failed")  # type: ignore[misc]  # not refused
    assert (closure.payload["closure_id"], closure.origin) == ("c1#closure", "synthetic")


def test_the_end_of_a_stopped_run_has_the_cause_of_its_stop() -> None:
    book = Book().started()
    book.stop(cause="disconnected", by="alice")
    book.end(kind="run.aborted", cause="crashed")
    assert book.state.runs["r1"].cause == "disconnected"


def test_a_stopped_run_cannot_end_as_if_nothing_had_happened() -> None:
    book = Book().started()
    book.stop()
    assert book.end() == Refused("stopping")


def test_the_first_terminal_wins_and_a_later_one_is_kept_for_audit() -> None:
    book = Book().started()
    book.end()
    assert kinds_of(book.end(kind="run.failed", cause="failed")) == ["terminal.rejected"]
    assert book.state.runs["r1"].state == "completed"


def test_whole_calls_of_an_interrupted_message_are_requested_and_closed_and_half_ones_are_not() -> None:
    book = Book().started()
    message = book.open()
    book.buffers[message] = Content("Look", calls=(call("c1", '{"q": 1}'), call("c2", '{"q":')))
    book.stop()
    assert kinds_of(book.end(kind="run.aborted")) == ["tool.requested", "tool.aborted", "run.aborted"]
    assert list(book.state.runs["r1"].calls) == ["c1"]
    assert [c.call_id for c in book.state.messages[message].content.calls] == ["c1", "c2"]


def test_an_open_message_without_content_is_taken_back_and_never_kept() -> None:
    book = Book().started()
    message = book.open(text="")
    assert kinds_of(book.end(kind="run.failed", cause="failed")) == ["message.superseded", "run.failed"]
    assert book.state.messages[message].state == "superseded"


def test_closures_can_be_left_to_the_reader() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"))
    assert kinds_of(book.end(kind="run.failed", cause="failed", closures=False)) == ["run.failed"]


# --- fencing


def test_a_writer_that_was_replaced_is_refused_everywhere() -> None:
    book = Book(epoch=2).started()
    message = book.open(text="Ans")
    book.epoch = 1
    refused = [
        book.take(decide_start, "r1"),
        book.take(decide_open, "r1"),
        book.take(decide_spill, "r1", message, Content("Ans")),
        book.complete("r1", message),
        book.take(decide_tool_start, "r1", "c1"),
        book.take(decide_tool_end, "r1", "c1", "tool.completed", ""),
        book.stop(),
        book.end(),
    ]
    assert set(refused) == {Refused("replaced")}


def test_nothing_but_audit_rows_follows_the_terminal() -> None:
    book = Book().started()
    message = book.open(text="Ans")
    book.end(kind="run.failed", cause="failed")
    refused = [
        book.take(decide_start, "r1"),
        book.take(decide_open, "r1"),
        book.take(decide_spill, "r1", message, Content("Ans")),
        book.take(decide_tool_start, "r1", "c1"),
        book.take(decide_tool_end, "r1", "c1", "tool.completed", ""),
    ]
    assert set(refused) == {Refused("ended")}


# --- maintenance


def test_an_annotation_is_a_row_of_its_own_and_outlives_later_writes() -> None:
    book = Book().started()
    message = book.open(text="Ans")
    decision = book.take(decide_annotate, "s1", message, {"seen": True})
    assert kinds_of(decision) == ["message.annotated"]
    book.complete("r1", message)
    book.take(decide_annotate, "s1", message, {"starred": True})
    assert book.state.messages[message].metadata == {"seen": True, "starred": True}


@pytest.mark.parametrize(("session", "message"), [("s1", "r1/m9"), ("s9", "r1/user")])
def test_an_annotation_of_an_unknown_or_foreign_message_is_refused(session: str, message: str) -> None:
    book = Book().started()
    assert book.take(decide_annotate, session, message, {}) == Refused("unknown")


def test_an_annotation_of_a_message_that_is_gone_is_refused() -> None:
    book = Book().started()
    stale = book.open(text="Uno")
    book.open(stale=[stale])
    assert book.take(decide_annotate, "s1", stale, {}) == Refused("unknown")


def test_a_rewrite_needs_an_idle_session_and_its_own_revision() -> None:
    book = Book().started()
    assert book.take(decide_clear, "s1", base=2) == Refused("busy")
    book.end()
    assert book.take(decide_clear, "s1", base=2) == Refused("stale")
    assert kinds_of(book.take(decide_clear, "s1", base=3)) == ["history.rewritten"]


def test_an_empty_summary_replaces_nothing() -> None:
    book = Book()
    assert book.take(decide_compact, "s1", base=0, text="") == Refused("empty")


def test_an_unknown_run_is_an_error_of_ours() -> None:
    with pytest.raises(KeyError):
        Book().take(decide_end, "r9", "run.completed", None, closures=True)
