"""The log of a session numbers what it has_frames, keeps the newest part, and knows where a reader stands."""

from __future__ import annotations

from journalsim.contract.frames import Frame
from journalsim_reference.frame_log import FrameLog


def delta(text: str, run: str = "r1") -> Frame:
    return Frame("message.delta", run, f"{run}/m1", text)


def ids(log: FrameLog) -> list[str]:
    return [log[position].id for position in range(log.low, log.high)]


def test_a_safe_row_gives_its_own_id_and_what_follows_it_counts_behind() -> None:
    log = FrameLog()
    log.add_row("r1", 3, None)
    log.add_shown("r1", delta("a"))
    log.add_shown("r1", delta("b"))
    log.add_row("r1", 6, delta("c"))
    log.add_shown("r1", delta("d"))
    assert ids(log) == ["r1:3", "r1:3.1", "r1:3.2", "r1:6", "r1:6.1"]
    assert log.last_id == "r1:6.1"


def test_runs_are_numbered_apart() -> None:
    log = FrameLog()
    log.add_row("r1", 1, None)
    log.add_shown("r1", delta("a"))
    log.add_row("r2", 1, None)
    log.add_shown("r1", delta("b"))
    log.add_shown("r2", delta("c", "r2"))
    assert ids(log) == ["r1:1", "r1:1.1", "r2:1", "r1:1.2", "r2:1.1"]


def test_a_position_is_found_by_the_whole_id() -> None:
    log = FrameLog()
    for run in ("r1", "r2"):
        log.add_row(run, 1, None)
        log.add_shown(run, delta("a", run))
    assert [log.find("r1", 1, 0), log.find("r1", 1, 1), log.find("r2", 1, 1)] == [1, 2, 4]
    assert [log.find("r1", 2, 0), log.find("r1", 1, 2), log.find("r3", 1, 0)] == [None, None, None]


def test_the_oldest_entries_are_dropped_and_the_positions_of_the_others_stay() -> None:
    log = FrameLog(rows_max=2)
    for seq in (1, 2, 3, 4):
        log.add_row("r1", seq, delta(str(seq)))
    assert (log.low, log.high, ids(log)) == (2, 4, ["r1:3", "r1:4"])
    assert (log.find("r1", 2, 0), log.find("r1", 3, 0)) == (None, 3)


def test_only_frames_are_told() -> None:
    log = FrameLog()
    log.add_row("r1", 1, None)
    log.add_row("r1", 2, delta("a"))
    log.add_row("r1", 3, None)
    assert [log.has_frames(position) for position in (0, 1, 2, 3)] == [True, True, False, False]


def test_a_log_that_forgets_keeps_its_place() -> None:
    log = FrameLog()
    log.add_row("r1", 1, None)
    log.forget()
    assert (log.low, log.high, log.last_id) == (1, 1, None)


def test_large_entries_push_out_the_oldest_and_the_newest_stays_however_large_it_is() -> None:
    log = FrameLog(bytes_max=1000)
    for seq, size in enumerate((300, 300, 300, 300), start=1):
        log.add_row("r1", seq, delta("x" * size))
    assert (ids(log), log.waiting_bytes(0)) == (["r1:2", "r1:3", "r1:4"], 840)
    log.add_shown("r1", delta("x" * 5000))
    assert (ids(log), log.waiting_bytes(2)) == (["r1:3", "r1:4", "r1:4.1"], 840)
    log.add_shown("r1", delta("x"))
    assert (ids(log), log.waiting_bytes(2)) == (["r1:4.2"], 0)


def test_what_waits_for_a_reader_is_what_is_kept_behind_its_position() -> None:
    log = FrameLog()
    for seq in (1, 2, 3):
        log.add_row("r1", seq, delta("\ud83d"))
    assert [log.waiting_bytes(position) for position in (0, 1, 2, 3)] == [246, 123, 0, 0]
    log.forget()
    assert log.waiting_bytes(0) == 0


def test_the_text_that_closes_a_message_is_held_by_the_journal() -> None:
    log = FrameLog(bytes_max=1000)
    log.add_row("r1", 1, Frame("message.completed", "r1", "r1/m1", "x" * 5000))
    log.add_row("r1", 2, Frame("run.ended", "r1"))
    assert ids(log) == ["r1:1", "r1:2"]
