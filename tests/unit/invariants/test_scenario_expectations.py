from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import evolve
from story import END, A, C, R, Story, U

from journalsim.oracle.expectations.judging import COMBINATORS, PREDICATES, check_expectations, met_sometimes
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.invariants.verdict import Status, Verdict
from journalsim.scenario.values.cast import ClientSpec, ModelSpec
from journalsim.scenario.values.expect import (
    Arguments,
    EqualViews,
    Expect,
    Expectation,
    ItemAbsence,
    ItemCount,
    ItemMatch,
    ItemView,
    MessageOrder,
    ModelCalls,
    Refusal,
    RunEnd,
    TextMatch,
    ToolExecutions,
)
from journalsim.scenario.values.moves import Step
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import CallTool, Finish, Text, Turn
from journalsim.scenario.words.conditions import COMBINATORS as WORDS
from journalsim.scenario.words.conditions import EXPECTATIONS

ANSWER = Text(chunks=("Hello ", "there"), label="answer")


def expects(*expectations: Expectation, **sometimes: Any) -> Scenario:
    return Scenario(
        name="x",
        model=ModelSpec(turns=(Turn(stream=(ANSWER, CallTool(id="t1", name="search"), Finish())),)),
        clients=(ClientSpec(name="ann"), ClientSpec(name="bob", observes="ann"), ClientSpec(name="eve", session="s2")),
        steps=(Step(actor="ann", verb="send", label="send", text="Hi"),),
        expect=Expect(finally_=expectations, **sometimes),
    )


ARGUMENTS: Mapping[str, Callable[..., Arguments]] = {
    "journal.contains": ItemMatch,
    "journal.lacks": ItemAbsence,
    "journal.count": ItemCount,
    "journal.order": MessageOrder,
    "view.equals": EqualViews,
    "view.contains": ItemView,
    "context.contains": ItemMatch,
    "context.lacks": ItemMatch,
    "run.ended": RunEnd,
    "tool.executed": ToolExecutions,
    "model.called": ModelCalls,
    "request.refused": Refusal,
}


def says(name: str, line: int = 0, **arguments: Any) -> Expectation:
    if "text" in arguments:
        arguments["text"] = TextMatch(**arguments["text"])
    return Expectation(name=name, arguments=ARGUMENTS[name](**arguments), line=line)


def judged(story: Story, *expectations: Expectation) -> list[Verdict]:
    return list(check_expectations(expects(*expectations), story.history()))


def holds(story: Story, name: str, **arguments: Any) -> bool:
    (verdict,) = judged(story, says(name, **arguments))
    return verdict.status is Status.HOLDS


def found(story: Story, name: str, **arguments: Any) -> str:
    (verdict,) = judged(story, says(name, **arguments))
    return verdict.violations[0].found


def stopped(*rows) -> Story:
    story = Story().asks().calls().says("model.turn1", "Hello ", seen_by=("ann",)).stops()
    return story.ends("r1", "interrupted", "stopped").quiet().reads(U("Hi"), *rows, END("r1", "interrupted", "stopped"))


KEPT = A("model.turn1", "Hello ", "interrupted")


def test_journal_contains_goes_by_message_state_and_text():
    story = stopped(KEPT)
    assert holds(story, "journal.contains", message="model.turn1")
    assert holds(story, "journal.contains", message="model.turn1", state="interrupted", text={"equals": "Hello "})
    assert holds(story, "journal.contains", message="model.turn1", text={"prefix_of": "$answer"})
    assert not holds(story, "journal.contains", message="model.turn1", text={"equals": "$answer"})
    assert not holds(story, "journal.contains", message="model.turn1", text={"prefix_of": "$unknown"})
    assert not holds(story, "journal.contains", message="model.turn1", state="completed")
    assert holds(story, "journal.contains", message="user1", text={"equals": "Hi"})


def test_journal_contains_goes_by_kind_call_and_run():
    story = stopped(C("t1"), R("t1", "aborted"))
    assert holds(story, "journal.contains", kind="marker", run="run1")
    assert not holds(story, "journal.contains", kind="summary")
    assert holds(story, "journal.contains", call="t1", state="aborted")
    assert not holds(story, "journal.contains", call="t1", state="failed")
    assert not holds(story, "journal.contains", kind="user", run="run2")


def test_violation_of_an_expectation_names_line_expected_and_actual():
    wanted = says("journal.contains", 12, message="model.turn1", state="completed", text={"equals": "$answer"})
    (verdict,) = judged(stopped(KEPT), wanted)
    (violation,) = verdict.violations
    assert (verdict.invariant, verdict.status, verdict.exercised) == ("expect", Status.VIOLATED, 1)
    assert (violation.line, violation.subject, violation.evidence) == (12, "model.turn1", (10,))
    assert violation.promised == (
        "the scenario expects journal.contains: {message: model.turn1, state: completed, text: $answer}"
    )
    assert violation.found == 'the journal holds it differently: -  assistant  interrupted  "Hello "'
    assert violation.actual == ('-  assistant  interrupted  "Hello "',)


