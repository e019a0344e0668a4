"""Who writes when, what stays, in which order, and what the model is given."""

from __future__ import annotations

import copy

import pytest
from attrs import evolve
from story import CLAIMS, END, A, C, R, Story, U

from journalsim.contract.items import HIDDEN_FROM_MODEL, Item
from journalsim.oracle.invariants.judge import check_history
from journalsim.oracle.invariants.verdict import Status, Verdict

STOPPED = END("r1", "interrupted", "stopped")
ANSWER = A("model.turn1", "Hello there")
FIRST = (U("Hi"), ANSWER, END("r1"))
SECOND = (U("Yo", "r2"), A("model.turn2", "Yes", run="r2"), END("r2"))


def verdict(invariant: str, story: Story) -> Verdict:
    (found,) = check_history(story.history(), only=[invariant])
    return found


def broken(story: Story) -> list[str]:
    return [v.invariant for v in check_history(story.history()) if v.violations]


def then_second(story: Story) -> Story:
    story.asks("Yo", "r2", "k2").calls("model.turn2", "r2")
    return story.answers("model.turn2", "Yes").ends("r2").quiet()


def answered() -> Story:
    return Story().asks().answers().ends()


def evolved(story: Story) -> Story:
    """A second story that begins in the same way."""
    other = copy.copy(story)
    other.events = list(story.events)
    return other


# --- executed-tool-recorded


def recorded(story: Story) -> Verdict:
    return verdict("executed-tool-recorded", story)


def ran(*more: str) -> Story:
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    for what in ("started", *more):
        story.tool(what)
    return story


LOOK = (U("Hi"), A("model.turn1", "Look"), C("t1"))


def test_tools_that_never_ran_or_ran_after_the_end_are_not_asked_for():
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1").ends().tool("started").quiet()
    assert recorded(story.reads(U("Hi"))).status is Status.NOT_EXERCISED
    assert recorded(Story().tool("started", run="r9").reads()).status is Status.NOT_EXERCISED


def test_what_other_judges_say_is_not_said_twice():
    story = ran("returned").ends().quiet()
    assert recorded(story.reads(*LOOK, END("r1"))).status is Status.NOT_EXERCISED  # no closure
    assert recorded(story.reads(U("Hi"), END("r1"))).status is Status.NOT_EXERCISED  # no message
    assert recorded(story.reads(*LOOK[:2], END("r1"))).status is Status.NOT_EXERCISED  # no request
    assert recorded(story.reads(*LOOK[:2], C("t1", arguments="[]"), R("t1"), END("r1"))).status is Status.NOT_EXERCISED


def test_call_of_a_message_that_was_never_completed_is_on_record_if_its_tool_ran():
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").tool("started").stops()
    story.ends("r1", "interrupted", "stopped").quiet().reads(U("Hi"), A("model.turn1", "Look", "interrupted"), STOPPED)
    (violation,) = recorded(story).violations
    assert violation.expected == ('t1  tool_result  aborted (unknown)  ""',)
    assert broken(story) == ["executed-tool-recorded"]


def test_call_of_an_attempt_that_was_made_again_is_on_record_if_its_tool_ran():
    story = Story().asks().calls(context=(U("Hi"),)).requests("model.turn1", "t1").completes("model.turn1")
    story.tool("started").tool("returned").calls("model.turn2", attempt=2, context=(U("Hi"),))
    story.says("model.turn2", "Yes").completes("model.turn2").ends().quiet()
    assert recorded(story.reads(U("Hi"), A("model.turn2", "Yes"), END("r1"))).status is Status.VIOLATED


def test_call_that_a_sub_agent_made_is_its_own_business():
    story = Story().asks().calls(who="sub:search").requests("model.turn1", "t1").completes("model.turn1")
    assert recorded(story.tool("started").ends().quiet().reads(U("Hi"), END("r1"))).status is Status.NOT_EXERCISED


@pytest.mark.parametrize("story", [ran("returned").crashes().starts(), ran("returned").stops(mode="rollback")])
def test_kills_and_rollbacks_are_excused(story: Story):
    assert recorded(story.quiet().reads()).status is Status.NOT_EXERCISED


def test_append_that_failed_and_a_rewrite_are_excused():
    story = ran("returned").event("store.failed", "r1", item=R("t1"), outcome="failed").ends().quiet()
    assert recorded(story.reads(*LOOK, END("r1"))).status is Status.NOT_EXERCISED
    assert recorded(ran("returned").ends().maintains("clear").quiet().reads()).status is Status.NOT_EXERCISED


