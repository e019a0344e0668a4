"""Shapes of scalars: texts, numbers, true or false, words and names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from attrs import field, frozen

from journalsim.scenario.shapes.nodes import Scalar, describe
from journalsim.scenario.shapes.plain_data import Data, Quoted, Schema
from journalsim.scenario.shapes.problems import listed, quoted
from journalsim.scenario.shapes.reading import Bad, NameKind, Reading
from journalsim.scenario.shapes.shape import ScalarShape, WordShape

W = TypeVar("W", bound=str)

LISTED_MAX = 12  # words that a note can list and still be read

_DOLLAR = re.compile(r"\$([a-z][a-z0-9_-]*)")
DOLLAR_PATTERN = r"^\$[a-z][a-z0-9_-]*$"
"""The form of ``$name``, for JSON Schema."""
_READ = {"bool": "true or false", "int": "a number", "float": "a number", "odd": "something else by other programs"}


@frozen(kw_only=True)
class Text(ScalarShape[str]):
    """Any text. A text that looks like a number, a truth or nothing needs quotes."""

    what: str = "a text"
    one_line: bool = False
    empty: bool = True

    def read_scalar(self, node: Scalar, reading: Reading) -> str | Bad:
        if node.kind == "null":
            return reading.error("E024", node.at, f"expected {self.what}, found nothing", note='an empty text is ""')
        if node.kind != "text":
            return needs_quotes(node, reading)
        if self.one_line and "\n" in node.text.strip("\n"):
            return reading.error("E029", node.at, f"{self.what} is one line", note="put the rest into why")
        text = node.text.strip("\n") if self.one_line else node.text
        return text if text or self.empty else reading.error("E029", node.at, f"{self.what} is empty")

    def write(self, value: str) -> Data:
        return Quoted(value)

    def schema(self) -> Schema:
        return {"type": "string"} if self.empty else {"type": "string", "minLength": 1}


def needs_quotes(node: Scalar, reading: Reading) -> Bad:
    """Reports a scalar that is not text."""
    message = f"a text needs quotes: {node.text[:20]} is read as {_READ[node.kind]}"
    return reading.error("E024", node.at, message, note=f"write {quoted(node.text)}")


@frozen(kw_only=True)
class Number(WordShape[int]):
    """A decimal whole number within bounds."""

    min: int = 0
    max: int
    what: str = "a whole number"

    def read_scalar(self, node: Scalar, reading: Reading) -> int | Bad:
        if node.kind != "int":
            help = "write it in decimal, without leading zeros or signs" if node.kind == "odd" else ""
            return reading.error("E023", node.at, f"expected {self.what}, found {describe(node)}", help=help)
        if not self.min <= int(node.text) <= self.max:
            return reading.error("E023", node.at, f"{node.text} is out of range", note=f"{self.min} to {self.max}")
        return int(node.text)

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self.min, "maximum": self.max}


class Flag(WordShape[bool]):
    """``true`` or ``false``."""

    what: str = "true or false"

    def read_scalar(self, node: Scalar, reading: Reading) -> bool | Bad:
        if node.kind != "bool":
            near = {"yes": "true", "on": "true", "no": "false", "off": "false"}.get(node.text.lower())
            help = f"write {near}" if near else ""
            return reading.error("E020", node.at, f"expected true or false, found {describe(node)}", help=help)
        return node.text == "true"

    def schema(self) -> Schema:
        return {"type": "boolean"}


@frozen
class Choice(WordShape[W], Generic[W]):
    """One of a few words."""

    words: Sequence[W]
    what: str = "one of a few words"
    code: str = "E025"
    _by_text: Mapping[str, W] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_by_text", {str(word): word for word in self.words})

    def read_scalar(self, node: Scalar, reading: Reading) -> W | Bad:
        found = self._by_text.get(node.text)
        if found is not None:
            return found
        return reading.error(
            self.code,
            node.at,
            f"expected {self.what}, found {describe(node)}",
            note=f"write {listed(self.words)}" if len(self.words) <= LISTED_MAX else "",
            near=self.words,
            word=node.text,
        )

    def schema(self) -> Schema:
        return {"enum": list(self.words)}


@frozen(kw_only=True)
class Name(WordShape[str]):
    """A word of a given form, which may refer to or define something.

    Attributes:
        pattern: the form, a regular expression that JSON Schema shares.
        form: the form in words, for the note.
        refers: kind of thing that it names; resolved when the file has been read.
        defines: kind of thing that gets this name here.
        length_max: characters.
    """

    what: str
    pattern: str = r"[a-z][a-z0-9_-]*"
    form: str = "lower-case letters, digits, - and _, a letter first"
    refers: str = ""
    defines: NameKind | None = None
    code: str = "E027"
    length_max: int = 70  # fits a line of a report

    def read_scalar(self, node: Scalar, reading: Reading) -> str | Bad:
        if node.kind == "null":
            return self.wrong(node, reading)
        if node.kind != "text":
            return needs_quotes(node, reading)
        if re.fullmatch(self.pattern, node.text) is None or len(node.text) > self.length_max:
            form = self.form if len(node.text) <= self.length_max else f"at most {self.length_max} characters"
            return reading.error(self.code, node.at, f"not {self.what}: {quoted(node.text)}", note=form)
        if self.refers:
            reading.refer(self.refers, node.text, node.at)
        if self.defines is not None:
            reading.define(self.defines, node.text, node.at)
        return node.text

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^(?:{self.pattern})$", "maxLength": self.length_max}


def dollar_name(text: str) -> str | None:
    """Returns the name behind ``$name``, or None for anything else."""
    found = _DOLLAR.fullmatch(text)
    return found.group(1) if found else None
