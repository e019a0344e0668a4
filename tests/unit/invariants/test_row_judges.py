"""What single rows say, and what they are called."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from story import CLAIMS, END, A, C, R, Story, U

from journalsim.contract.capabilities import Capabilities
from journalsim.contract.items import Item
from journalsim.oracle.facts.texts import common_prefix, glued, is_whole, leaves_out, same_arguments
from journalsim.oracle.invariants.judge import check_history
from journalsim.oracle.invariants.verdict import Status, Verdict

STOPPED = END("r1", "interrupted", "stopped")
HELLO = A("model.turn1", "Hello there")


def verdict(invariant: str, story: Story) -> Verdict:
    (found,) = check_history(story.history(), only=[invariant])
    return found


def answered() -> Story:
    return Story().asks().answers().ends().quiet()


# --- texts


def test_something_left_out_is_told_from_something_added_or_moved():
    assert leaves_out("Hello", "Hello there")
    assert leaves_out("there", "Hello there")
    assert leaves_out("Hell the", "Hello there")
    assert not leaves_out("Hello there!", "Hello there")
    assert not leaves_out("thereHello ", "Hello there")


def test_common_prefix():
    assert common_prefix("abc", "abd") == "ab"
    assert common_prefix("ab", "abd") == "ab"
    assert common_prefix("abd", "ab") == "ab"
    assert common_prefix("x", "ab") == ""


@pytest.mark.parametrize(
    ("kept", "attempts", "is_glued"),
    [
        ("One, One, two", ("One, ", "One, two"), True),
        ("One, One, ", ("One, ", "One, two"), True),
        ("One, two", ("One, ", "One, two"), False),
        ("One, else", ("One, ", "One, two"), False),
        ("aab", ("a", "x", "ab"), True),
    ],
)
def test_glued_texts_are_made_of_beginnings_of_several_attempts(kept: str, attempts: tuple[str, ...], is_glued: bool):
    assert glued(kept, attempts) is is_glued


def test_arguments_are_compared_as_text_and_as_json():
    assert same_arguments('{"a": 1}', '{"a":1}')
    assert same_arguments("not json", "not json")
    assert not same_arguments('{"a": 1}', '{"a":')
    assert is_whole("{}")
    assert not is_whole('{"a":')
    assert not is_whole("")


# --- no-empty-message


def empty(story: Story) -> Verdict:
    return verdict("no-empty-message", story)


def test_empty_rows_are_named_by_what_they_stand_for():
    story = answered().reads(U(""), A("model.turn1", ""), Item(kind="summary"), A("", "", run=None), END("r1"))
    assert [violation.found for violation in empty(story).violations] == [
        "the journal holds an empty row for user1",
        "the journal holds an empty row of message model.turn1",
        "the journal holds an empty row of kind summary",
        "the journal holds an empty row of kind assistant",
    ]
    assert empty(story).violations[0].expected == ('-  user  completed  "Hi"',)
    assert empty(story).violations[2].expected == ()


def test_person_may_send_nothing_and_an_open_message_may_have_said_nothing_yet():
    story = Story().asks("").calls().quiet("run:r1").reads(U(""), A("model.turn1", "", "open"))
    assert empty(story).status is Status.HOLDS
    assert empty(Story().reads()).status is Status.NOT_EXERCISED


def test_message_whose_only_row_is_empty_is_not_called_lost_as_well():
    story = answered().reads(U("Hi"), A("model.turn1", ""), END("r1"))
    assert [v.invariant for v in check_history(story.history()) if v.violations] == ["no-empty-message"]


# --- stable-identity


def identity(story: Story) -> Verdict:
    return verdict("stable-identity", story)


def test_stable_ids_must_be_claimed():
    assert identity(Story(Capabilities()).reads()).status is Status.NOT_CLAIMED


def test_rows_without_ids_are_not_asked_for_them():
    assert identity(answered().reads(U("Hi"), HELLO, END("r1"))).status is Status.NOT_EXERCISED


def test_rows_that_nothing_but_their_text_identifies_prove_nothing():
    story = Story().asks("Yes", "r1", "k1").asks("Yes", "r2", "k2")
    story.reads(U("Yes", None, id="1"), reason="reload").reads(U("Yes", None, id="2"), U("Yes", None, id="1"))
    assert identity(story).status is Status.NOT_EXERCISED


def test_copies_of_one_message_share_its_name_without_a_fault_of_identity():
    row = evolve(HELLO, id="j-model.turn1")
    assert identity(answered().reads(U("Hi", id="u1"), row, row, END("r1"))).status is Status.HOLDS


def test_driver_names_messages_in_frames_so_a_store_may_name_them_otherwise():
    story = answered().reads(U("Hi"), evolve(HELLO, id="m9"), END("r1"))
    (violation,) = identity(story).violations
    assert violation.found == "the journal calls it m9"
    story.claims = evolve(CLAIMS, level="store")
    assert identity(story).status is Status.HOLDS


def test_frame_that_only_its_words_tie_to_a_message_proves_nothing():
    story = Story().asks().calls()
    for text in ("Hello ", "there"):
        story._chunk("model.turn1", part="text", text=text)
        story.texts.setdefault("model.turn1text", []).append(text)
        story.frame("message.delta", "model.turn1", source=False, text=text)
    story.completes("model.turn1").ends().quiet().reads(U("Hi"), evolve(HELLO, id="m9"), END("r1"))
    assert identity(story).status is Status.HOLDS


def test_piece_that_nothing_ties_to_its_message_is_nobodys():
    story = Story(ids=False).asks().answers().ends().quiet().reads(U("Hi"), A("", "Hello "), A("", "there"), END("r1"))
    assert [v.invariant for v in check_history(story.history()) if v.violations] == [
        "no-lost-completed-message",
        "honest-provenance",
    ]


# --- honest-provenance


def honest(story: Story) -> Verdict:
    return verdict("honest-provenance", story)


def test_note_of_the_system_may_stand_in_a_row_of_its_own_if_it_says_so():
    note = Item(kind="user", text="Go on.", run_id="r1", origin="synthetic")
    assert honest(answered().reads(U("Hi"), HELLO, note, END("r1"))).status is Status.HOLDS


def test_words_that_were_sent_under_the_key_of_another_message_are_somebodys():
    story = answered().sends("Yo", "k1").accepts("Yo", "r2", "k1").ends("r2").quiet()
    rows = (U("Hi"), A("model.turn1", "Hello there"), END("r1"), U("Yo", "r2"), END("r2"))
    broken = [v.invariant for v in check_history(story.reads(*rows).history()) if v.violations]
    assert broken == ["one-request-one-effect"]


def test_thinking_is_judged_as_text_is():
    story = Story().asks().calls().says("model.turn1", "Hm", part="reasoning").answers().ends().quiet()
    (violation,) = honest(story.reads(U("Hi"), A("model.turn1", "Hello there", reasoning="Ha"), END("r1"))).violations
    assert violation.found == 'the journal holds "Ha" as message model.turn1, but the model emitted "Hm"'


def called(**row: Any) -> Story:
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    story.tool("started").tool("returned").ends().quiet()
    return story.reads(U("Hi"), A("model.turn1", "Look"), evolve(C("t1"), **row), R("t1"), END("r1"))


def test_request_may_be_kept_without_its_details_but_not_with_others():
    assert honest(called(arguments="", name=None)).status is Status.HOLDS
    assert honest(called(arguments=" { }")).status is Status.HOLDS
    assert honest(called(arguments='{"q":')).status is Status.VIOLATED
    assert honest(called(name="delete")).status is Status.VIOLATED


def test_request_that_the_model_never_made():
    (violation,) = honest(called(call_id="t9")).violations
    assert violation.found == "the journal holds a request t9, which no model made"
    story = Story().asks().tool("started").ends().quiet().reads(U("Hi"), C("t1"), R("t1", "failed"), END("r1"))
    assert [v.subject for v in honest(story).violations] == ["t1"]


def test_calls_of_a_sub_agent_are_not_the_leads():
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    story.calls("model.turn2", who="sub:search").requests("model.turn2", "t2").completes("model.turn2")
    story.tool("started", "t2").tool("returned", "t2").calls("model.turn3", who="sub:search")
    story.says("model.turn3", "3 hits").completes("model.turn3").ends().quiet()
    rows = (U("Hi"), A("model.turn1", "Look"), C("t1"), R("t1"))
    assert honest(story.reads(*rows, END("r1"))).status is Status.HOLDS  # the sub-agent's answer is the result
    assert honest(story.reads(*rows, C("t2"), R("t2"), END("r1"))).status is Status.HOLDS
    (violation,) = honest(story.reads(*rows, A("", "3 hits"), END("r1"))).violations
    assert violation.found == 'the journal holds "3 hits" as model text, which no model emitted'


def test_call_that_failed_or_was_refused_may_be_closed_as_failed():
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    rows = (U("Hi"), A("model.turn1", "Look"), C("t1"))
    assert honest(story.ends().quiet().reads(*rows, R("t1", "failed"), END("r1"))).status is Status.HOLDS


@pytest.mark.parametrize(("first", "status"), [("stop", Status.HOLDS), ("start", Status.VIOLATED)])
def test_closure_says_not_started_only_of_a_call_that_had_not_started_when_the_stop_came(first: str, status: Status):
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    story = story.stops().tool("started") if first == "stop" else story.tool("started").stops()
    story.tool("cancelled").ends("r1", "interrupted", "stopped").quiet()
    closure = R("t1", "aborted", outcome="not_started")
    assert honest(story.reads(U("Hi"), A("model.turn1", "Look"), C("t1"), closure, STOPPED)).status is status


@pytest.mark.parametrize("how", ["timed_out", "crashed"])
def test_where_nobody_sees_what_interrupted_the_run_a_closure_is_believed(how: str):
    story = Story().asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")
    story.tool("started")
    story = story.crashes().starts() if how == "crashed" else story.ends("r1", "interrupted", how)
    closure = R("t1", "aborted", outcome="not_started")
    rows = (U("Hi"), A("model.turn1", "Look"), C("t1"), closure, END("r1", "interrupted", how))
    assert honest(story.quiet().reads(*rows)).status is Status.HOLDS


# --- the flag of interruption


@pytest.mark.parametrize(
    ("metadata", "status"), [({"interrupted": True}, Status.HOLDS), ({"interrupted": "no"}, Status.VIOLATED)]
)
def test_flagged_message_is_an_interrupted_one(metadata: dict[str, Any], status: Status):
    story = Story().asks().calls().says("model.turn1", "Hello ", "there", seen_by=("ann",)).stops()
    story.ends("r1", "interrupted", "stopped").completes("model.turn1", late=True).quiet()
    story.reads(U("Hi"), A("model.turn1", "Hello there", metadata=metadata), STOPPED)
    assert verdict("completed-wins", story).status is status