def test_tool_that_hangs_leaves_the_question_open():
    assert recorded(ran().quiet("tool:t1").reads(*LOOK, R("t1", "aborted"))).status is Status.UNDECIDED


# --- fenced-writer


def fenced(story: Story) -> Verdict:
    return verdict("fenced-writer", story)


def test_rows_that_came_too_late_are_held_against_the_writer_alone():
    late = A("model.turn1", "Hello ", "interrupted")
    story = Story().asks().answers().ends().quiet().reads(*FIRST, late)
    assert broken(story) == ["fenced-writer"]
    assert broken(Story().asks().answers().ends().quiet().reads(*FIRST, ANSWER)) == ["fenced-writer"]


def test_rows_after_a_terminal_need_terminals():
    story = Story(evolve(CLAIMS, terminals=False)).asks().answers().ends().quiet().reads(U("Hi"), END("r1"), ANSWER)
    assert fenced(story).status is Status.HOLDS


def test_row_without_a_run_belongs_to_the_run_of_its_message_or_call():
    story = ran("returned").ends().quiet()
    rows = (U("Hi", None), END("r1"), A("model.turn1", "Look", run=None), C("t1", run=None), R("t1", run=None))
    assert [v.subject for v in fenced(story.reads(*rows)).violations] == ["model.turn1", "t1", "t1"]
    assert fenced(Story().asks().ends().quiet().reads(U("Hi"), END("r1"), C("t9", run="r9"))).status is Status.HOLDS


def test_rows_of_the_next_run_and_rows_in_a_wrong_order_are_not_late():
    assert fenced(then_second(answered()).reads(*FIRST, *SECOND)).status is Status.HOLDS
    assert fenced(answered().quiet().reads(ANSWER, END("r1"), U("Hi"))).status is Status.HOLDS


def test_rows_that_appear_after_a_kill_or_an_append_of_unknown_outcome_are_excused():
    story = Story().asks().calls().says("model.turn1", "a").stops().ends("r1", "interrupted", "stopped")
    story.reads(U("Hi"), STOPPED, reason="reload")
    partial = A("model.turn1", "a", "interrupted")
    story.event("store.failed", "r1", item=partial, outcome="unknown")
    closure = R("t1", "aborted")
    story.event("store.failed", "r1", item=closure, outcome="unknown")
    assert fenced(story.quiet().reads(U("Hi"), partial, closure, STOPPED)).status is Status.HOLDS
    story = answered().reads(U("Hi"), END("r1"), reason="reload").crashes().starts().quiet().reads(*FIRST)
    assert fenced(story).status is Status.HOLDS


def behind_a_stop(text: str = "Yes", **frame: object) -> Story:
    story = Story().asks().calls().stops().ends("r1", "interrupted", "stopped").asks("Yo", "r2", "k2")
    return (
        story.calls("model.turn2", "r2").answers("model.turn2", text).frame("message.completed", "model.turn2", **frame)
    )


def test_announced_row_that_is_gone_behind_a_stopped_run_needs_its_number():
    gone = (U("Hi"), STOPPED, U("Yo", "r2"), END("r2"))
    assert broken(behind_a_stop(event_id="r2:4").ends("r2").quiet().reads(*gone)) == ["fenced-writer"]
    assert broken(behind_a_stop(event_id=None).ends("r2").quiet().reads(*gone)) == ["no-lost-completed-message"]
    failed = (*gone[:3], END("r2", "failed", "failed"))
    story = behind_a_stop(event_id="r2:4").ends("r2", "failed", "failed").quiet().reads(*failed)
    assert broken(story) == ["no-lost-completed-message"]


def test_equal_texts_that_were_taken_for_one_message_are_lost_not_overwritten():
    story = Story().asks().answers("model.turn1", "Yes").stops().ends("r1", "interrupted", "stopped")
    story.asks("Yo", "r2", "k2").calls("model.turn2", "r2").answers("model.turn2", "Yes")
    story.frame("message.completed", "model.turn2", event_id="r2:4").ends("r2").quiet()
    story.reads(U("Hi"), A("model.turn1", "Yes"), STOPPED, U("Yo", "r2"), END("r2"))
    assert broken(story) == ["no-lost-completed-message"]


