from __future__ import annotations

import pytest
from attrs import evolve
from story import CLAIMS, END, A, C, R, Story, U

from journalsim.contract.capabilities import Capabilities
from journalsim.oracle.invariants.judge import check_history
from journalsim.oracle.invariants.verdict import Status, Verdict

STOPPED = END("r1", "interrupted", "stopped")


def verdict(invariant: str, story: Story) -> Verdict:
    (found,) = check_history(story.history(), only=[invariant])
    return found


def lost(story: Story) -> Verdict:
    return verdict("no-lost-completed-message", story)


def test_exempt_invariants_are_not_asked():
    asked = [v.invariant for v in check_history(Story().history(), exempt=["no-deadlock", "completed-wins"])]
    assert "no-deadlock" not in asked
    assert "no-lost-completed-message" in asked
    assert asked[-1] == "deterministic"


# --- no-lost-completed-message


def test_nothing_is_asked_of_a_request_that_was_refused():
    assert lost(Story().sends("Hi").event("run.refused", key="k1").quiet().reads()).status is Status.NOT_EXERCISED


def test_nothing_is_asked_of_a_run_that_was_never_accepted():
    assert lost(Story().answers().quiet().reads()).status is Status.NOT_EXERCISED


def test_nothing_is_asked_of_a_rolled_back_run():
    story = Story().asks().answers().stops(mode="rollback").ends("r1", "interrupted", "rolled_back").quiet()
    assert lost(story.reads()).status is Status.NOT_EXERCISED


def test_completion_after_the_end_of_the_run_is_not_asked_for():
    story = Story().asks().calls().says("model.turn1", "a").ends().completes("model.turn1").quiet().reads(U("Hi"))
    assert lost(story).exercised == 1


def test_empty_completion_is_not_asked_for():
    story = Story().asks().calls().completes("model.turn1").ends().quiet().reads(U("Hi"))
    assert lost(story).exercised == 1


@pytest.mark.parametrize("tools", [True, False])
def test_message_of_calls_alone_is_there_when_a_call_is_and_needs_tools(tools: bool):
    story = Story(evolve(CLAIMS, tools=tools)).asks().calls().requests("model.turn1", "t1").completes("model.turn1")
    story.ends().quiet()
    assert lost(story.reads(U("Hi"))).status is (Status.VIOLATED if tools else Status.HOLDS)
    assert lost(story.reads(U("Hi"), C("t1"), R("t1"))).status is Status.HOLDS


def test_message_of_calls_alone_that_ties_with_the_stop_may_be_gone():
    story = Story().asks().calls().requests("model.turn1", "t1").stops().completes("model.turn1")
    story.ends("r1", "interrupted", "stopped").quiet()
    assert lost(story.reads(U("Hi"), STOPPED)).exercised == 1


def test_run_that_is_told_of_only_after_a_rewrite_may_have_been_taken_by_it():
    story = Story().sends("Hi").crashes().starts().ends("r1", "interrupted", "crashed").maintains("clear")
    judged = check_history(story.accepts("Hi").quiet().reads().history())
    assert [verdict.invariant for verdict in judged if verdict.violations] == []


def test_appends_that_failed_and_rewritten_sessions_are_excused():
    story = Story().asks().answers().event("store.failed", "r1", item=U("Hi"), outcome="failed")
    story.event("store.failed", "r1", item=A("model.turn1", "Hello there"), outcome="unknown").ends().quiet()
    assert lost(story.reads()).status is Status.NOT_EXERCISED
    story = Story().asks().answers().ends().event("maintenance.done", verb="clear", session="s1").quiet().reads()
    assert lost(story).status is Status.NOT_EXERCISED


def test_run_that_hangs_by_script_leaves_the_question_open():
    answer = lost(Story().asks().answers().quiet("run:r1").reads())
    assert answer.status is Status.UNDECIDED
    assert answer.reason == "run r1 waits for an event that is not in the script"


def test_kill_before_the_end_of_the_run_excuses():
    story = Story().asks().answers().crashes().starts().quiet().reads(END("r1", "interrupted", "crashed"))
    assert lost(story).status is Status.NOT_EXERCISED


@pytest.mark.parametrize("evidence", ["frame", "read", "append"])
def test_what_was_acknowledged_before_a_kill_is_for_the_judges_of_durability(evidence: str):
    story = Story().asks().answers()
    if evidence == "frame":
        story.frame("message.completed", "model.turn1")
    elif evidence == "read":
        story.reads(A("model.turn1", "Hello there"), reason="reload")
    else:
        story.event("store.acknowledged", "r1", item=A("model.turn1", "Hello there"))
    story.ends().crashes().starts().quiet().reads(U("Hi"), END("r1"))
    assert lost(story).violations == ()


