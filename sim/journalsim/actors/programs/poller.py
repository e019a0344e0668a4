"""Simulates a program without a stream, which polls for the status and then for the history."""

from __future__ import annotations

from journalsim.actors.programs.program import Ask, Effects, GiveUp, HangUp, Sleep
from journalsim.contract.sse import SseEvent


class Poller:
    """Polls in rounds: a status, then a history; the next round begins some time after both.

    In this order, a history that follows the status "ended" is complete, so the round in which the page calls
    ``finished`` is the last.
    """

    cursor: None = None

    def __init__(self, *, every_ns: int) -> None:
        self._every_ns = every_ns
        self._numbers = 0
        self._asked: Ask | None = None
        self._timer = 0
        self._run_over = False

    def attach(self) -> Effects:
        """Begins to poll."""
        self._run_over = False
        return (*self._hang_up(), *self._ask_status())

    def send(self, key: str) -> Effects:
        """Submits a message; polling continues unchanged."""
        self._run_over = False
        return (Ask(connection=self._number(), what="send", method="POST", streams=False, key=key),)

    def answered(self, connection: int, status: int, content_type: str = "text/event-stream") -> Effects:
        """Does nothing: only the whole answer counts."""
        return ()

    def received(self, connection: int, data: bytes) -> Effects:
        """Does nothing: only the whole answer counts."""
        return ()

    def ended(self, connection: int, *, clean: bool) -> Effects:
        """Requests the history next, or sleeps; the next round repeats a failed request."""
        asked = self._asked
        if asked is None or asked.connection != connection:
            return ()
        if asked.what == "status" and clean:
            self._asked = Ask(connection=self._number(), what="history", streams=False)
            return (self._asked,)
        self._asked = None
        if self._run_over and clean:
            return (GiveUp(reason="finished"),)
        self._timer = self._number()
        return (Sleep(timer=self._timer, delay_ns=self._every_ns),)

    def woke(self, timer: int) -> Effects:
        """Begins the next round."""
        return self._ask_status() if timer == self._timer else ()

    def applied(self, event: SseEvent) -> None:
        """Does nothing: a poller receives no events."""

    def finished(self) -> None:
        """Makes this round the last, because the status said that the run has ended."""
        self._run_over = True

    def hide(self) -> Effects:
        """Does nothing."""
        return ()

    def show(self) -> Effects:
        """Does nothing."""
        return ()

    def close(self) -> Effects:
        """Stops polling."""
        return (*self._hang_up(), GiveUp(reason="closed"))

    def _ask_status(self) -> Effects:
        self._timer = 0
        self._asked = Ask(connection=self._number(), what="status", streams=False)
        return (self._asked,)

    def _hang_up(self) -> Effects:
        asked, self._asked, self._timer = self._asked, None, 0
        return (HangUp(connection=asked.connection),) if asked is not None else ()

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers
