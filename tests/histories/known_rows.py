"""Histories about what single rows say, what they are called, and what tools did."""

from __future__ import annotations

from attrs import evolve
from known_histories import ANN, HELLO, bad, ok
from story import END, A, C, R, Story, U

from journalsim.contract.items import Item

STOPPED = END("r1", "interrupted", "stopped")


def _cut_short(*chunks: str, part: str = "text") -> Story:
    story = Story().asks().calls().says("model.turn1", *chunks, part=part, seen_by=ANN).stops()
    return story.ends("r1", "interrupted", "stopped").quiet()


def _answered() -> Story:
    return Story().asks().answers().ends().quiet()


# --- no-empty-message ----------------------------------------------------------------------------


@ok("no-empty-message")
def a_message_of_nothing_but_a_call_has_one_row() -> Story:
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1").tool("started")
    story.tool("returned").answers("model.turn2").ends().quiet()
    return story.reads(U("Hi"), A("model.turn1", ""), C("t1"), R("t1"), A("model.turn2", "Hello there"), END("r1"))


@bad("no-empty-message")
def thinking_is_stripped_to_nothing() -> Story:
    return _cut_short("Hm", part="reasoning").reads(U("Hi"), A("model.turn1", "", "interrupted"), STOPPED)


@bad("no-empty-message")
def a_row_from_the_start_of_a_message_stays_behind() -> Story:
    return (
        Story().asks().calls().stops().ends("r1", "interrupted", "stopped").quiet().reads(U("Hi"), A("", ""), STOPPED)
    )


@bad("no-empty-message")
def empty_copies_of_a_message_of_calls_pile_up() -> Story:
    story = Story().asks().calls().requests("model.turn1", "t1").completes("model.turn1").stops()
    story.ends("r1", "interrupted", "stopped").quiet()
    rows = (A("model.turn1", ""), C("t1"), R("t1", "aborted", outcome="not_started"), A("model.turn1", ""))
    return story.reads(U("Hi"), *rows, STOPPED)


@bad("no-empty-message")
def recovery_adds_an_answer_without_words() -> Story:
    story = Story().asks().crashes().starts().quiet()
    return story.reads(U("Hi"), A("", ""), END("r1", "interrupted", "crashed"))


# --- stable-identity -----------------------------------------------------------------------------


def _named(item: Item, name: str, *aliases: str) -> Item:
    return evolve(item, id=name, aliases=aliases or item.aliases)


HELLO_ROW = A("model.turn1", "Hello there")


@ok("stable-identity")
def a_row_keeps_its_id() -> Story:
    rows = (U("Hi", id="u1"), _named(HELLO_ROW, "j-model.turn1"), END("r1"))
    return Story().asks().answers(seen_by=ANN).ends().reads(*rows, reason="reload").quiet().reads(*rows)


@bad("stable-identity")
def rows_come_back_under_new_ids() -> Story:
    story = Story().asks().answers().ends()
    story.reads(U("Hi", id="u1"), HELLO_ROW, END("r1"), reason="reload").quiet()
    return story.reads(U("Hi", id="u7"), HELLO_ROW, END("r1"))


@bad("stable-identity")
def two_rows_share_an_id() -> Story:
    return _answered().reads(U("Hi", id="5"), _named(HELLO_ROW, "5"), END("r1"))


@bad("stable-identity")
def a_message_is_stored_under_another_id_than_it_was_shown() -> Story:
    return _answered().reads(U("Hi"), _named(HELLO_ROW, "m9"), END("r1"))


@bad("stable-identity")
def a_message_whose_provider_id_changes_is_split() -> Story:
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=ANN)
    story.says("model.turn1", "there", seen_by=ANN, source="msg-other").stops()
    story.ends("r1", "interrupted", "stopped").quiet()
    first = _named(A("model.turn1", "Hello ", "interrupted"), "m1", "msg-turn1")
    return story.reads(U("Hi"), first, _named(A("model.turn1", "there", "interrupted"), "m2", "msg-other"), STOPPED)


@bad("stable-identity")
def an_answer_is_stored_in_pieces() -> Story:
    return _answered().reads(U("Hi"), A("model.turn1", "Hello "), A("model.turn1", "there"), END("r1"))


# --- executed-tool-recorded ----------------------------------------------------------------------


def _tool() -> Story:
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    return story.tool("started").tool("effect")


LOOK = (U("Hi"), A("model.turn1", "Look"), C("t1"))


@ok("executed-tool-recorded")
def a_call_that_was_cut_off_is_closed_as_unknown() -> Story:
    story = _tool().stops().tool("cancelled").ends("r1", "interrupted", "stopped").quiet()
    return story.reads(*LOOK, R("t1", "aborted", outcome="unknown"), STOPPED)


@ok("executed-tool-recorded")
def a_result_that_ties_with_the_stop_may_be_missing() -> Story:
    story = _tool().stops().tool("returned").ends("r1", "interrupted", "stopped").quiet()
    return story.reads(*LOOK, R("t1", "aborted", outcome="unknown"), STOPPED)


@bad("executed-tool-recorded")
def a_call_that_returned_is_closed_as_interrupted() -> Story:
    story = _tool().tool("returned").stops().ends("r1", "interrupted", "stopped").quiet()
    return story.reads(*LOOK, R("t1", "aborted", outcome="unknown"), STOPPED)


