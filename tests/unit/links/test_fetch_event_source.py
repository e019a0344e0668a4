"""fetch-event-source: the cursor at the id line, the tab that asks again, the reader too many."""

from __future__ import annotations

import pytest

from journalsim.actors.programs.fetch_event_source import MS, FetchEventSource
from journalsim.actors.programs.program import Ask, Deliver, Effects, GiveUp, HangUp, Sleep
from journalsim.contract.sse import EVENT_BYTES_MAX

ONE = b"id: 1\ndata: a\n\n"


def sending(wire: bytes = b"") -> FetchEventSource:
    """A program whose POST is answered, on connection 1, with ``wire`` so far."""
    program = FetchEventSource(retry_ns=1000 * MS)
    assert program.send("k") == (Ask(connection=1, what="send", method="POST", key="k"),)
    assert program.answered(1, 200) == ()
    program.received(1, wire)
    return program


def again(connection: int, cursor: str | None) -> Ask:
    return Ask(connection=connection, what="send", method="POST", key="k", cursor=cursor, repeated=True)


def wake(program: FetchEventSource, effects: Effects) -> Effects:
    """What it does when its timer comes due, which happens once."""
    (sleep,) = effects
    assert isinstance(sleep, Sleep)
    woken = program.woke(sleep.timer)
    assert program.woke(sleep.timer) == ()
    return woken


def data_of(effects: Effects) -> list[str]:
    return [effect.event.data for effect in effects if isinstance(effect, Deliver)]


@pytest.mark.parametrize(
    ("wire", "cursor"),
    [
        (b"", None),
        (ONE, "1"),
        (ONE + b"id: 2", "1"),
        (ONE + b"id: 2\n", "2"),
        (ONE + b"id: 2\ndata: b\n", "2"),
        (ONE + b"data: b\n\n", "1"),
        (ONE + b"id:\n", None),
    ],
)
def test_after_a_break_it_asks_with_the_last_id_that_it_saw(wire: bytes, cursor: str | None) -> None:
    program = sending(wire)
    assert wake(program, program.ended(1, clean=False)) == (again(3, cursor),)


def test_a_clean_end_is_the_end() -> None:
    program = sending(ONE + b"id: 2\n")
    assert program.ended(1, clean=True) == (GiveUp(reason="ended"),)
    assert program.hide() == program.show() == ()


def test_a_hidden_tab_aborts_and_a_shown_one_submits_again() -> None:
    program = sending(ONE)
    assert program.hide() == (HangUp(connection=1),)
    assert program.received(1, ONE) == program.ended(1, clean=False) == program.answered(1, 200) == ()
    assert program.show() == (again(2, "1"),)


def test_showing_a_tab_that_was_not_hidden_aborts_and_submits_again() -> None:
    program = sending(ONE)
    assert program.show() == (HangUp(connection=1), again(2, "1"))


def test_a_tab_hidden_while_it_waits_asks_again_in_the_background() -> None:
    program = sending(ONE)
    sleep = program.ended(1, clean=False)
    assert program.hide() == ()
    assert wake(program, sleep) == (again(3, "1"),)


def test_a_tab_shown_while_it_waits_ends_up_with_two_readers() -> None:
    program = sending(ONE)
    sleep = program.ended(1, clean=False)
    program.hide()
    assert program.show() == (again(3, "1"),)
    assert wake(program, sleep) == (again(4, "1"),)
    program.answered(3, 200)
    program.answered(4, 200)
    two = b"id: 2\ndata: b\n\n"
    assert data_of(program.received(3, two) + program.received(4, two)) == ["b", "b"]
    assert program.ended(3, clean=True) == (HangUp(connection=4), GiveUp(reason="ended"))


def test_a_reader_too_many_goes_on_after_the_call_has_settled() -> None:
    program = sending(ONE)
    sleep = program.ended(1, clean=False)
    program.show()
    wake(program, sleep)
    program.answered(3, 200)
    program.answered(4, 200)
    assert program.ended(4, clean=True) == (GiveUp(reason="ended"),)
    assert data_of(program.received(3, ONE)) == ["a"]
    program.send("k2")
    assert program.received(3, ONE) == program.ended(3, clean=False) == ()


def test_a_reader_too_many_does_not_ask_again_after_the_call_has_settled() -> None:
    program = sending(ONE)
    sleep = program.ended(1, clean=False)
    program.show()
    wake(program, sleep)
    program.answered(4, 200)
    program.ended(4, clean=True)
    assert program.ended(3, clean=False) == ()


@pytest.mark.parametrize(("status", "content_type"), [(204, ""), (200, "application/json"), (503, "text/html")])
def test_an_answer_of_another_type_is_tried_again(status: int, content_type: str) -> None:
    program = FetchEventSource(retry_ns=1000 * MS, cursor="7")
    assert program.attach() == (Ask(connection=1, cursor="7"),)
    effects = program.answered(1, status, content_type)
    assert effects == (Sleep(timer=2, delay_ns=1000 * MS),)
    assert program.woke(99) == ()
    assert wake(program, effects) == (Ask(connection=3, cursor="7"),)


def test_an_error_page_of_the_right_type_is_read() -> None:
    program = FetchEventSource(retry_ns=0)
    program.attach()
    assert program.received(1, ONE) == ()
    program.answered(1, 404)
    assert data_of(program.received(1, ONE)) == ["a"]


def test_a_connection_that_ends_before_its_answer_is_tried_again() -> None:
    program = FetchEventSource(retry_ns=5)
    program.attach()
    assert program.ended(1, clean=True) == (Sleep(timer=2, delay_ns=5),)


@pytest.mark.parametrize(("retry", "delay_ns"), [("20", 20 * MS), ("20s", 20 * MS), ("9999999999", 0), ("-1", 0)])
def test_the_server_sets_the_time_until_the_next_attempt(retry: str, delay_ns: int) -> None:
    program = sending(f"retry: {retry}\n\n".encode())
    assert program.ended(1, clean=False) == (Sleep(timer=2, delay_ns=delay_ns),)


def test_a_new_message_is_a_call_of_its_own() -> None:
    program = sending(ONE)
    assert program.send("k2") == (HangUp(connection=1), Ask(connection=2, what="send", method="POST", key="k2"))


def test_a_person_who_leaves_is_not_heard_of_again() -> None:
    program = sending(ONE)
    program.finished()
    assert program.close() == (HangUp(connection=1), GiveUp(reason="closed"))
    assert program.hide() == program.show() == program.ended(1, clean=True) == ()


def test_an_event_without_end_is_hung_up_on() -> None:
    program = sending()
    deliver, hang_up, sleep = program.received(1, ONE + b"x" * (EVENT_BYTES_MAX + 1))
    assert isinstance(deliver, Deliver)
    program.applied(deliver.event)
    assert (hang_up, sleep) == (HangUp(connection=1), Sleep(timer=2, delay_ns=1000 * MS))
    assert program.cursor == "1"