def test_description_quotes_texts_and_lists():
    (verdict,) = judged(stopped(), says("journal.contains", call="t1", text={"prefix_of": "a\n"}))
    assert verdict.violations[0].promised.endswith('{call: t1, text: {prefix_of: "a\\n"}}')
    assert verdict.violations[0].subject == "t1"
    (verdict,) = judged(stopped(), says("view.equals", of=("ann", "bob"), to="journal"))
    assert verdict.violations[0].promised.endswith("view.equals: {of: [ann, bob], to: journal}")
    (verdict,) = judged(stopped(), says("view.contains", message="user9", of=("ann",)))
    assert verdict.violations[0].promised.endswith("view.contains: {of: [ann], message: user9}")
    (verdict,) = judged(stopped(), says("journal.count", kind="user", is_=9))
    assert verdict.violations[0].promised.endswith("journal.count: {kind: user, is: 9}")
    assert verdict.violations[0].subject is None
    (verdict,) = judged(stopped(), says("tool.executed", call="t1", times=9))
    assert verdict.violations[0].promised.endswith("tool.executed: {call: t1, times: 9}")
    assert verdict.violations[0].subject == "t1"


def test_journal_lacks_may_depend_on_what_was_shown():
    assert holds(stopped(), "journal.lacks", message="model.turn1")
    assert not holds(stopped(KEPT), "journal.lacks", message="model.turn1")
    assert found(stopped(), "journal.lacks", message="model.turn1", unless="any_chunk_applied") == (
        "the journal does not hold it, although a client had displayed part of it"
    )
    unseen = Story().asks().calls().says("model.turn1", "Hello ").stops().says("model.turn1", "x", seen_by=("ann",))
    unseen.ends("r1", "interrupted", "stopped").quiet().reads(U("Hi"))
    assert holds(unseen, "journal.lacks", message="model.turn1", unless="any_chunk_applied")
    assert holds(unseen, "journal.lacks", message="model.turn7", unless="any_chunk_applied")
    unstopped = Story().says("model.turn1", "Hello ", seen_by=("ann",)).quiet().reads()
    assert not holds(unstopped, "journal.lacks", message="model.turn1", unless="any_chunk_applied")


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"is_": 2}, True),
        ({"is_": 1}, False),
        ({"at_least": 2}, True),
        ({"at_least": 3}, False),
        ({"at_most": 1}, False),
        ({"at_least": 1, "at_most": 2}, True),
    ],
)
def test_journal_count(bounds: dict[str, int], expected: bool):
    story = Story().reads(C("t1"), C("t2"), R("t1"))
    assert holds(story, "journal.count", kind="tool_call", **bounds) is expected
    assert not holds(story, "journal.count", kind="tool_result", state="failed", is_=1)


def test_journal_order_needs_all_of_them_in_this_order():
    story = Story().asks().answers().quiet().reads(U("Hi"), A("model.turn1", "Hello there"))
    assert holds(story, "journal.order", messages=("user1", "model.turn1"))
    assert found(story, "journal.order", messages=("model.turn1", "user1")) == (
        "the journal holds them as user1, model.turn1"
    )
    assert not holds(story, "journal.order", messages=("user1", "model.turn2"))
    assert found(story, "journal.order", messages=("user7", "user8")) == "the journal holds none of them"


def test_views_are_compared_with_the_journal_or_with_each_other():
    story = Story().asks().calls().says("model.turn1", "Hello", seen_by=("ann", "bob")).completes("model.turn1")
    story.frame("message.completed", "model.turn1", by="ann", text="Hello").quiet()
    story.reads(A("model.turn1", "Hello")).reads(session="s2")
    assert holds(story, "view.equals", of=("ann",), to="journal")
    assert found(story, "view.equals", of=("ann", "bob"), to="journal") == (
        'bob displays "Hello" (open), journal has "Hello" (completed)'
    )
    assert not holds(story, "view.equals", of=("ann",), to="bob")
    assert found(story, "view.equals", of=("eve",), to="bob") == 'eve displays nothing, bob has "Hello" (open)'
    assert holds(story, "view.equals", of=("eve",), to="journal")


def test_view_contains_asks_every_client():
    story = Story(ids=False).asks().calls().says("model.turn1", "Hello", seen_by=("ann",))
    assert holds(story, "view.contains", of=("ann",), message="model.turn1", text={"equals": "Hello"})
    assert found(story, "view.contains", of=("ann", "bob"), message="model.turn1") == "the page of bob does not hold it"
    story.event("client.reloaded", by="bob", items=(U("Hi"), A("", "Hello", id="j-model.turn1")))
    assert holds(story, "view.contains", of=("bob",), message="user1")


