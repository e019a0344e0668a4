from __future__ import annotations

import json

from story import A, Story

from journalsim.contract.events.client_events import ClientDetached, ClientSent
from journalsim.contract.events.event_table import RECORDS
from journalsim.contract.events.model_events import ModelChunk, ToolStarted
from journalsim.history import EventOf, as_json, plain, trace_hash


def test_history_finds_events_by_kind():
    history = Story().asks().answers().history()
    assert [event.data.text for event in history.of(ClientSent)] == ["Hi"]
    assert history.last(ModelChunk).data.text == "there"
    assert history.last(ToolStarted) is None


def test_storyteller_uses_the_vocabulary_of_histories():
    story = Story().asks().answers().stops().leaves().ends().crashes().starts().quiet().sizes().reads()
    assert {event.kind for event in story.events} <= set(RECORDS)


def test_line_of_json_leaves_out_what_is_not_there():
    bare = EventOf(0, 5, 1, "ann", ClientDetached())
    assert as_json(bare) == '{"actor":"ann","i":0,"kind":"client.detached","step":1,"t":5}'
    full = json.loads(as_json(Story().calls("model.turn1", "r1", context=(A("model.turn0", "x"),)).events[0]))
    assert (full["run"], full["subject"]) == ("r1", "model.turn1")
    assert full["data"]["context"] == [
        {"aliases": ["msg-turn0"], "kind": "assistant", "run_id": "r1", "state": "completed", "text": "x"}
    ]


def test_plain_data_sorts_keys_and_keeps_scalars():
    assert list(plain({"b": (1, 2.5), "a": None})) == ["a", "b"]
    assert plain({1: True}) == {"1": True}


def test_trace_hash_changes_with_any_event():
    one, other = Story().asks("Hi").events, Story().asks("Ho").events
    assert trace_hash(one) == trace_hash(list(one))
    assert trace_hash(one) != trace_hash(other)
    assert len(trace_hash(())) == 16
