from __future__ import annotations

import pytest
from attrs import evolve
from story import CLAIMS, END, A, Story, U

from journalsim.contract.capabilities import Capabilities
from journalsim.contract.events.harness_events import StuckTask
from journalsim.oracle.invariants.judge import check_history
from journalsim.oracle.invariants.verdict import Status, Verdict

STOPPED = END("r1", "interrupted", "stopped")


def verdict(invariant: str, story: Story) -> Verdict:
    (found,) = check_history(story.history(), only=[invariant])
    return found


def terminal(story: Story) -> Verdict:
    return verdict("one-terminal-per-run", story)


def stop(story: Story) -> Verdict:
    return verdict("stop-ends-run", story)


def left(story: Story) -> Verdict:
    return verdict("disconnect-is-not-stop", story)


# --- one-terminal-per-run


def test_terminals_must_be_claimed():
    assert terminal(Story(Capabilities()).asks()).status is Status.NOT_CLAIMED


def test_terminal_that_could_not_be_written_or_was_removed_is_not_asked_for():
    story = Story().asks().event("store.failed", "r1", item=END("r1"), outcome="failed").ends().quiet().reads(U("Hi"))
    assert terminal(story).status is Status.NOT_EXERCISED
    story = Story().asks().ends().event("maintenance.done", verb="compact", session="s1").quiet().reads()
    assert terminal(story).status is Status.NOT_EXERCISED
    assert terminal(Story().asks().stops(mode="rollback").ends().quiet().reads()).status is Status.NOT_EXERCISED


def test_run_that_is_not_over_leaves_the_question_open():
    assert terminal(Story().asks().event("deadlock.found", tasks=[]).reads(U("Hi"))).status is Status.UNDECIDED


@pytest.mark.parametrize(
    ("story", "marker", "status"),
    [
        (Story().asks().stops(mode="rollback"), END("r1", "interrupted", "rolled_back"), Status.HOLDS),
        (Story().asks().stops().crashes().starts(), END("r1", "interrupted", "crashed"), Status.HOLDS),
        (Story().asks().stops(), END("r1", "interrupted", "crashed"), Status.VIOLATED),
        (
            Story().asks().event("step.taken", verb="shutdown", label="x").stops(),
            END("r1", "interrupted", "shut_down"),
            Status.HOLDS,
        ),
        (Story().asks().stops(), END("r1", "interrupted", "shut_down"), Status.VIOLATED),
        (
            Story(policies={"disconnect": "cancel"}).asks().leaves().stops(),
            END("r1", "interrupted", "disconnected"),
            Status.HOLDS,
        ),
        (Story().asks().leaves().stops(), END("r1", "interrupted", "disconnected"), Status.VIOLATED),
        (
            Story(policies={"disconnect": "cancel"})
            .asks()
            .stops(answer=None)
            .leaves()
            .event("stop.answered", "r1", answer="stopping"),
            END("r1", "interrupted", "disconnected"),
            Status.HOLDS,
        ),
        (Story().asks().calls().marks("failed", "model.turn1").stops(), END("r1", "failed", "failed"), Status.HOLDS),
        (Story().asks().calls().stops().marks("failed", "model.turn1"), END("r1", "failed", "failed"), Status.VIOLATED),
        (Story().asks().stops(), END("r1"), Status.VIOLATED),
        (Story().asks().answers().calls("model.turn2").stops(), END("r1"), Status.VIOLATED),
        (
            Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1").stops(),
            END("r1"),
            Status.VIOLATED,
        ),
        (Story().asks().stops(answer=None), END("r1"), Status.HOLDS),
        (Story().asks().stops().answers(), END("r1"), Status.HOLDS),  # stop-ends-run says that the run went on
    ],
)
def test_terminal_of_a_stopped_run_names_what_ended_it(story: Story, marker, status: Status):
    assert terminal(story.quiet().reads(U("Hi"), marker)).status is status


def test_terminal_may_differ_from_the_announcement_after_a_kill_or_a_late_stop():
    changed = END("r1", "interrupted", "crashed")
    assert terminal(Story().asks().ends().crashes().starts().quiet().reads(changed)).status is Status.HOLDS
    assert terminal(Story().asks().ends().stops(answer="ended").quiet().reads(changed)).status is Status.HOLDS
    assert terminal(Story().asks().ends().quiet().reads(changed)).status is Status.VIOLATED