def test_late_finalizer_that_lost_its_own_rows_too_is_no_finalizer():
    story = Story().asks().answers().stops().ends("r1", "interrupted", "stopped")
    rows = (*FIRST[:2], STOPPED)
    then_second(story).reads(*rows, *SECOND, reason="reload").reads(U("Hi"), STOPPED, U("Yo", "r2"), END("r2"))
    assert broken(story) == ["no-clobber"]


# --- retry-is-atomic


def test_failed_attempts_of_one_run_are_kept_apart_from_another_calls():
    first, second = (U("Hi"),), (U("Hi"), A("model.turn2", "b"))
    story = Story().asks().calls(context=first).says("model.turn1", "a").marks("failed", "model.turn1")
    story.calls("model.turn2", attempt=2, context=first).says("model.turn2", "b").completes("model.turn2")
    story.calls("model.turn3", attempt=2, context=second).says("model.turn3", "c").marks("failed", "model.turn3")
    story.calls("model.turn4", attempt=3, context=second).says("model.turn4", "d").completes("model.turn4").ends()
    rows = (U("Hi"), A("model.turn2", "b"), A("model.turn4", "d"), END("r1"))
    assert verdict("retry-is-atomic", story.reads(*rows)).exercised == 2
    (violation,) = verdict("retry-is-atomic", story.reads(*rows[:2], A("model.turn3", "c"), *rows[2:])).violations
    assert violation.subject == "model.turn3"


def test_failed_attempt_may_stay_where_no_retry_brought_anything():
    story = Story().asks().calls().says("model.turn1", "a").marks("failed", "model.turn1")
    story.calls("model.turn2", attempt=2).says("model.turn2", "b").marks("failed", "model.turn2").ends("r1", "failed")
    story.quiet().reads(U("Hi"), A("model.turn1", "a", "interrupted"), END("r1", "failed"))
    assert verdict("retry-is-atomic", story).status is Status.NOT_EXERCISED


def test_rolled_back_retry_is_not_asked():
    story = Story().asks().calls().says("model.turn1", "a").marks("failed", "model.turn1")
    story.calls("model.turn2", attempt=2).says("model.turn2", "b").stops(mode="rollback").quiet().reads()
    assert verdict("retry-is-atomic", story).status is Status.NOT_EXERCISED


def test_row_that_may_be_the_failed_attempts_own_leaves_its_calls_where_they_are():
    def beside(again: str, *rows: Item) -> Verdict:
        story = Story(ids=False).asks().calls().says("model.turn1", "Same ").requests("model.turn1", "t1")
        story.marks("failed", "model.turn1").calls("model.turn2", attempt=2).says("model.turn2", again).stops()
        story.ends("r1", "interrupted", "stopped").quiet().reads(U("Hi"), *rows, C("t1"), R("t1", "aborted"), STOPPED)
        return verdict("retry-is-atomic", story)

    same = A("", "Same ", "interrupted")
    assert beside("Same ", same).status is Status.NOT_EXERCISED
    assert beside("Same ", same, same).status is Status.VIOLATED
    assert beside("Other", A("", "Other", "interrupted")).status is Status.VIOLATED
    assert beside("Same ", evolve(same, aliases=("another",))).status is Status.VIOLATED


# --- one-request-one-effect


def effect(story: Story) -> Verdict:
    return verdict("one-request-one-effect", story)


def test_append_of_unknown_outcome_may_leave_a_question_twice_without_dedup():
    story = Story(evolve(CLAIMS, dedup_by_id=False)).asks()
    story.event("store.failed", "r1", item=U("Hi"), outcome="unknown").ends().quiet().reads(U("Hi"), U("Hi"), END("r1"))
    assert effect(story).status is Status.HOLDS
    story.claims = CLAIMS
    assert effect(story).status is Status.VIOLATED


def test_request_that_nobody_answered_is_not_judged():
    assert effect(Story().sends("Hi").quiet().reads()).status is Status.NOT_EXERCISED


@pytest.mark.parametrize(("copies", "status"), [(1, Status.VIOLATED), (2, Status.NOT_EXERCISED)])
def test_refused_request_of_which_a_further_copy_arrived_may_have_been_accepted(copies: int, status: Status):
    story = Story().sends("Yo", "k2").event("run.refused", key="k2")
    for _ in range(copies):
        story.event("request.delivered", by="ann", verb="start", key="k2", copy=1)
    assert effect(story.crashes().starts().quiet().reads(U("Yo", None))).status is status


