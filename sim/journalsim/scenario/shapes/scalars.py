"""Shapes: small descriptions of what may stand at a place of a scenario file.

Everything that the language allows is said once, as a shape, and three things
follow from it: *reading* a node with good error messages, *writing* a value
back as plain data for the printer, and the *JSON Schema* that editors complete
from.  Composite shapes are in :mod:`journalsim.scenario.shapes.composites`.

Plain data is what the printer understands: None, bool, int, float, ``str`` for
a word, :class:`Quoted` for a text, list and dict.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from attrs import frozen

from journalsim.scenario.shapes.nodes import List, Node, Scalar, describe, kind_of
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.problems import listed, quoted
from journalsim.scenario.shapes.reading import BAD, Bad, Reading

Data: TypeAlias = Any
Schema: TypeAlias = dict[str, Any]

UNITS_NS: Mapping[str, int] = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
"""Units of time, in nanoseconds."""

DURATION_MAX_NS = 10_000 * UNITS_NS["h"]  # over a year: beyond every lease, retry and retention in the catalogue
KEY_MAX = 100  # characters: YAML readers look no further than 1024, and an escape may take ten
_DURATION = re.compile(r"(-?)([0-9]{1,15}(?:\.[0-9]{1,9})?)(ns|us|ms|s|m|h)")
_DOLLAR = re.compile(r"\$([a-z][a-z0-9_-]*)")


class Quoted(str):
    """A text, as opposed to a word: the canonical form puts it in quotes."""


class Shape(ABC):
    """What may stand at one place."""

    what: str = "a value"
    doc: str = ""

    @abstractmethod
    def read(self, node: Node, reading: Reading) -> Any:
        """Returns the value of a node, or :data:`BAD` after reporting what is wrong with it."""

    @abstractmethod
    def write(self, value: Any) -> Data:
        """Returns the plain data that reads as ``value``."""

    @abstractmethod
    def schema(self) -> Schema:
        """Returns what a JSON Schema says about this place."""

    def wrong(self, node: Node, reading: Reading) -> Bad:
        """Reports a node of the wrong kind."""
        return reading.error("E020", node.at, f"expected {self.what}, found {describe(node)}")


class ScalarShape(Shape):
    """A shape that one scalar fills."""

    def read(self, node: Node, reading: Reading) -> Any:
        return self.read_scalar(node, reading) if isinstance(node, Scalar) else self.wrong(node, reading)

    @abstractmethod
    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        """Returns the value of a scalar."""

    def write(self, value: Any) -> Data:
        return value


@frozen(kw_only=True)
class Text(ScalarShape):
    """Any text.  What looks like a number, a truth or nothing needs quotes."""

    what: str = "a text"
    one_line: bool = False
    empty: bool = True

    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        if node.kind == "null":
            return reading.error("E024", node.at, f"expected {self.what}, found nothing", note='an empty text is ""')
        if node.kind != "text":
            return needs_quotes(node, reading)
        if self.one_line and "\n" in node.text.strip("\n"):
            return reading.error("E029", node.at, f"{self.what} is one line", note="put the rest into why")
        text = node.text.strip("\n") if self.one_line else node.text
        return text if text or self.empty else reading.error("E029", node.at, f"{self.what} is empty")

    def write(self, value: Any) -> Data:
        return Quoted(value)

    def schema(self) -> Schema:
        return {"type": "string"} if self.empty else {"type": "string", "minLength": 1}


def needs_quotes(node: Scalar, reading: Reading) -> Bad:
    """Reports a scalar that stands for something else than text."""
    message = f"a text needs quotes: {node.text[:20]} is read as {_READ[node.kind]}"
    return reading.error("E024", node.at, message, note=f"write {quoted(node.text)}")


_READ = {"bool": "true or false", "int": "a number", "float": "a number", "odd": "something else by other programs"}


@frozen(kw_only=True)
class Number(ScalarShape):
    """A decimal whole number within bounds."""

    min: int = 0
    max: int
    what: str = "a whole number"

    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        if node.kind != "int":
            help = "write it in decimal, without leading zeros or signs" if node.kind == "odd" else ""
            return reading.error("E023", node.at, f"expected {self.what}, found {describe(node)}", help=help)
        if not self.min <= int(node.text) <= self.max:
            return reading.error("E023", node.at, f"{node.text} is out of range", note=f"{self.min} to {self.max}")
        return int(node.text)

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self.min, "maximum": self.max}


@frozen
class Flag(ScalarShape):
    """``true`` or ``false``."""

    what: str = "true or false"

    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        if node.kind != "bool":
            near = {"yes": "true", "on": "true", "no": "false", "off": "false"}.get(node.text.lower())
            help = f"write {near}" if near else ""
            return reading.error("E020", node.at, f"expected true or false, found {describe(node)}", help=help)
        return node.text == "true"

    def schema(self) -> Schema:
        return {"type": "boolean"}


@frozen(kw_only=True)
class Duration(ScalarShape):
    """A time with its unit, such as ``300ms`` or ``1.5s``; kept in nanoseconds."""

    what: str = "a time"
    signed: bool = False

    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        if node.plain and node.kind in ("int", "float", "odd"):
            number = node.text[:20] if node.kind != "odd" else "150"
            return reading.error("E021", node.at, "a time needs a unit", note=f"write {number}ms or {number}s")
        found = _DURATION.fullmatch(node.text)
        if found is None:
            return reading.error(
                "E022", node.at, f"not a time: {quoted(node.text)}", note="a time is 300ms, 2s, 1.5s, 1m or 1h"
            )
        sign, number, unit = found.groups()
        time_ns = Fraction(number) * UNITS_NS[unit]
        if sign and not self.signed:
            return reading.error("E022", node.at, "a time cannot be negative here")
        if time_ns.denominator != 1:
            return reading.error("E022", node.at, "a time is a whole number of nanoseconds")
        if time_ns > DURATION_MAX_NS:
            return reading.error("E022", node.at, "a time is at most 10000h")
        return -int(time_ns) if sign else int(time_ns)

    def write(self, value: Any) -> Data:
        return duration_text(value)

    def schema(self) -> Schema:
        sign = "-?" if self.signed else ""
        return {"type": "string", "pattern": rf"^{sign}[0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h)$", "examples": ["300ms", "2s"]}


def duration_text(time_ns: int) -> str:
    """Returns a time in the largest unit that needs no fraction."""
    unit = next((unit for unit in reversed(tuple(UNITS_NS)) if time_ns and time_ns % UNITS_NS[unit] == 0), "ms")
    return f"{time_ns // UNITS_NS[unit]}{unit}"


@frozen
class Choice(ScalarShape):
    """One of a few words."""

    words: Sequence[str]
    what: str = "one of a few words"
    code: str = "E025"

    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        if node.text in self.words:
            return node.text
        return reading.error(
            self.code,
            node.at,
            f"expected {self.what}, found {describe(node)}",
            note=f"write {listed(self.words)}" if len(self.words) <= 12 else "",
            near=self.words,
            word=node.text,
        )

    def schema(self) -> Schema:
        return {"enum": list(self.words)}


@frozen(kw_only=True)
class Name(ScalarShape):
    """A word of a given form, which may refer to or define something.

    Attributes:
        pattern: the form, a regular expression that JSON Schema shares.
        form: the form in words, for the note.
        refers: kind of thing that it names; resolved when the file has been read.
        defines: kind of thing that it names here for others.
        length_max: characters.
    """

    what: str
    pattern: str = r"[a-z][a-z0-9_-]*"
    form: str = "lower-case letters, digits, - and _, a letter first"
    refers: str = ""
    defines: str = ""
    code: str = "E027"
    length_max: int = 70  # fits a line of a report

    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        if node.kind == "null":
            return self.wrong(node, reading)
        if node.kind != "text":
            return needs_quotes(node, reading)
        if re.fullmatch(self.pattern, node.text) is None or len(node.text) > self.length_max:
            form = self.form if len(node.text) <= self.length_max else f"at most {self.length_max} characters"
            return reading.error(self.code, node.at, f"not {self.what}: {quoted(node.text)}", note=form)
        if self.refers:
            reading.refer(self.refers, node.text, node.at)
        if self.defines:
            reading.define(self.defines, node.text, node.at, "E205" if self.defines == "call" else "E212")
        return node.text

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^(?:{self.pattern})$", "maxLength": self.length_max}


@frozen
class Json(Shape):
    """Free data: what JSON can say."""

    what: str = "data"

    def read(self, node: Node, reading: Reading) -> Any:
        if isinstance(node, List):
            return _all_good([self.read(item, reading) for item in node.items])
        if isinstance(node, MappingNode):
            values = [self.read(value, reading) for _, value in node.entries]
            return BAD if BAD in values else dict(zip((key.text for key, _ in node.entries), values, strict=True))
        if node.kind == "odd":
            return reading.error(
                "E024", node.at, f"{node.text[:20]} is read differently by other programs", note="quote it"
            )
        return json_value(node)

    def write(self, value: Any) -> Data:
        if isinstance(value, dict):
            return {key: self.write(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.write(item) for item in value]
        return Quoted(value) if isinstance(value, str) else value

    def schema(self) -> Schema:
        return {}


def json_value(node: Scalar) -> Any:
    """Returns the value of a scalar that is not odd."""
    kind = node.kind
    if kind == "null":
        return None
    if kind == "bool":
        return node.text == "true"
    if kind == "int":
        return int(node.text)
    return float(node.text) if kind == "float" else node.text


def can_write_json(value: Any) -> bool:
    """Tells whether the language can spell this data, numbers above all."""
    if isinstance(value, dict):
        return all(len(key) <= KEY_MAX and can_write_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(can_write_json(item) for item in value)
    return isinstance(value, str | bool | None) or kind_of(repr(value)) in ("int", "float")


def _all_good(values: list[Any]) -> Any:
    return BAD if any(value is BAD for value in values) else values


def dollar_name(text: str) -> str | None:
    """Returns the name behind ``$name``, or None for anything else."""
    found = _DOLLAR.fullmatch(text)
    return found.group(1) if found else None
