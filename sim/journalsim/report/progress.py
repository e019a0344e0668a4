"""A progress bar for a person who waits: on a terminal, and only when it takes a while.

It writes to standard error, never to standard output, and leaves nothing behind.  What
a run *prints* does not depend on it, and neither does what a run *does*: this is the one
place of the reports that looks at a real clock.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from journalsim.report.escape import elide

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_S = 2.0  # a bar that flashes by only distracts
NAME_COLUMNS = 40


class Bar:
    """Counts scenarios; shows nothing unless it is live and :data:`PATIENCE_S` have passed."""

    def __init__(self, total: int, stream: TextIO, clock: Callable[[], float], *, live: bool) -> None:
        self._total = total
        self._done = 0
        self._stream = stream
        self._clock = clock
        self._live = live
        self._since = clock() if live else 0.0
        self._shown: Progress | None = None

    def advance(self, name: str) -> None:
        """Notes that one more scenario is done; ``name`` is shown beside the bar."""
        self._done += 1
        if self._live and self._clock() - self._since >= PATIENCE_S:
            self._show(elide(name, NAME_COLUMNS))

    def hide(self) -> None:
        """Takes the bar off the screen, so that a line can be printed; the next ``advance`` shows it again."""
        if self._shown is not None:
            self._shown.stop()
            self._shown = None

    def _show(self, name: str) -> None:
        if self._shown is None:
            self._shown = _new_progress(self._stream)
            self._shown.add_task(name, total=self._total)
            self._shown.start()
        self._shown.update(self._shown.task_ids[0], completed=self._done, description=name)
        self._shown.refresh()


@contextmanager
def progress(
    total: int,
    enabled: bool = True,
    *,
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Bar]:
    """Shows how far a run is, for as long as the block lasts.

    Args:
        total: scenarios to run.
        enabled: False makes every call do nothing, as does a stream that is not a terminal.
        stream: where to draw; standard error by default.
        clock: real seconds.

    Yields:
        The bar, to be advanced.
    """
    stream = sys.stderr if stream is None else stream
    bar = Bar(total, stream, clock, live=enabled and stream.isatty())
    try:
        yield bar
    finally:
        bar.hide()


def _new_progress(stream: TextIO) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    # No refresh thread, and no redirection: standard output belongs to the report.
    return Progress(
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(file=stream),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
