"""What the judges of durability leave to others, and what they do not ask."""

from __future__ import annotations

import pytest
from attrs import evolve
from story import CLAIMS, END, A, C, R, Story, U

from journalsim.oracle.invariants.judge import check_history
from journalsim.oracle.invariants.verdict import Status, Verdict

CRASHED = END("r1", "interrupted", "crashed")


def verdict(story: Story, invariant: str = "acknowledged-is-durable") -> Verdict:
    (found,) = check_history(story.history(), only=[invariant])
    return found


def _done(story: Story | None = None) -> Story:
    story = (story or Story()).asks().answers()
    return story.frame("message.completed", "model.turn1", text="Hello there", event_id="r1:4")


def test_nothing_is_asked_without_a_crash():
    assert verdict(_done().ends().quiet().reads()).status is Status.NOT_EXERCISED


@pytest.mark.parametrize(
    "invariant", ["acknowledged-is-durable", "recovery-adds-only-proven", "recovery-is-idempotent"]
)
def test_nothing_is_promised_by_those_who_cannot_crash_or_on_a_disk_that_lies(invariant: str):
    assert verdict(Story(evolve(CLAIMS, crash="none")), invariant).status is Status.NOT_CLAIMED
    story = Story().asks().event("disk.failed", subject="disk.sync#3", by="disk", fault="lie").crashes("unsynced")
    found = verdict(story.starts().quiet().reads(), invariant)
    assert found.status is Status.NOT_CLAIMED
    assert "disk.sync#3" in found.reason


def test_a_disk_that_fails_aloud_takes_no_promise_back():
    story = Story().asks().event("disk.failed", subject="disk.sync#3", by="disk", fault="error").crashes("unsynced")
    assert verdict(story.starts().quiet().reads()).status is Status.VIOLATED


def test_what_came_after_the_last_crash_or_was_taken_back_is_not_asked_for():
    assert verdict(Story().crashes().starts().asks().ends().quiet().reads()).status is Status.NOT_EXERCISED
    rolled = Story().asks().stops(mode="rollback").crashes("unsynced").starts().quiet().reads()
    assert verdict(rolled).status is Status.NOT_EXERCISED
    cleared = Story().asks().crashes("unsynced").starts().maintains("clear").quiet().reads()
    assert verdict(cleared).status is Status.NOT_EXERCISED


def test_a_run_that_nobody_looked_at_leaves_the_question_open():
    assert verdict(Story().asks().crashes("unsynced").starts().quiet()).status is Status.UNDECIDED


def test_a_prompt_that_a_kill_took_after_the_model_was_called_is_for_prompt_first():
    story = Story().asks().calls().crashes().starts().quiet().reads()
    assert verdict(story).status is Status.NOT_EXERCISED
    assert verdict(story, "prompt-first").status is Status.VIOLATED


def test_a_prompt_whose_append_failed_is_not_asked_for():
    story = Story().asks().event("store.failed", "r1", item=U("Hi"), outcome="unknown")
    assert verdict(story.crashes("unsynced").starts().quiet().reads()).status is Status.NOT_EXERCISED


def test_terminals_must_be_claimed_and_may_be_taken_by_others():
    rows = (U("Hi"), A("model.turn1", "Hello there"))
    story = _done(Story(evolve(CLAIMS, terminals=False))).ends().crashes("unsynced").starts().quiet().reads(*rows)
    assert verdict(story).status is Status.HOLDS
    story = _done().ends().crashes("unsynced").starts().reads(*rows, END("r1"), reason="reload")
    assert verdict(story.quiet().reads(*rows, CRASHED)).exercised == 2


def test_a_message_that_may_be_missing_is_not_asked_for():
    story = _done().event("store.failed", "r1", item=A("model.turn1", "Hello there"), outcome="failed")
    story.crashes("unsynced").starts().quiet().reads(U("Hi"), CRASHED)
    assert verdict(story).status is Status.HOLDS
    stopped = Story().asks().calls().says("model.turn1", "Hello ").stops().completes("model.turn1")
    stopped.frame("message.completed", "model.turn1", text="Hello ").crashes("unsynced").starts().quiet()
    assert verdict(stopped.reads(U("Hi"), CRASHED)).status is Status.HOLDS
    retried = _done().calls("model.turn2", attempt=2).says("model.turn2", "Hello ").completes("model.turn2")
    retried.crashes("unsynced").starts().quiet().reads(U("Hi"), CRASHED)
    assert verdict(retried).status is Status.HOLDS


def test_an_announcement_after_the_crash_is_no_acknowledgement_before_it():
    story = Story().asks().answers().crashes("unsynced").starts()
    story.event("store.acknowledged", "r1", item=A("model.turn1", "Hello there"))
    assert verdict(story.quiet().reads(U("Hi"), CRASHED)).exercised == 1


def test_other_runs_are_judged_by_their_own_rows():
    story = _done().ends().asks("Ho", run="r2", key="k2").calls("model.turn2", run="r2").says("model.turn2", "x")
    story.crashes("unsynced").starts().quiet()
    rows = (U("Hi"), A("model.turn1", "Hello there"), END("r1"))
    story.reads(*rows, U("Ho", run="r2"), END("r2", "interrupted", "crashed"))
    assert verdict(story).exercised == 4
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1").tool("started")
    story.asks("Ho", run="r2", key="k2", session="s2").crashes("unsynced").starts().quiet()
    story.reads(U("Hi"), A("model.turn1", ""), C("t1"), R("t1", "aborted", outcome="unknown"), CRASHED)
    assert verdict(story.reads(U("Ho", run="r2"), END("r2", "interrupted", "crashed"), session="s2")).exercised == 2


