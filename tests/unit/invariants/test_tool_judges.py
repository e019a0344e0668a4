from __future__ import annotations

import pytest
from attrs import evolve
from story import CLAIMS, END, A, C, R, Story, U

from journalsim.contract.capabilities import Capabilities
from journalsim.oracle.invariants.judge import check_history
from journalsim.oracle.invariants.verdict import Status, Verdict


def paired(story: Story) -> Verdict:
    (found,) = check_history(story.history(), only=["paired-tool-calls"])
    return found


def asked(*claims: Story) -> Story:
    story = claims[0] if claims else Story()
    return story.asks().calls().says("model.turn1", "Look").requests("model.turn1", "t1").completes("model.turn1")


LOOK = A("model.turn1", "Look")


def test_tools_must_be_claimed():
    assert paired(Story(Capabilities())).status is Status.NOT_CLAIMED


def test_run_that_hangs_in_its_tool_leaves_the_question_open():
    assert paired(asked().tool("started").quiet("run:r1").reads(LOOK, C("t1"))).status is Status.UNDECIDED
    assert paired(asked().quiet("run:r1").reads(LOOK)).status is Status.UNDECIDED


def test_request_is_not_asked_of_a_message_that_is_not_kept_as_completed():
    assert paired(asked().ends().quiet().reads(A("model.turn1", "Look", "interrupted"))).status is Status.NOT_EXERCISED
    assert paired(asked().ends().quiet().reads()).status is Status.NOT_EXERCISED


def test_request_may_be_missing_after_a_kill_but_a_request_without_result_may_not():
    story = asked().crashes().starts().quiet()
    assert paired(story.reads(LOOK)).status is Status.NOT_EXERCISED
    assert paired(story.reads(LOOK, C("t1"))).status is Status.VIOLATED


def test_appends_that_failed_are_excused():
    story = asked().event("store.failed", "r1", item=C("t1"), outcome="failed").ends().quiet()
    assert paired(story.reads(LOOK)).status is Status.NOT_EXERCISED
    assert paired(story.reads(LOOK, R("t1"))).status is Status.NOT_EXERCISED


def test_missing_request_of_a_batch_is_named():
    story = Story().asks().calls().requests("model.turn1", "t1").requests("model.turn1", "t2").completes("model.turn1")
    (violation,) = paired(story.ends().quiet().reads(C("t1"), R("t1"))).violations
    assert violation.subject == "t2"
    assert violation.expected == ("t2  tool_call  completed  search({})",)


def test_call_of_an_unknown_run_is_judged_too():
    (violation,) = paired(Story().reads(C("t9", run=None))).violations
    assert violation.found == "the journal holds the request without a result"
    assert violation.expected == (
        "t9  tool_call  completed  search({})",
        't9  tool_result  aborted  ""',
    )


@pytest.mark.parametrize(("mixed", "status"), [("keep", Status.HOLDS), ("refuse", Status.VIOLATED)])
def test_rows_of_another_run_may_stand_between_only_where_runs_are_mixed(mixed, status: Status):
    story = Story(evolve(CLAIMS, concurrent_runs=mixed)).reads(C("t1"), U("Yo", "r2"), R("t1"))
    assert paired(story).status is status


def test_repair_on_read_is_judged_in_what_the_model_is_given():
    repaired = (U("Hi"), C("t1"), R("t1", "aborted"))
    story = Story(evolve(CLAIMS, context_repair="on_read")).calls("model.turn1", context=repaired).reads(C("t1"))
    assert paired(story).status is Status.HOLDS
    story = Story(policies={"orphans": "on_read"}).calls("model.turn1", context=(C("t1"), END("r1"))).reads()
    (violation,) = paired(story).violations
    assert violation.found == "the context of a model call holds the request without a result"
    assert violation.evidence == (0, 1)
