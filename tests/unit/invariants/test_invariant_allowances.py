from __future__ import annotations

import pytest
from attrs import evolve
from story import CLAIMS, END, A, C, Story, U

from journalsim.contract.capabilities import Capabilities
from journalsim.oracle.facts.allowances import allowed_states, taken_by_disconnect
from journalsim.oracle.facts.facts import Facts

COMPLETED, INTERRUPTED = ("completed",), ("interrupted",)
EITHER = (*COMPLETED, *INTERRUPTED)


def begun() -> Story:
    return Story().asks().calls().says("model.turn1", "Hello")


def closed() -> Story:
    return begun().stops().marks("closed", "model.turn1")


def stopped(story: Story) -> Story:
    return story.ends("r1", "interrupted", "stopped")


@pytest.mark.parametrize(
    ("story", "allowed"),
    [
        (begun().ends(), INTERRUPTED),
        (begun().completes("model.turn1").ends(), COMPLETED),
        (begun().completes("model.turn1").ends().stops(), COMPLETED),
        (stopped(begun().completes("model.turn1").stops()), COMPLETED),
        (stopped(begun().stops().completes("model.turn1")), EITHER),
        (begun().stops(answer="ended").completes("model.turn1").ends(), COMPLETED),
        (stopped(closed().completes("model.turn1", late=True)), EITHER),
        (stopped(closed()).completes("model.turn1", late=True), INTERRUPTED),
        (stopped(begun().stops()).completes("model.turn1"), INTERRUPTED),
        (begun().completes("model.turn1").crashes().starts(), EITHER),
        (begun().completes("model.turn1").ends().crashes().starts(), COMPLETED),
        (begun().completes("model.turn1").ends("r1", "interrupted", "shut_down"), EITHER),
        (begun().completes("model.turn1").calls("model.turn2").ends("r1", "interrupted", "shut_down"), COMPLETED),
        (Story().says("model.turn1", "a").completes("model.turn1"), COMPLETED),
        (Story().says("model.turn1", "a").completes("model.turn1", late=True), EITHER),
    ],
)
def test_states_that_a_message_may_have(story: Story, allowed: tuple[str, ...]):
    facts = Facts(story.history())
    assert allowed_states(facts.messages["model.turn1"], facts) == allowed


def test_without_terminals_nobody_can_say_what_comes_too_late():
    story = stopped(closed()).completes("model.turn1", late=True)
    story.claims = Capabilities()
    facts = Facts(story.history())
    assert allowed_states(facts.messages["model.turn1"], facts) == EITHER


def test_end_of_a_run_is_read_from_its_marker_when_it_was_not_announced():
    story = begun().completes("model.turn1").quiet().reads(END("r1", "interrupted", "timed_out"))
    facts = Facts(story.history())
    assert allowed_states(facts.messages["model.turn1"], facts) == EITHER


def taken(*between: str) -> list[str | None]:
    story = Story(evolve(CLAIMS)).asks().reads(U("Hi"), A("model.turn1", "Hel", "open"), U("Bye"), reason="reload")
    story.leaves()
    for kind in between:
        fields = {"maintenance.done": {"verb": "clear"}, "store.failed": {"item": U("x")}}
        story.event(kind, "r1", **fields.get(kind, {}))
    return [t.item.text for t in taken_by_disconnect(Facts(story.reads(U("Hi")).history()))]


def test_rows_that_vanish_while_only_a_reader_leaves_are_taken():
    assert taken() == ["Bye"]


@pytest.mark.parametrize("kind", ["stop.delivered", "server.crashed", "maintenance.done", "store.failed"])
def test_rows_that_vanish_for_another_reason_are_not(kind: str):
    assert taken(kind) == []


def test_rows_that_vanish_before_the_reader_leaves_are_not():
    story = Story().asks().reads(U("Hi")).reads().leaves()
    assert list(taken_by_disconnect(Facts(story.history()))) == []


def test_rows_of_a_run_that_was_taken_back_are_not_taken_by_a_reader():
    story = Story().asks().stops(mode="rollback").reads(U("Hi"), reason="reload").leaves()
    story.ends("r1", "interrupted", "rolled_back").quiet().reads(END("r1", "interrupted", "rolled_back"))
    assert list(taken_by_disconnect(Facts(story.history()))) == []


def test_request_that_comes_to_wait_for_a_person_is_not_taken_by_a_reader():
    story = Story().asks().reads(U("Hi"), C("t1"), reason="reload").leaves().reads(U("Hi"), C("t1", state="open"))
    assert list(taken_by_disconnect(Facts(story.history()))) == []
