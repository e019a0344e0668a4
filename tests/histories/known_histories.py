"""For every invariant: histories in which it holds, and histories that break it and nothing else.

Each is the smallest that tells the story; the names say what happened.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen
from story import CLAIMS, END, A, C, R, Story, U

from journalsim.history import History

ANN = ("ann",)
HELLO = ("Hello ", "there")


@frozen
class Known:
    """One history that was judged by hand.

    Attributes:
        invariant: the one that it is about.
        name: what happened.
        tell: makes it.
        breaks: it breaks this invariant, and only this one.
    """

    invariant: str
    name: str
    tell: Callable[[], Story]
    breaks: bool

    def history(self) -> History:
        """Returns the history."""
        return self.tell().history()


KNOWN: list[Known] = []
"""All of them; ``ok`` and ``bad`` add to it."""


def ok(invariant: str) -> Callable[[Callable[[], Story]], Callable[[], Story]]:
    """Registers a history in which the invariant is exercised and holds, as every other one."""
    return lambda tell: _register(invariant, tell, breaks=False)


def bad(invariant: str) -> Callable[[Callable[[], Story]], Callable[[], Story]]:
    """Registers a history that breaks the invariant and no other."""
    return lambda tell: _register(invariant, tell, breaks=True)


def _register(invariant: str, tell: Callable[[], Story], *, breaks: bool) -> Callable[[], Story]:
    KNOWN.append(Known(invariant, tell.__name__.replace("_", " "), tell, breaks))
    return tell


# --- no-lost-completed-message -------------------------------------------------------------------


@ok("no-lost-completed-message")
def an_answered_question_is_kept() -> Story:
    return Story().asks().answers().ends().quiet().reads(U("Hi"), A("model.turn1", "Hello there"), END("r1"))


@ok("no-lost-completed-message")
def two_equal_answers_are_two_messages() -> Story:
    story = Story(ids=False).asks().answers("model.turn1", "Yes").ends()
    story.asks("Sure?", "r2", "k2").calls("model.turn2", "r2").answers("model.turn2", "Yes").ends("r2").quiet()
    return story.reads(U("Hi"), A("", "Yes"), END("r1"), U("Sure?", "r2"), A("", "Yes", run="r2"), END("r2"))


@ok("no-lost-completed-message")
def an_attempt_that_failed_is_replaced_by_the_next() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hel").marks("failed", "model.turn1")
    story.calls("model.turn2", attempt=2).says("model.turn2", *HELLO).completes("model.turn2").ends().quiet()
    return story.reads(U("Hi"), A("model.turn2", "Hello there"), END("r1"))


@bad("no-lost-completed-message")
def the_answer_is_cancelled_inside_its_append() -> Story:
    story = Story().asks().answers(seen_by=ANN).stops().ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), END("r1", "interrupted", "stopped"))


@bad("no-lost-completed-message")
def the_second_of_two_equal_answers_is_missing() -> Story:
    story = Story(ids=False).asks().answers("model.turn1", "Yes").ends()
    story.asks("Sure?", "r2", "k2").calls("model.turn2", "r2").answers("model.turn2", "Yes").ends("r2").quiet()
    return story.reads(U("Hi"), A("", "Yes"), END("r1"), U("Sure?", "r2"), END("r2"))


@bad("no-lost-completed-message")
def the_question_is_missing() -> Story:
    return Story().asks().answers().ends().quiet().reads(A("model.turn1", "Hello there"), END("r1"))


@bad("no-lost-completed-message")
def a_completed_answer_is_kept_in_part() -> Story:
    return Story().asks().answers().ends().quiet().reads(U("Hi"), A("model.turn1", "there"), END("r1"))


@bad("no-lost-completed-message")
def an_answer_is_missing_although_the_server_was_killed_only_after_its_run() -> Story:
    return Story().asks().answers().ends().crashes().starts().quiet().reads(U("Hi"), END("r1"))


# --- no-duplicate-message ------------------------------------------------------------------------


@ok("no-duplicate-message")
def a_request_that_arrives_twice_is_one_message() -> Story:
    story = Story().asks().accepts("Hi").answers().ends().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), END("r1"))


@ok("no-duplicate-message")
def the_same_words_under_two_keys_are_two_messages() -> Story:
    story = Story().asks().answers().ends().asks("Hi", "r2", "k2").calls("model.turn2", "r2")
    story.answers("model.turn2", "Again").ends("r2").quiet()
    first = (U("Hi", None), A("model.turn1", "Hello there"), END("r1"))
    return story.reads(*first, U("Hi", None), A("model.turn2", "Again", run="r2"), END("r2"))


@bad("no-duplicate-message")
def a_completion_that_is_reported_twice_is_kept_twice() -> Story:
    story = Story().asks().answers().completes("model.turn1").ends().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), A("model.turn1", "Hello there"), END("r1"))


@bad("no-duplicate-message")
def a_message_without_an_id_is_kept_twice() -> Story:
    story = Story(ids=False).asks().answers().ends().quiet()
    return story.reads(U("Hi"), A("", "Hello there"), A("", "Hello there"), END("r1"))


@bad("no-duplicate-message")
def a_question_is_kept_twice_where_no_key_tells_requests_apart() -> Story:
    story = Story(evolve(CLAIMS, idempotent_start=False)).asks().answers().ends().quiet()
    return story.reads(U("Hi"), U("Hi"), A("model.turn1", "Hello there"), END("r1"))


@bad("no-duplicate-message")
def two_partials_of_one_message_are_kept() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=ANN).stops()
    story.ends("r1", "interrupted", "stopped").quiet()
    partial = A("model.turn1", "Hello ", "interrupted")
    return story.reads(U("Hi"), partial, partial, END("r1", "interrupted", "stopped"))


# --- completed-wins ------------------------------------------------------------------------------


@ok("completed-wins")
def a_completion_that_ties_with_the_stop_may_lose() -> Story:
    story = Story().asks().calls().says("model.turn1", *HELLO, seen_by=ANN).stops().completes("model.turn1")
    story.ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there", "interrupted"), END("r1", "interrupted", "stopped"))


@ok("completed-wins")
def a_completion_that_ties_with_the_stop_may_win() -> Story:
    story = Story().asks().calls().says("model.turn1", *HELLO, seen_by=ANN).stops().completes("model.turn1")
    story.ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), END("r1", "interrupted", "stopped"))


@ok("completed-wins")
def a_late_completion_supersedes_the_partial_before_the_end_of_the_run() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=ANN).stops().marks("closed", "model.turn1")
    story.completes("model.turn1", late=True, more="there").ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), END("r1", "interrupted", "stopped"))


@ok("completed-wins")
def a_completion_after_the_end_of_the_run_comes_too_late() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=ANN).stops().marks("closed", "model.turn1")
    story.ends("r1", "interrupted", "stopped").completes("model.turn1", late=True, more="there").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello ", "interrupted"), END("r1", "interrupted", "stopped"))


@bad("completed-wins")
def a_completed_answer_is_also_kept_as_a_partial() -> Story:
    story = Story().asks().answers(seen_by=ANN).stops().ends("r1", "interrupted", "stopped").quiet()
    rows = (A("model.turn1", "Hello there"), A("model.turn1", "Hello there", "interrupted"))
    return story.reads(U("Hi"), *rows, END("r1", "interrupted", "stopped"))


@bad("completed-wins")
def an_answer_that_was_completed_before_the_stop_is_called_interrupted() -> Story:
    story = Story().asks().answers(seen_by=ANN).stops().ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there", "interrupted"), END("r1", "interrupted", "stopped"))


@bad("completed-wins")
def a_completion_after_the_end_of_the_run_replaces_the_partial() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=ANN).stops().marks("closed", "model.turn1")
    story.ends("r1", "interrupted", "stopped").completes("model.turn1", late=True, more="there").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), END("r1", "interrupted", "stopped"))


@bad("completed-wins")
def a_message_that_was_never_completed_is_kept_in_two_states() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=ANN).stops()
    story.ends("r1", "interrupted", "stopped").quiet()
    rows = (A("model.turn1", "Hello ", "interrupted"), A("model.turn1", "Hello "))
    return story.reads(U("Hi"), *rows, END("r1", "interrupted", "stopped"))


# --- partial-is-prefix ---------------------------------------------------------------------------


@ok("partial-is-prefix")
def what_was_shown_is_kept() -> Story:
    story = Story().asks().calls().says("model.turn1", *HELLO, seen_by=ANN).stops()
    story.ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there", "interrupted"), END("r1", "interrupted", "stopped"))


@ok("partial-is-prefix")
def reasoning_that_was_shown_is_kept() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hm", part="reasoning", seen_by=ANN).stops()
    story.ends("r1", "interrupted", "stopped").quiet()
    partial = A("model.turn1", "", "interrupted", reasoning="Hm")
    return story.reads(U("Hi"), partial, END("r1", "interrupted", "stopped"))


@bad("partial-is-prefix")
def a_stopped_answer_that_was_shown_is_gone() -> Story:
    story = Story().asks().calls().says("model.turn1", *HELLO, seen_by=ANN).stops()
    story.ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), END("r1", "interrupted", "stopped"))


@bad("partial-is-prefix")
def less_is_kept_than_was_shown() -> Story:
    story = Story().asks().calls().says("model.turn1", *HELLO, seen_by=ANN).stops()
    story.ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello ", "interrupted"), END("r1", "interrupted", "stopped"))


@bad("partial-is-prefix")
def the_end_of_what_was_said_is_kept_without_its_beginning() -> Story:
    story = Story().asks().calls().says("model.turn1", *HELLO).stops().ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), A("model.turn1", "there", "interrupted"), END("r1", "interrupted", "stopped"))


@bad("partial-is-prefix")
def reasoning_that_was_shown_is_gone() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hm", part="reasoning", seen_by=ANN)
    story.says("model.turn1", "Hello", seen_by=ANN).stops().ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello", "interrupted"), END("r1", "interrupted", "stopped"))


# --- bounded-partials ----------------------------------------------------------------------------


@ok("bounded-partials")
def the_cache_is_full_and_then_empty() -> Story:
    bounds = {"partial_messages_max": 2, "partial_bytes_max": 100}
    story = Story().sizes(partial_messages=2, partial_bytes=100, **bounds)
    return story.sizes(partial_messages=7).quiet().sizes(quiet=True, **bounds)


@bad("bounded-partials")
def something_is_left_in_the_cache() -> Story:
    return Story().quiet().sizes(quiet=True, partial_messages=1, partial_bytes=5)


@bad("bounded-partials")
def the_cache_grows_beyond_its_bound() -> Story:
    return Story().sizes(partial_bytes=101, partial_bytes_max=100, partial_messages=1, partial_messages_max=2).quiet()


# --- paired-tool-calls ---------------------------------------------------------------------------


def _with_tool() -> Story:
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    story.tool("started").tool("effect").tool("returned")
    return story.calls("model.turn2").answers("model.turn2").ends().quiet()


LOOK = (U("Hi"), A("model.turn1", "Look"))
FINALLY = (A("model.turn2", "Hello there"), END("r1"))


@ok("paired-tool-calls")
def a_call_and_its_result() -> Story:
    return _with_tool().reads(*LOOK, C("t1"), R("t1"), *FINALLY)


@ok("paired-tool-calls")
def a_batch_of_calls_and_their_results() -> Story:
    story = Story().asks().calls().requests("model.turn1", "t1").requests("model.turn1", "t2")
    story.completes("model.turn1").tool("started").stops().ends("r1", "interrupted", "stopped").quiet()
    closures = (R("t1", "aborted", outcome="unknown"), R("t2", "aborted", outcome="not_started"))
    return story.reads(U("Hi"), C("t1"), C("t2"), *closures, END("r1", "interrupted", "stopped"))


@bad("paired-tool-calls")
def a_stopped_call_stays_open() -> Story:
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    story.tool("started").stops().ends("r1", "interrupted", "stopped").quiet()
    return story.reads(*LOOK, C("t1"), END("r1", "interrupted", "stopped"))


@bad("paired-tool-calls")
def a_call_is_left_out() -> Story:
    return _with_tool().reads(*LOOK, *FINALLY)


@bad("paired-tool-calls")
def a_result_without_a_request() -> Story:
    return _with_tool().reads(*LOOK, R("t1"), *FINALLY)


@bad("paired-tool-calls")
def a_call_with_two_results() -> Story:
    return _with_tool().reads(*LOOK, C("t1"), R("t1"), R("t1", "aborted"), *FINALLY)


@bad("paired-tool-calls")
def a_call_that_is_kept_twice() -> Story:
    return _with_tool().reads(*LOOK, C("t1"), C("t1"), R("t1"), *FINALLY)


@bad("paired-tool-calls")
def an_answer_between_a_call_and_its_result() -> Story:
    return _with_tool().reads(*LOOK, C("t1"), FINALLY[0], R("t1"), FINALLY[1])


# --- one-terminal-per-run ------------------------------------------------------------------------


@ok("one-terminal-per-run")
def a_stopped_run_ends_as_stopped() -> Story:
    story = Story().asks().stops().ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), END("r1", "interrupted", "stopped"))


@ok("one-terminal-per-run")
def a_run_that_was_killed_ends_as_crashed() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hel").crashes().starts().quiet()
    return story.reads(U("Hi"), END("r1", "interrupted", "crashed"))


@ok("one-terminal-per-run")
def a_stop_that_ties_with_the_end_may_lose() -> Story:
    story = Story().asks().answers().stops().ends().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), END("r1"))


@ok("one-terminal-per-run")
def a_rolled_back_run_is_taken_back_whole() -> Story:
    story = Story().asks().answers().stops(mode="rollback").ends("r1", "interrupted", "rolled_back").quiet()
    return story.reads(END("r1", "interrupted", "rolled_back"))


@bad("one-terminal-per-run")
def a_run_without_a_terminal() -> Story:
    return Story().asks().answers().ends().quiet().reads(U("Hi"), A("model.turn1", "Hello there"))


@bad("one-terminal-per-run")
def a_run_with_two_terminals() -> Story:
    story = Story().asks().answers().stops().ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), END("r1"), END("r1", "interrupted", "stopped"))


@bad("one-terminal-per-run")
def a_run_that_was_stopped_in_mid_answer_is_called_completed() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=ANN).stops().ends().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello ", "interrupted"), END("r1"))


@bad("one-terminal-per-run")
def a_stopped_run_names_another_cause() -> Story:
    story = Story().asks().stops().ends("r1", "interrupted", "timed_out").quiet()
    return story.reads(U("Hi"), END("r1", "interrupted", "timed_out"))


@bad("one-terminal-per-run")
def the_terminal_says_something_else_than_was_announced() -> Story:
    story = Story().asks().answers().ends().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), END("r1", "failed", "failed"))


# --- stop-ends-run -------------------------------------------------------------------------------


@ok("stop-ends-run")
def a_stop_for_an_ended_run_changes_nothing() -> Story:
    story = Story().asks().answers().ends().stops(answer="ended").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), END("r1"))


@ok("stop-ends-run")
def a_stop_of_one_run_leaves_the_other_alone() -> Story:
    story = Story().asks().asks("Yo", "r2", "k2", "s2").stops().ends("r1", "interrupted", "stopped")
    story.calls("model.turn1", "r2").answers().ends("r2").quiet()
    story.reads(U("Hi"), END("r1", "interrupted", "stopped"))
    return story.reads(U("Yo", "r2"), A("model.turn1", "Hello there", run="r2"), END("r2"), session="s2")


@ok("stop-ends-run")
def a_slow_tool_explains_a_slow_end() -> Story:
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1").tool("started").stops()
    story.later(30).tool("returned").ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), C("t1"), R("t1"), END("r1", "interrupted", "stopped"))


@bad("stop-ends-run")
def a_stop_is_dropped_and_the_run_goes_on() -> Story:
    story = Story().asks().stops().answers().ends().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), END("r1"))


@bad("stop-ends-run")
def a_stop_finds_no_run_that_was_accepted() -> Story:
    story = Story().asks().stops(answer="unknown").answers().ends().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), END("r1"))


@bad("stop-ends-run")
def a_stopped_run_hangs_with_its_tool() -> Story:
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1").tool("started").stops()
    return story.quiet("run:r1").reads(U("Hi"), C("t1"))


@bad("stop-ends-run")
def a_stop_takes_half_a_minute() -> Story:
    story = Story().asks().stops().later(30).ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), END("r1", "interrupted", "stopped"))


@bad("stop-ends-run")
def a_stopped_run_works_on_after_its_end() -> Story:
    story = Story().asks().calls().stops().ends("r1", "interrupted", "stopped").tool("started").quiet()
    return story.reads(U("Hi"), END("r1", "interrupted", "stopped"))


@bad("stop-ends-run")
def a_stop_hits_another_run() -> Story:
    story = Story().asks().asks("Yo", "r2", "k2", "s2").stops().ends("r1", "interrupted", "stopped")
    story.ends("r2", "interrupted", "stopped").quiet().reads(U("Hi"), END("r1", "interrupted", "stopped"))
    return story.reads(U("Yo", "r2"), END("r2", "interrupted", "stopped"), session="s2")


@bad("stop-ends-run")
def a_run_is_stopped_that_nobody_stopped() -> Story:
    story = Story().asks().ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), END("r1", "interrupted", "stopped"))


@bad("stop-ends-run")
def a_late_stop_relabels_a_completed_run() -> Story:
    story = Story().asks().answers().ends().stops(answer="stopping").quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), END("r1", "interrupted", "stopped"))


# --- disconnect-is-not-stop ----------------------------------------------------------------------


@ok("disconnect-is-not-stop")
def a_reader_leaves_and_the_run_goes_on() -> Story:
    story = Story().asks().leaves().answers().ends().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Hello there"), END("r1"))


@bad("disconnect-is-not-stop")
def a_reader_leaves_and_the_run_ends() -> Story:
    story = Story().asks().leaves().ends("r1", "interrupted", "disconnected").quiet()
    return story.reads(U("Hi"), END("r1", "interrupted", "disconnected"))


@bad("disconnect-is-not-stop")
def a_lost_connection_is_taken_for_a_stop() -> Story:
    story = Story().asks().event("reader.disconnected", client="ann").ends("r1", "interrupted", "stopped").quiet()
    return story.reads(U("Hi"), END("r1", "interrupted", "stopped"))


@bad("disconnect-is-not-stop")
def a_closing_client_writes_back_an_older_conversation() -> Story:
    rows = (U("Hi"), A("model.turn1", "Hello there"), END("r1"))
    story = Story().asks().answers().ends().reads(*rows, reason="reload").leaves().quiet()
    return story.reads(U("Hi"), END("r1"))


# --- no-deadlock, deterministic ------------------------------------------------------------------


@ok("no-deadlock")
def the_case_comes_to_rest() -> Story:
    return Story().quiet()


@bad("no-deadlock")
def two_tasks_wait_for_each_other() -> Story:
    tasks = [["run:r1", "store.append#2.before"], ["relay", ""]]
    return Story().asks().calls().stops().event("deadlock.found", by="harness", tasks=tasks).reads(U("Hi"))


@bad("no-deadlock")
def a_loop_never_ends() -> Story:
    return Story().asks().event("bound.hit", by="harness", bound="steps", limit=10_000)


@ok("deterministic")
def a_rerun_takes_the_same_way() -> Story:
    return Story(policies={"audited": True}).quiet()


@bad("deterministic")
def a_rerun_takes_another_way() -> Story:
    return Story().quiet().event("trace.differs", by="harness", first=0, ours="model", theirs="store")
