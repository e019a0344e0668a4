"""Histories about what crashes left, and what recovery made of it."""

from __future__ import annotations

from attrs import evolve
from known_histories import bad, ok
from story import CLAIMS, END, A, C, R, Story, U

CRASHED = END("r1", "interrupted", "crashed")
ROWS = (U("Hi"), A("model.turn1", "Hello there"), END("r1"))


def _answered() -> Story:
    """A whole answer, announced as complete, and the end of its run."""
    story = Story().asks().answers().frame("message.completed", "model.turn1", text="Hello there", event_id="r1:4")
    return story.ends()


def _half(*, rows: bool = True, **policies: str) -> Story:
    """Half an answer; its deltas name the rows behind them."""
    story = Story(policies=policies).asks().calls()
    story.says("model.turn1", "Hello ")
    return story.frame("message.delta", "model.turn1", text="Hello ", event_id="r1:3" if rows else None)


# --- acknowledged-is-durable ---------------------------------------------------------------------


@ok("acknowledged-is-durable")
def everything_outlives_a_power_cut() -> Story:
    return _answered().crashes("unsynced").starts().quiet().reads(*ROWS).again(*ROWS)


@ok("acknowledged-is-durable")
def text_whose_rows_were_named_is_kept() -> Story:
    story = _half().crashes("unsynced").starts().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello ", "interrupted"), CRASHED)


@ok("acknowledged-is-durable")
def a_result_outlives_a_kill() -> Story:
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1").tool("started")
    story.tool("returned").frame("tool.closed", "t1", source=False, call_id="t1", state="completed")
    story.crashes().starts().quiet()
    return story.reads(U("Hi"), A("model.turn1", ""), C("t1"), R("t1"), CRASHED)


@bad("acknowledged-is-durable")
def a_power_cut_takes_a_prompt_for_which_the_model_was_called() -> Story:
    return Story().asks().calls().crashes("unsynced").starts().quiet().reads()


@bad("acknowledged-is-durable")
def a_kill_takes_a_prompt_before_the_model_is_called() -> Story:
    return Story().asks().crashes().starts().quiet().reads(END("r1", "interrupted", "crashed"))


@bad("acknowledged-is-durable")
def a_power_cut_takes_a_completed_answer() -> Story:
    return _answered().crashes("unsynced").starts().quiet().reads(U("Hi"), END("r1"))


@bad("acknowledged-is-durable")
def a_power_cut_takes_a_part_of_a_completed_answer() -> Story:
    story = Story().asks().answers().frame("message.completed", "model.turn1", text="Hello there", event_id="r1:4")
    story.crashes("last_tail").starts().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello ", "interrupted"), CRASHED)


@bad("acknowledged-is-durable")
def a_power_cut_takes_the_announced_end() -> Story:
    story = _answered().crashes("unsynced").starts().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"))


@bad("acknowledged-is-durable")
def a_run_that_had_ended_comes_back_as_crashed() -> Story:
    story = _answered().crashes("unsynced").starts().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), CRASHED)


@bad("acknowledged-is-durable")
def a_power_cut_takes_text_whose_rows_were_named() -> Story:
    return _half().crashes("unsynced").starts().quiet().reads(U("Hi"), CRASHED)


@bad("acknowledged-is-durable")
def a_kill_takes_text_whose_rows_were_named_in_spite_of_barriers() -> Story:
    return _half(sync="barriers").crashes().starts().quiet().reads(U("Hi"), CRASHED)


@bad("acknowledged-is-durable")
def a_power_cut_takes_a_result() -> Story:
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1").tool("started")
    story.tool("returned").frame("tool.closed", "t1", source=False, call_id="t1", state="completed")
    story.crashes("unsynced").starts().quiet()
    rows = (U("Hi"), A("model.turn1", ""), C("t1"), R("t1", "aborted", outcome="unknown", origin="synthetic"), CRASHED)
    return story.reads(*rows)


@bad("acknowledged-is-durable")
def a_row_that_was_acknowledged_is_gone() -> Story:
    story = Story(evolve(CLAIMS, level="store")).asks().answers()
    story.event("store.acknowledged", "r1", item=A("model.turn1", "Hello there"))
    return story.ends().crashes("unsynced").starts().quiet().reads(U("Hi"), END("r1"))


@bad("acknowledged-is-durable")
def the_journal_cannot_be_opened_any_more() -> Story:
    story = _answered().crashes("all_but_last")
    return story.event("adapter.raised", verb="setup", error="StoreError: database disk image is malformed").quiet()


@bad("acknowledged-is-durable")
def one_more_kill_takes_a_row() -> Story:
    return _answered().crashes().starts().quiet().reads(*ROWS).again(*ROWS[:1], ROWS[-1])


# --- recovery-adds-only-proven -------------------------------------------------------------------


@ok("recovery-adds-only-proven")
def a_run_that_was_cut_off_crashed() -> Story:
    return Story().asks().crashes().starts().quiet().reads(U("Hi"), CRASHED)


@ok("recovery-adds-only-proven")
def a_finished_answer_may_be_called_done() -> Story:
    story = Story().asks().answers().crashes().starts().quiet()
    return story.reads(*ROWS)


@bad("recovery-adds-only-proven")
def recovery_calls_half_an_answer_done() -> Story:
    story = _half(rows=False).crashes().starts().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello ", "interrupted"), END("r1"))


@bad("recovery-adds-only-proven")
def recovery_calls_a_run_done_that_had_not_begun() -> Story:
    return Story().asks().crashes().starts().quiet().reads(U("Hi"), END("r1"))


@bad("recovery-adds-only-proven")
def recovery_calls_a_run_done_that_waits_for_its_tool() -> Story:
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1").crashes().starts().quiet()
    return story.reads(U("Hi"), A("model.turn1", ""), C("t1"), R("t1", "aborted", outcome="not_started"), END("r1"))


# --- recovery-is-idempotent ----------------------------------------------------------------------


@ok("recovery-is-idempotent")
def one_more_restart_changes_nothing() -> Story:
    rows = (U("Hi"), CRASHED)
    return Story().asks().crashes().starts().quiet().reads(*rows).again(*rows)


@bad("recovery-is-idempotent")
def one_more_restart_adds_a_terminal() -> Story:
    rows = (U("Hi"), CRASHED)
    return Story().asks().crashes().starts().quiet().reads(*rows).again(*rows, END("r2", "interrupted", "crashed"))


@bad("recovery-is-idempotent")
def one_more_restart_doubles_a_notice() -> Story:
    rows = (U("Hi"), evolve(CRASHED, text="Restarted."))
    story = Story().asks().crashes().starts().quiet().reads(*rows)
    return story.again(U("Hi"), evolve(CRASHED, text="Restarted. Restarted."))


@bad("recovery-is-idempotent")
def one_more_restart_changes_the_order() -> Story:
    rows = (U("Hi"), CRASHED)
    return Story().asks().crashes().starts().quiet().reads(*rows).again(*reversed(rows))