def test_a_result_that_was_not_announced_is_not_asked_for():
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1").tool("started")
    story.frame("tool.closed", "t1", source=False, call_id="t1", state="aborted").crashes("unsynced").starts().quiet()
    rows = (U("Hi"), A("model.turn1", ""), C("t1"), R("t1", "aborted", outcome="unknown", origin="synthetic"), CRASHED)
    assert verdict(story.reads(*rows)).exercised == 1


def test_text_under_barriers_may_go_with_the_power():
    story = Story(policies={"sync": "barriers"}).asks().calls().says("model.turn1", "Hello ")
    story.frame("message.delta", "model.turn1", text="Hello ", event_id="r1:3")
    assert verdict(story.crashes("unsynced").starts().quiet().reads(U("Hi"), CRASHED)).exercised == 1


@pytest.mark.parametrize("markers", [(), (CRASHED, CRASHED)])
def test_how_many_terminals_there_are_is_for_another_judge(markers: tuple[object, ...]):
    story = Story().asks().crashes().starts().quiet().reads(U("Hi"), *markers)
    assert verdict(story, "recovery-adds-only-proven").status is Status.NOT_EXERCISED
    assert verdict(story, "one-terminal-per-run").status is Status.VIOLATED


def test_a_further_look_without_a_first_one_says_nothing():
    story = Story().asks().crashes().starts().quiet().again(U("Hi"))
    assert verdict(story, "recovery-is-idempotent").status is Status.NOT_EXERCISED


def test_a_message_that_says_nothing_is_kept_as_the_calls_that_it_asked_for() -> None:
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1")
    story.frame("message.completed", "model.turn1").tool("started").crashes().ends("r1", "interrupted", "crashed")
    length = len(story.starts().quiet().events)
    end = END("r1", "interrupted", "crashed")
    assert verdict(story.reads(U("Hi"), C("t1"), R("t1", "aborted"), end)).violations == ()
    del story.events[length:]
    assert verdict(story.reads(U("Hi"), end)).status is Status.VIOLATED
    story = (
        Story()
        .asks()
        .calls()
        .says("model.turn1", "")
        .completes("model.turn1")
        .frame("message.completed", "model.turn1")
    )
    story.crashes().ends("r1", "interrupted", "crashed").starts().quiet()
    assert verdict(story.reads(U("Hi"), end)).violations == ()


def test_a_run_that_still_waits_is_ended_by_one_more_kill() -> None:
    for waits in ((), ("worker:r1",)):
        story = Story().asks().crashes().starts().quiet(*waits).reads(U("Hi")).again(U("Hi"), CRASHED)
        found = verdict(story, "recovery-is-idempotent").status
        assert found is (Status.NOT_EXERCISED if waits else Status.VIOLATED)


def test_a_server_whose_disk_fails_again_while_it_starts_leaves_the_question_open() -> None:
    for fault, status in (("error", Status.UNDECIDED), ("full", Status.UNDECIDED), ("slow", Status.VIOLATED)):
        story = Story().asks().crashes("unsynced").event("disk.failed", subject="disk.sync#9", by="disk", fault=fault)
        story.event("adapter.raised", by="server", verb="setup", error="StoreError: Input/output error").quiet()
        assert verdict(story).status is status


def test_an_end_that_a_crash_took_is_told_once_although_recovery_found_another() -> None:
    story = Story().asks().calls().stops().ends("r1", "interrupted", "stopped").crashes("unsynced").starts().quiet()
    length = len(story.events)
    assert verdict(story.reads(U("Hi"), CRASHED)).status is Status.VIOLATED
    assert verdict(story, "one-terminal-per-run").status is Status.HOLDS
    del story.events[length:]
    assert verdict(story.reads(U("Hi"), CRASHED, CRASHED), "one-terminal-per-run").status is Status.VIOLATED


def test_what_recovery_makes_of_a_loss_is_told_as_the_loss() -> None:
    story = _done().ends().crashes().starts().quiet().reads(U("Hi"), A("model.turn1", "Hello there"), END("r1"))
    story.again(U("Hi"), CRASHED)
    assert verdict(story).status is Status.VIOLATED
    assert verdict(story, "recovery-is-idempotent").status is Status.NOT_EXERCISED


def test_a_message_that_went_with_the_end_of_its_run_is_told_by_the_judge_of_durability() -> None:
    story = _done().ends().crashes("unsynced").starts().quiet()
    story.reads(U("Hi"), A("model.turn1", "Hello", "interrupted"), CRASHED)
    assert verdict(story).status is Status.VIOLATED
    assert verdict(story, "completed-wins").violations == ()


@pytest.mark.parametrize("kept", [A("model.turn1", "Hello there"), A("model.turn1", "Hello", "interrupted")])
def test_what_recovery_puts_in_the_place_of_a_lost_end_could_not_be_given_to_the_model(kept: object) -> None:
    story = _done().ends().gives(U("Hi"), A("model.turn1", "Hello there")).crashes("unsynced").starts().quiet()
    story.reads(U("Hi"), kept, CRASHED)
    assert verdict(story, "store-equals-context").violations == ()
