"""A page: the rows that it displays and the cursor up to which it has applied the stream, moved together.

The page is pure state.  It takes the frames and control events that its program delivers, and
the history when that arrives.  What a frame does to a row is the fold that all readers share
(:mod:`journalsim.contract.page_fold`).  The page's own rules are those of a careful author:

* the cursor is the id of the last event that was *applied*.  The page remembers its rows at
  each cursor, so that a stream that goes on behind a cursor takes back what was displayed
  after it without an id of its own;
* a stream that begins everything again removes all rows first, and a stream that begins one
  run again removes the rows of that run;
* a declared gap makes the page begin anew: history, then attach.  So does a stream that goes on
  behind a cursor that the page never applied;
* the history replaces everything, the cursor included.

A page therefore displays twice what a server repeats without declaring it, and lacks what the
server leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from journalsim.contract.frames import Frame
from journalsim.contract.items import Item, ItemKind
from journalsim.contract.page_fold import Row, Rows, apply_frame, items_of, rows_of
from journalsim.contract.stream_port import Control

_NOT_STREAMED: tuple[ItemKind, ...] = ("user", "summary")  # no stream brings these rows again


class Page:
    """What one client displays.

    Attributes:
        cursor: id of the last event that was applied; empty for none.
        missing: the server declared that something is missing, and no history has arrived since.
        ended: runs whose end the page has displayed.
        run: the run that the last frame, control event or answer named.
    """

    def __init__(self) -> None:
        self.cursor = ""
        self.missing = False
        self.ended: dict[str, None] = {}
        self.run: str | None = None
        self._runs_begin_again = False  # on the connection that the page reads now
        self._rows: Rows = {}
        self._rows_at: dict[str, Rows] = {"": {}}

    @property
    def items(self) -> tuple[Item, ...]:
        """The rows, oldest first."""
        return items_of(self._rows)

    @property
    def ids(self) -> tuple[str, ...]:
        """Every cursor that the page has had, in order."""
        return tuple(self._rows_at)[1:]

    def read(self, items: Iterable[Item], cursor: str = "") -> None:
        """Displays a history instead of everything else.

        Args:
            items: the history.
            cursor: of a reader who has all of it; empty if it is not known.
        """
        self._rows = rows_of(items)
        self.cursor, self.missing = cursor, False
        self._rows_at = {"": dict(self._rows), cursor: dict(self._rows)}

    def go_back(self, cursor: str) -> bool:
        """Displays again what was displayed at a cursor.

        Returns:
            Whether the page ever had that cursor; if not, nothing changes.
        """
        if cursor not in self._rows_at:
            return False
        self._rows = dict(self._rows_at[cursor])
        self.cursor = cursor
        return True

    def control(self, control: Control, sent: str | None) -> Literal["", "read", "reopen"]:
        """Applies a control event.

        Args:
            control: the event.
            sent: the cursor with which this connection was requested.

        Returns:
            What the page has to do next: ``read`` the history, ``reopen`` itself, or nothing.  It reopens, and does
            not only read, where the stream goes on: the history would overlap with the stream.
        """
        self.run = control.run_id or self.run
        if control.kind == "stream.gap":
            self.missing = True
        elif control.kind == "stream.open":
            self._open(control, sent)
            if control.attachment == "finished" and not sent and not control.whole_turn:
                return "read"
        return "reopen" if self.missing else ""

    def frame(self, frame: Frame, event_id: str | None) -> Row | None:
        """Applies a frame.

        Returns:
            The row that it added or changed; None if there is none.
        """
        self.run = frame.run_id
        if frame.kind == "run.started" and self._runs_begin_again:
            self._keep(lambda item: item.run_id != frame.run_id)
        if frame.kind == "run.ended":
            self.ended[frame.run_id] = None
        row = apply_frame(self._rows, frame, reopening="goes on")
        if event_id:
            self.cursor = event_id
            self._rows_at[event_id] = dict(self._rows)
        return row

    # --- inside

    def _open(self, control: Control, sent: str | None) -> None:
        how = control.attachment
        self._runs_begin_again = how == "restart" or control.whole_turn
        if how == "restart":
            self._begin_again(lambda item: False)
        elif control.run_id is not None and (control.whole_turn or how == "fresh"):
            self.missing = self.missing or (how == "fresh" and self._displays_another_run(control.run_id))
            self._begin_again(lambda item: item.run_id != control.run_id)
        elif how == "gap" or (how in ("suffix", "finished") and sent and not self.go_back(sent)):
            self.missing = True  # in the second case the program sent an id that the page never applied

    def _displays_another_run(self, run: str) -> bool:
        """Returns True if the history shows another run under way than this one, which must have ended since."""
        runs = {item.run_id for item in self.items if item.kind != "user"} - {run, None}
        over = {item.run_id for item in self.items if item.kind == "marker"} | {*self.ended}
        return bool(runs - over)

    def _begin_again(self, stays: Callable[[Item], bool]) -> None:
        self._keep(stays)
        self.cursor = ""
        self._rows_at = {"": dict(self._rows)}

    def _keep(self, stays: Callable[[Item], bool]) -> None:
        self._rows = {key: row for key, row in self._rows.items() if row.base.kind in _NOT_STREAMED or stays(row.base)}
