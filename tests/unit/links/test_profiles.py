"""What each program does when its stream ends, breaks or is refused: the table of ``programs.profiles``."""

from __future__ import annotations

import pytest

from journalsim.actors.programs.fetch_event_source import FetchEventSource
from journalsim.actors.programs.poller import Poller
from journalsim.actors.programs.profiles import MS, PROFILES, TRANSITIONS, StreamProgram, is_event_stream, program_for
from journalsim.actors.programs.program import Ask, Deliver, Effects, GiveUp, HangUp, Sleep
from journalsim.contract.sse import EVENT_BYTES_MAX, SseEvent

ONE = b"id: r1:1\ndata: a\n\n"
CUT_AFTER_ID = ONE + b"id: r1:2\n"
STREAMING = ("browser", "fetch-sse", "ai-sdk-ui", "cli")


def program(kind: str, cursor: str | None = None) -> StreamProgram:
    return StreamProgram(PROFILES[kind], retry_ns=1000 * MS, cursor=cursor)


def opened(kind: str, wire: bytes = b"", cursor: str | None = None) -> StreamProgram:
    """A program on connection 1 that has read ``wire`` and applied every event of it."""
    reader = program(kind, cursor)
    reader.attach()
    reader.answered(1, 200)
    for effect in reader.received(1, wire):
        assert isinstance(effect, Deliver)
        reader.applied(effect.event)
    return reader


def next_ask(reader: StreamProgram, effects: Effects) -> Ask | None:
    """What it asks for once its timer has come due; None if it has none."""
    (effect,) = effects
    if isinstance(effect, GiveUp):
        return None
    assert isinstance(effect, Sleep)
    (ask,) = reader.woke(effect.timer)
    assert isinstance(ask, Ask)
    return ask


@pytest.mark.parametrize(
    ("kind", "clean", "method", "cursor"),
    [
        ("browser", True, "GET", "r1:1"),
        ("browser", False, "GET", "r1:1"),
        ("fetch-sse", True, "GET", "r1:1"),
        ("fetch-sse", False, "GET", "r1:1"),
        ("ai-sdk-ui", True, None, None),
        ("ai-sdk-ui", False, None, None),
        ("cli", True, None, None),
        ("cli", False, None, None),
    ],
)
def test_after_an_end_within_an_event_a_program_asks_again_or_not(
    kind: str, clean: bool, method: str | None, cursor: str | None
) -> None:
    reader = opened(kind, CUT_AFTER_ID)
    ask = next_ask(reader, reader.ended(1, clean=clean))
    assert (ask and ask.method) == method
    assert (ask and ask.cursor) == cursor


@pytest.mark.parametrize("kind", STREAMING)
@pytest.mark.parametrize(
    ("status", "content_type"),
    [
        (200, "text/event-stream"),
        (200, "Text/Event-Stream ; charset=utf-8"),
        (200, "application/json"),
        (201, "text/event-stream"),
        (204, ""),
        (404, "text/event-stream"),
        (503, "text/html"),
    ],
)
def test_an_answer_is_read_or_refused(kind: str, status: int, content_type: str) -> None:
    reader = program(kind)
    reader.attach()
    effects = reader.answered(1, status, content_type)
    outcome = {
        (): "open",
        (HangUp(connection=1), GiveUp(reason="nothing-there")): "nothing there",
        (HangUp(connection=1), GiveUp(reason="refused")): "refused",
        (HangUp(connection=1), Sleep(timer=2, delay_ns=1000 * MS)): "retry",
    }[effects]
    assert outcome == EXPECTED[status, is_event_stream(content_type)].get(kind, "refused")


EXPECTED = {
    (200, True): dict.fromkeys(STREAMING, "open"),
    (200, False): {"ai-sdk-ui": "open"},
    (201, True): {"ai-sdk-ui": "open"},
    (204, False): dict.fromkeys(STREAMING, "nothing there"),
    (404, True): {},
    (503, False): {"fetch-sse": "retry"},
}


def test_the_cursor_of_a_browser_is_what_was_dispatched_even_if_nobody_applied_it() -> None:
    reader = program("browser")
    reader.attach()
    reader.answered(1, 200)
    reader.received(1, CUT_AFTER_ID)
    assert reader.cursor == "r1:1"


def test_the_cursor_of_a_careful_program_is_what_its_view_has() -> None:
    reader = program("fetch-sse")
    reader.attach()
    reader.answered(1, 200)
    effects = reader.received(1, ONE + b"id: r1:2\ndata: b\n\n")
    assert reader.cursor is None
    assert isinstance(effects[0], Deliver)
    reader.applied(effects[0].event)
    assert reader.cursor == "r1:1"


def test_an_event_without_an_id_leaves_the_cursor_where_it_is_across_connections() -> None:
    reader = opened("browser", ONE)
    ask = next_ask(reader, reader.ended(1, clean=True))
    assert ask is not None
    reader.answered(ask.connection, 200)
    reader.received(ask.connection, b"data: b\n\n")
    assert reader.cursor == "r1:1"


def test_an_empty_id_makes_a_reader_forget_its_place() -> None:
    reader = opened("browser", ONE + b"id\ndata: b\n\n")
    assert reader.cursor is None


def test_a_program_can_be_opened_with_the_cursor_of_an_earlier_one() -> None:
    cursors = {kind: program(kind, "r1:5").attach() for kind in STREAMING}
    assert {kind: ask.cursor for kind, (ask,) in cursors.items() if isinstance(ask, Ask)} == {
        "browser": "r1:5",
        "fetch-sse": "r1:5",
        "ai-sdk-ui": None,
        "cli": "r1:5",
    }