def test_refused_request_is_not_held_against_the_message_of_another_with_the_same_words():
    story = Story().sends("Yo", "k2").event("run.refused", key="k2").sends("Yo", "k3")
    assert effect(story.crashes().starts().quiet().reads(U("Yo", None))).status is Status.HOLDS


def test_model_that_is_called_after_the_end_of_a_run_was_called_by_the_repetition():
    story = answered().sends("Hi").accepts("Hi").calls("model.turn2").quiet().reads(*FIRST)
    assert effect(story).status is Status.VIOLATED
    assert effect(answered().sends("Hi").accepts("Hi").quiet().reads(*FIRST)).status is Status.HOLDS
    story = Story().asks().sends("Hi").answers().answers("model.turn2").stops().ends().calls("model.turn3").quiet()
    assert effect(story.reads(*FIRST)).status is Status.HOLDS  # a stopped run that works on is for another judge


def test_call_that_a_kill_broke_off_may_be_made_again():
    story = Story().asks().sends("Hi").calls().crashes().starts().calls("model.turn2").quiet().reads(U("Hi"))
    assert effect(story).status is Status.HOLDS


def test_call_that_two_attempts_asked_for_may_run_twice_and_so_may_one_that_was_killed():
    story = Story().asks().calls().requests("model.turn1", "t1").marks("failed", "model.turn1").tool("started")
    story.calls("model.turn2", attempt=2).requests("model.turn2", "t1").requests("model.turn2", "t2")
    story.completes("model.turn2").tool("started")  # and of t2, which never ran, nothing is asked
    assert effect(story.reads()).violations == ()
    assert effect(ran().crashes().starts().tool("started").reads()).violations == ()


# --- no-clobber


def clobbered(story: Story) -> Verdict:
    return verdict("no-clobber", story)


def test_one_read_alone_proves_nothing():
    assert clobbered(answered().quiet().reads(*FIRST)).status is Status.NOT_EXERCISED


@pytest.mark.parametrize(
    "between",
    [
        lambda story: story.crashes().starts(),
        lambda story: story.maintains("clear"),
        lambda story: story.stops(mode="rollback"),
        lambda story: story.event("step.taken", by="maintenance", verb="clear", label="clear").event(
            "server.shut_down"
        ),
    ],
)
def test_what_explains_a_change_is_excused(between):
    story = Story().asks().answers()
    story = story.stops(mode="rollback").ends() if between(Story()).events[0].kind == "stop.delivered" else story.ends()
    assert clobbered(between(story.reads(*FIRST, reason="reload")).quiet().reads()).violations == ()


def test_readers_that_leave_are_blamed_by_their_own_judge_unless_the_policy_lets_them_stop_runs():
    story = answered().reads(*FIRST, reason="reload").leaves().quiet().reads(U("Hi"), END("r1"))
    assert broken(story) == ["disconnect-is-not-stop"]
    story.policies = {"disconnect": "cancel"}
    assert broken(story) == ["no-clobber"]


def test_rewrite_that_was_reported_before_the_kill_explains_nothing_after_it():
    story = answered().event("step.taken", by="ann", verb="reload", label="reload")
    story.event("step.taken", by="maintenance", verb="clear", label="clear").maintains("clear")
    story.reads(*FIRST, reason="reload").event("server.shut_down").quiet().reads(U("Hi"), END("r1"))
    assert clobbered(story).status is Status.VIOLATED


def test_rows_of_a_run_that_is_not_over_and_rows_that_nothing_identifies_may_change():
    story = Story().asks().calls().says("model.turn1", "Hello there")
    story.reads(U("Hi"), A("model.turn1", "Hello there"), reason="reload").completes("model.turn1").ends().quiet()
    assert clobbered(story.reads(U("Hi"), END("r1"))).status is Status.HOLDS
    story = answered().reads(*FIRST, A("", "note", origin="synthetic"), reason="reload").quiet().reads(*FIRST)
    assert clobbered(story).status is Status.HOLDS
    story = answered().reads(*FIRST, C("t9", run="r9"), reason="reload").quiet().reads(*FIRST)
    assert clobbered(story).status is Status.HOLDS


def test_terminal_in_the_journal_is_enough_to_call_a_run_over():
    story = Story().asks().answers().reads(*FIRST, reason="reload").quiet().reads(U("Hi"), END("r1"))
    assert clobbered(story).status is Status.VIOLATED


