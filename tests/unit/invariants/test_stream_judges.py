"""Judges of streams at the edges: what nobody can decide, and what is not asked at all."""

from __future__ import annotations

import pytest
from attrs import evolve
from known_streams import ANSWER, MESSAGE, ROWS, Streams
from story import A, Story, U

from journalsim.oracle.invariants.judge import check_history
from journalsim.oracle.invariants.verdict import Status, Verdict


def answered() -> Streams:
    story = Streams()
    story.asks().calls().says("model.turn1", "Hello ", "there").completes("model.turn1").ends()
    return story


def verdict_on(invariant: str, story: Story) -> Verdict:
    return check_history(story.history(), only=[invariant])[0]


def undecided_replay(story: Story) -> str:
    found = verdict_on("replay-equals-live", story)
    assert found.status is Status.UNDECIDED
    return found.reason


def test_nobody_knows_what_a_page_should_show_when_the_case_was_cut_off() -> None:
    story = answered().event("bound.hit", by="harness", bound="steps", limit=9).looks().reads(*ROWS)
    assert undecided_replay(story) == "the case was cut off"


def test_nobody_knows_what_a_page_should_show_of_a_run_that_has_not_ended() -> None:
    story = Streams()
    story.asks().quiet("run:r1").looks()
    assert undecided_replay(story.reads(U("Hi"))) == "a run of the session has not ended"


def stalled(status: int = 200, cursor: str | None = None) -> Streams:
    story = Streams()
    story.asks().calls().says("model.turn1", "Hello ", "there").attaches(cursor, status=status)
    return story


def looked(story: Story, shown: str = "Hello ", **more: object) -> Verdict:
    about = {"watching": True, "gave_up": None, "ended": ()} | more
    partial = A("model.turn1", shown, "open", id=MESSAGE)
    story.quiet("run:r1").looks(partial, **about).reads(U("Hi"), partial)
    return verdict_on("replay-equals-live", story)


def test_what_has_not_arrived_yet_is_missing_on_no_page() -> None:
    written = stalled().control().puts("r1:2", text="there")
    assert looked(written).reason == "a run of the session has not ended"
    assert looked(written, "Hello ", cursor="r1:2").status is Status.VIOLATED


def test_a_page_whose_stream_is_gone_does_not_know_more() -> None:
    answers = [
        stalled(status=204),
        stalled().closes("gone"),
        stalled().event("link.broke", by="ann", fault="cut", connection=1),
        Streams().asks().calls().says("model.turn1", "Hello ", "there"),
    ]
    unanswered = Streams().asks().calls().says("model.turn1", "Hello ", "there")
    unanswered.event("stream.asked", by="ann", what="stream", connection=1, cursor=None, applied="")
    for story in (*answers, unanswered):
        assert looked(story).status is Status.UNDECIDED
    assert looked(stalled(), watching=False).status is Status.UNDECIDED


def test_a_page_that_was_told_nothing_shows_what_it_had_at_its_cursor() -> None:
    assert looked(stalled(cursor="r1:1"), cursor="r1:1").status is Status.VIOLATED
    assert looked(stalled(cursor="r1:1"), "Hello there", cursor="r1:1").status is Status.HOLDS


def test_what_has_ended_is_not_under_way() -> None:
    story = stalled().frame("message.completed", "model.turn1", text="Hello there")
    story.asks(run="r2", key="k2", session="s2").calls("model.turn2", run="r2").says("model.turn2", "Psst")
    assert looked(story.frame("run.started", "model.turn1", message=None), "Hello there").status is Status.HOLDS


def test_an_adapter_without_stable_ids_may_show_any_bubble() -> None:
    story = answered().quiet().looks(ANSWER, A("", "", id="other")).reads(*ROWS)
    assert verdict_on("single-visible-source", story).status is Status.VIOLATED
    story.claims = evolve(story.claims, stable_ids=False)
    assert verdict_on("single-visible-source", story).status is Status.NOT_EXERCISED


