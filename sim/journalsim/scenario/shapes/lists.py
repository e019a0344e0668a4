"""Shapes of lists."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from journalsim.scenario.shapes.nodes import List, Node
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.shape import Shape, T

ITEMS_MAX = 1000  # twenty times what a person reads; checks between lists stay cheap


@frozen(kw_only=True)
class ListOf(Shape[tuple[T, ...]]):
    """A list of one kind of thing, as a tuple."""

    of: Shape[T]
    what: str
    min: int = 1
    max: int = ITEMS_MAX

    def read(self, node: Node, reading: Reading) -> tuple[T, ...] | Bad:
        if not isinstance(node, List):
            return self.wrong(node, reading)
        if len(node.items) < self.min:
            found = "is empty" if not node.items else "is too short"
            return reading.error("E029", node.at, f"{self.what} {found}", note=f"at least {self.min}")
        if len(node.items) > self.max:
            return reading.error("E032", node.at, f"{self.what} is too long", note=f"at most {self.max}")
        values: list[T | Bad] = []
        for number, item in enumerate(node.items):
            reading.within.append(number)
            values.append(self.of.read(item, reading))
            reading.within.pop()
        seen = self.seen(values, node, reading)
        good = [value for value in values if not isinstance(value, Bad)]
        return BAD if seen is BAD or len(good) < len(values) else tuple(good)

    def seen(self, values: Sequence[T | Bad], node: List, reading: Reading) -> Bad | None:
        """Checks the whole list, wrong items included; returns ``BAD`` after reporting something."""
        return None

    def write(self, value: tuple[T, ...]) -> Data:
        return [self.of.write(item) for item in value]

    def schema(self) -> Schema:
        return {"type": "array", "items": self.of.schema(), "minItems": self.min, "maxItems": self.max}