def test_interrupted_row_may_be_completed_but_not_vanish():
    cut = A("model.turn1", "Hello ", "interrupted")
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=("ann",)).stops()
    story.ends("r1", "interrupted", "stopped").reads(U("Hi"), cut, STOPPED, reason="reload").quiet()
    assert broken(evolved(story).reads(U("Hi"), STOPPED)) == ["no-clobber"]
    assert clobbered(story.reads(U("Hi"), A("model.turn1", "Hello there"), STOPPED)).status is Status.HOLDS


def test_call_that_had_been_there_and_is_gone_is_held_against_the_clobber_alone():
    for rows in ((*LOOK[:2], END("r1")), (*LOOK, END("r1")), (*LOOK, R("t1"))):
        story = ran("returned").ends().reads(*LOOK, R("t1"), END("r1"), reason="reload").quiet()
        assert broken(story.reads(*rows)) == ["no-clobber"]


def test_repaired_closures_and_failed_appends_may_go():
    repaired = R("t1", "aborted", metadata={"repaired": "on_read"})
    story = ran().ends("r1", "failed", "failed").reads(*LOOK, repaired, reason="reload").quiet()
    assert clobbered(story.reads(*LOOK)).status is Status.HOLDS
    story = ran("returned").event("store.failed", "r1", item=R("t1"), outcome="unknown").ends()
    assert clobbered(story.reads(*LOOK, R("t1"), reason="reload").quiet().reads(*LOOK)).status is Status.HOLDS


def test_flags_may_change_where_somebody_annotated_and_lost_ones_are_named():
    flagged = A("model.turn1", "Hello there", metadata={"pinned": True})
    story = answered().reads(U("Hi"), flagged, END("r1"), reason="reload")
    (violation,) = clobbered(Story.reads(story, *FIRST)).violations
    assert violation.found == "the row has changed: it has lost pinned: True"
    story = answered().reads(U("Hi"), flagged, END("r1"), reason="reload").maintains(item="user1", starred=1)
    assert clobbered(story.quiet().reads(*FIRST)).status is Status.HOLDS


@pytest.mark.parametrize(
    ("item", "rows", "status"),
    [
        ("user1", (U("Hi", metadata={"starred": 1}), ANSWER), Status.HOLDS),
        ("user1", (U("Hi"), ANSWER), Status.VIOLATED),
        ("user2", (U("Hi"), ANSWER), Status.NOT_EXERCISED),
        ("user", (U("Hi"), ANSWER), Status.NOT_EXERCISED),
        ("model.turn7", (U("Hi"), ANSWER), Status.NOT_EXERCISED),
        (None, (U("Hi"), ANSWER), Status.NOT_EXERCISED),
    ],
)
def test_annotation_is_looked_for_on_the_row_that_it_was_about(
    item: str | None, rows: tuple[Item, ...], status: Status
):
    story = answered().reads(*FIRST, reason="annotate").maintains(item=item, starred=1).quiet().reads(*rows, END("r1"))
    found = clobbered(story)
    assert (Status.VIOLATED if found.violations else status) is status
    assert found.exercised == 1 + (status is not Status.NOT_EXERCISED)


def test_annotations_that_contradict_each_other_or_that_nobody_saw_prove_nothing():
    story = answered().reads(*FIRST, reason="annotate").maintains(item="model.turn1", pinned=True)
    story.maintains(item="model.turn1", pinned=False).quiet()
    assert clobbered(story.reads(*FIRST)).violations == ()
    assert clobbered(answered().maintains(item="model.turn1", pinned=True).quiet().reads(*FIRST)).violations == ()
    story = answered().reads(*FIRST, reason="annotate").maintains(item="model.turn1", pinned=True)
    assert clobbered(story.crashes().starts().quiet().reads(*FIRST)).violations == ()


def summing_up() -> Story:
    return answered().calls("model.turn9", "compaction1", purpose="compaction")


def test_rewrite_is_judged_by_what_came_while_it_was_made():
    story = then_second(summing_up()).maintains("compact").reads(*SECOND)
    assert clobbered(story).exercised == 2
    (violation,) = clobbered(then_second(summing_up()).maintains("compact").reads(*SECOND[1:])).violations
    assert violation.expected == ('-  user  completed  "Yo"',)
    assert clobbered(then_second(summing_up().maintains("compact")).reads(*SECOND)).exercised == 0
    assert clobbered(then_second(answered()).maintains("compact").reads()).exercised == 0
    assert clobbered(then_second(summing_up()).maintains("compact").maintains("clear").reads()).exercised == 0
    assert clobbered(then_second(summing_up()).maintains("compact").crashes().starts().reads()).exercised == 0
    assert clobbered(then_second(summing_up()).maintains("compact")).exercised == 0


