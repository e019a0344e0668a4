"""What all mappings have in common whose keys are known."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Generic, TypeVar

from attrs import frozen

from journalsim.scenario.shapes.keys import AnyKey
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.nodes import Node, Scalar, describe
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.problems import listed, quoted
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.shape import Shape, T

P = TypeVar("P")


@frozen(kw_only=True)
class Keyed(Shape[T], Generic[T, P]):
    """A mapping whose keys are known; the values behind them have the type ``P``.

    Attributes:
        what: noun phrase with article, for messages.
        keys: the keys, in canonical order.
        nullable: nothing at all may stand for no keys.
        exclusive: pairs of keys of which only one may be given.
        one_of: keys of which at least one must be given.
        doc: one sentence for the author.
        code: of the problem that a key is unknown.
    """

    what: str
    keys: Mapping[str, AnyKey[P]]
    nullable: bool = False
    exclusive: tuple[tuple[str, str], ...] = ()
    one_of: tuple[str, ...] = ()
    doc: str = ""
    code: str = "E101"

    @abstractmethod
    def built(self, parts: Mapping[str, P]) -> T:
        """Returns the value that consists of these parts, by key."""

    @abstractmethod
    def part(self, value: T, name: str) -> object:
        """Returns the part of a value behind a key; None without it."""

    def docs(self) -> Mapping[str, str]:
        """Returns sentences for keys that have none themselves."""
        return {}

    def read(self, node: Node, reading: Reading) -> T | Bad:
        if self.nullable and isinstance(node, Scalar) and node.kind == "null":
            node = MappingNode(at=node.at, entries=())
        if not isinstance(node, MappingNode):
            return self.wrong(node, reading)
        there = {key.text: value for key, value in node.entries}
        parts: dict[str, P] = {}
        good = True
        for name, key in self.keys.items():
            found = there.get(name)
            if found is not None:
                reading.within.append(name)
                part = key.read(found, reading)
                reading.within.pop()
                if isinstance(part, Bad):
                    good = False
                else:
                    parts[name] = part
            elif key.required:
                message = f"{self.what} needs the key {quoted(name)}"
                reading.error(key.code, node.at, message, note=key.doc)
                good = False
        good &= self._only_known(node, reading)
        good &= self._fitting(node, reading)
        return self.built(parts) if good else BAD

    def _only_known(self, node: MappingNode, reading: Reading) -> bool:
        unknown = [key for key, _ in node.entries if key.text not in self.keys]
        for key in unknown:
            message = f"unknown key {quoted(key.text)} in {self.what}"
            reading.error(self.code, key.at, message, note=self._listed(), near=self.keys, word=key.text)
        return not unknown

    def _fitting(self, node: MappingNode, reading: Reading) -> bool:
        """Returns whether the given keys go together, after reporting those that do not."""
        for first, second in self.exclusive:
            if node.get(first) is not None and node.get(second) is not None:
                at = max(node.span_of(first), node.span_of(second), key=lambda span: (span.line, span.column))
                reading.error("E031", at, f"{self.what} has {first} or {second}, not both")
                return False
        if self.one_of and not any(node.get(name) for name in self.one_of):
            reading.error("E030", node.at, f"{self.what} needs one of {listed(self.one_of)}")
            return False
        return True

    def _listed(self) -> str:
        return f"keys: {', '.join(self.keys)}"

    def wrong(self, node: Node, reading: Reading) -> Bad:
        message = f"expected {self.what} as a mapping, found {describe(node)}"
        return reading.error("E020", node.at, message, note=self._listed())

    def write(self, value: T) -> dict[str, Data]:
        written: dict[str, Data] = {}
        for name, key in self.keys.items():
            part = self.part(value, name)
            if key.required or (part is not None and part != key.default):
                written[name] = key.write(part)
        return written

    def schema(self) -> Schema:
        docs = self.docs()
        properties: Schema = {name: _property(key, docs.get(name, "")) for name, key in self.keys.items()}
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        if required := [name for name, key in self.keys.items() if key.required]:
            schema["required"] = list(required)
        rules: list[Data] = [{"not": {"required": list(pair)}} for pair in self.exclusive]
        if self.one_of:
            rules.append({"anyOf": [{"required": [name]} for name in self.one_of]})
        if rules:
            schema["allOf"] = rules
        if self.nullable:
            schema = {"anyOf": [schema, {"type": "null"}]}
        return {**schema, "description": self.doc} if self.doc else schema


def _property(key: AnyKey[object], doc: str) -> Schema:
    schema = key.schema()
    return {"description": key.doc or doc, **schema} if (key.doc or doc) and "$ref" not in schema else schema
