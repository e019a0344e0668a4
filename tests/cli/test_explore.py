"""``journalsim explore``: what it prints, what it saves, and how it ends."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from command_line import Command

from journalsim.report.explored import Watcher
from journalsim.search.bulk import Book

BUG = "ref:bug-stop-keeps-no-partial"


@pytest.fixture
def saved(journalsim: Command, here: Path) -> str:
    """The id of a case that the search found and saved."""
    journalsim("explore", "-a", BUG, "--cases", "36")
    (path,) = (here / ".journalsim" / "failures").iterdir()
    return path.stem


def without_wall_time(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith("wall time")]


def test_a_journal_that_holds_is_exit_0(journalsim: Command) -> None:
    done = journalsim("explore", "-a", "ref:memory", "--cases", "24")
    assert (done.code, done.err) == (0, "")
    assert done.lines[0] == "journalsim 0.1.0  seed 0  explore for 24 cases  adapter ref:memory"
    assert done.lines[-1] == "2 generated scenarios, 24 cases: all held  exit 0"
    assert re.fullmatch(r"wall time \d+\.\d\d s, \d+ cases/s", done.lines[-2])


def test_a_broken_promise_is_shown_with_its_smallest_scenario(journalsim: Command, here: Path) -> None:
    done = journalsim("explore", "-a", BUG, "--cases", "36")
    assert done.code == 1
    assert re.fullmatch(r"partial-is-prefix violated in case \d+", done.lines[1])
    assert "FAILED  partial-is-prefix" in done.out
    _, _, yaml = done.out.partition("  the smallest scenario that was found\n")
    text = "\n".join(line[4:] for line in yaml.split("\n\n")[0].splitlines())
    (here / "found.race.yaml").write_text(text + "\n", encoding="utf-8")
    again = journalsim("run", "found.race.yaml", "-a", BUG)
    assert "FAILED  partial-is-prefix" in again.out


def test_one_seed_gives_one_output(journalsim: Command) -> None:
    first = journalsim("explore", "-a", BUG, "--cases", "36", "--seed", "3")
    second = journalsim("explore", "-a", BUG, "--cases", "36", "--seed", "3", "-j", "2")
    assert without_wall_time(first.lines) == without_wall_time(second.lines)


def test_what_was_found_is_replayed_shown_and_pinned(journalsim: Command, saved: str) -> None:
    replayed = journalsim("replay", saved)
    assert (replayed.code, replayed.lines[-1]) == (1, "REPRODUCED: the same trace, event for event")
    assert "run1 ended: interrupted" in journalsim("show", saved).out
    assert journalsim("pin", saved, "-o", "kept.race.yaml").code == 0
    assert journalsim("run", "kept.race.yaml", "-a", BUG).code == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--for", "60"), "needs a unit: 90s, 5m or 1h"),
        (("--for", "0s"), "leaves no time for a single case"),
        (("--cases", "0"), "0 is not in the range"),
        (("-a", "rev"), "unknown adapter 'rev'"),
    ],
)
def test_arguments_that_make_no_sense_are_exit_2(journalsim: Command, arguments: tuple[str, ...], says: str) -> None:
    done = journalsim("explore", *arguments)
    assert done.code == 2
    assert done.out == ""
    assert says in done.err


def test_an_adapter_that_cannot_start_is_exit_6(journalsim: Command) -> None:
    done = journalsim("explore", "-a", "python:tests.adapters.broken:RaisesOnOpen", "--cases", "24")
    assert done.code == 6
    assert "  setup: OSError: no such database (24 cases)" in done.lines


# --- a person at a terminal --------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_how_the_search_goes() -> None:
    times = iter([0.0, 0.1, 2.0, 2.0])
    stream, said = Terminal(), list[str]()
    watcher = Watcher(said.append, stream, lambda: next(times))
    watcher.look(Book(cases=10))
    assert stream.getvalue() == ""
    watcher.look(Book(cases=300))
    assert stream.getvalue() == "\r\x1b[K2 s  300 cases  150 cases/s"
    watcher.shrink(1, 3)
    assert stream.getvalue().endswith("\r\x1b[Kmaking failure 1 of 3 smaller")
    watcher.hide()
    assert stream.getvalue().endswith("\r\x1b[K")
    assert said == []


def test_anything_but_a_terminal_sees_no_progress() -> None:
    stream = io.StringIO()
    watcher = Watcher(lambda line: None, stream)
    watcher.look(Book(cases=300))
    watcher.hide()
    assert stream.getvalue() == ""
