"""Events in words, in lanes, and around the evidence."""

from __future__ import annotations

from typing import Any

import pytest
from made_events import filled, made_event
from report_examples import HOSTILE, Recorder, assert_snapshot, delta, lost_answer

from journalsim.contract.events.event_table import RECORDS
from journalsim.contract.events.harness_events import StuckTask
from journalsim.contract.items import Item, Statistics
from journalsim.history import Event, EventOf, History, plain
from journalsim.report.describe import describe, lane, row_labels, row_line
from journalsim.report.escape import columns
from journalsim.report.show import show_text
from journalsim.report.spacetime import ROWS_MAX, table

ANSWER = Item(kind="assistant", id="m2", text="Hello", state="interrupted")
CALL = Item(kind="tool_call", call_id="t1", name="search", arguments='{"q": 1}')


def event(kind: str, subject: str | None = None, run: str | None = "r1", actor: str = "alice", **data: Any) -> Event:
    return made_event(0, 0, actor, kind, run, subject, **data)


@pytest.mark.parametrize(
    ("happened", "words"),
    [
        (event("client.sent", text="Hi"), 'sends "Hi"'),
        (event("client.stop_pressed", named="r1", mode="interrupt"), "STOP r1"),
        (event("client.stop_pressed", named="r1", mode="rollback"), "STOP r1 rollback"),
        (
            event("client.told", verb="start", outcome="failed", reason="busy", run=None),
            "answer: start failed: busy",
        ),
        (event("client.applied", frame="message.delta", message="m2", text="Hel"), 'displays delta m2 "Hel"'),
        (event("client.applied", frame="run.ended", state="interrupted"), "displays run.ended r1 interrupted"),
        (event("client.reloaded", items=(ANSWER, CALL)), "reloads [m2 interrupted, tool_call]"),
        (event("request.delivered", verb="stop", key="k1", copy=1), "receives stop k1"),
        (event("request.delivered", verb="stop", key="k1", copy=2), "receives stop k1 again"),
        (event("run.accepted", key="k1", again=True), "accepts r1 k1 again"),
        (event("run.refused", run=None, key="k1", reason="busy"), "refuses k1: busy"),
        (event("run.ended", state="interrupted", cause="stopped"), "r1 ended: interrupted, stopped"),
        (event("stop.answered", named="r1", answer="ended"), "answers stop r1: ended"),
        (event("reader.disconnected", client="bob"), "notices that bob is gone"),
        (event("server.started", incarnation=2), "server started, process 2"),
        (event("maintenance.done", verb="annotate", item="m2", metadata={"x": 1}), "annotate m2 {'x': 1}"),
        (event("model.called", "model.turn2", attempt=1, purpose="turn"), "turn2 called"),
        (
            event("model.called", "model.turn2", attempt=3, purpose="compaction"),
            "turn2 called attempt 3 for compaction",
        ),
        (event("model.chunk", "model.turn1", part="text", chunk=3, text="x  y"), 'turn1 c3 "x  y"'),
        (event("model.chunk", "model.turn1.m2", part="ping", chunk=4), "turn1.m2 c4 ping"),
        (
            event("model.completed", "model.turn1", late=True, text="", reason="end_turn"),
            "turn1 completed late end_turn",
        ),
        (event("model.failed", "model.turn1", error="overloaded"), "turn1 breaks: overloaded"),
        (event("tool.started", "t1", name="search", arguments="{}"), 't1 starts search "{}"'),
        (event("tool.effect", "t1", count=2), "t1 takes effect, time 2"),
        (event("store.acknowledged", item=ANSWER), 'stores m2 interrupted assistant "Hello"'),
        (event("store.acknowledged", item=plain(CALL)), 'stores tool_call t1 search "{\\"q\\": 1}"'),
        (event("store.acknowledged", item="odd"), "stores odd"),
        (event("store.failed", outcome="unknown", error="disk"), "append unknown: disk user"),
        (event("journal.read", items=()), "holds []"),
        (
            event("statistics.taken", statistics=Statistics(partial_messages=2, partial_bytes=7)),
            "cache: 2 partials, 7 bytes",
        ),
        (event("statistics.taken"), "cache: 0 partials, 0 bytes"),
        (event("step.skipped", verb="stop", label="s2", reason="no run"), "step s2 skipped: no run"),
        (
            event("step.skipped", verb="stop", label="", reason="its moment never came: model.turn1.c9.after"),
            "step stop skipped: model.turn1.c9.after was never reached",
        ),
        (event("clock.jumped", by_ns=-5_000_000), "clock jumps back 5 ms"),
        (event("clock.jumped", by_ns=5_000_000), "clock jumps forward 5 ms"),
        (event("adapter.raised", verb="start", error="ValueError: x"), "start raised: ValueError: x"),
        (
            event("deadlock.found", tasks=(StuckTask("worker", "store.append#4.before"), StuckTask("x", "its start"))),
            "DEADLOCK: worker at store.append#4.before, x at its start",
        ),
        (event("deadlock.found"), "DEADLOCK"),
        (event("bound.hit", bound="steps", limit=10), "cut off: steps over 10"),
        (event("trace.differs", first=0, ours="a", theirs="b"), "ANOTHER TRACE from event 0, here a, there b"),
    ],
)
def test_an_event_reads_as_a_short_sentence(happened: Event, words: str) -> None:
    assert describe(happened) == words


