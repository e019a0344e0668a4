"""Shapes made of other shapes: a value converted, a fixed word besides, a shape with a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from attrs import frozen

from journalsim.scenario.shapes.nodes import Node, Scalar
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.shape import ScalarShape, Shape, T

S = TypeVar("S")


@frozen(kw_only=True)
class Converted(Shape[T], Generic[S, T]):
    """A value that is written as one of another type.

    Attributes:
        written: the shape of what is written.
        convert: makes the value.
        revert: the way back.
    """

    written: Shape[S]
    convert: Callable[[S], T]
    revert: Callable[[T], S]

    def read(self, node: Node, reading: Reading) -> T | Bad:
        found = self.written.read(node, reading)
        return BAD if isinstance(found, Bad) else self.convert(found)

    def write(self, value: T) -> Data:
        return self.written.write(self.revert(value))

    def schema(self) -> Schema:
        return self.written.schema()


@frozen(kw_only=True)
class WordOr(ScalarShape[T]):
    """A fixed word, or something else.

    Attributes:
        word: the word.
        means: the value that the word stands for.
        other: anything else.
    """

    word: str
    means: T
    other: ScalarShape[T]
    what: str

    def read_scalar(self, node: Scalar, reading: Reading) -> T | Bad:
        return self.means if node.text == self.word else self.other.read(node, reading)

    def write(self, value: T) -> Data:
        return self.word if value == self.means else self.other.write(value)

    def schema(self) -> Schema:
        return {"anyOf": [{"const": self.word}, self.other.schema()]}


@frozen
class Defined(Shape[T]):
    """A shape with a name in the JSON Schema, which may contain itself."""

    name: str
    get: Callable[[], Shape[T]]

    def read(self, node: Node, reading: Reading) -> T | Bad:
        return self.get().read(node, reading)

    def write(self, value: T) -> Data:
        return self.get().write(value)

    def schema(self) -> Schema:
        return {"$ref": f"#/definitions/{self.name}"}
