"""Keys of mappings whose keys are known: what may stand behind each, and where its value goes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from attrs import NOTHING, Attribute, frozen

from journalsim.scenario.shapes.nodes import Node
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import Bad, Reading
from journalsim.scenario.shapes.shape import Shape, T

V = TypeVar("V", covariant=True)


class AnyKey(ABC, Generic[V]):
    """One key, of which is known only that it reads a ``V``.

    Attributes:
        required: whether it must be there.
        doc: one sentence for the author.
        code: of the problem that it is missing.
    """

    required: bool = False
    doc: str = ""
    code: str = "E030"

    @abstractmethod
    def read(self, node: Node, reading: Reading) -> V | Bad:
        """Returns the value of a node, or ``BAD`` after reporting what is wrong with it."""

    # ``Any``: the keys of a mapping have different types, so the parts of a value have no static type on their way
    # from its class to their keys. Where a key is defined, its shape and its attribute must have the same type.
    @abstractmethod
    def write(self, value: Any) -> Data:
        """Returns the plain data that reads as ``value``."""

    @abstractmethod
    def schema(self) -> Schema:
        """Returns the JSON Schema of what may stand behind it."""

    @property
    def default(self) -> object:
        """The value that is not written; None if there is none."""
        return None


@frozen
class Key(AnyKey[object], Generic[T]):
    """A key whose value becomes an attribute of the class that is built.

    Attributes:
        shape: what may stand there.
        attribute: the attribute, as ``attrs.fields(cls).name``. Its type is that of the shape; where it may also be
            None, None stands for the missing key.
        doc: found in the docstring of the class by default.
    """

    shape: Shape[T]
    attribute: Attribute[T] | Attribute[T | None]
    required: bool = False
    doc: str = ""
    code: str = "E030"

    def read(self, node: Node, reading: Reading) -> T | Bad:
        return self.shape.read(node, reading)

    def write(self, value: T) -> Data:
        return self.shape.write(value)

    def schema(self) -> Schema:
        return self.shape.schema()

    @property
    def default(self) -> object:
        default: object = self.attribute.default
        factory = getattr(default, "factory", None)
        return None if default is NOTHING else default if factory is None else factory()


@frozen
class Mark(AnyKey[object], Generic[T]):
    """A key that must be there and always has the same value, such as a version. No attribute holds it.

    Attributes:
        shape: accepts this value only.
        value: what is written.
    """

    shape: Shape[T]
    value: T
    doc: str = ""
    required: bool = True

    def read(self, node: Node, reading: Reading) -> T | Bad:
        return self.shape.read(node, reading)

    def write(self, value: object) -> Data:
        return self.shape.write(self.value)

    def schema(self) -> Schema:
        return self.shape.schema()


@frozen
class Entry(AnyKey[T]):
    """A key whose value goes into a dict under the name of the key."""

    shape: Shape[T]
    doc: str = ""

    def read(self, node: Node, reading: Reading) -> T | Bad:
        return self.shape.read(node, reading)

    def write(self, value: T) -> Data:
        return self.shape.write(value)

    def schema(self) -> Schema:
        return self.shape.schema()
