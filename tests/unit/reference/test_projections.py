"""History, context and frames are three views of one journal."""

from __future__ import annotations

import pytest
from reference_fakes import Book, call, shape

from journalsim.contract.frames import Frame
from journalsim.contract.items import HIDDEN_FROM_MODEL
from journalsim_reference.calls import decide_tool_end
from journalsim_reference.content import Content
from journalsim_reference.frames import frame
from journalsim_reference.journal import decide_annotate, decide_clear, decide_compact, decide_complete
from journalsim_reference.lifecycle import CAUSES
from journalsim_reference.projections import MARKERS, delegated
from journalsim_reference.state import Speaker


def stopped_in_mid_text() -> Book:
    book = Book().started()
    book.open(text="Ans")
    book.stop()
    book.end(kind="run.aborted")
    return book


def with_tools(*ends: str) -> Book:
    """A run with a message of three calls: c1 returned, c2 runs, c3 waits."""
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1"), call("c2"), call("c3"))
    book.tool("c1", "3 hits")
    book.tool("c2")
    for kind in ends:
        book.end(kind=kind, cause="failed")
    return book


# --- history


def test_a_completed_run_shows_prompt_answer_and_marker() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Answer")
    book.end()
    assert shape(book.history()) == ["user Hi", "assistant Answer", "marker"]


def test_an_item_has_the_ids_of_its_message() -> None:
    book = Book().started()
    book.take(decide_complete, "r1", None, Content("Answer", "hm", aliases=("a", "b")))
    user, answer = book.history()
    assert (user.id, user.origin, user.run_id) == ("r1/user", "user", "r1")
    assert (answer.id, answer.aliases, answer.reasoning, answer.origin) == ("r1/m1", ("a", "b"), "hm", "model")


def test_a_stopped_run_shows_its_partial_and_one_marker() -> None:
    book = stopped_in_mid_text()
    assert shape(book.history()) == ["user Hi", "assistant Ans interrupted", "marker stopped interrupted"]
    assert book.history()[1].cause == "stopped"


def test_a_partial_can_be_a_completed_message_with_a_flag() -> None:
    partial = stopped_in_mid_text().history(partial_form="flag")[1]
    assert (partial.state, partial.metadata, partial.cause) == ("completed", {"interrupted": True}, "stopped")


def test_an_open_message_shows_spilled_and_buffered_text() -> None:
    book = Book().started()
    message = book.open(text="Ans")
    assert shape(book.history()) == ["user Hi", "assistant Ans open"]
    book.buffers[message] = Content("Answ")
    assert shape(book.history()) == ["user Hi", "assistant Answ open"]


def test_a_message_without_text_is_shown_by_its_calls_alone() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "", call("c1"))
    assert shape(book.history()) == ["user Hi", "tool_call c1"]


def test_a_message_that_kept_nothing_is_not_shown() -> None:
    book = Book().started()
    book.open(text="")
    book.end(kind="run.failed", cause="failed")
    assert shape(book.history()) == ["user Hi", "marker failed failed"]


def test_every_call_has_one_closure_and_says_what_is_known() -> None:
    book = with_tools("run.failed")
    items = book.history()
    assert shape(items)[2:] == [
        "tool_call c1",
        "tool_call c2",
        "tool_call c3",
        "tool_result c1",
        "tool_result c2 aborted",
        "tool_result c3 aborted",
        "marker failed failed",
    ]
    assert [(item.outcome, item.origin) for item in items if item.kind == "tool_result"] == [
        ("", "tool"),
        ("unknown", "synthetic"),
        ("not_started", "synthetic"),
    ]


def test_closures_that_were_not_written_are_rendered_and_reported() -> None:
    book = with_tools()
    book.end(kind="run.failed", cause="failed", closures=False)
    rendered = [item for item in book.history() if item.metadata]
    assert shape(rendered) == ["tool_result c2 aborted", "tool_result c3 aborted"]
    assert rendered[0].metadata == {"repaired": "on_read"}
    assert shape(book.context())[-3:-1] == ["tool_result c2 aborted", "tool_result c3 aborted"]


def test_a_rollback_shows_its_marker_and_nothing_else() -> None:
    book = with_tools()
    book.stop(mode="rollback")
    book.end(kind="run.aborted")
    assert shape(book.history()) == ["marker rolled_back interrupted"]
    assert shape(book.context()) == ["marker rolled_back interrupted"]


def test_what_a_later_attempt_replaced_is_not_shown() -> None:
    book = Book().started()
    stale = book.open()
    book.complete("r1", stale, "Uno", call("c1"))
    book.complete("r1", book.open(stale=[stale]), "Dos")
    book.end(closures=False)
    assert shape(book.history()) == ["user Hi", "assistant Dos", "marker"]
    assert shape(book.context()) == ["user Hi", "assistant Dos"]


def test_a_queued_prompt_is_shown_behind_the_run_that_is_active() -> None:
    book = Book().started()
    book.accept("r2", "Next", busy="queue")
    book.complete("r1", book.open(), "Answer")
    assert shape(book.history()) == ["user Hi", "assistant Answer", "user Next"]


