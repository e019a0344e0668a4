"""Problems of a file, rendered so that its author can correct it.

Every problem has a stable code, a place, one sentence, a note beside the caret
and, where there is one, a next step.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

from attrs import frozen

from journalsim.errors import UsageError

SOURCE_COLUMNS_MAX = 120  # of a source line, around the caret: more wraps in every terminal
QUOTED_MAX = 40  # characters of the author's text within a message: enough to recognise it


@frozen(kw_only=True)
class Problem:
    """One thing that is wrong with a file.

    Attributes:
        code: stable name of the kind of problem.
        message: what is wrong, one line.
        path: the file, as the user gave it.
        line: from 1; 0 when the problem has no place in the file.
        column: in characters, from 1; 0 when only the line is known.
        length: how many characters to underline.
        source_line: the text of the line.
        note: what would be right; stands beside the caret.
        help: a next step.
        severity: an ``error`` keeps the scenario from running.
    """

    code: str
    message: str
    path: str
    line: int = 0
    column: int = 0
    length: int = 1
    source_line: str = ""
    note: str = ""
    help: str = ""
    severity: Literal["error", "warning"] = "error"


class ScenarioError(UsageError):
    """Scenario files have problems; ``problems`` holds all of them."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(render(self.problems))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[tuple[Problem, ...]]]:
        """Pickles the problems, not their text."""
        return type(self), (self.problems,)


def render(problems: Iterable[Problem]) -> str:
    """Returns the problems as text for a terminal, ending with a line of counts."""
    problems = tuple(problems)
    blocks = [_block(problem) for problem in problems]
    errors = sum(problem.severity == "error" for problem in problems)
    files = len({problem.path for problem in problems})
    counts = f"{_count(errors, 'error')}, {_count(len(problems) - errors, 'warning')} in {_count(files, 'file')}"
    return "\n".join([*blocks, f"{counts} (nothing was run)"])


def _block(problem: Problem) -> str:
    margin = " " * len(str(problem.line)) if problem.line else " "
    place = ":".join([problem.path, *(str(number) for number in (problem.line, problem.column) if number)])
    lines = [f"{problem.severity}[{problem.code}]: {problem.message}", f"{margin}--> {place}"]
    if problem.column:
        shown, caret = _excerpt(problem)
        lines += [f"{margin} |", f"{problem.line} | {shown}".rstrip(), f"{margin} | {caret} {problem.note}".rstrip()]
    if problem.help:
        lines.append(f"{margin} = help: {problem.help}")
    return "\n".join(lines)


def _excerpt(problem: Problem) -> tuple[str, str]:
    """Returns the part of the source line around the problem, and the carets that go below it."""
    start = problem.column - 1
    first = max(0, start - SOURCE_COLUMNS_MAX // 2) if len(problem.source_line) > SOURCE_COLUMNS_MAX else 0
    part = problem.source_line[first : first + SOURCE_COLUMNS_MAX]
    before = part[: start - first]
    marked = part[start - first : start - first + problem.length]
    carets = "^" * max(1, _columns(marked))
    return printable(part), " " * _columns(before) + carets


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def printable(text: str) -> str:
    """Returns the text with every control character replaced; its length stays the same."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def quoted(text: str) -> str:
    """Returns the author's text in double quotes, short and safe for a terminal."""
    short = text if len(text) <= QUOTED_MAX else text[:QUOTED_MAX] + "…"
    return json.dumps(printable(short), ensure_ascii=False)


def listed(words: Sequence[str]) -> str:
    """Returns the words as ``a, b or c``."""
    return " or ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)
