"""What a reader is given: one row of a table for each thing that a cursor can be."""

from __future__ import annotations

import pytest
from reference_fakes import Book, call
from stream_fakes import log_of

from journalsim_reference.attach import Decision, decide_attach, read_cursor
from journalsim_reference.content import Content
from journalsim_reference.frame_log import FrameLog
from journalsim_reference.journal import decide_annotate, decide_clear, decide_compact, decide_spill
from journalsim_reference.state import Speaker

DEFAULTS = {"reattach": "suffix", "bad_cursor": "restart"}


def active() -> Book:
    """One run that streams: accepted, started, opened, and two rows of text."""
    book = Book().started()
    message = book.open()
    book.take(decide_spill, "r1", message, Content("Hel"))
    book.take(decide_spill, "r1", message, Content("lo"))
    Book.accept(book, "elsewhere", session="s2")
    return book


def idle() -> Book:
    """The same, completed: rows 6 and 7."""
    book = active()
    book.complete("r1", "r1/m1", "Hello")
    book.end()
    return book


def decided(book: Book, cursor: str | None, log: FrameLog | None = None, **policies: str) -> Decision:
    return decide_attach(book.state, log or log_of(book), "s1", cursor, DEFAULTS | policies)


def short(book: Book, cursor: str | None, log: FrameLog | None = None, **policies: str) -> str:
    """Returns a decision as words: status or attachment, and the first frame in the log that the reader is given."""
    log = log or log_of(book)
    decision = decided(book, cursor, log, **policies)
    if decision.attachment is None or decision.attachment == "gap":
        return str(decision.attachment or decision.status)
    whole = " whole" if decision.whole_turn else ""
    begins = next((log[place].id for place in range(decision.position, log.high) if log[place].frame), "nothing")
    return f"{decision.attachment}{whole} from {begins}"


TABLE = (
    # cursor, what it is, while the run is active, once it is over
    (None, "absent", "fresh whole from r1:2", "204"),
    ("", "malformed", "restart whole from r1:2", "restart whole from r1:2"),
    ("nonsense", "malformed", "restart whole from r1:2", "restart whole from r1:2"),
    ("r1:", "malformed", "restart whole from r1:2", "restart whole from r1:2"),
    ("r1:0", "malformed", "restart whole from r1:2", "restart whole from r1:2"),
    ("r1:-1", "malformed", "restart whole from r1:2", "restart whole from r1:2"),
    ("r1:02", "malformed", "restart whole from r1:2", "restart whole from r1:2"),
    ("r1:2.0", "malformed", "restart whole from r1:2", "restart whole from r1:2"),
    ("r1:2.", "malformed", "restart whole from r1:2", "restart whole from r1:2"),
    ("r1:\u0662", "malformed", "restart whole from r1:2", "restart whole from r1:2"),
    (" r1:2", "foreign_run", "restart whole from r1:2", "restart whole from r1:2"),
    ("r7:2", "foreign_run", "restart whole from r1:2", "restart whole from r1:2"),
    ("r1:99", "ahead", "restart whole from r1:2", "restart whole from r1:2"),
    ("r1:99.1", "ahead", "restart whole from r1:2", "restart whole from r1:2"),
    ("r1:2.1", "evicted", "gap", "gap"),
    ("elsewhere:1", "foreign_session", "409", "409"),
    ("r1:1", "within", "suffix from r1:2", "finished from r1:2"),
    ("r1:2", "within", "suffix from r1:3", "finished from r1:3"),
    ("r1:4", "within", "suffix from r1:5", "finished from r1:5"),
)


@pytest.mark.parametrize(("cursor", "means", "while_active", "when_idle"), TABLE)
def test_every_cursor_has_a_meaning_and_an_answer(
    cursor: str | None, means: str, while_active: str, when_idle: str
) -> None:
    for book, expected in ((active(), while_active), (idle(), when_idle)):
        assert read_cursor(book.state, log_of(book), "s1", cursor).is_ == means
        assert short(book, cursor) == expected


def test_a_cursor_at_the_end_waits_for_more_or_ends_reconnection() -> None:
    assert decided(active(), "r1:5").cursor == "equal"
    assert short(active(), "r1:5") == "suffix from nothing"
    assert short(idle(), "r1:7") == "204"


def test_rows_behind_a_terminal_of_which_nothing_is_told_do_not_bring_a_reader_back() -> None:
    book = idle()
    book.complete("r1", None, "Late")
    assert book.kinds()[-1] == "terminal.rejected"
    assert short(book, "r1:7") == "204"


# --- a cursor behind which something is gone


@pytest.mark.parametrize("book", [active(), idle()])
def test_a_cursor_that_is_no_longer_kept_is_a_gap_under_every_policy(book: Book) -> None:
    for bad_cursor in ("restart", "gap"):
        log = log_of(book, rows_max=2)
        assert read_cursor(book.state, log, "s1", "r1:2").is_ == "evicted"
        assert short(book, "r1:2", log, bad_cursor=bad_cursor) == "gap"