def test_an_annotation_shows_in_the_next_read_and_leaves_the_last_one_alone() -> None:
    book = Book().started()
    book.end()
    before = book.history()
    book.take(decide_annotate, "s1", "r1/user", {"starred": True})
    assert (before[0].metadata, book.history()[0].metadata) == ({}, {"starred": True})


def test_what_has_not_changed_is_not_rendered_again() -> None:
    book = stopped_in_mid_text()
    assert all(a is b for a, b in zip(book.history(), book.history(), strict=True))
    assert all(a is b for a, b in zip(book.context(), book.context(), strict=True))


def test_a_clear_leaves_nothing_to_show_or_to_give() -> None:
    book = stopped_in_mid_text()
    book.take(decide_clear, "s1", base=book.state.session("s1").revision)
    assert (book.history(), book.context()) == ((), ())


def test_a_compaction_gives_the_summary_and_shows_everything() -> None:
    book = Book().started()
    book.end()
    book.take(decide_compact, "s1", base=3, text="They met.")
    book.started("r2", text="Next")
    assert shape(book.history()) == ["user Hi", "marker", "summary They met.", "user Next"]
    assert shape(book.context()) == ["summary They met.", "user Next"]


# --- context


def test_a_prompt_that_waits_is_not_given_to_the_model() -> None:
    book = Book().started()
    book.accept("r2", "Next", busy="queue")
    assert shape(book.context()) == ["user Hi"]


def test_a_stopped_turn_ends_in_a_marker_that_is_no_user_turn() -> None:
    assert shape(stopped_in_mid_text().context()) == [
        "user Hi",
        "assistant Ans interrupted",
        "marker stopped interrupted",
    ]


def test_partial_text_can_be_left_out_of_context() -> None:
    context = stopped_in_mid_text().context(partial_in_context="none")
    assert shape(context) == ["user Hi", "marker stopped interrupted"]


def test_of_a_stopped_turn_the_model_can_be_given_what_is_certain_alone() -> None:
    book = with_tools()
    book.open(text="And")
    book.stop()
    book.end(kind="run.aborted")
    context = book.context(stopped_turn="user_only")
    assert shape(context)[:3] == ["user Hi", "assistant Look", "tool_call c1"]
    assert shape(context)[-1] == "tool_result c3 aborted"


def test_a_completed_turn_has_no_marker_in_context() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Answer")
    book.end()
    assert shape(book.context()) == ["user Hi", "assistant Answer"]


def test_a_call_is_given_with_its_result_or_not_at_all() -> None:
    assert shape(with_tools().context()) == ["user Hi", "assistant Look", "tool_call c1", "tool_result c1"]


def test_an_open_message_is_not_given_to_the_model() -> None:
    book = Book().started()
    book.open(text="Ans")
    assert shape(book.context()) == ["user Hi"]


def test_a_hidden_message_takes_its_calls_along() -> None:
    book = with_tools("run.failed")
    book.take(decide_annotate, "s1", "r1/m1", {HIDDEN_FROM_MODEL: True})
    assert shape(book.context()) == ["user Hi", "marker failed failed"]
    assert "assistant Look" in shape(book.history())


def test_every_cause_has_a_wording() -> None:
    assert set(MARKERS) == {cause for causes in CAUSES.values() for cause in causes}


# --- frames


def frames(book: Book) -> list[Frame]:
    """Returns the frames of the rows so far, as the state is now."""
    found = (frame(book.state, row) for row in book.rows)
    return [made for made in found if made is not None]


def test_frames_tell_what_happened_and_name_their_rows() -> None:
    book = with_tools()
    book.stop()
    book.end(kind="run.aborted")
    assert [(f.kind, f.event_id) for f in frames(book)] == [
        ("run.started", "r1:2"),
        ("message.opened", "r1:3"),
        ("message.completed", "r1:4"),
        ("tool.requested", "r1:5"),
        ("tool.requested", "r1:6"),
        ("tool.requested", "r1:7"),
        ("tool.closed", "r1:9"),
        ("tool.closed", "r1:12"),
        ("tool.closed", "r1:13"),
        ("run.ended", "r1:14"),
    ]
    assert (frames(book)[-1].state, frames(book)[-1].cause) == ("interrupted", "stopped")


def test_a_message_frame_has_the_whole_text_and_the_latest_id_of_the_provider() -> None:
    book = Book().started()
    book.take(decide_complete, "r1", None, Content("Answer", "hm", aliases=("a", "b")))
    opened, completed = frames(book)[1:]
    assert (opened.message_id, opened.source, opened.text) == ("r1/m1", "a", "")
    assert (completed.text, completed.reasoning, completed.source) == ("Answer", "hm", "b")


def test_a_message_frame_of_a_provider_without_ids_has_no_source() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Answer")
    assert [f.source for f in frames(book)] == [None, None, None]


