"""``journalsim explore`` without the printing: batches on one core or several, within a time or a number of cases."""

from __future__ import annotations

import contextlib
import itertools
import signal
import threading
import time  # real seconds: the user's own time budget and the wall-time line, never inside a case
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from multiprocessing.synchronize import Event as EventClass
from types import FrameType

from attrs import field, frozen

from journalsim.errors import Exit, worst
from journalsim.hosts.loading import LoadedAdapter, load_adapter
from journalsim.oracle.invariants.verdict import Status
from journalsim.search.bulk import BATCH, CASES_EACH, Book, search_batch
from journalsim.search.results import Failure, Tally
from journalsim.search.smallest import failure_of

LOOK_EVERY_S = 0.1  # how soon Ctrl-C and the end of the time are noticed while workers run
AHEAD = 2  # batches handed out per process: one to work on, one to begin with at once


@frozen(kw_only=True)
class Search:
    """What to search, and for how long.

    Attributes:
        adapter: as the user named it.
        seed: of the tapes.
        for_s: no batch is begun after so many real seconds; 0 for no limit.
        cases: the search ends with this case; 0 for no limit.
        jobs: processes.
        wire: some scenarios are watched over links that break.
        on_batch: told what is known, after each batch, in order.
        on_shrink: told which failure is made smaller next, from 1, and how many there are.
    """

    adapter: str = "ref"
    seed: int = 0
    for_s: float = 60.0
    cases: int = 0
    jobs: int = 1
    wire: bool = False
    on_batch: Callable[[Book], None] = field(default=lambda book: None)
    on_shrink: Callable[[int, int], None] = field(default=lambda number, total: None)


@frozen(kw_only=True)
class Exploration:
    """What a search found.

    Attributes:
        search: what was asked for.
        book: all cases together.
        failures: the smallest case of each broken promise, in the order in which the promises broke.
        interrupted: the user stopped it.
        wall_s: real seconds of the search, without making failures smaller.
    """

    search: Search
    book: Book
    failures: tuple[Failure, ...] = ()
    interrupted: bool = False
    wall_s: float = 0.0

    @property
    def tallies(self) -> dict[str, Tally]:
        """Per promise, how often it got each answer, sorted by id."""
        counts: dict[str, dict[str, int]] = {}
        for (name, status), times in self.book.answers.items():
            counts.setdefault(name, {})[status.value.replace(" ", "_")] = times
        return {name: Tally(**counts[name]) for name in sorted(counts)}

    @property
    def exit(self) -> Exit:
        """The exit code of the command."""
        codes = [Exit.HELD]
        if any(failure.deviation for failure in self.failures):
            codes.append(Exit.NONDETERMINISTIC)
        if self.failures:
            codes.append(Exit.BROKEN)
        if self.book.trouble:
            codes.append(Exit.ADAPTER)
        if not any(status is Status.HOLDS for _, status in self.book.answers):
            codes.append(Exit.INCONCLUSIVE)
        if self.interrupted:
            codes.append(Exit.INTERRUPTED)
        return worst(codes)


def explore(search: Search) -> Exploration:
    """Runs generated scenarios until the time or the cases are used up, then makes each failure small.

    Ctrl-C ends the search early and keeps what was found; a second one ends everything.

    Raises:
        UsageError, AdapterError: nothing could be run.
    """
    adapter = load_adapter(search.adapter)  # a bad name is an error before anything runs
    brake = _Brake(search)
    book = Book()
    began = time.perf_counter()
    with brake.handling_interrupts():
        for part in _in_processes(search, brake) if search.jobs > 1 else _in_line(search, brake):
            book.merge(part)
            search.on_batch(book)
            brake.enough = brake.enough or book.hopeless
        wall_s = time.perf_counter() - began
        failures = tuple(_failures(search, adapter, book, brake))
    return Exploration(search=search, book=book, failures=failures, interrupted=brake.pressed, wall_s=wall_s)


def _failures(search: Search, adapter: LoadedAdapter, book: Book, brake: _Brake) -> Iterator[Failure]:
    """Yields the failures, each made small; Ctrl-C in here leaves the rest as large as they are."""
    before = brake.pressed
    found = sorted(book.found.values(), key=lambda one: one.number)
    for number, one in enumerate(found, start=1):
        search.on_shrink(number, len(found))
        yield failure_of(adapter, one, stop=lambda: brake.pressed and not before)


class _Brake:
    """Says when to stop: the user pressed Ctrl-C, the time is over, or going on is pointless."""

    def __init__(self, search: Search) -> None:
        self.pressed = False
        self.enough = False
        self._for_s = search.for_s
        self._began = time.monotonic()

    @property
    def spent(self) -> bool:
        """Whether no further case may begin."""
        over_time = self._for_s and time.monotonic() - self._began > self._for_s
        return bool(self.pressed or self.enough or over_time)

    def press(self, signum: int, frame: FrameType | None) -> None:
        """Handles Ctrl-C."""
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True

    @contextlib.contextmanager
    def handling_interrupts(self) -> Iterator[None]:
        """Notices Ctrl-C for as long as the block lasts, where this thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        saved = signal.signal(signal.SIGINT, self.press)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, saved)


def _batches(cases: int) -> Iterator[tuple[int, int]]:
    """Yields batches: their number, and how many cases each may run at most."""
    for batch in itertools.count():
        left = cases - batch * BATCH * CASES_EACH if cases else BATCH * CASES_EACH
        if left <= 0:
            return
        yield batch, left


def _in_line(search: Search, brake: _Brake) -> Iterator[Book]:
    adapter = load_adapter(search.adapter)
    for batch, cases in _batches(search.cases):
        if brake.spent:
            return
        yield search_batch(adapter, search.seed, batch, cases=cases, stop=lambda: brake.spent, wire=search.wire)


def _in_processes(search: Search, brake: _Brake) -> Iterator[Book]:
    context = get_context("spawn")
    over = context.Event()
    pool = ProcessPoolExecutor(search.jobs, mp_context=context, initializer=_begin, initargs=(over,))
    try:
        waiting = _batches(search.cases)
        running: deque[Future[Book]] = deque()
        while True:
            while len(running) < AHEAD * search.jobs and not brake.spent and (batch := next(waiting, None)):
                running.append(pool.submit(_one, search.adapter, search.seed, search.wire, *batch))
            if not running:
                return
            while not running[0].done():
                wait([running[0]], timeout=LOOK_EVERY_S)
                if brake.spent:
                    over.set()
            yield running.popleft().result()
    finally:
        over.set()
        pool.shutdown(cancel_futures=True)


_OVER: list[EventClass] = []  # of a worker process: set when the search ends early


def _begin(over: EventClass) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _OVER.append(over)


def _one(adapter: str, seed: int, wire: bool, batch: int, cases: int) -> Book:
    return search_batch(load_adapter(adapter), seed, batch, cases=cases, stop=_OVER[0].is_set, wire=wire)
