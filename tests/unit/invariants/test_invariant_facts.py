from __future__ import annotations

import pytest
from attrs import evolve
from story import CLAIMS, END, A, C, R, Story, U

from journalsim.oracle.facts.facts import Facts


def facts(story: Story) -> Facts:
    return Facts(story.history())


def test_message_knows_what_was_handed_over_and_when():
    story = Story().asks().calls().says("model.turn1", "a", "b").says("model.turn1", "hm", part="reasoning")
    message = facts(story.requests("model.turn1", "t1").marks("closed", "model.turn1")).messages["model.turn1"]
    assert (message.text, message.reasoning, message.whole_text, message.whole_reasoning) == ("ab", "hm", "ab", "hm")
    assert [call.call_id for call in message.calls] == ["t1"]
    assert (message.begin, message.run, message.turn) == (3, "r1", "model.turn1")
    assert message.closed is not None
    assert not message.late
    assert not message.empty


def test_second_message_of_a_turn_is_a_message_of_its_own():
    story = Story().asks().calls().says("model.turn1", "a").completes("model.turn1").says("model.turn1.m2", "b")
    messages = facts(story.marks("ended_silently", "model.turn1.m2")).messages
    assert list(messages) == ["model.turn1", "model.turn1.m2"]
    assert messages["model.turn1.m2"].turn == "model.turn1"
    assert messages["model.turn1.m2"].failed is not None
    assert messages["model.turn1.m2"].called is messages["model.turn1"].called


def test_message_that_only_ended_is_known_too_and_the_first_mark_counts():
    story = Story().asks().calls().marks("failed", "model.turn1").marks("failed", "model.turn1")
    message = facts(story).messages["model.turn1"]
    assert message.empty
    assert message.failed is not None
    assert message.failed.position == 3


def test_summary_of_a_compaction_is_not_a_message():
    story = Story().event("model.called", "r1", "model.turn1", attempt=1, purpose="compaction").says("model.turn1", "s")
    assert not facts(story).messages


@pytest.mark.parametrize(
    ("completed", "more", "superseded"), [(False, True, True), (True, False, True), (True, True, False)]
)
def test_retry_supersedes_what_it_does_again(completed: bool, more: bool, superseded: bool):
    story = Story().asks().calls(context=(U("Hi"),)).says("model.turn1", "a")
    story = story.completes("model.turn1") if completed else story.marks("failed", "model.turn1")
    story.calls("model.turn2", attempt=2, context=(U("Hi"), A("model.turn1", "a")) if more else (U("Hi"),))
    messages = facts(story.says("model.turn2", "b").says("model.turn7", "uncalled")).messages
    assert messages["model.turn1"].superseded is superseded
    assert not messages["model.turn2"].superseded
    assert not messages["model.turn7"].superseded


def test_completed_message_is_not_done_again_by_the_retry_of_a_later_call():
    story = Story().asks().calls(context=(U("Hi"),)).answers().calls("model.turn2", context=(U("Hi"),))
    story.marks("failed", "model.turn2").calls("model.turn3", attempt=2, context=(U("Hi"),)).says("model.turn3", "b")
    messages = facts(story).messages
    assert [m.superseded for m in messages.values()] == [False, True, False]


def test_tools_know_who_asked_and_what_happened():
    story = Story().asks().calls().requests("model.turn1", "t1").requests("model.turn1", "t2").completes("model.turn1")
    story.tool("started").tool("effect").tool("returned").tool("cancelled", "x9", run="r7")
    tools = facts(story).tools
    assert list(tools) == ["t1", "t2", "x9"]
    assert (tools["t1"].message, tools["t1"].run, len(tools["t1"].effects)) == ("model.turn1", "r1", 1)
    assert tools["t1"].returned is not None
    assert (tools["t2"].started, tools["t2"].returned) == ((), None)
    assert (tools["x9"].message, tools["x9"].run) == (None, "r7")
    assert tools["x9"].cancelled is not None


def test_key_that_began_two_runs_is_two_messages_unless_that_was_excluded():
    story = Story(evolve(CLAIMS, idempotent_start=False)).asks().accepts("Hi", "r2", "k1")
    assert {ref: user.run for ref, user in facts(story).users.items()} == {"user1": "r1", "user1.again": "r2"}
    story.claims = CLAIMS
    assert {ref: user.run for ref, user in facts(story).users.items()} == {"user1": "r1"}


def test_message_that_no_client_sent_is_known_from_its_acceptance():
    user = facts(Story().accepts("Hi")).users["user1"]
    assert user.sent is user.accepted


