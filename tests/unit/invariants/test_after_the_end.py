"""What may still be seen and done when a run is over, and what a person's denial ends."""

from __future__ import annotations

import pytest
from story import END, A, C, R, Story, U

from journalsim.contract.items import Item
from journalsim.oracle.invariants.judge import check_history
from journalsim.oracle.invariants.verdict import Status, Verdict

STOPPED = END("r1", "interrupted", "stopped")
ANSWER = A("model.turn1", "Hello there")
LOOK = (U("Hi"), A("model.turn1", "Look"), C("t1"))


def verdict(invariant: str, story: Story) -> Verdict:
    (found,) = check_history(story.history(), only=[invariant])
    return found


def broken(story: Story) -> list[str]:
    return [v.invariant for v in check_history(story.history()) if v.violations]


# --- what a read shows


def page(*rows: Item, since: int | None = None, more: Item | None = None) -> Story:
    """A page that is opened when the end was announced, and the journal at rest."""
    story = Story().asks().answers().ends()
    if more is not None:
        story.event("store.failed", "r1", item=more, outcome="unknown")
    began = {} if since is None else {"since": len(story.events) - since}
    story.event("journal.read", by="journal", items=rows, reason="reload", session="s1", **began)
    return story.quiet().reads(U("Hi"), ANSWER, END("r1"))


def test_page_opened_after_the_announced_end_shows_the_terminal():
    assert broken(page(U("Hi"), ANSWER)) == ["fenced-writer"]
    assert broken(page(U("Hi"), ANSWER, END("r1"))) == []


def test_page_that_began_to_load_before_the_end_or_a_terminal_written_at_the_second_attempt_is_excused():
    assert broken(page(U("Hi"), ANSWER, since=1)) == []
    assert broken(page(U("Hi"), ANSWER, more=END("r1"))) == []
    assert broken(page(U("Hi"), ANSWER, more=END("r2"))) == ["fenced-writer"]


def test_page_that_began_to_load_before_the_acceptance_need_not_show_the_prompt():
    def loads(**began: int) -> Story:
        story = Story().asks().event("journal.read", by="journal", items=(), reason="reload", session="s1", **began)
        return story.answers().ends().quiet().reads(U("Hi"), ANSWER, END("r1"))

    assert broken(loads()) == ["prompt-first"]
    assert broken(loads(since=1)) == []


# --- what a run does


@pytest.mark.parametrize("state", ["completed", "failed"])
def test_run_that_ended_by_itself_does_nothing_more(state: str):
    story = Story().asks().calls().marks("failed", "model.turn1").ends("r1", state)
    (violation,) = verdict("stop-ends-run", story.calls("model.turn2").quiet().reads()).violations
    assert violation.found == "model.turn2 began after the end of the run"


def test_work_that_a_repeated_request_causes_is_for_the_judge_of_requests():
    story = Story().asks().answers().ends().sends("Hi").calls("model.turn2").quiet().reads(U("Hi"), ANSWER, END("r1"))
    assert broken(story) == ["one-request-one-effect"]


def test_rollback_leaves_nothing_that_the_model_or_its_tools_said():
    cut = A("model.turn1", "Hello ", "interrupted")
    story = Story().asks().calls().says("model.turn1", "Hello ").stops(mode="rollback")
    story.ends("r1", "interrupted", "rolled_back").quiet()
    gone = END("r1", "interrupted", "rolled_back")
    length = len(story.events)
    (violation,) = verdict("stop-ends-run", story.reads(cut, gone)).violations
    assert violation.actual == ('-  assistant  interrupted  "Hello "',)
    assert broken(story.gives(cut, gone)) == ["stop-ends-run"]
    del story.events[length:]
    assert verdict("stop-ends-run", story).status is Status.HOLDS  # nobody looked
    assert broken(story.reads(gone).gives(gone)) == []


# --- what a denial ends


def answered(*approved: bool, answer: str = "resolved") -> Story:
    """A call that waits for a person, who answers it."""
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    for yes in approved:
        story.event("answer.delivered", "r1", "t1", approved=yes)
    return story.event("answer.answered", "r1", "t1", answer=answer)


def denied_call_ran(story: Story, *after: str, outcome: str = "not_started") -> Story:
    for what in ("started", *after):
        story.tool(what)
    return story.ends().quiet().reads(*LOOK, R("t1", "aborted", outcome=outcome), END("r1"))


def test_tool_of_a_denied_call_does_not_run():
    assert broken(denied_call_ran(answered(False))) == ["one-request-one-effect"]
    assert broken(denied_call_ran(answered(False), "returned")) == ["one-request-one-effect"]
    (violation,) = verdict("one-request-one-effect", denied_call_ran(answered(False))).violations
    assert violation.promised == "a user denied call t1 at 9 ms, so its tool never runs"


def test_denied_call_that_runs_when_the_run_is_over_is_no_further_work_of_the_run():
    story = answered(False).ends().tool("started").quiet().reads(*LOOK, R("t1", "aborted"), END("r1"))
    assert broken(story) == ["one-request-one-effect"]