@bad("executed-tool-recorded")
def a_failure_is_recorded_as_a_success() -> Story:
    story = _tool().tool("failed").answers("model.turn2").ends().quiet()
    return story.reads(*LOOK, R("t1"), A("model.turn2", "Hello there"), END("r1"))


@bad("executed-tool-recorded")
def a_turn_is_dropped_by_policy_together_with_what_its_tool_did() -> Story:
    story = _tool().stops().tool("cancelled").ends("r1", "interrupted", "stopped").quiet()
    story.claims = evolve(story.claims, atomic_turn=True)
    return story.reads(U("Hi"), STOPPED)


# --- honest-provenance ---------------------------------------------------------------------------


@ok("honest-provenance")
def a_note_of_the_system_is_marked_as_such() -> Story:
    note = Item(kind="assistant", text="Stopped by the user.", run_id="r1", origin="synthetic")
    return _cut_short(*HELLO).reads(U("Hi"), A("model.turn1", "Hello there", "interrupted"), note, STOPPED)


@ok("honest-provenance")
def half_a_request_is_kept_as_far_as_it_came() -> Story:
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1")
    story.argues("model.turn1", "t1", '{"q":', '"s').stops().ends("r1", "interrupted", "stopped").quiet()
    rows = (C("t1", arguments='{"q":"s'), R("t1", "aborted", outcome="not_started"))
    return story.reads(U("Hi"), A("model.turn1", "Look", "interrupted"), *rows, STOPPED)


@bad("honest-provenance")
def a_note_stands_inside_the_answer() -> Story:
    note = "Hello there [stopped by the user]"
    return _cut_short(*HELLO).reads(U("Hi"), A("model.turn1", note, "interrupted"), STOPPED)


@bad("honest-provenance")
def an_answer_is_made_up() -> Story:
    made_up = A("", "The last request was interrupted.")
    return _cut_short(*HELLO).reads(U("Hi"), A("model.turn1", "Hello there", "interrupted"), made_up, STOPPED)


@bad("honest-provenance")
def a_payload_stands_in_the_place_of_the_answer() -> Story:
    return _answered().reads(U("Hi"), A("model.turn1", '{"usage": 12}'), END("r1"))


@bad("honest-provenance")
def an_answer_is_glued_to_the_one_before_it() -> Story:
    story = Story().asks().answers("model.turn1", "Let me look").answers("model.turn2", "Done").ends().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Let me look"), A("model.turn2", "Let me lookDone"), END("r1"))


@bad("honest-provenance")
def a_sub_agent_speaks_as_the_lead() -> Story:
    story = Story().asks().calls("model.turn1", who="sub:search").says("model.turn1", "Found it")
    story.completes("model.turn1").answers("model.turn2").ends().quiet()
    return story.reads(U("Hi"), A("", "Found it"), A("model.turn2", "Hello there"), END("r1"))


@bad("honest-provenance")
def a_prompt_is_joined_to_the_one_before_it() -> Story:
    story = Story().asks().answers().ends().asks("And?", "r2", "k2").calls("model.turn2", "r2")
    story.answers("model.turn2", "No").ends("r2").quiet()
    rows = (U("Hi\nAnd?", "r2"), A("model.turn2", "No", run="r2"), END("r2"))
    return story.reads(U("Hi"), HELLO_ROW, END("r1"), *rows)


@bad("honest-provenance")
def a_person_is_made_to_say_something() -> Story:
    return _cut_short(*HELLO).reads(
        U("Hi"), A("model.turn1", "Hello there", "interrupted"), U("[Request interrupted]", None), STOPPED
    )


@bad("honest-provenance")
def a_tool_that_ran_is_said_not_to_have_been_started() -> Story:
    story = _tool().stops().tool("cancelled").ends("r1", "interrupted", "stopped").quiet()
    return story.reads(*LOOK, R("t1", "aborted", outcome="not_started"), STOPPED)


@bad("honest-provenance")
def a_result_is_made_up() -> Story:
    story = _tool().stops().tool("cancelled").ends("r1", "interrupted", "stopped").quiet()
    return story.reads(*LOOK, R("t1"), STOPPED)


@ok("honest-provenance")
def a_closure_that_the_system_writes_is_marked_as_such() -> Story:
    story = _tool().stops().tool("cancelled").ends("r1", "interrupted", "stopped").quiet()
    closure = R("t1", "aborted", outcome="unknown", text="The run was interrupted.", origin="synthetic")
    return story.reads(*LOOK, closure, STOPPED)


@bad("honest-provenance")
def a_closure_that_the_system_writes_is_passed_off_as_the_tools() -> Story:
    story = _tool().stops().tool("cancelled").ends("r1", "interrupted", "stopped").quiet()
    closure = R("t1", "aborted", outcome="unknown", text="The run was interrupted.", origin="tool")
    return story.reads(*LOOK, closure, STOPPED)


@bad("honest-provenance")
def a_request_asks_for_something_else() -> Story:
    story = _tool().tool("returned").answers("model.turn2").ends().quiet()
    rows = (*LOOK[:2], C("t1", arguments='{"q": "else"}'), R("t1"), A("model.turn2", "Hello there"), END("r1"))
    return story.reads(*rows)
