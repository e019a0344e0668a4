"""How far a message had come before it was lost."""

from __future__ import annotations

import pytest
from story import END, A, C, R, Story, U

from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.invariants.judge import check_history
from journalsim.oracle.invariants.lattice import grade_of_message, grade_of_result, with_grade
from journalsim.oracle.invariants.verdict import GRADES

STOPPED = END("r1", "interrupted", "stopped")
ANSWER = A("model.turn1", "Hello there")


def told(*chunks: str) -> Story:
    """An answer of which nobody was told anything."""
    story = Story().asks().calls()
    for text in chunks:
        story.event("model.chunk", "r1", "model.turn1", part="text", text=text, provider_id="msg-turn1")
        story.texts.setdefault("model.turn1text", []).append(text)
    return story


@pytest.mark.parametrize(
    ("story", "grade", "who"),
    [
        (told("Hello there"), "emitted", ""),
        (told("Hello there").stops(), "emitted", ""),
        (told("Hello ", "there").completes("model.turn1"), "received", ""),
        (told("Hello there").event("store.acknowledged", "r1", item=ANSWER), "accepted", ""),
        (told("Hello there").reads(ANSWER, reason="reload"), "accepted", ""),
        (told("Hello there").reads(U("Hi"), reason="reload"), "emitted", ""),
        (told("Hello there").crashes().starts().reads(ANSWER, reason="reload"), "synced", ""),
        (Story().asks().calls().says("model.turn1", "Hello there"), "sent", ""),
        (Story().asks().answers().frame("message.completed", "model.turn1", event_id="r1:4"), "sent", ""),
        (Story().asks().calls().says("model.turn1", "Hello there", seen_by=("ann", "bob")), "applied", "ann"),
        (
            Story().asks().calls().says("model.turn1", "Hello").frame("message.opened", "model.turn1", by="bob"),
            "sent",
            "",
        ),
        (
            told("Hello there").reads(ANSWER, reason="reload").event("client.reloaded", by="eve", items=(ANSWER,)),
            "applied",
            "eve",
        ),
        (
            told("Hello there").reads(ANSWER, reason="reload").event("client.reloaded", by="eve", items=()),
            "accepted",
            "",
        ),
    ],
)
def test_grade_is_the_furthest_line_that_a_message_crossed(story: Story, grade: str, who: str):
    assert grade_of_message("model.turn1", Facts(story.history())) == (grade, who)


def test_grade_at_a_moment_leaves_out_what_came_later():
    story = Story().asks().calls().says("model.turn1", "Hello", seen_by=("ann",))
    facts = Facts(story.history())
    assert grade_of_message("model.turn1", facts, before=4) == ("emitted", "")
    assert grade_of_message("model.turn1", facts, before=5) == ("sent", "")


def test_message_of_a_person_is_accepted_when_start_has_returned():
    assert grade_of_message("user1", Facts(Story().sends("Hi").history()))[0] == "emitted"
    assert grade_of_message("user1", Facts(Story().asks().history()))[0] == "accepted"


@pytest.mark.parametrize(
    ("story", "grade", "who"),
    [
        (Story().asks().tool("started").tool("returned"), "emitted", ""),
        (Story().asks().tool("started").tool("failed").ends(), "received", ""),
        (Story().asks().tool("started").event("store.acknowledged", "r1", item=R("t1", "failed")), "accepted", ""),
        (Story().asks().tool("started").event("store.acknowledged", "r1", item=C("t1")), "accepted", ""),
        (Story().asks().tool("started").event("store.acknowledged", "r9", item=R("t2")), "emitted", ""),
        (
            Story()
            .asks()
            .tool("started")
            .frame("tool.closed", "model.turn1", by="ann", call_id="t1", state="completed"),
            "applied",
            "ann",
        ),
        (
            Story()
            .asks()
            .tool("started")
            .frame("tool.closed", "model.turn9", by="ann", call_id="t2", state="completed"),
            "received",
            "",
        ),
    ],
)
def test_grade_of_a_result_is_the_furthest_line_that_it_crossed(story: Story, grade: str, who: str):
    assert grade_of_result("t1", Facts(story.history())) == (grade, who)


@pytest.mark.parametrize("grade", GRADES)
def test_every_grade_has_words(grade):
    said = with_grade("it is gone", grade, "alice")
    assert said.startswith("it is gone")
    assert ("alice" in said) == (grade == "applied")


def test_losses_say_how_far_the_message_had_come():
    story = Story().asks().answers(seen_by=("ann",)).ends().quiet().reads(U("Hi"), END("r1"))
    (lost,) = check_history(story.history(), only=["no-lost-completed-message"])
    assert lost.violations[0].grade == "applied"
    assert lost.violations[0].found == "the journal does not hold it after the run; ann had displayed it"
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=("ann",)).stops()
    story.ends("r1", "interrupted", "stopped").quiet().reads(U("Hi"), STOPPED)
    (partial,) = check_history(story.history(), only=["partial-is-prefix"])
    assert partial.violations[0].grade == "applied"
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    story.tool("started").tool("returned").stops().ends("r1", "interrupted", "stopped").quiet()
    story.reads(U("Hi"), A("model.turn1", "Look"), C("t1"), R("t1", "aborted", outcome="unknown"), STOPPED)
    (recorded,) = check_history(story.history(), only=["executed-tool-recorded"])
    assert recorded.violations[0].grade == "received"
    assert recorded.violations[0].found.endswith("the system had received it")
