"""One reading of one file: the problems found so far, the names defined and the names used.

Shapes report here instead of raising, so that all problems of a file come out
at once.  A shape that names something records the name, and one that refers to
something records the reference; a language joins them when the whole file has
been read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Final, Literal

from attrs import field, frozen, mutable

from journalsim.scenario.shapes.near_words import did_you_mean
from journalsim.scenario.shapes.nodes import Path, Span
from journalsim.scenario.shapes.problems import Problem

PROBLEMS_MAX = 100  # more than anybody reads; a file of another kind would have one per line


class Bad(Enum):
    """The type of :data:`BAD`, its only value."""

    BAD = "bad"


BAD: Final = Bad.BAD
"""What a shape returns for a node that it reported as wrong."""


class TooManyProblems(Exception):
    """The reading ends early; the problems so far stand."""


@frozen
class NameKind:
    """A kind of thing that a file names.

    Attributes:
        kind: what references to it say.
        noun: what messages call it; the kind by default.
        code: of the problem that two things have the same name.
    """

    kind: str
    noun: str = ""
    code: str = "E212"


@frozen(kw_only=True)
class Reference:
    """One use of a name.

    Attributes:
        kind: the kind of thing that it names.
        name: the name.
        at: where it stands.
        path: the keys and numbers of the collections that it stands in, from the root.
    """

    kind: str
    name: str
    at: Span
    path: Path = ()


@mutable(kw_only=True)
class Reading:
    """What is known while a file is read.

    Attributes:
        path: the file, for messages.
        lines: its text, line by line.
        other_words: for words of other systems, the words of this language that mean the same.
        problems: what is wrong, in the order of discovery.
        definitions: where each name was defined, by kind and name.
        references: every use of a name.
        within: the keys and numbers of the collections around the node that is being read, from the root.
    """

    path: str
    lines: Sequence[str]
    other_words: Mapping[str, Sequence[str]] = field(factory=dict)
    problems: list[Problem] = field(factory=list)
    definitions: dict[tuple[str, str], Span] = field(factory=dict)
    references: list[Reference] = field(factory=list)
    within: list[str | int] = field(factory=list)

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
            code: stable name of the kind of problem.
            at: where.
            message: what is wrong.
            note: what stands beside the caret.
            help: a next step; without it, the word of ``near`` that is nearest to ``word``.
            near: words that may have been meant.
            word: what the author wrote.

        Raises:
            TooManyProblems: this is one problem too many.
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
            help=help or did_you_mean(word, near, self.other_words),
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

    def define(self, kind: NameKind, name: str, at: Span) -> None:
        """Records a name; reports a name that is given twice."""
        earlier = self.definitions.get((kind.kind, name))
        if earlier is not None:
            message = f'the {kind.noun or kind.kind} "{name}" is given twice'
            self.error(kind.code, at, message, note=f"first on line {earlier.line}")
        self.definitions[kind.kind, name] = at

    def refer(self, kind: str, name: str, at: Span) -> None:
        """Records the use of a name."""
        self.references.append(Reference(kind=kind, name=name, at=at, path=tuple(self.within)))

    def defines(self, kind: str, name: str) -> bool:
        """Returns whether the file defines a name."""
        return (kind, name) in self.definitions

    def names(self, kind: str) -> list[str]:
        """Returns the names of a kind that the file defines, in order."""
        return [name for of, name in self.definitions if of == kind]

    def ordered(self) -> list[Problem]:
        """Returns the problems in the order of the file."""
        return sorted(
            self.problems, key=lambda problem: (problem.line == 0, problem.line, problem.column, problem.code)
        )
