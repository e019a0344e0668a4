"""A YAML file as a tree of nodes with positions, before anything is read into it.

Scalars stay text.  What a plain scalar may stand for is decided by
:func:`kind_of`, more strictly than YAML does: only ``true`` and ``false``,
decimal numbers and ``null``.  What *other* readers of YAML would take for a
number, a truth or nothing (``017``, ``0x1F``, ``True``, ``1e3``) is ``odd`` and
refused wherever it matters; ``yes``, ``on``, ``1:30`` and dates are plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from attrs import field, frozen

from journalsim.scenario.shapes.problems import quoted

ScalarKind = Literal["null", "bool", "int", "float", "odd", "text"]

_INT = re.compile(r"-?(0|[1-9][0-9]{0,14})")  # 15 digits: exact in every JSON reader
_FLOAT = re.compile(r"-?(0|[1-9][0-9]{0,14})\.[0-9]{1,15}")
_ODD = re.compile(
    r"[-+]?([0-9][0-9_]*|0x[0-9a-fA-F_]+|0o?[0-7_]+|0b[01_]+|[0-9_]*\.?[0-9_]+([eE][-+]?[0-9]+)?|[0-9]+\.|\.inf|\.nan)"
    r"|true|false|null",
    re.IGNORECASE,
)


@frozen
class Span:
    """Where something stands: line and column from 1, and how many characters of that line."""

    line: int
    column: int
    length: int = 1

    def part(self, offset: int, length: int) -> Span:
        """Returns a part of the same line."""
        return Span(self.line, self.column + offset, max(1, length))


@frozen(kw_only=True)
class Scalar:
    """A word, number or text; ``plain`` when it is written without quotes."""

    at: Span
    text: str
    plain: bool = True
    size: int = field(default=1, init=False)
    height: int = field(default=0, init=False)

    @property
    def kind(self) -> ScalarKind:
        """What the scalar stands for."""
        return kind_of(self.text) if self.plain else "text"


@frozen(kw_only=True)
class List:
    """A list; ``size`` counts nodes with aliases expanded, ``height`` levels below."""

    at: Span
    items: tuple[Node, ...]
    size: int = 1
    height: int = 1


@frozen(kw_only=True)
class Mapping:
    """A mapping, in the order of the file; keys are unique."""

    at: Span
    entries: tuple[tuple[Scalar, Node], ...]
    size: int = 1
    height: int = 1

    def get(self, name: str) -> Node | None:
        """Returns the value of a key, or None."""
        return next((value for key, value in self.entries if key.text == name), None)

    def span_of(self, name: str) -> Span:
        """Returns where a key stands; the whole mapping when it is not there."""
        return next((key.at for key, _ in self.entries if key.text == name), self.at)


Node = Scalar | List | Mapping

Path: TypeAlias = tuple[str | int, ...]
"""The keys and numbers that lead from the root of a file to a part of it."""


def kind_of(text: str) -> ScalarKind:
    """Returns what a plain scalar stands for."""
    if text in ("", "~", "null"):
        return "null"
    if text in ("true", "false"):
        return "bool"
    if _INT.fullmatch(text):
        return "int"
    if _FLOAT.fullmatch(text):
        return "float"
    return "odd" if _ODD.fullmatch(text) else "text"


def describe(node: Node) -> str:
    """Returns a few words that name what stands there."""
    if isinstance(node, List):
        return "a list"
    if isinstance(node, Mapping):
        return "a mapping"
    words = {"null": "nothing", "text": f"the text {quoted(node.text)}", "odd": f"the value {node.text[:20]}"}
    return words.get(node.kind, f"the value {node.text[:20]}")


def walk(node: Node) -> Iterator[Node]:
    """Yields a node and everything below it, keys included, in the order of the file."""
    yield node
    if isinstance(node, List):
        for item in node.items:
            yield from walk(item)
    elif isinstance(node, Mapping):
        for key, value in node.entries:
            yield key
            yield from walk(value)