@pytest.mark.parametrize(
    ("rows", "status"),
    [((), Status.HOLDS), ((C("t2"),), Status.VIOLATED), ((A("model.turn2.m2", "c"),), Status.VIOLATED)],
)
def test_adapter_that_drops_interrupted_turns_drops_them_whole(rows: tuple, status: Status):
    story = Story(evolve(CLAIMS, atomic_turn=True)).asks().answers().calls("model.turn2").says("model.turn2", "b")
    story.requests("model.turn2", "t2").completes("model.turn2").says("model.turn2.m2", "c").stops()
    story.ends("r1", "interrupted", "stopped").quiet()
    assert lost(story.reads(U("Hi"), A("model.turn1", "Hello there"), *rows)).status is status


def test_adapter_that_drops_interrupted_turns_drops_no_other():
    claims = evolve(CLAIMS, atomic_turn=True)
    story = Story(claims).asks().answers().calls("model.turn2").says("model.turn2", "b").stops()
    assert lost(story.ends("r1", "interrupted", "stopped").quiet().reads(U("Hi"))).status is Status.VIOLATED
    assert lost(Story(claims).asks().answers().ends().quiet().reads(U("Hi"))).status is Status.VIOLATED


def test_row_that_vanished_with_a_reader_is_not_counted_twice():
    story = Story().asks().answers().ends().reads(U("Hi"), A("model.turn1", "Hello there"), reason="reload").leaves()
    assert lost(story.quiet().reads()).violations == ()


# --- no-duplicate-message


def test_append_of_unknown_outcome_may_be_repeated_without_dedup():
    row = A("model.turn1", "Hello there")
    story = Story(evolve(CLAIMS, dedup_by_id=False)).asks().answers()
    story.event("store.failed", "r1", item=row, outcome="unknown").ends().quiet().reads(row, row)
    assert verdict("no-duplicate-message", story).status is Status.NOT_EXERCISED
    story.claims = CLAIMS
    assert verdict("no-duplicate-message", story).status is Status.VIOLATED


def test_messages_of_people_are_judged_by_their_key_where_that_was_claimed():
    story = Story().asks().accepts("Hi", "r2").quiet().reads(U("Hi"), U("Hi", "r2"))
    assert verdict("no-duplicate-message", story).status is Status.NOT_EXERCISED
    story.claims = evolve(CLAIMS, idempotent_start=False)
    assert verdict("no-duplicate-message", story).status is Status.HOLDS


# --- completed-wins


def test_message_of_an_unknown_run_is_judged_too():
    story = Story().says("model.turn1", "a").completes("model.turn1").reads(A("model.turn1", "a", "interrupted"))
    (violation,) = verdict("completed-wins", story).violations
    assert violation.promised.startswith("message model.turn1 completed at")
    assert violation.promised.endswith("it has one row, completed")


def test_state_in_a_run_that_is_not_over_is_left_open():
    story = Story().asks().answers().quiet("run:r1").reads(A("model.turn1", "Hello there", "open"))
    assert verdict("completed-wins", story).status is Status.UNDECIDED


def test_violation_says_on_which_side_of_the_stop_the_completion_came():
    rows = (A("model.turn1", "a"), A("model.turn1", "a", "interrupted"))
    before = Story().asks().answers("model.turn1", "a").stops().ends("r1", "interrupted", "stopped").reads(*rows)
    after = Story().asks().calls().says("model.turn1", "a").stops().completes("model.turn1")
    after.ends("r1", "interrupted", "stopped").reads(*rows)
    plain = Story().asks().answers("model.turn1", "a").ends().reads(*rows)
    assert "before the stop" in verdict("completed-wins", before).violations[0].promised
    assert "after the stop" in verdict("completed-wins", after).violations[0].promised
    assert "stop" not in verdict("completed-wins", plain).violations[0].promised


# --- partial-is-prefix


def partial(story: Story) -> Verdict:
    return verdict("partial-is-prefix", story)


def cut_short(*seen: str) -> Story:
    story = Story().asks().calls().says("model.turn1", *seen, seen_by=("ann",)).says("model.turn1", "unseen")
    return story.stops().ends("r1", "interrupted", "stopped").quiet()


def test_partials_must_be_claimed():
    answer = partial(Story(Capabilities()).asks())
    assert (answer.status, answer.reason) == (Status.NOT_CLAIMED, "the adapter does not declare partials")