def test_terminal_without_an_announcement_is_enough():
    assert terminal(Story().asks().quiet().reads(END("r1"))).status is Status.HOLDS
    assert terminal(Story().asks().event("run.ended", "r1").quiet().reads(END("r1"))).status is Status.HOLDS


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        (Story().asks().ends(), "r1  marker  completed"),
        (Story().asks().stops(mode="rollback").ends(), None),
        (Story().asks().stops().ends(), "r1  marker  interrupted (stopped)"),
        (Story().asks().crashes().starts(), "r1  marker  interrupted (crashed)"),
    ],
)
def test_violation_shows_the_terminal_that_should_be_there(story: Story, expected: str | None):
    violations = terminal(story.quiet().reads(U("Hi"))).violations
    assert [v.expected for v in violations] == ([] if expected is None else [(expected,)])


def test_violation_shows_the_known_terminal_when_there_are_two():
    story = Story().asks().ends("r1", "failed", "failed").quiet()
    (violation,) = terminal(story.reads(END("r1", "failed", "failed"), END("r1"))).violations
    assert violation.expected == ("r1  marker  failed (failed)",)
    assert violation.found == "the journal holds 2 terminals of it"


def test_violation_names_a_rollback_that_is_called_a_success():
    (violation,) = terminal(Story().asks().stops(mode="rollback").ends().quiet().reads(END("r1"))).violations
    assert violation.expected == ("r1  marker  interrupted (rolled_back)",)


# --- stop-ends-run


def test_stop_without_an_answer_or_with_an_error_is_not_judged():
    assert stop(Story().asks().stops(answer=None).quiet().reads()).status is Status.NOT_EXERCISED
    assert stop(Story().asks().stops(answer="error").quiet().reads()).status is Status.NOT_EXERCISED


def test_stop_that_finds_no_run_is_excused_before_acceptance_and_after_a_kill():
    assert stop(Story().stops(answer="unknown").accepts("Hi").ends().quiet().reads()).status is Status.NOT_EXERCISED
    story = Story().asks().crashes().starts().stops(answer="unknown").quiet().reads()
    assert stop(story).status is Status.NOT_EXERCISED


def test_case_that_was_cut_off_leaves_the_question_open():
    assert stop(Story().asks().stops().event("deadlock.found", tasks=[])).reason == (
        "the case was cut off before run r1 could end"
    )
    assert stop(Story().asks().stops()).status is Status.UNDECIDED
    assert stop(Story().asks().stops().crashes().starts().quiet()).reason == (
        "the server crashed before run r1 could end"
    )


def test_terminal_in_the_journal_is_an_end_too():
    assert stop(Story().asks().stops().quiet().reads(STOPPED)).status is Status.HOLDS


def test_run_that_takes_more_chunks_after_its_stop_went_on():
    story = Story().asks().calls().stops().says("model.turn1", "a", "b").completes("model.turn1").ends().quiet()
    assert stop(story.reads(END("r1"))).violations[0].found == "the run continued and ended completed"
    story = Story().asks().calls().stops().says("model.turn1", "a").completes("model.turn1").ends().quiet()
    assert stop(story.reads(END("r1"))).status is Status.HOLDS


def test_run_that_goes_on_until_it_times_out_was_not_stopped():
    story = Story().asks().calls().stops().says("model.turn1", "a", "b").ends("r1", "interrupted", "timed_out").quiet()
    story.reads(A("model.turn1", "ab", "interrupted"), END("r1", "interrupted", "timed_out"))
    assert stop(story).violations[0].found == "the run continued and ended interrupted (timed_out)"
    assert terminal(story).status is Status.HOLDS


def test_late_stop_of_an_interrupted_run_or_one_with_two_terminals_is_judged_elsewhere():
    story = Story().asks().ends("r1", "interrupted", "stopped").stops(answer="ended").quiet().reads(STOPPED)
    assert stop(story).status is Status.HOLDS
    story = Story().asks().ends().stops(answer="ended").quiet().reads(END("r1"), STOPPED)
    assert stop(story).status is Status.HOLDS


def test_rollback_that_nobody_asked_for_is_a_stop_too():
    story = Story().asks().ends("r1", "interrupted", "rolled_back").quiet().reads()
    assert stop(story).violations[0].found == "run r1 ended interrupted (rolled_back)"


