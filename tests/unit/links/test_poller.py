"""A poller asks for the status and then for the history, and after the end of the run once more for the history."""

from __future__ import annotations

import pytest

from journalsim.actors.programs.poller import Poller
from journalsim.actors.programs.program import Ask, GiveUp, HangUp, Sleep
from journalsim.contract.sse import SseEvent


def asks(connection: int, what: str) -> tuple[Ask]:
    assert what in ("status", "history")
    return (Ask(connection=connection, what=what, streams=False),)  # type: ignore[arg-type]


def test_a_round_is_a_status_and_then_a_history() -> None:
    poller = Poller(every_ns=7)
    assert poller.attach() == asks(1, "status")
    assert poller.answered(1, 200, "application/json") == poller.received(1, b"{}") == ()
    assert poller.ended(1, clean=True) == asks(2, "history")
    assert poller.ended(1, clean=True) == ()
    assert poller.ended(2, clean=True) == (Sleep(timer=3, delay_ns=7),)
    assert poller.woke(9) == ()
    assert poller.woke(3) == asks(4, "status")
    assert poller.woke(3) == ()


def test_the_round_that_sees_the_end_is_the_last() -> None:
    poller = Poller(every_ns=7)
    poller.attach()
    poller.finished()
    assert poller.ended(1, clean=True) == asks(2, "history")
    assert poller.ended(2, clean=True) == (GiveUp(reason="finished"),)
    assert poller.ended(2, clean=True) == ()


@pytest.mark.parametrize("failing", ["status", "history"])
def test_what_failed_is_asked_for_again_in_the_next_round(failing: str) -> None:
    poller = Poller(every_ns=7)
    poller.attach()
    poller.finished()
    connection = 1
    if failing == "history":
        poller.ended(1, clean=True)
        connection = 2
    assert poller.ended(connection, clean=False) == (Sleep(timer=connection + 1, delay_ns=7),)


def test_a_message_is_sent_apart_and_polling_goes_on() -> None:
    poller = Poller(every_ns=7)
    poller.attach()
    poller.finished()
    assert poller.send("k") == (Ask(connection=2, what="send", method="POST", key="k", streams=False),)
    assert poller.ended(2, clean=True) == ()
    poller.ended(1, clean=True)
    assert poller.ended(3, clean=True) == (Sleep(timer=4, delay_ns=7),)


def test_a_second_attach_and_leaving_hang_up_what_is_under_way() -> None:
    poller = Poller(every_ns=7)
    poller.attach()
    assert poller.attach() == (HangUp(connection=1), *asks(2, "status"))
    poller.applied(SseEvent(""))
    assert poller.hide() == poller.show() == ()
    assert poller.close() == (HangUp(connection=2), GiveUp(reason="closed"))
    assert poller.close() == (GiveUp(reason="closed"),)
    assert poller.cursor is None
