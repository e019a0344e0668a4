"""One reading of one file: the problems found so far, the names defined and the names used.

Shapes report here instead of raising, so that all problems of a file come out
at once.  A shape that names something records the name, and one that refers to
something records the reference; :mod:`journalsim.scenario.words.crosschecks` joins them
when the whole file has been read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Literal

from attrs import field, frozen, mutable

from journalsim.scenario.shapes.nodes import Span
from journalsim.scenario.shapes.problems import Problem, did_you_mean
from journalsim.scenario.values.speech import Turn

PROBLEMS_MAX = 100  # more than anybody reads; a file of another kind would have one per line

_ALWAYS = {"model": "llm", "server": "server", "maintenance": "maintenance", "clock": "clock"}
_NOUNS = {"call": "id of a tool call", "text": "label of a text", "step label": "label of a step"}


class Bad(Enum):
    """The only value is :data:`BAD`."""

    BAD = "bad"


BAD = Bad.BAD
"""What a shape returns for a node that it reported as wrong."""


class TooManyProblems(Exception):
    """The reading ends early; the problems so far stand."""


@frozen(kw_only=True)
class Reference:
    """A name used.

    Attributes:
        kind: what it names: ``client``, ``axis``, ``label``, ``send``, ``text``, ``call``, ``message`` …
        name: the name.
        at: where.
        step: the step that uses it, from 1; 0 outside of steps.
        axis: the sweep axis that uses it, if one does.
    """

    kind: str
    name: str
    at: Span
    step: int = 0
    axis: str = ""


@frozen(kw_only=True)
class StepLabel:
    """The label of a step, as far as it could be read."""

    name: str
    step: int
    verb: str


@mutable(kw_only=True)
class Reading:
    """What is known while a file is read."""

    path: str
    lines: Sequence[str]
    known_invariants: frozenset[str] | None = None
    problems: list[Problem] = field(factory=list)
    definitions: dict[tuple[str, str], Span] = field(factory=dict)
    references: list[Reference] = field(factory=list)
    actors: dict[str, str] = field(factory=lambda: dict(_ALWAYS))
    actors_known: bool = True
    turns: list[Turn | Bad] | None = field(factory=list)
    labels: list[StepLabel] = field(factory=list)
    step: int = 0
    axis: str = ""

    def error(
        self,
        code: str,
        at: Span,
        message: str,
        *,
        note: str = "",
        help: str = "",
        near: Iterable[str] = (),
        word: str = "",
    ) -> Literal[Bad.BAD]:
        """Reports a problem, once per place and code.

        Args:
            code: a key of :data:`journalsim.scenario.shapes.problems.CODES`.
            at: where.
            message: what is wrong.
            note: what stands beside the caret.
            help: a next step; without it, the word of ``near`` that is nearest to ``word``.
            near: words that may have been meant.
            word: what the author wrote.
        """
        problem = Problem(
            code=code,
            message=message,
            path=self.path,
            line=at.line,
            column=at.column,
            length=at.length,
            source_line="".join(self.lines[max(0, at.line - 1) : at.line]),
            note=note,
            help=help or did_you_mean(word, near),
        )
        if problem not in self.problems:
            self.problems.append(problem)
        if len(self.problems) >= PROBLEMS_MAX:
            self.problems.append(
                Problem(
                    code="E014", message=f"more than {PROBLEMS_MAX - 1} problems: is this a scenario?", path=self.path
                )
            )
            raise TooManyProblems
        return Bad.BAD

    def define(self, kind: str, name: str, at: Span, code: str = "E212") -> None:
        """Records a name; giving it twice is a problem."""
        earlier = self.definitions.get((kind, name))
        if earlier is not None:
            self.error(
                code, at, f'the {_NOUNS.get(kind, kind)} "{name}" is given twice', note=f"first on line {earlier.line}"
            )
        self.definitions[kind, name] = at

    def refer(self, kind: str, name: str, at: Span) -> None:
        """Records the use of a name."""
        self.references.append(Reference(kind=kind, name=name, at=at, step=self.step, axis=self.axis))

    def defines(self, kind: str, name: str) -> bool:
        """Tells whether a name is defined."""
        return (kind, name) in self.definitions

    def names(self, kind: str) -> list[str]:
        """Returns the names of a kind that are defined, in order."""
        return [name for of, name in self.definitions if of == kind]

    def ordered(self) -> list[Problem]:
        """Returns the problems in the order of the file."""
        return sorted(
            self.problems, key=lambda problem: (problem.line == 0, problem.line, problem.column, problem.code)
        )
