"""Pieces of work in this process or in several, in order, until they are done or somebody ends them.

One module for every command that runs for long.  A :class:`Brake` knows when no further
piece may begin: the user pressed Ctrl-C, a limit is reached, or going on is pointless.
:func:`run_pieces` hands the pieces out.

Each worker process has one pipe.  It takes a piece from it, works, and answers.  Whatever
arrives while it works means that it should stop, and so does the end of the pipe: a parent
that was killed leaves no workers behind, because they are the only other holders of their pipes.
"""

from __future__ import annotations

import contextlib
import itertools
import pickle
import signal
import threading
import time  # real seconds: the user's own time budget and patience, never inside a case
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import FrameType, TracebackType
from typing import Any, Generic, TypeVar

from attrs import define, field, frozen

from journalsim.errors import AdapterError
from journalsim.search.execute import remove_workspaces

LOOK_EVERY_S = 0.1  # how soon Ctrl-C and the end of the time are noticed while workers run
AHEAD = 2  # pieces per process that may be done or under way before the next result in order
AGAIN_AFTER_S = (
    0.5  # ``timeout`` and wrappers deliver one signal twice within microseconds; nobody presses twice so fast
)
GRACE_S = 2.0  # for a worker to finish the case at hand; a case takes milliseconds
SIGNALS = (signal.SIGINT, signal.SIGTERM)

P = TypeVar("P")
R = TypeVar("R")
Stop = Callable[[], bool]


