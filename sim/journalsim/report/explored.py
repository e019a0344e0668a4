"""The output of ``journalsim explore``: invariants as they are violated, then each with its smallest scenario."""

from __future__ import annotations

import time  # real seconds, for the line that a person watches
from collections.abc import Callable
from typing import TextIO

from journalsim.report.about import About
from journalsim.report.escape import elide, inert
from journalsim.report.text import ADAPTER_ERROR, PATH_MAX, failure_text, help_lines, invariant_table
from journalsim.report.words import count
from journalsim.scenario.dump import dump_scenario
from journalsim.search.bulk import Book
from journalsim.search.exploration import Exploration, Search
from journalsim.search.results import Failure

REDRAW_EVERY_S = 0.5


def header(search: Search, version: str) -> str:
    """Returns the first line."""
    limits = [f"for {search.for_s:g} s"] if search.for_s else []
    limits += [f"for {count(search.cases, 'case')}"] if search.cases else []
    named = elide(search.adapter, PATH_MAX)
    return inert(f"journalsim {version}  seed {search.seed}  explore {' or '.join(limits)}  adapter {named}")


def explored_failure(failure: Failure, about: About) -> str:
    """Returns everything about one violated invariant, its smallest scenario last."""
    text = dump_scenario(failure.scenario)
    yaml = [
        "",
        "  the smallest scenario that was found",
        *(f"    {inert(line)}".rstrip() for line in text.splitlines()),
    ]
    return "\n".join([failure_text(failure, about), *yaml])


def explored_summary(result: Exploration) -> str:
    """Returns the end: invariants, adapter errors, the wall time, and the counts with the exit code."""
    book = result.book
    lines = invariant_table(result.tallies)
    if book.trouble:
        errors = (f"  {what} ({count(times, 'case')})" for what, times in book.trouble.items())
        lines += ["", ADAPTER_ERROR, *(elide(line, PATH_MAX) for line in errors), *help_lines(result.search.adapter)]
    lines += ["", "partial: stopped by the user"] if result.interrupted else [""]
    lines.append(f"wall time {result.wall_s:.2f} s, {book.cases / max(result.wall_s, 1e-9):.0f} cases/s")
    ran = f"{count(book.scenarios, 'generated scenario')}, {count(book.cases, 'case')}"
    lines.append(f"{ran}: {_outcome(result)}  exit {int(result.exit)}")
    return inert("\n".join(lines))


def _outcome(result: Exploration) -> str:
    broken = len(result.failures)
    return f"{count(broken, 'invariant')} violated in {count(result.book.failed, 'case')}" if broken else "all held"


class Watcher:
    """Prints each invariant when it is first violated, and on a terminal how the search goes.

    Args:
        say: prints a line of the output.
        stream: where the one line about progress is drawn, if it is a terminal.
        clock: real seconds.
    """

    def __init__(
        self, say: Callable[[str], object], stream: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say = say
        self._said: dict[str, None] = {}
        self._stream = stream
        self._clock = clock
        self._live = stream.isatty()
        self._began = clock() if self._live else 0.0
        self._drawn = self._began
        self._shown = False

    def look(self, book: Book) -> None:
        """Looks at the results so far, after one more batch."""
        for invariant, found in sorted(book.found.items(), key=lambda item: item[1].number):
            if invariant not in self._said:
                self.hide()
                self._said[invariant] = None
                self._say(f"{invariant} violated in case {found.number}")
        self._draw(book)

    def _draw(self, book: Book) -> None:
        if not self._live or self._clock() - self._drawn < REDRAW_EVERY_S:
            return
        self._drawn = self._clock()
        seconds = self._drawn - self._began
        text = f"{seconds:.0f} s  {count(book.cases, 'case')}  {book.cases / seconds:.0f} cases/s"
        broken = f"  {count(len(book.found), 'invariant')} violated" if book.found else ""
        self._write(text + broken)
        self._shown = True

    def shrink(self, number: int, total: int) -> None:
        """Shows which failure is being made smaller."""
        if self._live:
            self._write(f"making failure {number} of {total} smaller")
            self._shown = True

    def hide(self) -> None:
        """Takes the line off the screen."""
        if self._shown:
            self._write("")
            self._shown = False

    def _write(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}")
        self._stream.flush()
