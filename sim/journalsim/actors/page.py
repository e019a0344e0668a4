"""A page's view: what it shows and up to where, moved together.

The page is pure state.  It takes what its program delivers, decoded, and what a
request for the history brings.  Its rules are those of a careful author:

* a message is one bubble, found by its id; opening it again changes nothing;
* the cursor is the id of the last event that was *applied*, and what the view was at
  each cursor is remembered, so that "what follows your cursor comes" takes back what was shown
  after it without an id of its own;
* "everything comes again" takes all bubbles away first, "the run comes from its beginning" those of the run;
* a declared gap makes the page begin anew: history, then attach.  So does "what follows your cursor comes" when
  the program sent an id that the page never applied;
* the history replaces everything, the cursor included.

What a server repeats without saying so is therefore shown twice, and what it leaves out is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from attrs import evolve

from journalsim.contract.frames import Frame
from journalsim.contract.items import Item, ItemState
from journalsim.contract.stream_port import Control

_CLOSING: Mapping[str, ItemState] = {"message.completed": "completed", "message.interrupted": "interrupted"}


class Page:
    """What one client shows.

    Attributes:
        cursor: id of the last event that was applied; empty for none.
        missing: the server said that something is missing, and the history has not been read since.
        ended: runs whose end the page has shown.
        run: the run that the page was last told of.
    """

    def __init__(self) -> None:
        self.cursor = ""
        self.missing = False
        self.ended: dict[str, None] = {}
        self.run: str | None = None
        self._anew = False  # runs come from their beginning on this connection
        self._bubbles: dict[str, Item] = {}
        self._at: dict[str, dict[str, Item]] = {"": {}}

    @property
    def items(self) -> tuple[Item, ...]:
        """The bubbles, oldest first."""
        return tuple(self._bubbles.values())

    @property
    def ids(self) -> tuple[str, ...]:
        """Every cursor that the page has had, in order."""
        return tuple(self._at)[1:]

    def read(self, items: Iterable[Item], cursor: str = "") -> None:
        """Shows what the journal holds instead of what was shown; ``cursor`` is behind all of it, if it is known."""
        self._bubbles = {_key(item, number): item for number, item in enumerate(items)}
        self.cursor, self.missing = cursor, False
        self._at = {"": dict(self._bubbles), cursor: dict(self._bubbles)}

    def go_back(self, cursor: str) -> bool:
        """Shows again what was shown when ``cursor`` was the last id; False if it never was."""
        if cursor not in self._at:
            return False
        self._bubbles = dict(self._at[cursor])
        self.cursor = cursor
        return True

    def control(self, control: Control, sent: str | None) -> Literal["", "read", "reopen"]:
        """Takes a control event, and returns what the page has to do: ``read`` the history, or ``reopen`` itself.

        It reopens, and does not only read, where the stream goes on: what it reads would overlap with that.

        Args:
            control: the event.
            sent: the cursor with which this connection was asked for.
        """
        self.run = control.run_id or self.run
        if control.kind == "stream.gap":
            self.missing = True
        elif control.kind == "stream.open":
            self._open(control, sent)
            if control.attachment == "finished" and not sent and not control.whole_turn:
                return "read"
        return "reopen" if self.missing else ""

    def frame(self, frame: Frame, event_id: str | None) -> Item | None:
        """Takes a frame, and returns the bubble that it changed."""
        self.run = frame.run_id
        if frame.kind == "run.started" and self._anew:
            kept = ("user", "summary")
            self._bubbles = {
                key: item for key, item in self._bubbles.items() if item.kind in kept or item.run_id != frame.run_id
            }
        if frame.kind == "run.ended":
            self.ended[frame.run_id] = None
        changed = self._change(frame)
        if event_id:
            self.cursor = event_id
            self._at[event_id] = dict(self._bubbles)
        return changed

    # --- inside

    def _open(self, control: Control, sent: str | None) -> None:
        how = control.attachment
        self._anew = how == "restart" or control.whole_turn
        if how == "restart":
            self._forget(None)
        elif control.run_id is not None and (control.whole_turn or how == "fresh"):
            self.missing = self.missing or (how == "fresh" and self._shows_another(control.run_id))
            self._forget(control.run_id)
        elif how == "gap" or (how in ("suffix", "finished") and sent and not self.go_back(sent)):
            self.missing = True  # in the second case the program sent an id that the page never got

    def _shows_another(self, run: str) -> bool:
        """Whether the history showed another run than this one under way: then it has ended since."""
        told = {item.run_id for item in self._bubbles.values() if item.kind != "user"} - {run, None}
        over = {item.run_id for item in self._bubbles.values() if item.kind == "marker"} | {*self.ended}
        return bool(told - over)

    def _forget(self, run: str | None) -> None:
        self._bubbles = {
            key: item
            for key, item in self._bubbles.items()
            if item.kind in ("user", "summary") or (run is not None and item.run_id != run)
        }
        self.cursor = ""
        self._at = {"": dict(self._bubbles)}

    def _change(self, frame: Frame) -> Item | None:
        if frame.kind == "tool.requested":
            call = Item(kind="tool_call", call_id=frame.call_id, run_id=frame.run_id)
            return self._put(f"tool_call:{frame.call_id}", call)
        if frame.kind == "tool.closed":
            state: ItemState = frame.state or "completed"  # type: ignore[assignment]  # a state of the protocol
            result = Item(kind="tool_result", call_id=frame.call_id, state=state, run_id=frame.run_id)
            return self._put(f"tool_result:{frame.call_id}", result)
        key = frame.message_id
        if key is None:
            return None
        if frame.kind == "message.superseded":
            self._bubbles.pop(key, None)
            return None
        shown = self._bubbles.get(key) or _opened(frame)
        if frame.kind == "message.delta":
            shown = evolve(shown, text=shown.text + frame.text, reasoning=shown.reasoning + frame.reasoning)
        elif frame.kind in _CLOSING:
            shown = evolve(
                shown, text=frame.text, reasoning=frame.reasoning or shown.reasoning, state=_CLOSING[frame.kind]
            )
        return self._put(key, shown)

    def _put(self, key: str, item: Item) -> Item:
        self._bubbles[key] = item
        return item


def _opened(frame: Frame) -> Item:
    aliases = () if frame.source is None else (frame.source,)
    return Item(kind="assistant", id=frame.message_id, aliases=aliases, state="open", run_id=frame.run_id)


def _key(item: Item, number: int) -> str:
    if item.kind == "assistant" and item.id is not None:
        return item.id
    return f"{item.kind}:{item.call_id or number}"