def test_nothing_needs_to_be_kept_of_what_nobody_saw():
    assert partial(cut_short().reads(U("Hi"), STOPPED)).status is Status.NOT_EXERCISED
    assert partial(cut_short().reads(U("Hi"), A("model.turn1", "uns", "interrupted"), STOPPED)).status is Status.HOLDS


def test_row_that_is_called_completed_is_compared_as_well():
    assert partial(cut_short("a").reads(A("model.turn1", "nse"))).status is Status.VIOLATED
    assert partial(cut_short("a").reads(A("model.turn1", "b"))).status is Status.NOT_EXERCISED  # nobody said it
    assert partial(cut_short("a").reads(A("model.turn1", "a"))).status is Status.HOLDS


def test_reasoning_must_be_a_beginning_too():
    story = Story().asks().calls().says("model.turn1", "hm", part="reasoning").ends("r1", "failed").quiet()
    (violation,) = partial(story.reads(A("model.turn1", "", "interrupted", reasoning="m"))).violations
    assert violation.found == 'the journal holds "m"'


def test_what_a_client_showed_beyond_the_truth_is_not_asked_for():
    story = Story().asks().calls().says("model.turn1", "ab", seen_by=("ann",))
    story.frame("message.delta", "model.turn1", by="ann", text="ab").stops().ends(
        "r1", "interrupted", "stopped"
    ).quiet()
    assert partial(story.reads(A("model.turn1", "ab", "interrupted"))).status is Status.HOLDS


def test_client_that_saw_most_counts():
    story = (
        Story()
        .asks()
        .calls()
        .says("model.turn1", "a", seen_by=("ann", "bob", "eve"))
        .says("model.turn1", "b", seen_by=("bob",))
    )
    story.stops().ends("r1", "interrupted", "stopped").quiet().reads(A("model.turn1", "a", "interrupted"))
    assert partial(story).violations[0].promised.startswith('bob displayed "ab"')


@pytest.mark.parametrize("mark", ["failed", "closed"])
def test_message_that_had_ended_before_the_stop_need_not_be_kept(mark: str):
    story = Story().asks().calls().says("model.turn1", "a", seen_by=("ann",)).marks(mark, "model.turn1").stops()
    assert partial(story.ends("r1", "interrupted", "stopped").quiet().reads()).status is Status.NOT_EXERCISED


def test_message_that_broke_after_the_stop_must_be_kept():
    story = Story().asks().calls().says("model.turn1", "a", seen_by=("ann",)).stops().marks("closed", "model.turn1")
    assert partial(story.ends("r1", "interrupted", "stopped").quiet().reads()).status is Status.VIOLATED


def test_kill_before_the_end_excuses_a_missing_partial_but_not_a_wrong_one():
    story = Story().asks().calls().says("model.turn1", "ab", seen_by=("ann",)).stops().crashes().starts().quiet()
    assert partial(story.reads()).status is Status.NOT_EXERCISED
    assert partial(story.reads(A("model.turn1", "b", "interrupted"))).status is Status.VIOLATED


def test_completion_in_the_window_is_not_asked_here_when_nothing_of_it_is_kept():
    story = Story().asks().calls().says("model.turn1", "a", seen_by=("ann",)).stops().completes("model.turn1")
    story.ends("r1", "interrupted", "stopped").quiet()
    assert partial(story.reads()).status is Status.NOT_EXERCISED
    assert partial(story.reads(A("model.turn1", "a"))).status is Status.NOT_EXERCISED


def test_dropped_turns_failed_appends_and_unfinished_runs_are_not_asked():
    story = cut_short("a")
    story.claims = evolve(CLAIMS, atomic_turn=True)
    assert partial(story.reads()).status is Status.NOT_EXERCISED
    story = Story().asks().calls().says("model.turn1", "a", seen_by=("ann",)).stops()
    story.event("store.failed", "r1", item=A("model.turn1", "a", "interrupted"), outcome="failed")
    assert partial(story.ends("r1", "interrupted", "stopped").quiet().reads()).status is Status.NOT_EXERCISED
    story = Story().asks().calls().says("model.turn1", "a", seen_by=("ann",)).stops().quiet("run:r1").reads()
    assert partial(story).status is Status.UNDECIDED
    story = cut_short("a").event("maintenance.done", verb="clear", session="s1").reads()
    assert partial(story).status is Status.NOT_EXERCISED


def test_found_names_each_size_of_the_cache():
    story = Story().sizes(quiet=True, partial_messages=1, partial_bytes=5)
    (violation,) = verdict("bounded-partials", story).violations
    assert violation.found == ("it holds 1 messages, and nothing is active; it holds 5 bytes, and nothing is active")
