"""Shapes of mappings from names that the author chooses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from attrs import evolve, field, frozen

from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.nodes import Node, Scalar
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.scalars import Name
from journalsim.scenario.shapes.shape import Shape, T

S = TypeVar("S")

NAMES_MAX = 100  # actors, tools or axes: more than a reader can tell apart


@frozen(kw_only=True)
class MapOf(Shape[Mapping[str, T]]):
    """A mapping from names to one kind of thing, as a dict.

    Attributes:
        what: noun phrase for messages.
        name: the form of the names.
        of: what stands behind each name.
        nullable: nothing at all may stand for no names.
    """

    what: str
    name: Name
    of: Shape[T]
    nullable: bool = False

    def read(self, node: Node, reading: Reading) -> Mapping[str, T] | Bad:
        if self.nullable and isinstance(node, Scalar) and node.kind == "null":
            return {}
        if not isinstance(node, MappingNode):
            return self.wrong(node, reading)
        if len(node.entries) > NAMES_MAX:
            return too_many(node, self.what, reading)
        values: dict[str, T] = {}
        for key, value in node.entries:
            reading.within.append(key.text)
            found = self.read_entry(key, value, reading)
            reading.within.pop()
            if not isinstance(self.name.read(key, reading), Bad) and not isinstance(found, Bad):
                values[key.text] = found
        return values if len(values) == len(node.entries) else BAD

    def read_entry(self, key: Scalar, value: Node, reading: Reading) -> T | Bad:
        """Returns the value behind one name, or ``BAD`` after reporting what is wrong with it."""
        return self.of.read(value, reading)

    def write(self, value: Mapping[str, T]) -> dict[str, Data]:
        return {name: self.of.write(item) for name, item in value.items()}

    def schema(self) -> Schema:
        return self.schema_beside({})

    def schema_beside(self, special: Schema) -> Schema:
        """Returns the schema of a mapping in which some keys have a schema of their own."""
        return {
            "type": ["object", "null"] if self.nullable else "object",
            "properties": special,
            "patternProperties": {f"^(?!({'|'.join(special) or '$'})$){self.name.pattern}$": self.of.schema()},
            "additionalProperties": False,
            "maxProperties": NAMES_MAX,
        }


def too_many(node: MappingNode, what: str, reading: Reading) -> Bad:
    """Reports a mapping with too many names."""
    return reading.error("E032", node.at, f"there are too many {what}", note=f"at most {NAMES_MAX}")


@frozen(kw_only=True)
class Beside(Generic[S, T]):
    """The value of :class:`MapBeside`.

    Attributes:
        special: the value behind the special key; None without it.
        named: the values behind the other keys, by name.
    """

    special: S | None = None
    named: Mapping[str, T] = field(factory=dict)


@frozen(kw_only=True)
class MapBeside(Shape[Beside[S, T]]):
    """A mapping from names in which one special key has a shape of its own.

    Attributes:
        word: the special key.
        shape: what stands behind it.
        others: all other keys.
        last: whether the special key is written last instead of first.
    """

    word: str
    shape: Shape[S]
    others: MapOf[T]
    last: bool = False

    def read(self, node: Node, reading: Reading) -> Beside[S, T] | Bad:
        inner = node.get(self.word) if isinstance(node, MappingNode) else None
        if inner is None or not isinstance(node, MappingNode):
            named = self.others.read(node, reading)
            return BAD if isinstance(named, Bad) else Beside(named=named)
        if len(node.entries) > NAMES_MAX:
            return too_many(node, self.others.what, reading)
        reading.within.append(self.word)
        special = self.shape.read(inner, reading)
        reading.within.pop()
        rest = tuple((key, value) for key, value in node.entries if key.text != self.word)
        named = self.others.read(evolve(node, entries=rest), reading)
        return BAD if isinstance(special, Bad) or isinstance(named, Bad) else Beside(special=special, named=named)

    def write(self, value: Beside[S, T]) -> Data:
        special: dict[str, Data] = {} if value.special is None else {self.word: self.shape.write(value.special)}
        named = self.others.write(value.named)
        return {**named, **special} if self.last else {**special, **named}

    def schema(self) -> Schema:
        return self.others.schema_beside({self.word: self.shape.schema()})
