"""Histories about the order of rows, and about what the model is given."""

from __future__ import annotations

from attrs import evolve
from known_histories import ANN, bad, ok
from story import END, A, C, R, Story, U

from journalsim.contract.items import HIDDEN_FROM_MODEL

ANSWER = A("model.turn1", "Hello there")
FIRST = (U("Hi"), ANSWER, END("r1"))
SECOND = (U("Yo", "r2"), A("model.turn2", "Yes", run="r2"), END("r2"))
STOPPED = END("r1", "interrupted", "stopped")


def _two_runs() -> Story:
    story = Story().asks().answers().ends().asks("Yo", "r2", "k2").calls("model.turn2", "r2")
    return story.answers("model.turn2", "Yes").ends("r2").quiet()


# --- ordered-history -----------------------------------------------------------------------------


@ok("ordered-history")
def rows_stand_in_the_order_of_their_runs() -> Story:
    return _two_runs().reads(*FIRST, *SECOND)


@ok("ordered-history")
def rows_of_runs_that_overlap_may_be_mixed() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hello ").asks("Yo", "r2", "k2").says("model.turn1", "there")
    story.completes("model.turn1").ends().calls("model.turn2", "r2").answers("model.turn2", "Yes").ends("r2").quiet()
    return story.reads(U("Hi"), U("Yo", "r2"), ANSWER, END("r1"), *SECOND[1:])


@bad("ordered-history")
def the_second_run_stands_before_the_first() -> Story:
    return _two_runs().reads(*SECOND, *FIRST)


@bad("ordered-history")
def a_clock_that_was_set_back_sorts_the_answer_before_the_question() -> Story:
    story = Story().asks().event("clock.jumped", by="clock", by_ns=-3_600_000_000_000).answers().ends().quiet()
    return story.reads(ANSWER, END("r1"), U("Hi"))


@bad("ordered-history")
def two_answers_of_a_run_change_places() -> Story:
    story = Story().asks().answers().answers("model.turn2", "Yes").ends().quiet()
    return story.reads(U("Hi"), A("model.turn2", "Yes"), ANSWER, END("r1"))


@bad("ordered-history")
def a_result_before_its_request() -> Story:
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    story.tool("started").tool("returned").answers("model.turn2").ends().quiet()
    rows = (U("Hi"), A("model.turn1", "Look"), R("t1"), C("t1"), A("model.turn2", "Hello there"), END("r1"))
    return story.reads(*rows)


@bad("ordered-history")
def the_model_is_given_the_runs_in_the_wrong_order() -> Story:
    return _two_runs().reads(*FIRST, *SECOND).gives(*SECOND[:2], *FIRST[:2])


# --- prompt-first --------------------------------------------------------------------------------


@ok("prompt-first")
def the_question_is_there_before_the_model_is_called() -> Story:
    story = Story().asks().reads(U("Hi"), reason="reload").calls(context=(U("Hi"),))
    return story.says("model.turn1", "Hello ", "there").completes("model.turn1").ends().quiet().reads(*FIRST)


@bad("prompt-first")
def the_model_is_called_without_the_question() -> Story:
    story = Story().asks().calls(context=()).says("model.turn1", "Hello ", "there").completes("model.turn1")
    return story.ends().quiet().reads(*FIRST)


@bad("prompt-first")
def a_page_that_is_opened_during_the_answer_does_not_show_the_question() -> Story:
    story = Story().asks().reads(reason="reload").answers().ends().quiet()
    return story.reads(*FIRST)


@bad("prompt-first")
def a_kill_takes_a_question_for_which_the_model_was_called() -> Story:
    return Story().asks().calls().crashes().starts().quiet().reads(END("r1", "interrupted", "crashed"))


# --- store-equals-context ------------------------------------------------------------------------


def _next_call(*given: object, first: Story | None = None) -> Story:
    """A run that is over, and the first call of the next one."""
    story = first or Story().asks().answers().ends()
    story.asks("Yo", "r2", "k2").calls("model.turn2", "r2", context=(*given, U("Yo", "r2")))
    return story.says("model.turn2", "Yes").completes("model.turn2").ends("r2").quiet()


def _cut_short() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hello ", "there", seen_by=ANN).stops()
    return story.ends("r1", "interrupted", "stopped")


CUT = (U("Hi"), A("model.turn1", "Hello there", "interrupted"), STOPPED)


