"""What is wrong with a scenario file, said so that its author can mend it.

Every problem has a stable code, a place, one sentence, a note beside the caret
and, where there is one, a next step.  The codes are documented in :data:`CODES`.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Literal

from attrs import frozen

from journalsim.errors import UsageError

CODES: Mapping[str, str] = {
    # the file and its YAML
    "E001": "the file or folder cannot be read",
    "E002": "the file is too large",
    "E003": "the file is not UTF-8, or holds a character that YAML does not allow",
    "E004": "the file is empty",
    "E005": "the YAML has a syntax error",
    "E006": "lists and mappings are nested too deeply",
    "E007": "aliases repeat too much of the file",
    "E008": "YAML tags are not used in scenarios",
    "E009": "a file holds exactly one document",
    "E010": "a key is given twice",
    "E011": "merge keys are not used in scenarios",
    "E012": "an alias names no earlier anchor",
    "E013": "a key is not a plain word",
    "E014": "there are too many problems to show",
    "E015": "a folder holds no scenarios",
    "E016": "a comment has no place in the canonical form",
    # values
    "E020": "a value is of the wrong kind",
    "E021": "a time needs a unit",
    "E022": "a time cannot be read, or is out of range",
    "E023": "a number cannot be read, or is out of range",
    "E024": "a text needs quotes",
    "E025": "a value is none of the allowed words",
    "E026": "a point or placement cannot be read",
    "E027": "a name is not well formed, or is taken",
    "E028": "the version of the language is not known",
    "E029": "something is empty that must not be",
    "E030": "a key is missing",
    "E031": "keys exclude one another",
    "E032": "something is too long",
    # unknown words
    "E101": "a key is not known",
    "E102": "an actor is not known",
    "E103": "an action is not known",
    "E104": "an expectation is not known",
    "E105": "a capability is not known",
    "E106": "a policy is not known",
    "E107": "an invariant is not known",
    "E108": "a step is not written as actor.action",
    # references within the file
    "E201": "an axis is not in the sweep",
    "E202": "an axis of the sweep is not used",
    "E203": "no earlier step has the label",
    "E204": "no text has the label",
    "E205": "a tool call's id is used twice",
    "E206": "a tool call is not in the model's script",
    "E207": "clients observe each other in a circle",
    "E208": "the sweep has more cases than its limit",
    "E209": "a turn, message, chunk or run is not in the script",
    "E210": "a scenario has no steps",
    "E211": "a turn of the model ends not at all, or too early",
    "E212": "a label is given twice",
    "E213": "an axis of the sweep is used as something else than it sweeps",
}
"""Every code and what it means."""

SOURCE_COLUMNS_MAX = 120  # of a source line, around the caret: more wraps in every terminal
QUOTED_MAX = 40  # characters of the author's text within a message: enough to recognise it


@frozen(kw_only=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        code: a key of :data:`CODES`.
        message: what is wrong, one line.
        path: the file, as the user gave it.
        line: from 1; 0 when the problem has no place in the file.
        column: in characters, from 1; 0 when only the line is known.
        length: how many characters to underline.
        source_line: the text of the line.
        note: what stands beside the caret: what would be right.
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
        """Crosses between processes as its problems, not as its text."""
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
    """Returns the part of the source line that matters, and the carets that go below it."""
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
    """Returns the text with everything that a terminal would obey replaced; one character stays one."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def quoted(text: str) -> str:
    """Returns the author's text in double quotes, short and safe for a terminal."""
    short = text if len(text) <= QUOTED_MAX else text[:QUOTED_MAX] + "…"
    return json.dumps(printable(short), ensure_ascii=False)


OTHER_WORDS: Mapping[str, tuple[str, ...]] = {
    # what other tools and systems call it; a word of ours that does not fit where it stands is no match
    "interrupt": ("stop", "interrupted"),
    "cancel": ("stop", "stopped"),
    "abort": ("stop", "stopped"),
    "stopped": ("interrupted",),
    "cancelled": ("interrupted", "stopped"),
    "canceled": ("interrupted", "stopped"),
    "partial": ("interrupted", "open"),
    "done": ("completed",),
    "success": ("completed",),
    "error": ("failed",),
    "kill": ("crash",),
    "refresh": ("reload",),
    "retry": ("resubmit",),
    "disconnect": ("detach",),
    "reconnect": ("attach",),
    "timeout": ("timed_out",),
}


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Returns the known word that was probably meant, if one is near or means the same elsewhere."""
    words = sorted(known)
    found = [ours for ours in OTHER_WORDS.get(word, ()) if ours in words]
    found += get_close_matches(word[:QUOTED_MAX], words, n=1)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns a help text with the nearest known word, or nothing."""
    near = nearest(word, known)
    return f"did you mean {quoted(near)}?" if near else ""


def listed(words: Sequence[str]) -> str:
    """Returns the words as ``a, b or c``."""
    return " or ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)
