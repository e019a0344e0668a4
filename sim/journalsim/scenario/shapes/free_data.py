"""Free data: anything that JSON can express."""

from __future__ import annotations

from journalsim.scenario.shapes.nodes import List, Node, Scalar, kind_of
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.plain_data import Data, Quoted, Schema
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.shape import Shape

KEY_MAX = 100  # characters: YAML readers look no further than 1024, and an escape may take ten


class FreeData(Shape[Data]):
    """Anything that JSON can express."""

    what: str = "data"

    def read(self, node: Node, reading: Reading) -> Data | Bad:
        if isinstance(node, List):
            items = [self.read(item, reading) for item in node.items]
            good = [item for item in items if not isinstance(item, Bad)]
            return good if len(good) == len(items) else BAD
        if isinstance(node, MappingNode):
            return self._mapping(node, reading)
        if node.kind == "odd":
            return reading.error(
                "E024", node.at, f"{node.text[:20]} is read differently by other programs", note="quote it"
            )
        return scalar_value(node)

    def _mapping(self, node: MappingNode, reading: Reading) -> dict[str, Data] | Bad:
        values = {key.text: self.read(value, reading) for key, value in node.entries}
        good = {key: value for key, value in values.items() if not isinstance(value, Bad)}
        return good if len(good) == len(values) else BAD

    def write(self, value: Data) -> Data:
        if isinstance(value, dict):
            return {key: self.write(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.write(item) for item in value]
        return Quoted(value) if isinstance(value, str) else value

    def schema(self) -> Schema:
        return {}


def scalar_value(node: Scalar) -> Data:
    """Returns the value of a scalar that is not odd."""
    kind = node.kind
    if kind == "null":
        return None
    if kind == "bool":
        return node.text == "true"
    if kind == "int":
        return int(node.text)
    return float(node.text) if kind == "float" else node.text


def can_write(value: Data) -> bool:
    """Returns whether the printer can spell this data so that it reads as the same; not every number is."""
    if isinstance(value, dict):
        return all(len(key) <= KEY_MAX and can_write(item) for key, item in value.items())
    if isinstance(value, list):
        return all(can_write(item) for item in value)
    return isinstance(value, str | bool | None) or kind_of(repr(value)) in ("int", "float")
