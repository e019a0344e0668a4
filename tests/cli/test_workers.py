"""Pieces of work in processes: in order, ended early, and no process left whatever happens to one."""

from __future__ import annotations

import os
import signal
import sys
import threading
import types
from collections.abc import Iterator
from functools import partial
from multiprocessing import active_children
from pathlib import Path

import pytest

from journalsim.errors import AdapterError
from journalsim.search import workers
from journalsim.search.execute import workspace
from journalsim.search.workers import Brake, Job, Stop, run_pieces

BOTH = pytest.mark.parametrize("jobs", [1, 2])


def doubled(piece: int, stop: Stop) -> int:
    return 2 * piece


def until_stopped(piece: int, stop: Stop) -> str:
    while not stop():
        pass
    return "stopped early"


def waits_for(folder: Path, piece: int, stop: Stop) -> int:
    """Piece 0 is done after piece 1."""
    (folder / str(piece)).touch()
    while piece == 0 and not (folder / "1").exists():
        pass
    return piece


def raises(piece: int, stop: Stop) -> int:
    raise ValueError(f"piece {piece}")


class Awkward(Exception):
    """Goes into a pickle and does not come out."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


def raises_awkwardly(piece: int, stop: Stop) -> int:
    raise Awkward("one", "two")


def gives_what_no_pipe_takes(piece: int, stop: Stop) -> object:
    return lambda: piece


def dies(how: str, piece: int, stop: Stop) -> int:
    if piece == 1:
        (partial(os._exit, 3) if how == "exits" else partial(os.kill, os.getpid(), signal.SIGKILL))()
    return piece


def hangs_in_a_workspace(marks: Path, piece: int, stop: Stop) -> int:
    with workspace() as folder:
        (marks / str(piece)).write_text(str(folder))
        while True:
            pass


def job(run: object, cut: Stop = lambda: False) -> Job[int, object]:
    return Job(run=run, cut=cut, lost=lambda piece, death: (piece, death))  # type: ignore[arg-type]


# --- what comes out ----------------------------------------------------------------------------


@BOTH
def test_results_come_in_the_order_of_the_pieces(jobs: int) -> None:
    with run_pieces(job(doubled), range(7), Brake(), jobs) as results:
        assert list(results) == [0, 2, 4, 6, 8, 10, 12]


def test_a_piece_that_takes_long_holds_up_its_result_and_not_the_next_piece(tmp_path: Path) -> None:
    with run_pieces(job(partial(waits_for, tmp_path)), range(3), Brake(), jobs=2) as results:
        assert list(results) == [0, 1, 2]


@BOTH
def test_no_piece_is_taken_long_before_its_turn(jobs: int) -> None:
    taken = []

    def pieces() -> Iterator[int]:
        for piece in range(1000):
            taken.append(piece)
            yield piece

    with run_pieces(job(doubled), pieces(), Brake(), jobs) as results:
        next(results)
        assert len(taken) <= workers.AHEAD * jobs + 1


@BOTH
def test_what_a_piece_raises_is_raised(jobs: int) -> None:
    with run_pieces(job(raises), range(3), Brake(), jobs) as results, pytest.raises(ValueError, match="piece 0"):
        next(results)
    assert active_children() == []


def test_the_traceback_of_a_worker_goes_with_what_it_raised() -> None:
    with run_pieces(job(raises), range(1), Brake(), 2) as results, pytest.raises(ValueError, match="piece 0") as caught:
        next(results)
    assert "in raises" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("run", "says"), [(raises_awkwardly, "Awkward: one and two"), (gives_what_no_pipe_takes, "pickle")]
)
def test_what_no_pipe_takes_is_an_error_and_no_hang(run: object, says: str) -> None:
    with run_pieces(job(run), range(1), Brake(), 2) as results, pytest.raises(Exception, match=says):
        next(results)


# --- what ends it ------------------------------------------------------------------------------


@BOTH
def test_a_spent_brake_begins_no_further_piece_and_keeps_what_is_done(jobs: int) -> None:
    brake, seen = Brake(failures_max=1), []
    with run_pieces(job(doubled), range(1000), brake, jobs) as results:
        for result in results:
            seen.append(result)
            brake.failures += 1
    assert seen == list(range(0, 2 * len(seen), 2))
    assert 1 <= len(seen) <= workers.AHEAD * jobs + 1


def test_pieces_under_way_end_early_when_they_are_cut() -> None:
    brake = Brake()

    def pieces() -> Iterator[int]:
        yield 0
        brake.enough = True
        yield 1

    with run_pieces(job(until_stopped, cut=lambda: brake.spent), pieces(), brake, jobs=2) as results:
        assert list(results) == ["stopped early"] * 2


@pytest.mark.parametrize(("how", "says"), [("exits", "ended with exit code 3"), ("killed", "was killed by SIGKILL")])
def test_a_worker_that_dies_costs_one_piece_and_says_so(how: str, says: str) -> None:
    with run_pieces(job(partial(dies, how)), range(6), Brake(), jobs=2) as results:
        assert list(results) == [0, (1, f"a worker process {says}"), 2, 3, 4, 5]
    assert active_children() == []


def test_a_worker_that_cannot_start_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = types.ModuleType("a_module_of_this_process_alone")
    exec("def run(piece, stop): return piece", gone.__dict__)
    monkeypatch.setitem(sys.modules, gone.__name__, gone)
    with (
        run_pieces(job(gone.run), range(3), Brake(), jobs=2) as results,
        pytest.raises(AdapterError, match="a worker process could not start: it ended with exit code 1"),
    ):
        list(results)


def test_nothing_is_left_of_a_worker_that_had_to_be_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the process nor the folder in which it kept the files of a journal."""
    monkeypatch.setattr(workers, "GRACE_S", 0.0)
    marks = [tmp_path / "0", tmp_path / "1"]

    def raise_when_both_hang() -> bool:
        if all(mark.exists() and mark.read_text() for mark in marks):
            raise LookupError
        return False

    endless = job(partial(hangs_in_a_workspace, tmp_path), cut=raise_when_both_hang)
    with pytest.raises(LookupError), run_pieces(endless, range(2), Brake(), jobs=2) as results:
        next(results)
    assert active_children() == []
    assert not [mark for mark in marks if Path(mark.read_text()).exists()]