def test_context_is_what_the_model_would_be_given_else_what_it_was_last_given():
    assert not holds(Story().asks(), "context.contains", kind="user")
    story = Story().asks().calls(context=(U("Hi"),)).says("model.turn1", "Hello there").completes("model.turn1")
    assert holds(story, "context.contains", message="user1")
    assert holds(story, "context.lacks", message="model.turn1")
    story.event("model.called", "r9", "model.turn9", purpose="compaction", context=(U("all"),))
    assert holds(story, "context.contains", message="user1")
    story.event("journal.context", items=(A("model.turn1", "Hello there"),), session="s1")
    assert holds(story, "context.contains", message="model.turn1")
    assert holds(story, "context.lacks", message="user1")
    stranger = Story().event("model.called", "r9", "model.turn9", context=(U("all"),))
    assert holds(stranger, "context.contains", kind="user")


def test_end_of_a_run():
    story = stopped(KEPT)
    assert holds(story, "run.ended", run="run1")
    assert holds(story, "run.ended", run="run1", state="interrupted", cause="stopped")
    assert found(story, "run.ended", run="run1", state="completed") == "run r1 ended interrupted (stopped)"
    assert found(story, "run.ended", run="run2") == "run2 does not exist: 1 runs were accepted"
    assert found(Story().asks(), "run.ended", run="run1") == "the end of run r1 was not announced"
    assert found(Story().asks().ends(), "run.ended", run="run1", cause="stopped") == "run r1 ended completed"


def test_tools_and_model_calls_are_counted():
    story = Story().asks().calls().tool("started").tool("effect")
    assert holds(story, "tool.executed", call="t1", times=1)
    assert found(story, "tool.executed", call="t2", times=1) == "it was executed 0 times"
    assert holds(story, "model.called", turn="model.turn1", times=1)
    assert found(story, "model.called", turn="model.turn2", times=1) == "it was called 0 times"


def test_refused_request_is_found_by_the_label_of_its_send():
    story = Story().asks().sends("Yo", "k2", label="again").event("run.refused", key="k2", reason="busy")
    assert holds(story, "request.refused", of="again")
    assert found(story, "request.refused", of="send") == "the request was not refused"


@pytest.mark.parametrize(
    ("word", "held"),
    [("exactly_one_of", [1]), ("any_of", [1, 2]), ("all_of", [2]), ("none_of", [0])],
)
def test_conditions_are_combined(word: str, held: list[int]):
    yes, no = says("journal.contains", message="user1"), says("journal.contains", message="user9")
    for count in range(3):
        parts = (yes,) * count + (no,) * (2 - count)
        (verdict,) = judged(stopped(KEPT), Expectation(name=word, parts=parts))
        assert (verdict.status is Status.HOLDS) == (count in held)


def test_violation_of_a_combination_says_which_parts_hold():
    yes, no = says("journal.contains", message="user1"), says("journal.contains", message="user9")
    (verdict,) = judged(stopped(), Expectation(name="exactly_one_of", parts=(yes, yes), line=3))
    assert verdict.violations[0].found.startswith("2 of 2 hold: journal.contains: {message: user1}; journal.contains")
    assert verdict.violations[0].actual == ('-  user  completed  "Hi"',)
    (verdict,) = judged(stopped(), Expectation(name="any_of", parts=(no, no)))
    assert verdict.violations[0].found == "none of them holds: the journal does not hold it"
    assert verdict.violations[0].promised.startswith(
        "the scenario expects any_of: [journal.contains: {message: user9};"
    )


def test_nothing_is_expected_of_a_case_that_was_cut_off():
    story = stopped().event("bound.hit", bound="steps", limit=1)
    (verdict,) = judged(story, says("journal.contains", message="user9"))
    assert (verdict.status, verdict.reason) == (Status.UNDECIDED, "the case was cut off before its end")


def test_sometimes_tells_line_by_line_what_a_case_met():
    kept = says("journal.contains", message="model.turn1", state="interrupted")
    scenario = expects(sometimes=(kept, says("journal.contains", message="model.turn1", state="completed")))
    history = stopped(KEPT).history()
    assert met_sometimes(scenario, history) == (True, False)
    assert met_sometimes(scenario, history, Facts(history)) == (True, False)
    assert check_expectations(scenario, history, Facts(history)) == ()


def test_every_condition_of_the_language_can_be_judged():
    assert set(PREDICATES) == set(EXPECTATIONS) == set(ARGUMENTS)
    assert set(COMBINATORS) == set(WORDS)


def test_expectation_of_what_the_adapter_does_not_claim_is_not_claimed():
    story = stopped(KEPT)
    story.claims = evolve(story.claims, partials=False)
    (verdict,) = judged(story, says("journal.contains", message="model.turn1", state="interrupted"))
    assert (verdict.status, verdict.reason) == (Status.NOT_CLAIMED, "the adapter does not declare partials")
