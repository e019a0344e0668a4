"""Histories about who writes when: after an end, in a second attempt, for a second request, over other rows."""

from __future__ import annotations

from attrs import evolve
from known_histories import ANN, bad, ok
from story import END, A, C, R, Story, U

ANSWER = A("model.turn1", "Hello there")
FIRST = (U("Hi"), ANSWER, END("r1"))
STOPPED = END("r1", "interrupted", "stopped")


# --- fenced-writer -------------------------------------------------------------------------------


@ok("fenced-writer")
def a_run_writes_its_terminal_last() -> Story:
    story = Story().asks().answers().ends().reads(*FIRST, reason="reload").asks("Yo", "r2", "k2")
    story.calls("model.turn2", "r2").answers("model.turn2", "Yes").ends("r2").quiet()
    return story.reads(*FIRST, U("Yo", "r2"), A("model.turn2", "Yes", run="r2"), END("r2"))


@bad("fenced-writer")
def a_row_after_the_terminal() -> Story:
    return Story().asks().answers().ends().quiet().reads(U("Hi"), END("r1"), ANSWER)


@bad("fenced-writer")
def a_tool_that_outlives_the_stop_adds_its_result() -> Story:
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    story.tool("started").stops().ends("r1", "interrupted", "stopped").tool("returned").asks("Yo", "r2", "k2")
    story.ends("r2", "failed", "failed").quiet()
    look = (U("Hi"), A("model.turn1", "Look"), C("t1"), STOPPED)
    return story.reads(*look, U("Yo", "r2"), R("t1"), END("r2", "failed", "failed"))


@bad("fenced-writer")
def a_row_appears_in_a_run_that_was_over() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hello ").stops().ends("r1", "interrupted", "stopped")
    story.reads(U("Hi"), STOPPED, reason="reload").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello ", "interrupted"), STOPPED)


@bad("fenced-writer")
def a_second_worker_replaces_the_terminal() -> Story:
    story = Story().asks().answers().ends().reads(*FIRST, reason="reload").quiet()
    return story.reads(U("Hi"), ANSWER, END("r1", "failed", "failed"))


def _late_finalizer() -> Story:
    story = Story().asks().calls().stops().ends("r1", "interrupted", "stopped").asks("Yo", "r2", "k2")
    return story.calls("model.turn2", "r2").answers("model.turn2", "Yes")


@bad("fenced-writer")
def a_stopped_run_saves_its_copy_over_the_next_one() -> Story:
    story = _late_finalizer().ends("r2")
    rows = (U("Hi"), STOPPED, U("Yo", "r2"))
    story.reads(*rows, A("model.turn2", "Yes", run="r2"), END("r2"), reason="reload").quiet()
    return story.reads(*rows, END("r2"))


@bad("fenced-writer")
def an_answer_that_was_announced_with_its_row_is_gone_behind_a_stopped_run() -> Story:
    story = _late_finalizer().frame("message.completed", "model.turn2", text="Yes", event_id="r2:4").ends("r2").quiet()
    return story.reads(U("Hi"), STOPPED, U("Yo", "r2"), END("r2"))


# --- retry-is-atomic -----------------------------------------------------------------------------


def _retry(*second: str) -> Story:
    story = Story().asks().calls().says("model.turn1", "One, ", seen_by=ANN).marks("failed", "model.turn1")
    return story.calls("model.turn2", attempt=2).says("model.turn2", *second)


@ok("retry-is-atomic")
def a_retry_takes_the_place_of_the_failed_attempt() -> Story:
    story = _retry("One, ", "two.").completes("model.turn2").ends().quiet()
    return story.reads(U("Hi"), A("model.turn2", "One, two."), END("r1"))


@bad("retry-is-atomic")
def a_retry_is_glued_to_the_failed_attempt() -> Story:
    story = _retry("One, ", "two.").completes("model.turn2").ends().quiet()
    return story.reads(U("Hi"), A("model.turn2", "One, One, two."), END("r1"))