def test_the_server_sets_the_time_until_the_next_attempt() -> None:
    reader = opened("browser", b"retry: 20\n\n")
    assert reader.ended(1, clean=True) == (Sleep(timer=2, delay_ns=20 * MS),)


def test_a_connection_that_ends_before_its_answer_has_broken_however_it_ended() -> None:
    reader = program("ai-sdk-ui")
    reader.attach()
    assert reader.ended(1, clean=True) == (GiveUp(reason="broken"),)


@pytest.mark.parametrize("clean", [True, False])
def test_a_careful_program_stops_at_the_end_of_the_run(clean: bool) -> None:
    reader = opened("fetch-sse", ONE)
    reader.finished()
    assert reader.ended(1, clean=clean) == (GiveUp(reason="finished"),)


def test_a_browser_reconnects_after_the_end_of_the_run_until_it_gets_204() -> None:
    reader = opened("browser", ONE)
    reader.finished()
    ask = next_ask(reader, reader.ended(1, clean=True))
    assert ask is not None
    assert GiveUp(reason="nothing-there") in reader.answered(ask.connection, 204, "")


def test_a_new_message_begins_a_new_run_and_drops_the_cursor() -> None:
    reader = opened("fetch-sse", ONE)
    reader.finished()
    hang_up, ask = reader.send("k2")
    assert hang_up == HangUp(connection=1)
    assert ask == Ask(connection=2, what="send", method="POST", key="k2")
    assert next_ask(reader, reader.ended(2, clean=False)) == Ask(connection=4, cursor=None)


def test_a_browser_sends_apart_from_its_stream() -> None:
    reader = opened("browser", ONE)
    assert reader.send("k2") == (Ask(connection=2, what="send", method="POST", key="k2", streams=False),)
    assert reader.answered(2, 200, "application/json") == ()
    assert reader.received(2, ONE) == ()
    assert reader.ended(2, clean=True) == ()
    assert reader.state == "open"


def test_a_tab_that_is_shown_again_reattaches_a_broken_stream_of_the_ai_sdk() -> None:
    reader = opened("ai-sdk-ui", ONE)
    assert reader.hide() == reader.show() == ()
    reader.ended(1, clean=False)
    assert reader.show() == (Ask(connection=2),)
    assert GiveUp(reason="refused") in reader.answered(2, 500, "")
    assert reader.show() == (Ask(connection=3),)
    reader.answered(3, 204, "")
    assert reader.show() == ()


def test_what_the_ai_sdk_takes_for_finished_is_not_reattached() -> None:
    reader = opened("ai-sdk-ui", ONE)
    assert reader.ended(1, clean=True) == (GiveUp(reason="ended"),)
    assert reader.show() == ()


def test_a_second_attach_hangs_up_the_first() -> None:
    reader = opened("fetch-sse", ONE)
    assert reader.attach() == (HangUp(connection=1), Ask(connection=2, cursor="r1:1"))
    assert reader.received(1, ONE) == reader.ended(1, clean=False) == reader.answered(1, 200) == ()
    assert reader.attach() == (HangUp(connection=2), Ask(connection=3, cursor="r1:1"))


def test_a_timer_that_no_longer_counts_is_ignored() -> None:
    reader = opened("browser", ONE)
    (sleep,) = reader.ended(1, clean=False)
    assert isinstance(sleep, Sleep)
    reader.attach()
    assert reader.woke(sleep.timer) == ()
    reader.ended(3, clean=False)
    assert reader.state == "waiting"
    assert reader.woke(sleep.timer) == ()


def test_a_program_that_attaches_anew_has_forgotten_that_the_run_had_ended() -> None:
    reader = opened("fetch-sse", ONE)
    reader.finished()
    reader.attach()
    assert isinstance(reader.ended(2, clean=False)[0], Sleep)


def test_a_tab_that_was_closed_is_not_shown_again() -> None:
    reader = opened("ai-sdk-ui", ONE)
    reader.ended(1, clean=False)
    reader.close()
    assert reader.show() == ()


@pytest.mark.parametrize("kind", STREAMING)
def test_a_person_who_leaves_is_not_heard_of_again(kind: str) -> None:
    reader = opened(kind, ONE)
    assert reader.close() == (HangUp(connection=1), GiveUp(reason="closed"))
    assert reader.show() == reader.received(1, ONE) == reader.ended(1, clean=True) == ()
    assert reader.close() == (GiveUp(reason="closed"),)


def test_an_event_without_end_is_hung_up_on() -> None:
    reader = opened("browser")
    effects = reader.received(1, ONE + b"x" * (EVENT_BYTES_MAX + 1))
    assert effects == (
        Deliver(connection=1, event=SseEvent("a", "message", "r1:1", "r1:1")),
        HangUp(connection=1),
        GiveUp(reason="broken"),
    )
    assert reader.state == "stopped"


def test_every_move_leads_to_a_state_that_the_table_has() -> None:
    assert {target for moves in TRANSITIONS.values() for target in moves.values()} <= set(TRANSITIONS)
    assert all("ask" in moves and "stop" in moves for moves in TRANSITIONS.values())


def test_every_kind_of_client_has_a_program() -> None:
    kinds = ("browser", "fetch-sse", "fetch-event-source", "ai-sdk-ui", "cli", "poller")
    classes = {kind: type(program_for(kind)) for kind in kinds}
    assert classes.pop("fetch-event-source") is FetchEventSource
    assert classes.pop("poller") is Poller
    assert set(classes.values()) == {StreamProgram}
