"""Results of sub-agents: each holds what its sub-agent said last."""

from __future__ import annotations

from story import END, C, R, Story, U

from journalsim.oracle.invariants.judge import check_history
from journalsim.oracle.invariants.verdict import Status, Verdict


def verdict(story: Story) -> Verdict:
    (found,) = check_history(story.history(), only=["executed-tool-recorded"])
    return found


def _delegated(**completed: object) -> Story:
    """A run whose lead asks a sub-agent, which calls the model twice."""
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1")
    for turn, text in (("model.turn2", "I look"), ("model.turn3", "Nothing here")):
        story.event("model.called", "r1", turn, "model", who="sub:search", purpose="turn", attempt=1)
        data = {"text": text, "reasoning": "", "calls": (), "reason": "end_turn", "provider_ids": ()}
        story.event("model.completed", "r1", turn, "model", **{**data, **completed})
    return story.ends().quiet()


def test_a_result_holds_what_the_sub_agent_said_last() -> None:
    story = _delegated()
    length = len(story.events)
    whole = R("t1", text="He says: Nothing here")
    assert verdict(story.reads(U("Hi"), C("t1"), whole, END("r1"))).status is Status.HOLDS
    for text in ("", "here", "I look"):
        del story.events[length:]
        found = verdict(story.reads(U("Hi"), C("t1"), R("t1", text=text), END("r1")))
        assert [violation.subject for violation in found.violations] == ["t1"]


def test_a_sub_agent_that_asks_for_a_tool_or_is_late_has_not_answered() -> None:
    for completed in ({"calls": (("t2", "search", "{}"),)}, {"late": True}):
        story = _delegated(**completed).reads(U("Hi"), C("t1"), R("t1", text=""), END("r1"))
        assert verdict(story).status is Status.NOT_EXERCISED


def test_of_two_calls_of_one_sub_agent_nobody_can_say_whose_answer_it_is() -> None:
    story = Story().asks().calls().requests("model.turn1", "t1").requests("model.turn1", "t2").completes("model.turn1")
    story.event("model.called", "r1", "model.turn2", "model", who="sub:search", purpose="turn", attempt=1)
    data = {"text": "Here", "reasoning": "", "calls": (), "reason": "end_turn", "provider_ids": ()}
    story.event("model.completed", "r1", "model.turn2", "model", **data).ends().quiet()
    rows = (C("t1"), C("t2"), R("t1", text=""), R("t2", text=""))
    assert verdict(story.reads(U("Hi"), *rows, END("r1"))).status is Status.NOT_EXERCISED


def test_a_call_that_was_cut_off_has_no_answer_to_hold() -> None:
    story = _delegated().reads(U("Hi"), C("t1"), R("t1", "aborted", outcome="unknown"), END("r1"))
    assert verdict(story).status is Status.NOT_EXERCISED


def test_a_lost_result_of_a_sub_agent_is_graded_without_a_tool_that_ran() -> None:
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1")
    story.frame("tool.closed", "t1", source=False, call_id="t1", state="completed").crashes("unsynced").starts().quiet()
    crashed = END("r1", "interrupted", "crashed")
    story.reads(U("Hi"), C("t1"), R("t1", "aborted", outcome="unknown"), crashed)
    (found,) = check_history(story.history(), only=["acknowledged-is-durable"])
    assert [(violation.subject, violation.grade) for violation in found.violations] == [("t1", "emitted")]
