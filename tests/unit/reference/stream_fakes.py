"""What the tests of the stream share: a log that follows a book, and a page that applies what it reads."""

from __future__ import annotations

from attrs import define, field
from reference_fakes import Book

from journalsim.contract.frames import Frame
from journalsim.contract.sse import Decoder
from journalsim.contract.stream_port import Control, decode_event
from journalsim_reference.frame_log import FrameLog
from journalsim_reference.frames import frame


def log_of(book: Book, rows_max: int = 256, session: str = "s1") -> FrameLog:
    """Returns the log of a session, as the rows of a book make it."""
    log = FrameLog(rows_max)
    for event in book.rows:
        if event.session_id != session:
            continue
        if event.payload.get("operation") == "clear":
            log.forget()
        elif not event.run_id.startswith("@"):
            log.add_row(event.run_id, event.seq, frame(book.state, event))
    return log


@define
class Page:
    """A page that shows messages by their ids and keeps its cursor beside them.

    Attributes:
        texts: what it shows of each message.
        ended: how each run ended.
        cursor: of what it has applied.
        heard: every frame and control event, in order.
    holes: messages whose pieces do not add up to what their end says.
    """

    texts: dict[str, str] = field(factory=dict)
    ended: dict[str, str | None] = field(factory=dict)
    cursor: str | None = None
    heard: list[Frame | Control] = field(factory=list)
    holes: list[str] = field(factory=list)
    _decoder: Decoder = field(factory=Decoder)

    def connect(self) -> None:
        """A new connection begins."""
        self._decoder = Decoder(self.cursor or "")

    def feed(self, data: bytes) -> None:
        for event in self._decoder.feed(data):
            said = decode_event(event)
            assert said is not None
            self.heard.append(said)
            if isinstance(said, Frame):
                self.apply(said)
                self.cursor = event.id or self.cursor
            elif said.whole_turn:
                run = f"{said.run_id}/"
                self.texts = {name: text for name, text in self.texts.items() if not name.startswith(run)}

    def apply(self, told: Frame) -> None:
        name = told.message_id or ""
        if told.kind == "message.opened":
            self.texts[name] = ""
        elif told.kind == "message.delta":
            self.texts[name] += told.text
        elif told.kind in ("message.completed", "message.interrupted"):
            if self.texts[name] not in ("", told.text):
                self.holes.append(name)
            self.texts[name] = told.text
        elif told.kind == "message.superseded":
            del self.texts[name]
        elif told.kind == "run.ended":
            self.ended[told.run_id] = told.state

    @property
    def view(self) -> tuple[dict[str, str], dict[str, str | None]]:
        return {name: text for name, text in self.texts.items() if text}, self.ended

    def controls(self) -> list[str]:
        """Returns the control events so far, in short."""
        said = [control for control in self.heard if isinstance(control, Control)]
        return [f"{c.kind.removeprefix('stream.')} {c.attachment or c.reason}".strip() for c in said]
