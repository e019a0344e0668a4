"""Decides how to attach a reader: a pure function of the journal, the frame log and the reader's cursor.

Whether there is a cursor, whether it is well-formed, and whether it is in range are three facts, and each outcome has a
word of its own (:data:`Understanding`). The journal never guesses: an unusable cursor leads to a declared restart or a
declared gap, never to a silent replay, and never to the live end as if nothing were missing.

=================  ======================  ==========================
cursor             a run is active         the session is idle
=================  ======================  ==========================
absent             fresh                   204
equal              suffix                  204, which ends reconnection
within             suffix                  finished, then closed
evicted            gap                     gap
malformed,         restart or gap, by the  the same, then closed
foreign_run,       policy ``bad_cursor``
ahead
foreign_session    409                     409
=================  ======================  ==========================

With the policy ``reattach: whole_turn`` the frames behind a cursor start again with the first frame of the cursor's
run, and the page rebuilds its view of that run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from attrs import frozen

from journalsim.contract.frames import Frame
from journalsim.contract.stream_port import Attachment
from journalsim_reference.batch import Buffered
from journalsim_reference.frame_log import FrameLog
from journalsim_reference.frames import whole_run
from journalsim_reference.state import LEAD, Run, Session, State

Understanding = Literal[
    "absent",
    "malformed",
    "foreign_run",
    "foreign_session",
    "ahead",
    "evicted",
    "within",
    "equal",
]

_CURSOR = re.compile(r"(?P<run>.+):(?P<seq>[1-9][0-9]{0,17})(?:\.(?P<part>[1-9][0-9]{0,17}))?", re.ASCII)


@frozen
class Cursor:
    """A cursor as the journal understood it.

    Attributes:
        is_: the class of the cursor.
        run_id: the run that it names, if it names one of this session.
        position: for a usable cursor, the position in the log behind the last frame that its reader applied.
    """

    is_: Understanding
    run_id: str | None = None
    position: int = 0


@frozen(kw_only=True)
class Decision:
    """The decision about one reader.

    Attributes:
        status: HTTP status; 200 has a stream.
        cursor: the class of the cursor.
        attachment: the same, as declared to the reader.
        whole_turn: True if runs start again at their first frame.
        run_id: the run of the stream.
        message_id: the message of that run under way, if there is one.
        position: the reader's first position in the log.
        runs: runs that come in one piece first, because the log no longer holds their first frames.
        others: runs whose rows stand between those that the reader receives, and that are left out: a run
            that waits in a queue begins in the middle of another.
    """

    status: int
    cursor: Understanding = "absent"
    attachment: Attachment | None = None
    whole_turn: bool = False
    run_id: str | None = None
    message_id: str | None = None
    position: int = 0
    runs: tuple[Run, ...] = ()
    others: frozenset[str] = frozenset()

    def first_frames(self, buffered: Buffered) -> Iterator[Frame]:
        """Yields the frames of the runs that come in one piece."""
        for run in self.runs:
            yield from whole_run(run, buffered)


def read_cursor(state: State, log: FrameLog, session_id: str, cursor: str | None) -> Cursor:
    """Returns the meaning of a cursor in a session.

    Args:
        state: the journal.
        log: the frame log of the session.
        session_id: a session that exists.
        cursor: the cursor as the reader sent it; None if it sent none.
    """
    if cursor is None:
        return Cursor("absent")
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        return Cursor("malformed")
    run = state.runs.get(found["run"])
    if run is None:
        return Cursor("foreign_run")
    if run.session_id != session_id:
        return Cursor("foreign_session")
    return _in_run(log, run, int(found["seq"]), int(found["part"] or 0))


def _in_run(log: FrameLog, run: Run, seq: int, part: int) -> Cursor:
    position = log.find(run.run_id, seq, part)
    if position is not None:
        return Cursor("within" if log.has_frames(position) else "equal", run.run_id, position)
    # the parts that an earlier process sent are not stored
    return Cursor("ahead" if seq > run.seq else "evicted")


def decide_attach(
    state: State, log: FrameLog, session_id: str, cursor: str | None, policies: Mapping[str, str]
) -> Decision:
    """Decides how to attach a reader.

    Args:
        state: the journal.
        log: the frame log of the session.
        session_id: a session that exists.
        cursor: the cursor as the reader sent it.
        policies: the policies, of which ``reattach`` and ``bad_cursor`` matter.
    """
    read = read_cursor(state, log, session_id, cursor)
    if read.is_ == "foreign_session":
        return Decision(status=409, cursor=read.is_)
    session = state.sessions[session_id]
    active = session.active_runs()
    if not active and read.is_ in ("absent", "equal"):
        return Decision(status=204, cursor=read.is_)
    about = next(iter(active or reversed(_runs(session.entries))), None)
    if read.is_ == "absent":
        return _whole(log, read, "fresh", _since(session, active[0]), about)
    if read.is_ in ("within", "equal"):
        attachment: Attachment = "suffix" if active else "finished"
        if policies["reattach"] == "whole_turn":
            return _whole(log, read, attachment, _unfinished(session, log, read), about)
        return _answer(read, attachment, about, position=read.position)
    shown = _runs(session.entries[session.shown_from :])
    if shown and read.is_ != "evicted" and policies["bad_cursor"] == "restart":
        return _whole(log, read, "restart", shown, about)
    return _answer(read, "gap", about, position=log.high)


# --- answers -----------------------------------------------------------------------------------


def _answer(
    read: Cursor,
    attachment: Attachment,
    about: Run | None,
    *,
    position: int,
    whole_turn: bool = False,
    runs: tuple[Run, ...] = (),
    others: frozenset[str] = frozenset(),
) -> Decision:
    return Decision(
        status=200,
        cursor=read.is_,
        attachment=attachment,
        whole_turn=whole_turn,
        run_id=None if about is None else about.run_id,
        message_id=None if about is None else _under_way(about),
        position=position,
        runs=runs,
        others=others,
    )


def _whole(log: FrameLog, read: Cursor, attachment: Attachment, runs: tuple[Run, ...], about: Run | None) -> Decision:
    """Gives runs from the first frame on: row by row if the log still holds it, else in one piece."""
    begin = log.find(runs[0].run_id, 1, 0)
    if begin is None:
        return _answer(read, attachment, about, position=log.high, whole_turn=True, runs=runs)
    others = log.runs_from(begin) - {run.run_id for run in runs}
    return _answer(read, attachment, about, position=begin, whole_turn=True, others=others)


def _under_way(run: Run) -> str | None:
    """Returns the open message of the lead; None if the run has none."""
    return next((message.message_id for message in run.open_messages() if message.speaker == LEAD), None)


def _runs(entries: Sequence[object]) -> tuple[Run, ...]:
    return tuple(entry for entry in entries if isinstance(entry, Run))


def _unfinished(session: Session, log: FrameLog, read: Cursor) -> tuple[Run, ...]:
    """Returns the run of a cursor, or an older one whose end comes behind the cursor, and all later runs."""

    def ends_later(run: Run) -> bool:
        end = log.find(run.run_id, run.seq, 0)
        return not run.ended or (end is not None and end > read.position)

    return _since(session, next(run for run in _runs(session.entries) if run.run_id == read.run_id or ends_later(run)))


def _since(session: Session, first: Run) -> tuple[Run, ...]:
    return _runs(session.entries[session.entries.index(first) :])