@pytest.mark.parametrize("kind", ["run.accepted", "tool.started", "run.stop_requested"])
def test_readers_are_not_told_of_every_row(kind: str) -> None:
    book = with_tools()
    book.stop()
    row = next(row for row in book.rows if row.kind == kind)
    assert frame(book.state, row) is None


# --- questions


def waiting() -> Book:
    book = Book().started()
    book.complete("r1", book.open(), "May I?", call("c1"))
    book.ask("c1")
    return book


def test_a_call_that_waits_is_an_open_request_until_it_is_answered() -> None:
    book = waiting()
    assert shape(book.history()) == ["user Hi", "assistant May I?", "tool_call c1 open"]
    assert shape(book.context()) == ["user Hi", "assistant May I?"]
    book.answer("c1")
    assert shape(book.history())[-1] == "tool_call c1"


def test_a_question_is_over_with_its_run_also_where_the_closure_is_left_to_the_reader() -> None:
    book = waiting()
    book.stop()
    book.end(kind="run.aborted", closures=False)
    assert shape(book.history())[2:4] == ["tool_call c1", "tool_result c1 aborted"]


@pytest.mark.parametrize(("approved", "says"), [(True, "approved"), (False, "denied")])
def test_question_and_answer_are_told_to_whoever_watches(approved: bool, says: str) -> None:
    book = waiting()
    asked = frame(book.state, book.rows[-1])
    book.answer("c1", approved)
    answer = next(row for row in book.rows if row.kind == "approval.resolved")
    assert asked == Frame("approval.requested", "r1", call_id="c1", event_id="r1:6")
    assert frame(book.state, answer) == Frame("approval.resolved", "r1", call_id="c1", state=says, event_id="r1:7")


# --- sub-agents

SCOUT = Speaker("sub:scout", "c1")


def delegating() -> Book:
    """A run in which two sub-agents work: the scout has used a tool and goes on, the other one has just begun."""
    book = Book().started()
    book.complete("r1", book.open(), "Ask", call("c1", "Look around", "scout"), call("c2", "Look below", "diver"))
    book.tool("c1")
    book.tool("c2")
    content = Content("A look.", calls=(call("t1"),), aliases=("a",))
    book.take(decide_complete, "r1", None, content, speaker=SCOUT)
    book.tool("t1", "3 hits")
    book.open(text="It is ", speaker=Speaker("sub:diver", "c2"))
    return book


def test_what_sub_agents_say_and_do_is_not_shown() -> None:
    book = delegating()
    assert shape(book.history()) == ["user Hi", "assistant Ask", "tool_call c1", "tool_call c2"]
    book.take(decide_tool_end, "r1", "c1", "tool.completed", "Three hits.")
    assert shape(book.context()) == ["user Hi", "assistant Ask", "tool_call c1", "tool_result c1"]


def test_a_stop_shows_the_calls_of_the_lead_as_unknown_and_nothing_of_the_sub_agents() -> None:
    book = delegating()
    book.stop()
    book.end(kind="run.aborted")
    assert shape(book.history())[4:] == [
        "tool_result c1 aborted",
        "tool_result c2 aborted",
        "marker stopped interrupted",
    ]


def test_calls_of_sub_agents_are_not_repaired_when_read() -> None:
    book = delegating()
    book.take(decide_complete, "r1", None, Content("More.", calls=(call("t2"),)), speaker=SCOUT)
    book.end(kind="run.failed", cause="failed", closures=False)
    assert [item.call_id for item in book.history() if item.kind == "tool_result"] == ["c1", "c2"]


def test_a_sub_agent_is_given_its_task_and_its_own_words() -> None:
    book = delegating()
    given = delegated(book.state, "r1", "c1", {})
    assert shape(given) == ["user Look around", "assistant A look.", "tool_call t1", "tool_result t1"]
    assert (given[0].id, given[0].origin) == ("r1/c1#task", "model")
    assert shape(delegated(book.state, "r1", "c2", {})) == ["user Look below"]


def test_people_see_a_call_of_a_sub_agent_while_they_are_asked_about_it() -> None:
    book = delegating()
    book.take(decide_complete, "r1", None, Content("", calls=(call("t2"),)), speaker=SCOUT)
    book.ask("t2")
    assert shape(book.history())[-1] == "tool_call t2 open"
    asked = frame(book.state, book.rows[-1])
    assert asked is not None
    assert (asked.kind, asked.call_id, asked.message_id) == ("approval.requested", "t2", None)
    book.answer("t2")
    assert "t2" not in [item.call_id for item in book.history()]


def test_nobody_is_told_of_what_a_sub_agent_says_and_does() -> None:
    book = delegating()
    own = [row for row in book.rows if row.actor == "sub:scout" or row.payload.get("call_id") == "t1"]
    assert [row.kind for row in own] == [
        "message.opened",
        "message.id_aliased",
        "message.completed",
        "tool.requested",
        "tool.started",
        "tool.completed",
    ]
    assert [frame(book.state, row) for row in own] == [None] * len(own)