def test_what_is_excused_otherwise_may_go_in_a_rewrite_too():
    story = summing_up().asks("Yo", "r2", "k2").calls("model.turn2", "r2").answers("model.turn2", "Yes")
    story.stops("r2", mode="rollback").ends("r2", "interrupted", "rolled_back").maintains("compact").quiet().reads()
    assert clobbered(story).exercised == 0
    story = summing_up().sends("Yo", "k2").answers("model.turn8", "Uh").maintains("compact").quiet().reads()
    assert clobbered(story).violations == ()


# --- ordered-history


def order(story: Story) -> Verdict:
    return verdict("ordered-history", story)


def test_requests_and_results_that_are_not_one_pair_have_no_order():
    story = ran("returned").ends().quiet().reads(*LOOK[:2], R("t1"), C("t1"), C("t1"), END("r1"))
    assert order(story).status is Status.HOLDS


def test_replaced_attempts_and_unknown_rows_have_no_order():
    story = Story().asks().calls().says("model.turn1", "a").marks("failed", "model.turn1")
    story.calls("model.turn2", attempt=2).says("model.turn2", "b").completes("model.turn2").ends().quiet()
    rows = (U("Hi"), A("model.turn2", "b"), A("model.turn1", "a"), A("", "else", run="r9"), END("r1"))
    assert order(story.reads(*rows)).status is Status.HOLDS


def test_single_row_is_in_order_and_context_is_judged_where_it_is_claimed():
    assert order(Story().asks().reads(U("Hi"))).status is Status.NOT_EXERCISED
    story = then_second(answered()).reads(*FIRST, *SECOND).gives(*SECOND, *FIRST)
    assert order(story).status is Status.VIOLATED
    story.claims = evolve(CLAIMS, context=False)
    assert order(story).status is Status.HOLDS


def test_order_of_what_the_model_was_given_is_judged_without_a_read_too():
    story = answered().asks("Yo", "r2", "k2").calls("model.turn2", "r2", context=(U("Yo", "r2"), U("Hi")))
    (violation,) = order(story).violations
    assert violation.found == "in the context of the model it comes after it"


# --- prompt-first


def prompt(story: Story) -> Verdict:
    return verdict("prompt-first", story)


def test_prompt_is_not_asked_for_where_something_took_it():
    for story in (
        Story().asks().calls(context=()).stops(mode="rollback"),
        Story().asks().calls(context=()).maintains("clear"),
        Story().asks().calls(context=()).event("store.failed", "r1", item=U("Hi"), outcome="failed"),
        Story().sends("Hi"),
        Story().asks().crashes().starts(),
    ):
        assert prompt(story.quiet().reads()).status is Status.NOT_EXERCISED


def test_prompt_that_is_missing_without_a_kill_is_for_the_judge_of_losses():
    story = Story().asks().calls(context=()).ends().quiet().reads(END("r1"))
    assert broken(story) == ["no-lost-completed-message"]


def test_prompt_may_be_hidden_from_the_model():
    hidden = U("Hi", metadata={HIDDEN_FROM_MODEL: True})
    assert prompt(Story().asks().calls(context=()).ends().quiet().reads(hidden)).exercised == 1
    story = Story().asks().reads(U("Hi"), reason="annotate").maintains(item="user1", **{HIDDEN_FROM_MODEL: False})
    assert prompt(story.calls(context=()).ends().quiet().reads(U("Hi"))).violations == ()


# --- store-equals-context


def given(story: Story) -> Verdict:
    return verdict("store-equals-context", story)


def test_context_is_judged_only_where_it_was_looked_at_and_the_journal_was_read():
    assert given(then_second(answered()).reads(*FIRST, *SECOND)).status is Status.NOT_EXERCISED
    assert given(answered().gives(*FIRST)).status is Status.NOT_EXERCISED


def test_calls_for_summaries_and_sub_agents_are_given_what_they_need():
    story = answered().calls("model.turn8", "c1", purpose="compaction", context=())
    story.calls("model.turn9", who="sub:search", context=(U("Look", None),)).quiet().reads(*FIRST)
    assert given(story).status is Status.NOT_EXERCISED


