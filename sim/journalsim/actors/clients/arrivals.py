"""What a program delivers to its page: frames, which the page displays, and control events, which it heeds."""

from __future__ import annotations

from collections.abc import Callable

from journalsim.actors.clients.histories import Histories
from journalsim.actors.clients.tab import Tab
from journalsim.actors.programs.program import Deliver
from journalsim.actors.wire.ways import Watch
from journalsim.contract.events.client_events import ClientApplied, ClientControl, ViewAfter
from journalsim.contract.events.harness_events import AdapterRaised
from journalsim.contract.frames import Frame
from journalsim.contract.stream_port import Control, decode_event
from journalsim.errors import AdapterError
from journalsim.scenario.values.moves import Travel


class Arrivals:
    """Applies the events of one page.

    Args:
        tab: of the page.
        histories: of the page.
        close: closes the program of the page.
        learn: takes from a frame what the person can act on.
    """

    def __init__(
        self, tab: Tab, histories: Histories, close: Callable[[], None], learn: Callable[[Frame], None]
    ) -> None:
        self._tab = tab
        self._histories = histories
        self._close = close
        self._learn = learn

    def event(self, watch: Watch, deliver: Deliver) -> None:
        """Applies an event; one of a program that was closed is dropped."""
        if watch is not self._tab.watch:
            return
        try:
            decoded = decode_event(deliver.event)
        except AdapterError as error:
            self._tab.log.record(AdapterRaised(verb="attach", error=str(error)))
            return
        if isinstance(decoded, Frame):
            if self._frame(watch, decoded, deliver.event.id):
                watch.program.applied(deliver.event)
                if decoded.kind == "run.ended":
                    watch.program.finished()
        elif decoded is not None:
            self._control(decoded, watch.ways[deliver.connection].ask.cursor)

    def _control(self, control: Control, sent: str | None) -> None:
        tab = self._tab
        tab.log.record(
            ClientControl(
                run=control.run_id,
                control=control.kind,
                attachment=control.attachment,
                whole_turn=control.whole_turn,
                message=control.message_id,
                reason=control.reason,
                sent=sent,
            )
        )
        tab.unseen.hear(control.run_id)
        then = tab.page.control(control, sent)
        if then == "read":
            self._histories.read()
        elif then == "reopen" and not tab.states.opening:
            self._close()
            self._histories.open(Travel(), "gap")

    def _frame(self, watch: Watch, frame: Frame, event_id: str | None) -> bool:
        """Displays a frame; returns False if the person leaves the page at the last moment."""
        tab = self._tab
        with tab.log.act("apply"):
            if watch is not tab.watch:
                return False
            self._learn(frame)
            tab.unseen.hear(frame.run_id)
            row = tab.page.frame(frame, event_id)
            text, reasoning = (None, None) if row is None else (row.text, row.reasoning)
            tab.log.record(ClientApplied.of(frame, event_id, ViewAfter(tab.page.cursor, text, reasoning)))
        return True