@bad("retry-is-atomic")
def a_retry_that_is_stopped_is_glued_to_the_failed_attempt() -> Story:
    story = _retry("One, ").stops().ends("r1", "interrupted", "stopped").quiet()
    glued = evolve(A("model.turn1", "One, One, ", "interrupted"), aliases=("msg-turn1", "msg-turn2"))
    return story.reads(U("Hi"), glued, STOPPED)


@bad("retry-is-atomic")
def the_failed_attempt_stays_beside_the_retry() -> Story:
    story = _retry("One, ", "two.").completes("model.turn2").ends().quiet()
    return story.reads(U("Hi"), A("model.turn1", "One, ", "interrupted"), A("model.turn2", "One, two."), END("r1"))


@bad("retry-is-atomic")
def the_thoughts_of_two_attempts_are_glued() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hm", part="reasoning").marks("failed", "model.turn1")
    story.calls("model.turn2", attempt=2).says("model.turn2", "Hm", part="reasoning").says("model.turn2", "Yes")
    story.completes("model.turn2").ends().quiet()
    return story.reads(U("Hi"), A("model.turn2", "Yes", reasoning="HmHm"), END("r1"))


def _retried_call() -> Story:
    story = Story().asks().calls().requests("model.turn1", "t1").argues("model.turn1", "t1", '{"a":')
    story.marks("failed", "model.turn1").calls("model.turn2", attempt=2).says("model.turn2", "Look")
    return story.requests("model.turn2", "t2").completes("model.turn2").tool("started", "t2").tool("returned", "t2")


@bad("retry-is-atomic")
def the_arguments_of_two_attempts_are_glued() -> Story:
    story = _retried_call().ends().quiet()
    return story.reads(U("Hi"), A("model.turn2", "Look"), C("t2", arguments='{"a":{}'), R("t2"), END("r1"))


@bad("retry-is-atomic")
def a_call_of_the_failed_attempt_stays() -> Story:
    story = _retried_call().ends().quiet()
    left = (C("t1", arguments='{"a":'), R("t1", "aborted", outcome="not_started"))
    return story.reads(U("Hi"), *left, A("model.turn2", "Look"), C("t2"), R("t2"), END("r1"))


# --- one-request-one-effect ----------------------------------------------------------------------


@ok("one-request-one-effect")
def a_repeated_request_is_answered_with_the_run_that_there_is() -> Story:
    story = Story().asks().calls().sends("Hi").accepts("Hi").says("model.turn1", "Hello ", "there")
    return story.completes("model.turn1").ends().quiet().reads(*FIRST)


@ok("one-request-one-effect")
def a_refused_request_leaves_nothing() -> Story:
    story = Story().asks().sends("Yo", "k2").event("run.refused", key="k2", reason="busy").answers().ends().quiet()
    return story.reads(*FIRST)


@bad("one-request-one-effect")
def one_request_key_leaves_two_questions() -> Story:
    return Story().asks().answers().ends().quiet().reads(U("Hi"), *FIRST)


@bad("one-request-one-effect")
def one_request_key_begins_two_runs() -> Story:
    story = Story().asks().answers().ends().sends("Hi").accepts("Hi", "r2").answers("model.turn2", "Again").ends("r2")
    story.runs["model.turn2"] = "r2"
    return story.quiet().reads(*FIRST, END("r2"))


@bad("one-request-one-effect")
def a_repeated_request_calls_the_model_beside_the_first() -> Story:
    story = Story().asks().calls().sends("Hi").accepts("Hi").says("model.turn1", "Hello ").calls("model.turn2")
    story.says("model.turn1", "there").completes("model.turn1").ends().quiet()
    return story.reads(*FIRST)


@bad("one-request-one-effect")
def a_call_that_is_approved_twice_runs_its_tool_twice() -> Story:
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    story.tool("started").tool("started").tool("returned").answers("model.turn2").ends().quiet()
    look = (U("Hi"), A("model.turn1", "Look"), C("t1"), R("t1"))
    return story.reads(*look, A("model.turn2", "Hello there"), END("r1"))


def _asked_about(*answers: tuple[bool, str]) -> Story:
    """A call that waits for people, and what they are told of their answers."""
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    for approved, said in answers:
        story.event("answer.delivered", "r1", "t1", approved=approved).event("answer.answered", "r1", "t1", answer=said)
    story.event("frame.published", "r1", frame="approval.resolved", message=None, call_id="t1", state="approved")
    story.tool("started").tool("returned").answers("model.turn2").ends().quiet()
    look = (U("Hi"), A("model.turn1", "Look"), C("t1"), R("t1"))
    return story.reads(*look, A("model.turn2", "Hello there"), END("r1"))


@ok("one-request-one-effect")
def the_first_answer_counts_and_one_that_differs_is_late() -> Story:
    return _asked_about((True, "resolved"), (False, "late"), (True, "resolved"))


@bad("one-request-one-effect")
def two_answers_that_differ_count_both() -> Story:
    return _asked_about((True, "resolved"), (False, "resolved"))


@bad("one-request-one-effect")
def a_call_is_told_as_approved_that_nobody_approved() -> Story:
    return _asked_about((False, "late"))


@bad("one-request-one-effect")
def a_refused_request_leaves_its_message() -> Story:
    story = Story().asks().sends("Yo", "k2").event("run.refused", key="k2", reason="busy").answers().ends().quiet()
    return story.reads(*FIRST, U("Yo", None))


# --- no-clobber ----------------------------------------------------------------------------------


def _two_runs() -> Story:
    story = Story().asks().answers().ends().reads(*FIRST, reason="reload").asks("Yo", "r2", "k2")
    return story.calls("model.turn2", "r2").says("model.turn2", "Yes", seen_by=ANN).stops("r2")


SECOND = (U("Yo", "r2"), A("model.turn2", "Yes", "interrupted", run="r2"), END("r2", "interrupted", "stopped"))


@ok("no-clobber")
def an_older_run_stays_as_it_was_when_a_newer_one_is_stopped() -> Story:
    return _two_runs().ends("r2", "interrupted", "stopped").quiet().reads(*FIRST, *SECOND)


@ok("no-clobber")
def a_flag_survives_a_stop() -> Story:
    story = Story().asks().answers().ends().reads(*FIRST, reason="annotate").maintains(item="model.turn1", pinned=True)
    return story.quiet().reads(U("Hi"), A("model.turn1", "Hello there", metadata={"pinned": True}), END("r1"))


@bad("no-clobber")
def a_stop_removes_a_row_of_an_older_run() -> Story:
    return _two_runs().ends("r2", "interrupted", "stopped").quiet().reads(U("Hi"), END("r1"), *SECOND)


@bad("no-clobber")
def a_stop_changes_a_row_of_an_older_run() -> Story:
    story = _two_runs().ends("r2", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello"), END("r1"), *SECOND)


@bad("no-clobber")
def an_interruption_writes_back_a_copy_without_flags() -> Story:
    flagged = A("model.turn1", "Hello there", metadata={"pinned": True})
    story = Story().asks().answers().ends().reads(U("Hi"), flagged, END("r1"), reason="reload").quiet()
    return story.reads(*FIRST)


@bad("no-clobber")
def a_flag_that_was_set_is_lost_in_a_stop() -> Story:
    story = Story().asks().answers().ends().reads(*FIRST, reason="annotate").maintains(item="model.turn1", pinned=True)
    return story.quiet().reads(*FIRST)


@ok("no-clobber")
def what_comes_while_the_history_is_summed_up_stays() -> Story:
    story = Story().asks().answers().ends().calls("model.turn2", "compaction1", purpose="compaction")
    story.asks("Yo", "r2", "k2").calls("model.turn3", "r2").answers("model.turn3", "Yes").ends("r2")
    rows = (U("Yo", "r2"), A("model.turn3", "Yes", run="r2"), END("r2"))
    return story.maintains("compact").quiet().reads(*rows)


@bad("no-clobber")
def an_answer_that_came_while_the_history_was_summed_up_is_gone() -> Story:
    story = Story().asks().answers().ends().calls("model.turn2", "compaction1", purpose="compaction")
    story.asks("Yo", "r2", "k2").calls("model.turn3", "r2").answers("model.turn3", "Yes").ends("r2")
    return story.maintains("compact").quiet().reads(U("Yo", "r2"), END("r2"))