def test_a_link_that_ends_the_answer_is_not_the_servers_fault() -> None:
    story = answered().attaches().control().event("link.broke", by="ann", fault="end", connection=1).closes("gone")
    story.quiet().looks(A("model.turn1", "Hello ", "open", id=MESSAGE), gave_up="ended")
    assert undecided_replay(story.reads(*ROWS)) == "the link showed ann a clean end that the server did not send"
    assert verdict_on("stream-terminates", story).status is Status.HOLDS


def test_a_history_that_was_rewritten_is_not_on_the_page() -> None:
    story = answered().opens_page(U("Hi")).maintains("compact").quiet().looks(U("Hi"))
    assert undecided_replay(story.reads(*ROWS)) == "the history was rewritten after the page was opened"
    assert undecided_replay(answered().stops(mode="rollback").quiet().looks().reads(*ROWS)).startswith("the history")


@pytest.mark.parametrize("excuse", [{"attached": False}, {"missing": True}, {"gave_up": "refused"}])
def test_a_page_that_its_person_would_not_believe_is_not_judged(excuse: dict[str, object]) -> None:
    story = answered().quiet().looks(A("model.turn1", "Hello ", "open", id=MESSAGE), **excuse).reads(*ROWS)
    assert verdict_on("replay-equals-live", story).status is Status.NOT_EXERCISED
    assert verdict_on("stream-terminates", story).status is Status.NOT_EXERCISED


def test_a_page_without_messages_has_learnt_nothing() -> None:
    assert verdict_on("stream-terminates", answered().quiet().looks()).status is Status.NOT_EXERCISED


def test_streams_that_still_wait_for_the_script_need_not_end() -> None:
    story = Streams()
    story.asks().attaches().quiet("tool call t1")
    assert verdict_on("stream-terminates", story).status is Status.NOT_EXERCISED


def test_a_request_without_an_answer_is_not_judged() -> None:
    story = answered().event("stream.asked", by="ann", what="stream", connection=1, cursor=None, applied="").quiet()
    for invariant in ("honest-cursor", "legal-wire"):
        assert verdict_on(invariant, story).status is Status.NOT_EXERCISED


@pytest.mark.parametrize("status", [204, 409])
def test_a_cursor_that_is_not_answered_by_a_stream_is_dealt_with(status: int) -> None:
    story = answered().attaches("of:another", status=status, content_type="").closes().quiet()
    assert verdict_on("honest-cursor", story).status is Status.HOLDS


def test_an_adapter_without_streams_promises_nothing_about_them() -> None:
    verdicts = check_history(Story().asks().history())
    unclaimed = {v.invariant for v in verdicts if v.status is Status.NOT_CLAIMED and "replay" in v.reason}
    assert len(unclaimed) == 7


def test_an_adapter_that_declares_no_bound_is_not_held_to_one() -> None:
    story = answered().sizes()
    assert verdict_on("bounded-stream-buffers", story).reason.startswith("the adapter declares no bound")
    assert verdict_on("bounded-stream-buffers", story.sizes(reader_bytes=1, reader_bytes_max=2)).exercised == 1


def test_an_id_that_is_no_id_is_named() -> None:
    story = answered().attaches().puts("seven").closes().quiet().looks(ANSWER)
    assert "is not run:number" in verdict_on("legal-wire", story).violations[0].found


def test_an_id_that_comes_twice_is_named() -> None:
    story = answered().attaches().puts("r1:1").puts("r1:1").closes().quiet().looks(ANSWER)
    assert "comes twice" in verdict_on("legal-wire", story).violations[0].found


def test_what_the_model_of_a_server_said_is_not_known() -> None:
    story = answered().quiet().reads(*ROWS, A("", "Who said this?"))
    assert verdict_on("honest-provenance", story).status is Status.VIOLATED
    story.claims = evolve(story.claims, host="http")
    assert verdict_on("honest-provenance", story).status is Status.NOT_CLAIMED
