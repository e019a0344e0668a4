from __future__ import annotations

from story import END, A, R, Story, U

from journalsim.contract.items import Item
from journalsim.oracle.facts.facts import Facts


def refs(story: Story, *items: Item) -> tuple[str | None, ...]:
    return Facts(story.history()).refs(items, "s1")


def answers(*texts: str, ids: bool = False) -> Story:
    story = Story(ids=ids).asks()
    for number, text in enumerate(texts, 1):
        story.answers(f"model.turn{number}", text)
    return story


def said(text: str, **fields) -> Item:
    return Item(kind="assistant", text=text, **fields)


def test_alias_decides_against_the_text():
    assert refs(answers("one", "two", ids=True), A("model.turn2", "one")) == ("model.turn2",)


def test_provider_id_may_be_the_row_id():
    assert refs(answers("one", "two", ids=True), said("?", id="msg-turn2")) == ("model.turn2",)


def test_frame_ties_a_row_id_to_the_provider_id():
    story = answers("one", ids=True).says("model.turn9", "nine")
    assert refs(story, said("?", id="j-model.turn1")) == ("model.turn1",)


def test_provider_id_that_two_messages_share_does_not_decide():
    story = answers("one", "two", ids=True)
    story.event("model.chunk", "r1", "model.turn1", by="model", provider_id="msg-turn2")
    assert refs(story, said("two", aliases=("msg-turn2",))) == ("model.turn2",)


def test_equal_texts_are_taken_in_order_and_copies_belong_to_the_last():
    assert refs(answers("Yes", "Yes"), said("Yes"), said("Yes"), said("Yes")) == (
        "model.turn1",
        "model.turn2",
        "model.turn2",
    )


def test_beginning_of_a_further_message_is_no_copy_of_one_that_said_no_more():
    assert refs(answers("Same ", "Same text"), said("Same "), said("Same ")) == ("model.turn1", "model.turn2")


def test_run_of_a_row_decides_between_equal_texts():
    story = Story(ids=False).asks().answers("model.turn1", "Yes").asks("Yo", "r2", "k2").calls("model.turn2", "r2")
    story.answers("model.turn2", "Yes")
    assert refs(story, said("Yes", run_id="r2")) == ("model.turn2",)
    assert refs(story, said("Yes", run_id="a name of its own")) == ("model.turn1",)


def test_beginning_of_a_text_is_found_after_whole_texts():
    story = answers("abc", "abd")
    assert refs(story, said("ab"), said("abc")) == ("model.turn2", "model.turn1")
    assert refs(story, said("abc"), said("abd"), said("ab")) == ("model.turn1", "model.turn2", "model.turn2")


def test_reasoning_tells_messages_without_text_apart():
    story = Story(ids=False).asks().calls().says("model.turn1", "hm ", "so", part="reasoning").completes("model.turn1")
    assert refs(story, said("", reasoning="hm so")) == ("model.turn1",)
    assert refs(story, said("", reasoning="hm ")) == ("model.turn1",)
    assert refs(story, said("", reasoning="else")) == (None,)


def test_text_that_was_kept_badly_is_found_by_its_beginning():
    story = answers("Hello", "World")
    assert refs(story, said("Hello and more")) == ("model.turn1",)
    assert refs(story, said("Hello"), said("Hello and more")) == ("model.turn1", "model.turn1")


def test_stranger_belongs_to_the_only_message_of_its_run_that_has_no_row():
    assert refs(answers("Hello"), said("garbled", run_id="r1")) == ("model.turn1",)
    assert refs(answers("Hello"), said("garbled")) == (None,)
    assert refs(answers("Hello", "World"), said("garbled", run_id="r1")) == (None,)
    assert refs(answers("Hello"), said("", run_id="r1")) == ("model.turn1",)


def test_row_with_words_is_not_a_message_that_said_nothing():
    story = Story(ids=False).asks().calls().requests("model.turn1", "t1").completes("model.turn1")
    assert refs(story, said("made up", run_id="r1")) == (None,)
    assert refs(story, said("", run_id="r1")) == ("model.turn1",)


def test_later_attempt_is_meant_where_a_failed_one_fits_too():
    story = Story(ids=False).asks().calls().says("model.turn1", "One, ").marks("failed", "model.turn1")
    story.calls("model.turn2", attempt=2).says("model.turn2", "One, ", "two")
    assert refs(story, said("One, One, two")) == ("model.turn2",)
    assert refs(story, said("One, "), said("One, two")) == ("model.turn1", "model.turn2")
    story.ids = True
    story.says("model.turn2", "!")
    both = said("One, One, two!", aliases=("msg-turn1", "msg-turn2"))
    assert refs(story, both) == ("model.turn2",)


def test_beginning_of_the_retry_is_meant_before_the_whole_of_a_failed_attempt():
    story = Story(ids=False).asks().calls().says("model.turn1", "Same ").marks("failed", "model.turn1")
    story.calls("model.turn2", attempt=2).says("model.turn2", "Same ", "text")
    assert refs(story, said("Same ")) == ("model.turn2",)
    assert refs(story, said("Same text"), said("Same ")) == ("model.turn2", "model.turn1")


def test_row_of_a_person_with_other_words_is_the_message_of_its_run_that_has_none():
    story = Story().asks("Hi", "r1", "k1").asks("Yo", "r2", "k2")
    assert refs(story, U("Hi"), U("Hi\nYo", "r2"), U("Yo!", "r2")) == ("user1", "user2", "user2")
    assert refs(story, U("Hi"), U("more", "r1")) == ("user1", None)


def test_rows_of_people_go_by_run_then_by_order_accepted_first():
    story = Story().sends("Hi", "k0").event("run.refused", key="k0").asks("Hi", "r1", "k1").asks("Hi", "r2", "k2")
    assert refs(story, U("Hi", "r2"), U("Hi", None)) == ("user3", "user2")
    assert refs(story, U("Hi", None), U("Hi", None), U("Hi", None)) == ("user2", "user3", "user1")
    assert refs(story, *[U("Hi", None)] * 4)[3] == "user3"
    assert refs(story, U("Ho", None), END("r1"), R("t1")) == (None, None, None)


def test_run_that_nobody_accepted_belongs_to_the_message_that_was_not_answered():
    story = Story().asks("Hi", "r2", "k2").sends("Hi", "k3").reads(U("Hi", "r1"), U("Hi", "r2"))
    assert refs(story, U("Hi", "r1"), U("Hi", "r2")) == ("user2", "user1")
    assert refs(story, U("Hi", "r1")) == ("user2",)
    story = Story().asks("Hi", "r2", "k2").reads(U("Hi", "r1"), U("Hi", "r2"))
    assert refs(story, U("Hi", "r1"), U("Hi", "r2")) == ("user1", "user1")  # the same message, kept for two runs


def test_row_that_only_a_refused_request_explains_belongs_to_it_once():
    story = Story().sends("Hi", "k0").event("run.refused", key="k0")
    assert refs(story, U("Hi", None), U("Hi", None)) == ("user1", None)


def test_rows_of_another_conversation_are_not_matched():
    story = answers("one", ids=True)
    assert Facts(story.history()).refs((A("model.turn1", "one"), U("Hi")), "s2") == (None, None)
