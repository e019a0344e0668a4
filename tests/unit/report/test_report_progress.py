"""The progress bar: only for a person who waits, and never in the way."""

from __future__ import annotations

import io
import sys

import pytest

from journalsim.report.progress import progress


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def ticking(step: float) -> list[float]:
    return [n * step for n in range(100)]


def run(stream: io.StringIO, seconds_each: float, enabled: bool = True, name: str = "stop-[red]x[/red]") -> str:
    times = iter(ticking(seconds_each))
    with progress(3, enabled, stream=stream, clock=lambda: next(times)) as bar:
        bar.advance(name)
        bar.hide()
        bar.advance(name)
        bar.advance(name)
    return stream.getvalue()


def test_a_slow_run_on_a_terminal_shows_names_and_counts() -> None:
    shown = run(Terminal(), 1.5)
    assert "2/3" in shown
    assert "stop-[red]x[/red]" in shown


def test_a_quick_run_shows_nothing() -> None:
    assert run(Terminal(), 0.1) == ""


def test_nothing_is_shown_where_nobody_looks() -> None:
    assert run(io.StringIO(), 10.0) == ""
    assert run(Terminal(), 10.0, enabled=False) == ""


def test_names_cannot_control_the_terminal() -> None:
    shown = run(Terminal(), 10.0, name="evil\x1b]0;title\x07")
    assert "\x07" not in shown
    assert "evil\\x1b]0;" in shown


def test_standard_error_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    times = iter(ticking(10.0))
    with progress(1, clock=lambda: next(times)) as bar:
        bar.advance("first-stop")
    assert "first-stop" in terminal.getvalue()
