"""Mappings with exactly one key, which says what they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from attrs import frozen

from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.nodes import Node, Scalar
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.problems import listed, quoted
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.shape import Shape, T

B = TypeVar("B", covariant=True)


class AnyBranch(ABC, Generic[B]):
    """One of several shapes, of which is known only that its values are among ``B``."""

    @abstractmethod
    def read(self, node: Node, reading: Reading) -> B | Bad:
        """Returns the value of a node, or ``BAD`` after reporting what is wrong with it."""

    @abstractmethod
    def write(self, value: object) -> Data | Bad:
        """Returns the plain data that reads as ``value``, or ``BAD`` if another branch writes it."""

    @abstractmethod
    def schema(self) -> Schema:
        """Returns the JSON Schema of this branch."""


@frozen
class Branch(AnyBranch[T]):
    """One of several shapes; it writes the values of one class. It needs its type spelled out: ``Branch[int](…)``.

    Attributes:
        shape: what may stand there.
        cls: the class of its values.
        writes: whether this branch writes a value of that class; every value by default.
    """

    shape: Shape[T]
    cls: type[T]
    writes: Callable[[T], bool] = lambda _: True

    def read(self, node: Node, reading: Reading) -> T | Bad:
        return self.shape.read(node, reading)

    def write(self, value: object) -> Data | Bad:
        return self.shape.write(value) if isinstance(value, self.cls) and self.writes(value) else BAD

    def schema(self) -> Schema:
        return self.shape.schema()


@frozen(kw_only=True)
class OneKey(Shape[T]):
    """A mapping with exactly one key, which says what it is.

    Attributes:
        what: noun phrase with article, for messages.
        words: the keys and what may stand behind each.
        code: of the problem that the key is unknown.
    """

    what: str
    words: Mapping[str, AnyBranch[T]]
    code: str = "E101"

    def read(self, node: Node, reading: Reading) -> T | Bad:
        if not isinstance(node, MappingNode):
            return self.wrong(node, reading)
        entry = only_entry(node, self.what, reading)
        if isinstance(entry, Bad):
            return BAD
        key, value = entry
        if key.text not in self.words:
            note = f"write {listed(list(self.words))}"
            message = f"unknown key {quoted(key.text)} for {self.what}"
            return reading.error(self.code, key.at, message, note=note, near=self.words, word=key.text)
        return self.words[key.text].read(value, reading)

    def write(self, value: T) -> Data:
        written = ((word, branch.write(value)) for word, branch in self.words.items())
        word, data = next((word, data) for word, data in written if not isinstance(data, Bad))
        return {word: data}

    def schema(self) -> Schema:
        return {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "properties": {word: branch.schema() for word, branch in self.words.items()},
        }


def only_entry(node: MappingNode, what: str, reading: Reading) -> tuple[Scalar, Node] | Bad:
    """Returns the single entry of a mapping, or ``BAD`` after reporting that there is not exactly one."""
    if not node.entries:
        return reading.error("E029", node.at, f"{what} is empty")
    if len(node.entries) > 1:
        note = "begin this one with a dash of its own, or indent it"
        return reading.error("E031", node.entries[1][0].at, f"{what} has exactly one key", note=note)
    return node.entries[0]