@pytest.mark.parametrize("kind", RECORDS)
def test_every_kind_of_event_has_words_even_without_data(kind: str) -> None:
    happened = event(kind, "model.turn1")
    assert describe(happened)
    assert kind not in describe(happened)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_event_smuggles_anything_unprintable(text: str) -> None:
    for kind in RECORDS:
        happened = EventOf(0, 0, 0, text, filled(kind, text))
        assert describe(happened).isprintable()
        assert len(describe(happened)) < 1000


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("client.sent", "alice"),
        ("request.lost", "server"),
        ("stop.delivered", "server"),
        ("model.chunk", "model"),
        ("tool.started", "tools"),
        ("store.acknowledged", "journal"),
        ("server.crashed", ""),
    ],
)
def test_an_event_belongs_to_the_lane_of_who_did_it(kind: str, expected: str) -> None:
    assert lane(event(kind)) == expected


def test_a_long_list_of_rows_is_counted() -> None:
    assert row_labels(["m"] * 14).endswith("m, and 2 more]")


def test_a_journal_row_shows_its_text() -> None:
    assert row_line(Item(kind="user", id="u1", text="a\nb")) == 'u1 user "a\\nb"'


def test_the_table_shows_the_evidence_and_what_surrounds_it() -> None:
    history, evidence = lost_answer()
    assert_snapshot("spacetime.txt", "\n".join(table(history, evidence, ["alice", "bob"])) + "\n")


def test_the_whole_history_has_a_line_for_every_event() -> None:
    history, evidence = lost_answer()
    text = show_text(history, title="stop-vs-completion@d05fc9", evidence=evidence)
    assert_snapshot("show.txt", text + "\n")
    assert len(text.splitlines()) == len(history.events) + 2


def test_an_empty_history_says_so() -> None:
    assert table(History(events=())) == ["(nothing happened)"]
    assert show_text(History(events=())).startswith("0 events, 0 ms virtual")


def test_without_evidence_the_table_shows_the_end() -> None:
    history, _ = lost_answer()
    assert table(history)[-1].split()[0] == "57"


def test_rows_that_were_left_out_are_counted() -> None:
    history, _ = lost_answer()
    lines = table(history, (3, 57))
    assert [line.strip() for line in lines if "…" in line and "events" in line] == ["… 47 events …"]
    assert [line[0] for line in lines].count(">") == 1
    assert [line[0] for line in lines].count("*") == 1


def test_too_much_evidence_is_cut_from_the_front() -> None:
    history, _ = lost_answer()
    lines = table(history, range(len(history.events)))
    assert len(lines) == ROWS_MAX + 1
    assert lines[-1].startswith(">")


def test_chunks_of_two_messages_are_not_folded_together() -> None:
    log = Recorder()
    for turn in (1, 2):
        for chunk in (1, 2):
            delta(log, 1, turn, chunk, "x", f"m{turn}")
    log.add(1, "server", "server.crashed")
    text = "\n".join(table(log.history(), (12,)))
    assert "turn1 c1…c2" in text
    assert "turn2 c1…c2" in text


def test_two_deltas_stay_as_they_are() -> None:
    log = Recorder()
    log.add(1, "server", "frame.published", "r1", frame="message.delta", message="m1", text="Hel")
    log.add(1, "server", "server.crashed")
    assert 'sends delta m1 "Hel"' in table(log.history())[1]


def test_times_get_as_many_decimals_as_they_need() -> None:
    log = Recorder()
    log.time_ns = 1_500
    log.add(0, "server", "server.crashed")
    assert "0.000001500 s" in table(log.history())[1]
    log = Recorder()
    log.time_ns = 2_000
    log.add(0, "server", "server.crashed")
    assert "0.000002 s" in table(log.history())[1]


def test_long_words_of_one_lane_do_not_run_into_the_next() -> None:
    log = Recorder()
    for n in range(3):
        for actor, kind in (("server", "frame.published"), ("a-client-with-a-long-name", "client.applied")):
            log.add(1, actor, kind, "r1", frame="message.delta", message="m" * 90, text="x" * 900)
        log.add(1, "model", "model.failed", "r1", "model.turn1", error=f"{n}" + "long words " * 40)
        log.add(1, "server", "adapter.raised", verb="start", error="w" * 300)
        log.add(1, "server", "deadlock.found", tasks=(StuckTask("w" * 300, "p"),) * 9)
    lines = table(log.history(), range(15))
    assert max(map(columns, lines)) <= 100
    assert any(line.rstrip().endswith("…") for line in lines)


def test_more_lanes_than_fit_make_the_table_wider_and_lose_nothing() -> None:
    log = Recorder()
    for n in range(12):
        log.add(1, f"reader{n:02d}", "client.detached")
    lines = table(log.history())
    assert sum("detaches" in line for line in lines) == 12
