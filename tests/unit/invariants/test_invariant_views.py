from __future__ import annotations

from story import A, C, Story, U

from journalsim.contract.events.client_events import ClientApplied, ClientReloaded
from journalsim.oracle.facts.client_views import told_apart, views_of
from journalsim.oracle.facts.event_index import EventIndex


def view_of(story: Story, client: str):
    shown = EventIndex(story.events).in_order(ClientApplied, ClientReloaded)
    return views_of(shown).get(client, ())


def view(story: Story, client: str = "ann"):
    return [(item.kind, item.text, item.state) for item in view_of(story, client)]


def test_client_shows_the_frames_that_it_applied_and_no_others():
    story = Story().asks().calls().frame("message.opened", "model.turn1", by="ann")
    story.says("model.turn1", "a", "b", seen_by=("ann",)).says("model.turn1", "c")
    assert view(story) == [("assistant", "ab", "open")]
    assert view(story, "bob") == []


def test_last_frame_of_a_message_says_its_text_and_state():
    story = Story().asks().says("model.turn1", "a", seen_by=("ann",))
    story.frame("message.interrupted", "model.turn1", by="ann", text="ab")
    story.frame("message.completed", "model.turn2", by="ann", text="cd", source=False)
    assert view(story) == [("assistant", "ab", "interrupted"), ("assistant", "cd", "completed")]
    first, second = view_of(story, "ann")
    assert (first.id, first.aliases, second.aliases) == ("j-model.turn1", ("msg-turn1",), ())


def test_superseded_message_disappears_and_one_that_is_opened_again_begins_anew():
    story = Story().asks().says("model.turn1", "a", seen_by=("ann",)).says("model.turn2", "b", seen_by=("ann",))
    story.frame("message.superseded", "model.turn1", by="ann").frame("message.opened", "model.turn2", by="ann")
    assert view(story) == [("assistant", "", "open")]


def test_reload_replaces_everything_and_frames_go_on_from_there():
    story = Story().asks().says("model.turn9", "x", seen_by=("ann",))
    rows = (U("Hi"), U("Ho"), C("t1"), A("model.turn1", "a", "open", id="j-model.turn1"), A("model.turn2", "b"))
    story.event("client.reloaded", by="ann", items=rows).says("model.turn1", "!", seen_by=("ann",))
    assert [item.text for item in view_of(story, "ann")] == ["Hi", "Ho", "", "a!", "b"]


def test_tool_frames_and_frames_about_nothing():
    story = Story().asks().frame("tool.requested", "model.turn1", by="ann", call_id="t1", message=None)
    story.frame("tool.closed", "model.turn1", by="ann", call_id="t1", state="aborted", message=None)
    story.frame("tool.closed", "model.turn1", by="ann", call_id="t2", state=None, message=None)
    story.frame("run.ended", "model.turn1", by="ann").frame("message.delta", "model.turn1", by="ann", message=None)
    assert view(story) == [
        ("tool_call", "", "completed"),
        ("tool_result", "", "aborted"),
        ("tool_result", "", "completed"),
    ]


def test_views_are_compared_by_the_words_of_the_model():
    rows = (U("Hi"), A("model.turn1", "a", id="m1"), A("model.turn2", ""), C("t1"))
    assert told_apart(rows) == (("a", "completed"),)