def test_a_cursor_within_a_row_of_which_only_the_whole_is_known_is_not_guessed() -> None:
    book = active()
    log = log_of(book)
    told = log[log.high - 1].frame
    assert told is not None
    log.add_shown("r1", told)
    log.add_shown("r1", told)
    assert short(book, "r1:5.1", log) == "suffix from r1:5.2"
    assert short(book, "r1:5.1") == "gap"  # a new process has the rows, and no parts


def test_a_cursor_of_before_a_clear_is_a_gap() -> None:
    book = idle()
    book.take(decide_clear, "s1", base=book.state.session("s1").revision)
    assert short(book, "r1:7") == "gap"
    assert short(book, "nonsense") == "gap"
    assert short(book, None) == "204"


# --- policies


@pytest.mark.parametrize("cursor", ["", "nonsense", "r7:2", "r1:99"])
def test_a_cursor_that_cannot_be_used_is_a_gap_if_the_policy_says_so(cursor: str) -> None:
    assert short(active(), cursor, bad_cursor="gap") == "gap"
    assert short(idle(), cursor, bad_cursor="gap") == "gap"


def test_a_whole_turn_comes_again_from_its_beginning() -> None:
    assert short(active(), "r1:4", reattach="whole_turn") == "suffix whole from r1:2"
    assert short(idle(), "r1:4", reattach="whole_turn") == "finished whole from r1:2"
    assert short(active(), "r1:5", reattach="whole_turn") == "suffix whole from r1:2"


# --- several runs


def two_runs() -> Book:
    book = idle()
    return book.started("r2")


def test_a_cursor_of_an_earlier_run_is_followed_into_the_next() -> None:
    book = two_runs()
    assert short(book, "r1:6") == "suffix from r1:7"
    assert short(book, "r1:7") == "suffix from r2:2"
    assert decided(book, "r1:7").run_id == "r2"


def test_a_whole_turn_begins_with_the_first_run_that_ends_behind_the_cursor() -> None:
    assert short(two_runs(), "r2:1", reattach="whole_turn") == "suffix whole from r2:2"
    book = Book().started("r1")
    book.accept("r2", busy="queue")
    assert short(book, "r2:1", reattach="whole_turn") == "suffix whole from r1:2"
    book.end("r1")
    assert short(book, "r2:1", reattach="whole_turn") == "suffix whole from r1:2"


def test_a_reader_without_a_cursor_is_given_the_run_that_is_active() -> None:
    assert short(two_runs(), None) == "fresh whole from r2:2"


def test_a_restart_gives_every_run_that_is_shown() -> None:
    book = two_runs()
    assert short(book, "nonsense") == "restart whole from r1:2"
    book.end("r2")
    book.take(decide_clear, "s1", base=book.state.session("s1").revision)
    book.started("r3")
    assert short(book, "nonsense") == "restart whole from r3:2"


def test_a_run_whose_beginning_is_dropped_comes_in_one_piece() -> None:
    book = active()
    log = log_of(book, rows_max=2)
    decision = decided(book, None, log)
    assert (decision.attachment, decision.whole_turn, decision.position) == ("fresh", True, log.high)
    told = list(decision.first_frames(book.buffered))
    assert [(frame.kind, frame.text) for frame in told] == [
        ("run.started", ""),
        ("message.opened", ""),
        ("message.delta", "Hello"),
    ]


def test_a_summary_between_two_runs_is_no_run() -> None:
    book = idle()
    book.take(decide_compact, "s1", base=book.state.session("s1").revision, text="So far")
    book.started("r2")
    assert decided(book, "nonsense").whole_turn
    assert short(book, None) == "fresh whole from r2:2"


def test_a_session_of_rows_that_belong_to_no_run_has_a_gap_and_nothing_to_follow() -> None:
    book = idle()
    book.take(decide_annotate, "s1", "r1/m1", {"flag": True})
    del book.state.sessions["s1"].entries[:]
    assert (short(book, None), short(book, "nonsense")) == ("204", "gap")


# --- the bubble


def test_the_message_under_way_is_named_and_none_is_made_up() -> None:
    assert decided(active(), "r1:4").message_id == "r1/m1"
    assert decided(idle(), "r1:4").message_id is None
    assert decided(two_runs(), "r1:7").message_id is None  # the open run has no message yet


def test_the_message_of_a_sub_agent_is_not_the_bubble() -> None:
    book = Book().started()
    book.complete("r1", book.open(), "Look", call("c1", name="helper"))
    book.tool("c1")
    book.open(text="thinking", speaker=Speaker("sub:helper", "c1"))
    assert decided(book, None).message_id is None