@ok("store-equals-context")
def the_model_is_given_what_people_see() -> Story:
    return _next_call(*FIRST[:2]).reads(*FIRST, *SECOND).gives(*FIRST[:2], *SECOND[:2])


@ok("store-equals-context")
def interrupted_text_is_left_out_by_policy() -> Story:
    story = _next_call(U("Hi"), STOPPED, first=_cut_short()).reads(*CUT, *SECOND).gives(U("Hi"), STOPPED, *SECOND[:2])
    story.policies = {"partial_in_context": "none"}
    return story


@ok("store-equals-context")
def a_message_that_is_hidden_from_the_model_is_left_out() -> Story:
    story = Story().asks().answers().ends().reads(*FIRST, reason="annotate")
    story.maintains(item="model.turn1", **{HIDDEN_FROM_MODEL: True}).quiet()
    hidden = A("model.turn1", "Hello there", metadata={HIDDEN_FROM_MODEL: True})
    return story.reads(U("Hi"), hidden, END("r1")).gives(U("Hi"))


@bad("store-equals-context")
def the_model_does_not_know_what_people_see() -> Story:
    return _next_call(U("Hi")).reads(*FIRST, *SECOND)


@bad("store-equals-context")
def the_model_is_not_told_that_the_run_was_stopped() -> Story:
    return _next_call(*CUT[:2], first=_cut_short()).reads(*CUT, *SECOND)


@bad("store-equals-context")
def the_model_is_given_other_words_than_people_see() -> Story:
    cut = A("model.turn1", "Hello ", "interrupted")
    return _next_call(U("Hi"), cut, STOPPED, first=_cut_short()).reads(*CUT, *SECOND)


@bad("store-equals-context")
def interrupted_text_is_given_against_the_policy() -> Story:
    story = _next_call(*CUT, first=_cut_short()).reads(*CUT, *SECOND)
    story.policies = {"partial_in_context": "none"}
    return story


@bad("store-equals-context")
def a_prompt_is_given_twice() -> Story:
    return _next_call(U("Hi"), U("Hi"), ANSWER).reads(*FIRST, *SECOND)


@bad("store-equals-context")
def the_model_is_given_a_prompt_that_nobody_typed() -> Story:
    return _next_call(U("Go on", None), *FIRST[:2]).reads(*FIRST, *SECOND)


@bad("store-equals-context")
def a_run_that_was_taken_back_is_given_to_the_model() -> Story:
    story = Story().asks().answers().stops(mode="rollback").ends("r1", "interrupted", "rolled_back")
    return _next_call(U("Hi"), first=story).reads(END("r1", "interrupted", "rolled_back"), *SECOND)


@bad("store-equals-context")
def a_hidden_message_is_given_to_the_model() -> Story:
    story = Story().asks().answers().ends().reads(*FIRST, reason="annotate")
    story.maintains(item="model.turn1", **{HIDDEN_FROM_MODEL: True}).quiet()
    hidden = A("model.turn1", "Hello there", metadata={HIDDEN_FROM_MODEL: True})
    return story.reads(U("Hi"), hidden, END("r1")).gives(U("Hi"), hidden)


def _looked() -> Story:
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    return story.tool("started").tool("returned").ends()


LOOKED = (U("Hi"), A("model.turn1", "Look"), C("t1"), R("t1"), END("r1"))


@bad("store-equals-context")
def a_call_is_given_without_its_result() -> Story:
    return _next_call(*LOOKED[:3], first=_looked()).reads(*LOOKED, *SECOND)


@bad("store-equals-context")
def half_a_call_is_given_to_the_model() -> Story:
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1")
    story.argues("model.turn1", "t1", '{"q":').stops().ends("r1", "interrupted", "stopped")
    half = (C("t1", arguments='{"q":'), R("t1", "aborted", outcome="not_started"))
    rows = (U("Hi"), A("model.turn1", "Look", "interrupted"), *half, STOPPED)
    return _next_call(*rows, first=story).reads(*rows, *SECOND)


@bad("store-equals-context")
def the_next_call_does_not_know_the_result_that_people_see() -> Story:
    return _looked().quiet().reads(*LOOKED).gives(*LOOKED[:2])


@bad("store-equals-context")
def the_next_call_knows_an_answer_that_people_do_not_see() -> Story:
    story = _cut_short()
    story.claims = evolve(story.claims, partials=False)
    return story.quiet().reads(U("Hi"), STOPPED).gives(*CUT)