class Brake:
    """Says when no further piece of work may begin.

    The first Ctrl-C, or SIGTERM, ends the work after the case at hand and keeps what is known;
    the second one ends everything at once.

    Args:
        for_s: no piece begins after so many real seconds; 0 for no limit.
        failures_max: no piece begins after so many failures; 0 for no limit.
        clock: real time, in seconds.
    """

    def __init__(
        self, *, for_s: float = 0.0, failures_max: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.failures = 0
        self.enough = False
        self._for_s = for_s
        self._failures_max = failures_max
        self._clock = clock
        self._began = clock()
        self._pressed_at: float | None = None

    @property
    def pressed(self) -> bool:
        """Whether the user asked for the end."""
        return self._pressed_at is not None

    @property
    def spent(self) -> bool:
        """Whether no further piece may begin."""
        over_time = self._for_s and self._clock() - self._began > self._for_s
        over_failures = self._failures_max and self.failures >= self._failures_max
        return bool(self.pressed or self.enough or over_time or over_failures)

    def press(self, signum: int, frame: FrameType | None) -> None:
        """Handles Ctrl-C and SIGTERM.

        Raises:
            KeyboardInterrupt: the user asks for the second time.
        """
        if self._pressed_at is None:
            self._pressed_at = self._clock()
        elif self._clock() - self._pressed_at > AGAIN_AFTER_S:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def handling_signals(self) -> Iterator[None]:
        """Notices Ctrl-C and SIGTERM for as long as the block lasts, where this thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        saved = {number: signal.signal(number, self.press) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in saved.items():
                signal.signal(number, handler)


@frozen(kw_only=True)
class Job(Generic[P, R]):
    """What is done with each piece.

    Attributes:
        run: works on a piece; the second argument says between cases whether to end early. It is pickled.
        cut: whether pieces under way are to end early.
        lost: makes the result of a piece whose process died, from the piece and what happened.
    """

    run: Callable[[P, Stop], R]
    cut: Stop
    lost: Callable[[P, str], R]


@contextlib.contextmanager
def run_pieces(job: Job[P, R], pieces: Iterable[P], brake: Brake, jobs: int = 1) -> Iterator[Iterator[R]]:
    """Yields the results in the order of the pieces; no worker process is left when the block ends.

    Args:
        job: what is done with each piece.
        pieces: taken one by one as processes are free.
        brake: ends it early.
        jobs: processes; with 1 everything happens in this one.

    Raises:
        AdapterError: a worker process could not even start.
    """
    if jobs == 1:
        yield _in_line(job, pieces, brake)
        return
    with _Crew(job.run) as crew:
        yield _in_processes(job, pieces, brake, jobs, crew)


def _in_line(job: Job[P, R], pieces: Iterable[P], brake: Brake) -> Iterator[R]:
    for piece in pieces:
        if brake.spent:
            return
        yield job.run(piece, job.cut)


def _in_processes(job: Job[P, R], pieces: Iterable[P], brake: Brake, jobs: int, crew: _Crew[P, R]) -> Iterator[R]:
    waiting = enumerate(pieces)
    done: dict[int, R | _Raised] = {}
    for turn in itertools.count():
        while turn not in done:
            if job.cut():
                crew.stop()
            room = min(jobs - len(crew.busy), AHEAD * jobs - len(crew.busy) - len(done))
            for number, piece in itertools.islice(waiting, 0 if brake.spent or crew.stopped else room):
                crew.begin(number, piece)
            if not crew.busy:
                return
            for worker in crew.finished():
                number, piece = worker.task
                done[number] = worker.answer if worker.lives else job.lost(piece, worker.death)
        result = done.pop(turn)
        if isinstance(result, _Raised):
            raise result.error
        yield result


# --- processes ---------------------------------------------------------------------------------


@frozen
class _Raised:
    """What a piece raised, in a form that a pipe takes."""

    error: BaseException


@define(eq=False, slots=False)
class _Worker(Generic[P, R]):
    """A process, as its parent sees it.

    Attributes:
        process: itself.
        pipe: the parent's end.
        task: number and piece of what it works on, or worked on last.
        ready: it said that it started.
        lives: it was not seen to have died.
        answer: what came of the task, once it is finished.
    """

    process: SpawnProcess
    pipe: Connection
    task: tuple[int, P]
    ready: bool = False
    lives: bool = True
    answer: R | _Raised = field(init=False)

    def give(self) -> None:
        """Sends the task."""
        with contextlib.suppress(OSError):  # it died; whoever waits for the answer learns of it
            self.pipe.send((self.task[1],))

    def send_home(self) -> None:
        """Lets the process end after the case at hand."""
        with contextlib.suppress(OSError):  # it is gone already
            self.pipe.send(None)

    def heard(self) -> bool:
        """Returns whether it finished its task, or died, once there is something to receive."""
        try:
            answer = self.pipe.recv()
        except (EOFError, OSError):
            self.lives = False
            self.end(GRACE_S)
            if not self.ready:
                raise AdapterError(f"a worker process could not start: it {_ending(self.process.exitcode)}") from None
            return True
        started, self.ready, self.answer = self.ready, True, answer
        return started

    def end(self, grace_s: float) -> None:
        """Waits for the process to end, kills it if it takes too long, and removes the files that it left."""
        self.process.join(grace_s)
        self.process.kill()
        self.process.join()
        self.pipe.close()
        assert self.process.pid is not None, "it was started"
        remove_workspaces(self.process.pid)

    @property
    def death(self) -> str:
        """How the process died, as a sentence without its full stop."""
        return f"a worker process {_ending(self.process.exitcode)}"


class _Crew(Generic[P, R]):
    """The worker processes of one block; they begin as they are needed and end with it."""

    def __init__(self, run: Callable[[P, Stop], R]) -> None:
        self.busy: list[_Worker[P, R]] = []
        self._run = run
        self._idle: list[_Worker[P, R]] = []
        self.stopped = False
        self._context = get_context("spawn")  # a copy of this process would hold its locks and its pipes

    def begin(self, number: int, piece: P) -> None:
        """Gives a piece to an idle worker, or to a new one."""
        if self._idle:
            worker = self._idle.pop()
            worker.task = (number, piece)
        else:
            ours, theirs = self._context.Pipe()
            process = self._context.Process(target=_serve, args=(theirs, self._run))
            with _signals_kept_waiting():
                process.start()
            theirs.close()
            worker = _Worker(process, ours, (number, piece))
        self.busy.append(worker)
        worker.give()

    def finished(self) -> Iterator[_Worker[P, R]]:
        """Waits a little, and yields the workers that finished their pieces or died."""
        ready = wait([worker.pipe for worker in self.busy], timeout=LOOK_EVERY_S)
        for worker in [worker for worker in self.busy if worker.pipe in ready]:
            if worker.heard():
                self.busy.remove(worker)
                self._idle += [worker] if worker.lives else []
                yield worker

    def stop(self) -> None:
        """Lets every process end after the case at hand."""
        if not self.stopped:
            self.stopped = True
            for worker in (*self.busy, *self._idle):
                worker.send_home()

    def __enter__(self) -> _Crew[P, R]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        workers = [*self.busy, *self._idle]
        until = time.monotonic() + (0.0 if kind is KeyboardInterrupt else GRACE_S)
        try:
            self.stop()
            for worker in workers:
                worker.process.join(max(0.0, until - time.monotonic()))
        finally:  # even if the user presses Ctrl-C once more
            for worker in workers:
                worker.end(0.0)


@contextlib.contextmanager
def _signals_kept_waiting() -> Iterator[None]:
    """Blocks our signals for the block, and in processes that are started in it until they say otherwise.

    A terminal and ``timeout`` send them to all processes of a group, also to one that cannot ignore them yet.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # the helper of multiprocessing, which would let our signals in again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ending(code: int | None) -> str:
    if code is None or code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


# --- inside a worker process -------------------------------------------------------------------


def _serve(pipe: Connection, run: Callable[[Any, Stop], Any]) -> None:
    """Works on one piece after the other until the parent sends None or is gone."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # a terminal sends Ctrl-C to all processes; the parent decides
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    with contextlib.suppress(EOFError, OSError):
        pipe.send(None)
        while (task := pipe.recv()) is not None:
            pipe.send_bytes(_answer(run, task[0], pipe.poll))


def _answer(run: Callable[[Any, Stop], Any], piece: Any, stop: Stop) -> bytes:
    """Returns the pickled result, or what was raised instead."""
    try:
        return pickle.dumps(run(piece, stop))
    except BaseException as error:
        error.add_note(f"in a worker process:\n{''.join(traceback.format_exception(error)).rstrip()}")
        return _pickled(error)


def _pickled(error: BaseException) -> bytes:
    try:
        data = pickle.dumps(_Raised(error))
        pickle.loads(data)  # many exceptions go into a pickle and do not come out again
    except Exception:
        return pickle.dumps(_Raised(RuntimeError("\n".join([f"{type(error).__name__}: {error}", *error.__notes__]))))
    return data