def test_stops_are_paired_with_their_answers():
    story = (
        Story().asks().asks("Yo", "r2", "k2").stops("r1", None).stops("r2").event("stop.answered", "r1", answer="ended")
    )
    runs = facts(story).runs
    assert [stop.answer for stop in runs["r1"].stops] == ["ended"]
    assert [stop.answer for stop in runs["r2"].stops] == ["stopping"]
    assert runs["r1"].stop is None
    assert facts(Story().asks().stops("r1", None)).runs["r1"].stops[0].answer == ""


def test_markers_that_name_no_run_are_given_out_in_order():
    story = (
        Story().asks().asks("Yo", "r2", "k2").asks("Yo", "r3", "k3").reads(END(None), END("r2"), END(None), END(None))
    )
    assert {run: len(items) for run, items in facts(story).markers.items()} == {"r1": 1, "r2": 1, "r3": 1, "": 1}


def test_client_shows_what_it_applied_before_a_moment():
    story = Story().asks().calls().frame("message.opened", "model.turn1", by="bob")
    story.says("model.turn1", "a", "b", seen_by=("bob",)).says("model.turn1", "hm", part="reasoning", seen_by=("ann",))
    story.frame("message.completed", "model.turn1", by="ann", text="ab").frame("run.ended", "model.turn1", by="ann")
    ann, bob = facts(story).applied("model.turn1")
    assert (ann.client, ann.text, ann.reasoning) == ("ann", "ab", "hm")
    assert (bob.client, bob.text, bob.reasoning) == ("bob", "ab", "")
    (early,) = facts(story).applied("model.turn1", before=bob.position)
    assert early.text == "a"
    assert facts(story).applied("model.turn2") == ()


def test_frames_without_a_provider_id_are_matched_by_row_and_by_text():
    story = Story(ids=False).asks().answers("model.turn1", "one").calls("model.turn2").answers("model.turn2", "two")
    by_text = facts(story).displayed_as
    assert by_text == {"j-model.turn1": "model.turn1", "j-model.turn2": "model.turn2"}
    story.reads(A("", "two", id="j-model.turn1"), A("", "one", id="j-model.turn2"))
    assert facts(story).displayed_as == {"j-model.turn1": "model.turn2", "j-model.turn2": "model.turn1"}


def test_frames_that_nothing_explains_are_left_alone():
    story = Story(ids=False).asks().answers("model.turn1", "one").frame("message.delta", "model.turn8", text="else")
    story.frame("run.ended", "model.turn1", message=None)
    assert facts(story).displayed_as == {"j-model.turn1": "model.turn1"}


@pytest.mark.parametrize(
    ("story", "reason"),
    [
        (Story().asks().reads().ends(), "the journal was not read after run r1"),
        (Story().asks().ends().reads(), ""),
        (Story().asks().quiet().reads(), ""),
        (Story().asks().event("bound.hit").reads(), "the case was cut off while run r1 was active"),
        (Story().asks().reads(), "the case did not come to rest while run r1 was active"),
        (Story().asks().quiet("tool").reads(), "run r1 waits for an event that is not in the script"),
        (Story().asks().crashes().quiet().reads(), "the server was not started again after run r1 crashed"),
        (Story().asks().crashes().starts().quiet().reads(), ""),
        (
            Story(evolve(CLAIMS, crash="none")).asks().crashes().starts().quiet().reads(),
            "the server crashed during run r1, and the adapter does not declare crash",
        ),
    ],
)
def test_run_is_over_when_it_ended_or_nothing_can_happen(story: Story, reason: str):
    known = facts(story)
    assert known.unsettled(known.runs["r1"]) == reason


def test_rows_of_calls_and_failed_appends_are_found():
    story = Story().asks().answers().event("store.failed", "r1", item=A("model.turn1", "Hello there"), outcome="failed")
    known = facts(story.event("store.failed", "r1", item=U("Hi"), outcome="unknown").reads(C("t1"), R("t1"), R("t2")))
    assert {call: len(rows) for call, rows in known.call_rows.items()} == {"t1": 2, "t2": 1}
    assert known.unwritten == {"model.turn1", "user1"}
    assert len(known.failed_appends) == 2


def test_only_later_maintenance_of_the_same_session_rewrites():
    story = (
        Story()
        .asks()
        .event("maintenance.done", verb="compact", session="s1")
        .event("maintenance.done", verb="annotate")
    )
    known = facts(story)
    assert known.rewritten("s1", 0)
    assert not known.rewritten("s1", 2)
    assert not known.rewritten("s2", 0)