def test_stranger_in_journal_and_context_is_held_against_the_journal_alone():
    made_up = A("", "Stopped.", "interrupted")
    story = answered().quiet().reads(*FIRST[:2], made_up, END("r1")).gives(*FIRST[:2], made_up)
    assert broken(story) == ["honest-provenance"]
    note = evolve(made_up, origin="synthetic")
    assert given(answered().quiet().reads(*FIRST).gives(*FIRST[:2], note)).status is Status.HOLDS


def test_stranger_is_not_taken_for_the_only_message_that_the_model_is_not_given():
    made_up = A("", "I was interrupted.", id="m2")
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=("ann",)).stops()
    story.ends("r1", "interrupted", "stopped").quiet()
    story.reads(U("Hi"), A("model.turn1", "Hello ", "interrupted", id="j-model.turn1"), made_up, STOPPED)
    story.policies = {"partial_in_context": "none"}
    assert broken(story.gives(U("Hi"), made_up, STOPPED)) == ["honest-provenance"]


def test_copies_are_held_against_the_journal_alone():
    story = answered().quiet().reads(*FIRST[:2], *FIRST[1:]).gives(*FIRST[:2])
    assert broken(story) == ["no-duplicate-message"]


def test_compaction_takes_in_what_came_before_it():
    summary = Item(kind="summary", text="They greeted.")
    story = then_second(summing_up().maintains("compact")).reads(*FIRST, summary, *SECOND).gives(summary, *SECOND)
    assert given(story).status is Status.HOLDS
    story = then_second(summing_up()).maintains("compact").reads(*FIRST, summary, *SECOND).gives(summary)
    assert given(story).status is Status.VIOLATED  # the second run is not part of the summary
    story = then_second(answered()).maintains("clear").reads(*FIRST, *SECOND).gives()
    assert given(story).status is Status.HOLDS


def test_rewrite_that_a_kill_broke_off_may_have_been_done():
    story = answered().event("step.taken", by="maintenance", verb="compact", label="compact").crashes().starts().quiet()
    assert given(story.reads(*FIRST).gives()).status is Status.HOLDS


def test_own_messages_of_a_run_are_given_to_its_next_call():
    story = ran("returned").calls("model.turn2", context=(U("Hi"), A("model.turn1", "Look"), C("t1"), R("t1")))
    story.says("model.turn2", "Yes").completes("model.turn2").ends().quiet()
    rows = (*LOOK, R("t1"), A("model.turn2", "Yes"), END("r1"))
    assert given(story.reads(*rows)).status is Status.HOLDS
    story = ran("returned").calls("model.turn2", context=(U("Hi"),)).says("model.turn2", "Yes")
    assert given(story.completes("model.turn2").ends().quiet().reads(*rows)).status is Status.VIOLATED


def test_own_prompt_is_for_the_judge_of_prompts_where_that_was_claimed():
    story = Story().asks().calls(context=()).says("model.turn1", "Hello ", "there").completes("model.turn1").ends()
    story.quiet().reads(*FIRST)
    assert given(story).status is Status.HOLDS
    story.claims = evolve(CLAIMS, user_first=False)
    assert given(story).status is Status.VIOLATED


def test_orphans_are_for_the_judge_of_pairs_where_calls_are_closed_when_read():
    story = ran("returned").ends().quiet().reads(*LOOK, R("t1"), END("r1")).gives(*LOOK)
    assert given(story).status is Status.VIOLATED
    story = Story(policies={"orphans": "on_read"})
    story.events = ran("returned").ends().quiet().reads(*LOOK, R("t1")).gives(*LOOK).events
    (violation,) = given(story).violations
    assert violation.found.endswith('it lacks t1  tool_result  completed  ""')


def test_result_without_its_request_and_a_request_with_other_arguments():
    rows = (*LOOK, R("t1"), END("r1"))
    story = ran("returned").ends().quiet().reads(*rows).gives(*LOOK[:2], R("t1"))
    assert given(story).violations[0].found.endswith("it holds call t1 without its request")
    other = C("t1", arguments='{"q": 1}')
    story = ran("returned").ends().quiet().reads(*rows).gives(*LOOK[:2], other, R("t1"))
    assert "which differs from the request in the journal" in given(story).violations[0].found