@pytest.mark.parametrize(
    "story", [answered(True, False), answered(True), answered(False, answer="late"), answered(False).crashes().starts()]
)
def test_denial_that_did_not_count_forbids_nothing(story: Story):
    story.tool("started").quiet().reads(*LOOK)
    assert verdict("one-request-one-effect", story).violations == ()


# --- which answer counts


def told(*answers: tuple[bool, str], crash: bool = False, asked: int = 1) -> Story:
    """A call that waits for people, and what each is told of the answer."""
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    for turn in range(2, asked + 1):
        story.calls(f"model.turn{turn}", attempt=turn).requests(f"model.turn{turn}", "t1")
    for number, (approved, said) in enumerate(answers):
        if crash and number:
            story.crashes().starts()
        story.event("answer.delivered", "r1", "t1", approved=approved).event("answer.answered", "r1", "t1", answer=said)
    return story


def test_of_two_answers_that_differ_one_counts():
    (violation,) = verdict("one-request-one-effect", told((True, "resolved"), (False, "resolved"))).violations
    assert violation.promised == "call t1 was approved at 8 ms, and the first answer counts"
    assert violation.found == "the server accepted a later answer of a user who denied it"
    (violation,) = verdict("one-request-one-effect", told((False, "resolved"), (True, "resolved"))).violations
    assert violation.promised.startswith("call t1 was denied")


@pytest.mark.parametrize(
    "story",
    [
        told((True, "resolved"), (True, "resolved"), (False, "late")),
        told((True, "unknown"), (False, "resolved")),
        told((True, "late")),
        told((True, "resolved"), (False, "resolved"), crash=True),
        told((True, "resolved"), (False, "resolved"), asked=2),
        told((True, "resolved")).event("answer.delivered", "r1", "t1", approved=False),
        answered(False, True).event("answer.answered", "r1", "t1", answer="resolved"),
    ],
)
def test_the_same_answer_again_and_answers_of_which_nobody_can_tell_are_no_second_answer(story: Story):
    assert verdict("one-request-one-effect", story).violations == ()


@pytest.mark.parametrize(
    ("answers", "state", "bad"),
    [
        ((), "approved", True),
        (((False, "late"),), "approved", True),
        ((), "denied", False),
        (((True, "resolved"),), "approved", False),
    ],
)
def test_nobody_but_people_approves(answers: tuple[tuple[bool, str], ...], state: str, bad: bool):
    story = told(*answers)
    story.event("frame.published", "r1", frame="approval.resolved", message=None, call_id="t1", state=state)
    found = [violation.found for violation in verdict("one-request-one-effect", story).violations]
    assert found == ["a frame says that it was approved, and no user approved it"] * bad


# --- what was shown when something else than a person interrupted the run


def limited(cause: str, *, kept: str = "Hello", policies: dict[str, str] | None = None) -> Story:
    story = Story(policies=policies).asks().calls().says("model.turn1", "Hello ", "there", seen_by=("ann",))
    story.asks("Yo", "r2", "k2").marks("closed", "model.turn1").ends("r1", "interrupted", cause).ends("r2").quiet()
    rows = (A("model.turn1", kept, "interrupted"),) if kept else ()
    return story.reads(U("Hi"), *rows, END("r1", "interrupted", cause), U("Yo", "r2"), END("r2"))


def test_what_a_client_showed_is_kept_at_a_time_limit_and_where_a_newer_message_cancels():
    (violation,) = verdict("partial-is-prefix", limited("timed_out")).violations
    assert violation.promised == 'ann displayed "Hello there" of message model.turn1 when run r1 was interrupted'
    assert broken(limited("timed_out", kept="")) == ["partial-is-prefix"]
    assert broken(limited("timed_out", kept="Hello there")) == []
    assert broken(limited("stopped", policies={"busy": "cancel_earlier"})) == ["partial-is-prefix"]


def test_other_causes_ask_for_nothing_that_was_shown():
    assert broken(limited("shut_down")) == []
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=("ann",)).crashes().starts()
    story.ends("r1", "interrupted", "timed_out").quiet().reads(U("Hi"), END("r1", "interrupted", "timed_out"))
    assert verdict("partial-is-prefix", story).violations == ()


def test_stream_that_was_closed_while_its_run_went_on_is_not_asked_for():
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=("ann",)).marks("closed", "model.turn1")
    story.calls("model.turn2").ends("r1", "interrupted", "timed_out").quiet()
    story.reads(U("Hi"), END("r1", "interrupted", "timed_out"))
    assert verdict("partial-is-prefix", story).violations == ()


# --- whose doing it was


def test_run_that_a_newer_message_cancelled_may_have_written_over_it():
    story = Story(policies={"busy": "cancel_earlier"}).asks().calls().asks("Yo", "r2", "k2")
    story.ends("r1", "interrupted", "stopped").calls("model.turn2", "r2").answers("model.turn2", "Yes")
    story.frame("message.completed", "model.turn2", event_id="r2:4").ends("r2").quiet()
    story.reads(U("Hi"), STOPPED, U("Yo", "r2"), END("r2"))
    assert broken(story) == ["fenced-writer"]
    story.policies = {}
    assert "no-lost-completed-message" in broken(story)
