"""How a page folds live frames into the rows that it displays.

A frame concerns at most one row, which has a key: a message its id, a tool call and its
result the id of the call.  :func:`row_after` says what a frame makes of that row, and
:func:`apply_frame` does it to the rows of a page.  Frames of runs and of approvals concern no row.

The rules:

* ``message.opened`` and ``message.delta`` make the row if there is none; a delta adds its words;
* ``message.completed`` and ``message.interrupted`` bring the whole text and the state.  They need
  not repeat the reasoning: without it, the reasoning displayed so far stays;
* ``message.superseded`` removes the row;
* a history replaces all rows, see :func:`rows_of`.

Readers differ in one point, a ``message.opened`` for a row that is displayed already.  A page
that reads a stream *goes on* in that row, because a server opens the message again when the page
reattaches in the middle of it.  A reader that the server calls directly never reattaches to a
message, so a second opening is a second attempt, and the row *begins anew*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from attrs import evolve

from journalsim.contract.frames import Frame, FrameKind
from journalsim.contract.items import Item, ItemState

Reopening: TypeAlias = Literal["goes on", "begins anew"]
"""What a ``message.opened`` does to a message that is displayed already."""

WORDED: tuple[FrameKind, ...] = ("message.opened", "message.delta", "message.completed", "message.interrupted")
"""The frames after which a message has words, if only none."""

_CLOSING: Mapping[FrameKind, ItemState] = {"message.completed": "completed", "message.interrupted": "interrupted"}


class Row(NamedTuple):
    """One row as it is displayed.

    Attributes:
        base: the item, as the history or the last frame that named its state had it.
        text: its visible text now.
        reasoning: its reasoning now.
    """

    base: Item
    text: str
    reasoning: str

    @property
    def item(self) -> Item:
        """The row as an item, with the words that are displayed."""
        if (self.text, self.reasoning) == (self.base.text, self.base.reasoning):
            return self.base
        return evolve(self.base, text=self.text, reasoning=self.reasoning)


Rows: TypeAlias = dict[str, Row]
"""The rows of one page by key, oldest first."""


def rows_of(items: Iterable[Item]) -> Rows:
    """Returns the rows of a page that displays a history."""
    return {_key_of_item(item, number): _row(item) for number, item in enumerate(items)}


def items_of(rows: Rows) -> tuple[Item, ...]:
    """Returns the rows of a page as items, oldest first."""
    return tuple(row.item for row in rows.values())


def apply_frame(rows: Rows, frame: Frame, *, reopening: Reopening) -> Row | None:
    """Changes the rows of a page as a frame says.

    Returns:
        The row that the frame added or changed; None if there is none.
    """
    key = _key_of_frame(frame)
    if key is None:
        return None
    row = row_after(rows.get(key), frame, reopening=reopening)
    if row is None:
        rows.pop(key, None)
    else:
        rows[key] = row
    return row


def row_after(row: Row | None, frame: Frame, *, reopening: Reopening) -> Row | None:
    """Returns what a frame makes of the row that it concerns.

    Args:
        row: as it is displayed; None if it is not.
        frame: concerns this row.
        reopening: what a ``message.opened`` does to a row that is displayed.

    Returns:
        The row; None if it is not displayed any more.
    """
    if frame.kind == "message.superseded":
        return None
    if frame.kind not in WORDED:
        return _row(_tool_item(frame))
    if row is None or (frame.kind == "message.opened" and reopening == "begins anew"):
        row = _row(_opened(frame))
    text, reasoning = words_after(row.text, row.reasoning, frame, reopening=reopening)
    if frame.kind in _CLOSING:
        return _row(evolve(row.base, text=text, reasoning=reasoning, state=_CLOSING[frame.kind]))
    return Row(row.base, text, reasoning)


def words_after(text: str, reasoning: str, frame: Frame, *, reopening: Reopening) -> tuple[str, str]:
    """Returns text and reasoning of a message after a frame of :data:`WORDED`, given those before it."""
    if frame.kind == "message.delta":
        return text + frame.text, reasoning + frame.reasoning
    if frame.kind in _CLOSING:
        return frame.text, frame.reasoning or reasoning
    return ("", "") if reopening == "begins anew" else (text, reasoning)


# --- inside


def _row(item: Item) -> Row:
    return Row(item, item.text, item.reasoning)


def _opened(frame: Frame) -> Item:
    aliases = () if frame.source is None else (frame.source,)
    return Item(kind="assistant", id=frame.message_id, aliases=aliases, state="open", run_id=frame.run_id)


def _tool_item(frame: Frame) -> Item:
    if frame.kind == "tool.requested":
        return Item(kind="tool_call", call_id=frame.call_id, run_id=frame.run_id)
    state: ItemState = frame.state or "completed"  # type: ignore[assignment]  # a state of the protocol
    return Item(kind="tool_result", call_id=frame.call_id, state=state, run_id=frame.run_id)


def _key_of_frame(frame: Frame) -> str | None:
    if frame.kind == "tool.requested":
        return f"tool_call:{frame.call_id}"
    if frame.kind == "tool.closed":
        return f"tool_result:{frame.call_id}"
    return frame.message_id if frame.kind.startswith("message.") else None


def _key_of_item(item: Item, number: int) -> str:
    if item.kind == "assistant" and item.id is not None:
        return item.id
    return f"{item.kind}:{item.call_id or number}"