def test_half_a_call_of_a_failed_attempt_is_for_the_judge_of_retries_where_people_see_it_too():
    half = C("t1", arguments='{"q":')
    story = Story().asks().calls().says("model.turn1", "a").requests("model.turn1", "t1")
    story.argues("model.turn1", "t1", '{"q":').marks("failed", "model.turn1").calls("model.turn2", attempt=2)
    story.says("model.turn2", "b").completes("model.turn2").ends().quiet()
    answer = A("model.turn2", "b")
    story.reads(U("Hi"), half, R("t1", "aborted"), answer, END("r1")).gives(U("Hi"), half, R("t1", "aborted"), answer)
    assert "store-equals-context" not in broken(story)
    del story.events[-2:]
    story.reads(U("Hi"), answer, END("r1")).gives(U("Hi"), half, R("t1", "aborted"), answer)
    assert broken(story) == ["store-equals-context"]


def test_calls_of_a_message_without_a_row_are_not_asked_for():
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1").tool("started")
    story.tool("returned").ends().quiet().reads(U("Hi"), C("t1"), R("t1"), END("r1")).gives(U("Hi"))
    assert given(story).status is Status.HOLDS


def test_row_that_was_lost_later_says_nothing_about_an_earlier_call():
    story = answered().asks("Yo", "r2", "k2").calls("model.turn2", "r2", context=(*FIRST[:2], U("Yo", "r2")))
    story.says("model.turn2", "Yes").completes("model.turn2").ends("r2").quiet()
    assert given(story.reads(U("Hi"), END("r1"), *SECOND)).status is Status.HOLDS


def test_message_of_a_run_that_nobody_accepted_is_left_alone():
    story = Story().answers().quiet().reads(ANSWER).gives(A("model.turn1", "Hello"))
    assert given(story).status is Status.HOLDS
    assert given(Story().answers().quiet().reads().gives(ANSWER)).status is Status.HOLDS


def test_call_for_a_run_that_nobody_accepted_is_no_look_at_the_end():
    call = {"attempt": 1, "purpose": "turn", "who": "lead", "session": "s1", "context": FIRST}
    story = answered().event("model.called", "r2", "model.turn2", by="model", **call).maintains("clear")
    assert given(story.crashes().starts().quiet().reads()).status is Status.HOLDS
    assert given(answered().quiet().reads().gives(*FIRST)).status is Status.VIOLATED


def test_what_clients_do_about_a_run_does_not_say_when_its_context_was_put_together():
    story = Story().asks("Yo", "r2", "k2").event("frame.published", "r2", frame="run.started")
    story.asks().calls(context=(U("Hi"),)).says("model.turn1", "Hello ", "there").completes("model.turn1").ends()
    story.event("client.applied", "r2", by="ann", frame="run.started", message=None)
    story.calls("model.turn2", "r2", context=(U("Yo", "r2"),)).says("model.turn2", "Yes").completes("model.turn2")
    story.ends("r2").quiet().reads(*SECOND, *FIRST)
    assert given(story).status is Status.HOLDS


def test_run_that_is_still_active_is_not_compared_word_for_word():
    cut = A("model.turn1", "Hello ", "open")
    story = Story().asks().calls().says("model.turn1", "Hello ").asks("Yo", "r2", "k2")
    story.calls("model.turn2", "r2", context=(U("Hi"), cut, U("Yo", "r2"))).says("model.turn2", "Yes")
    story.says("model.turn1", "there").completes("model.turn1").ends().completes("model.turn2").ends("r2").quiet()
    assert given(story.reads(*FIRST, *SECOND)).status is Status.HOLDS


def test_words_that_came_under_the_key_of_another_request_were_sent_all_the_same():
    story = Story().asks("Hi", "r1", "k1").sends("Yo", "k1").quiet()
    assert verdict("honest-provenance", story.reads(U("Hi"), U("Yo", "r2"))).status is Status.HOLDS
    story = Story().asks("Hi", "r1", "k1").quiet()
    assert verdict("honest-provenance", story.reads(U("Hi"), U("Yo", "r2"))).status is Status.VIOLATED


def test_empty_row_that_the_model_is_not_given_is_left_to_others():
    story = Story(ids=False).asks().calls(context=(U("Hi"),)).requests("model.turn1", "t1").completes("model.turn1")
    story.tool("started").tool("returned").ends().asks("Yo", "r2", "k2")
    story.calls("model.turn2", "r2", context=(U("Hi"), C("t1"), R("t1"), U("Yo", "r2"))).stops("r2")
    story.ends("r2", "interrupted", "stopped").quiet()
    shell = evolve(A("model.turn1", ""), aliases=(), run_id="r2")
    story.reads(U("Hi"), C("t1"), R("t1"), END("r1"), U("Yo", "r2"), shell, END("r2", "interrupted"))
    assert given(story).status is Status.HOLDS