@pytest.mark.parametrize(
    ("policies", "claims"),
    [({"busy": "cancel_earlier"}, CLAIMS), ({}, evolve(CLAIMS, concurrent_runs="cancel_earlier"))],
)
def test_new_message_may_cancel_the_run_before_it_by_policy(policies: dict, claims: Capabilities):
    story = Story(claims, policies).asks().leaves().asks("Yo", "r2", "k2").ends("r1", "interrupted", "stopped")
    story.ends("r2").quiet().reads(STOPPED, END("r2"))
    assert stop(story).violations == ()
    assert left(story).violations == ()
    story.claims, story.policies = CLAIMS, {}
    assert left(story).status is Status.VIOLATED


@pytest.mark.parametrize(
    ("story", "status"),
    [
        # cancelled first, accepted afterwards
        (Story().sends("Yo", "k2").asks().ends("r1", "interrupted", "stopped").accepts("Yo", "r2", "k2"), Status.HOLDS),
        # cancelled by a request that was never answered, because the server was killed
        (Story().asks().sends("Yo", "k2").ends("r1", "interrupted", "stopped").crashes().starts(), Status.HOLDS),
        (Story().asks().sends("Yo", "k2").event("run.refused", key="k2").ends("r1", "interrupted", "stopped"), None),
        (Story().asks().sends("Yo", "k2", session="s2").ends("r1", "interrupted", "stopped"), None),
        (Story().asks().ends("r1", "interrupted", "stopped").asks("Yo", "r2", "k2"), None),
    ],
)
def test_message_that_cancels_a_run_need_not_be_accepted_before_its_end(story: Story, status: Status | None):
    story.policies = {"busy": "cancel_earlier"}
    assert bool(stop(story.quiet().reads(STOPPED)).violations) == (status is None)


# --- disconnect-is-not-stop


def test_policy_that_a_disconnect_cancels_is_no_promise():
    assert left(Story(policies={"disconnect": "cancel"}).asks().leaves()).status is Status.NOT_CLAIMED


def test_reader_that_leaves_outside_a_run_or_with_a_stop_is_not_judged():
    assert left(Story().asks().ends().leaves().quiet().reads(END("r1"))).status is Status.NOT_EXERCISED
    assert left(Story().asks().leaves().stops().quiet().reads(STOPPED)).status is Status.NOT_EXERCISED
    assert left(Story().asks().ends().quiet().reads(END("r1"))).status is Status.NOT_EXERCISED


def test_run_that_is_not_over_after_its_reader_left_leaves_the_question_open():
    assert left(Story().asks().leaves().quiet("run:r1").reads()).status is Status.UNDECIDED


def test_other_causes_and_stops_of_others_are_not_blamed_on_the_reader():
    story = Story().asks().leaves().ends("r1", "interrupted", "timed_out").quiet().reads()
    assert left(story).status is Status.HOLDS
    story = Story().asks().asks("Yo", "r2", "k2", "s2").leaves().stops("r2").ends("r1", "interrupted", "stopped")
    story.ends("r2", "interrupted", "stopped").quiet().reads(STOPPED).reads(session="s2")
    assert left(story).status is Status.HOLDS
    assert stop(story).violations[0].found == "run r1 ended interrupted (stopped) after a stop that named run r2"


def test_changed_row_is_shown_next_to_what_it_was():
    story = Story().asks().answers().ends().reads(A("model.turn1", "Hello there", id="m1"), reason="reload").leaves()
    (violation,) = left(story.quiet().reads(A("model.turn1", "Hello", id="m1"))).violations
    assert violation.expected == ('m1  assistant  completed  "Hello there"',)
    assert violation.actual == ('m1  assistant  completed  "Hello"',)


# --- the harness


def test_deadlock_names_the_tasks_and_their_last_points():
    tasks = (StuckTask("run:r1", "store.append#2.before"), StuckTask("relay", ""))
    story = Story().event("deadlock.found", by="harness", tasks=tasks)
    assert (
        verdict("no-deadlock", story).violations[0].found.endswith("run:r1 at store.append#2.before; relay at no point")
    )
    assert verdict("no-deadlock", Story().asks()).status is Status.NOT_EXERCISED


def test_real_clock_claims_no_determinism_and_without_a_rerun_nothing_is_known():
    assert verdict("deterministic", Story(Capabilities(clock="real"))).status is Status.NOT_CLAIMED
    assert verdict("deterministic", Story()).status is Status.NOT_EXERCISED