# --- the brake ---------------------------------------------------------------------------------


def test_the_first_press_ends_the_work_and_the_second_one_everything() -> None:
    times = iter([0.0, 1.0, 2.0])
    brake = Brake(clock=lambda: next(times))
    assert not brake.pressed
    brake.press(signal.SIGINT, None)
    assert brake.pressed
    assert brake.spent
    with pytest.raises(KeyboardInterrupt):
        brake.press(signal.SIGTERM, None)


def test_one_signal_that_arrives_twice_is_one_press() -> None:
    """``timeout`` sends SIGTERM to its command and then to the group that the command is in."""
    times = iter([0.0, 1.0, 1.001])
    brake = Brake(clock=lambda: next(times))
    brake.press(signal.SIGTERM, None)
    brake.press(signal.SIGTERM, None)
    assert brake.pressed


def test_a_brake_is_spent_when_the_time_is_over_or_after_so_many_failures() -> None:
    now = [0.0]
    timed = Brake(for_s=2.0, clock=lambda: now[0])
    assert not timed.spent
    now[0] = 2.5
    assert timed.spent
    counted = Brake(failures_max=2)
    counted.failures = 1
    assert not counted.spent
    counted.failures = 2
    assert counted.spent
    assert not counted.pressed


@pytest.mark.parametrize("number", workers.SIGNALS)
def test_signals_are_handled_for_the_length_of_the_block_alone(number: signal.Signals) -> None:
    before = {each: signal.getsignal(each) for each in workers.SIGNALS}
    brake = Brake()
    with brake.handling_signals():
        signal.raise_signal(number)
    assert brake.pressed
    assert {each: signal.getsignal(each) for each in workers.SIGNALS} == before


def test_a_brake_in_another_thread_leaves_signals_alone() -> None:
    seen = []

    def handle() -> None:
        with Brake().handling_signals():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=handle)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]
