"""The measure of the oracle measures: each corruption changes what it says, and nothing else."""

from __future__ import annotations

from collections import Counter

from corrupted import Corruption, corruptions
from corruptions import Tally, lines, violated
from story import END, A, C, R, Story, U

from journalsim.history import History, trace_hash

ROWS = (
    U("Hi", id="j1", origin="user"),
    C("t1", id="j2"),
    R("t1", id="j3", text="3 hits", origin="tool"),
    C("t2", id="j4"),
    R("t2", id="j5", text="4 hits", origin="tool"),
    A("model.turn2", "Hello there", id="j6", reasoning="hm", metadata={"rated": True}),
    A("model.turn3", "Hel", "interrupted", cause="stopped"),
    END("r1", "interrupted", "stopped"),
)


def told() -> History:
    story = Story().asks().calls("model.turn1", context=(U("Hi"),)).stops().ends("r1", "interrupted", "stopped")
    story.says("model.turn2", "Hello there", seen_by=("ann",)).tool("started").gives(*ROWS).reads(*ROWS)
    return story.event("client.view", by="ann", items=ROWS, session="s1", attached=True).history()


def made() -> list[Corruption]:
    return list(corruptions(told()))


def test_every_corruption_is_another_history_with_numbered_events() -> None:
    original = trace_hash(told().events)
    for one in made():
        assert trace_hash(one.history.events) != original, one.name
        assert [event.position for event in one.history.events] == list(range(len(one.history.events)))


def test_no_two_corruptions_are_the_same() -> None:
    hashes = Counter(trace_hash(one.history.events) for one in made())
    assert set(hashes.values()) == {1}


def test_the_final_journal_and_the_context_behind_it_are_changed_alike() -> None:
    for one in made():
        if one.observation == "journal":
            context, read, view = one.history.events[-3:]
            assert context.data.items == read.data.items != ROWS
            assert view.data.items == ROWS


def test_every_observation_and_every_field_of_a_row_is_corrupted() -> None:
    names = {(one.observation, one.name.split(" ")[0]) for one in made()}
    assert {observation for observation, _ in names} == {"journal", "context", "page", "event"}
    fields = {
        "text",
        "reasoning",
        "state",
        "arguments",
        "cause",
        "origin",
        "call",
        "tool",
        "run",
        "id",
        "aliases",
        "flags",
    }
    assert {word for observation, word in names if observation == "journal"} >= fields


def test_a_share_counts_what_an_invariant_flags() -> None:
    tally = Tally()
    ok, bad = made()[0], made()[1]
    tally.add(ok, [], "somewhere")
    tally.add(bad, ["no-duplicate-message"], "elsewhere")
    assert tally.share() == 50.0
    assert tally.share("page") == 0.0
    assert list(lines(tally, 1))[-1] == "all: 2 corruptions, flagged in percent: 50.0"
    assert any("missed: somewhere" in line for line in lines(tally, 1))


def test_a_made_up_answer_is_flagged() -> None:
    story = Story().asks().answers().ends().quiet().reads(U("Hi"), A("model.turn1", "Hello there"), END("r1"))
    assert violated(story.history()) == []
    flagged = {one.name for one in corruptions(story.history()) if violated(one.history)}
    assert "made-up answer at the end" in flagged
