"""Shapes: small descriptions of what may stand at one place of a YAML file.

A language is written once, as shapes, and three things follow from it: *reading*
a node with good error messages, *writing* a value back as plain data for the
printer, and the *JSON Schema* that editors complete from.

``Shape[T]`` reads and writes values of the type ``T``, so that a type checker
follows a value from the file to the class that holds it, and back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from journalsim.scenario.shapes.nodes import Node, Scalar, describe
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import Bad, Reading

T = TypeVar("T")
Word = TypeVar("Word", bound=bool | int | str)


class Shape(ABC, Generic[T]):
    """What may stand at one place. ``what`` is a noun phrase with article, for messages."""

    what: str = "a value"

    @abstractmethod
    def read(self, node: Node, reading: Reading) -> T | Bad:
        """Returns the value of a node, or ``BAD`` after reporting what is wrong with it."""

    @abstractmethod
    def write(self, value: T) -> Data:
        """Returns the plain data that reads as ``value``."""

    @abstractmethod
    def schema(self) -> Schema:
        """Returns the JSON Schema of this place."""

    def wrong(self, node: Node, reading: Reading) -> Bad:
        """Reports a node of the wrong kind."""
        return reading.error("E020", node.at, f"expected {self.what}, found {describe(node)}")


class ScalarShape(Shape[T]):
    """A shape that one scalar fills."""

    def read(self, node: Node, reading: Reading) -> T | Bad:
        return self.read_scalar(node, reading) if isinstance(node, Scalar) else self.wrong(node, reading)

    @abstractmethod
    def read_scalar(self, node: Scalar, reading: Reading) -> T | Bad:
        """Returns the value of a scalar, or ``BAD`` after reporting what is wrong with it."""


class WordShape(ScalarShape[Word]):
    """A scalar whose value is printed as it is: a word, a number, true or false."""

    def write(self, value: Word) -> Data:
        return value
