"""Composite shapes: lists, records with keys, one-key mappings and mappings by name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, fields, frozen

from journalsim.scenario.shapes.nodes import List, Node, Scalar, describe
from journalsim.scenario.shapes.nodes import Mapping as MappingNode
from journalsim.scenario.shapes.problems import listed, quoted
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.scalars import Data, Name, Schema, Shape

ITEMS_MAX = 1000  # twenty times what a person reads; checks between lists stay cheap
NAMES_MAX = 100  # actors, tools or axes: nobody tells more of them apart


@frozen(kw_only=True)
class ListOf(Shape):
    """A list of one kind of thing, as a tuple."""

    of: Shape
    what: str
    min: int = 1
    max: int = ITEMS_MAX

    def read(self, node: Node, reading: Reading) -> Any:
        if not isinstance(node, List):
            return self.wrong(node, reading)
        if len(node.items) < self.min:
            found = "is empty" if not node.items else "is too short"
            return reading.error("E029", node.at, f"{self.what} {found}", note=f"at least {self.min}")
        if len(node.items) > self.max:
            return reading.error("E032", node.at, f"{self.what} is too long", note=f"at most {self.max}")
        values = [self.read_item(number, item, reading) for number, item in enumerate(node.items)]
        seen = self.seen(values, node, reading)
        return BAD if seen is BAD or any(value is BAD for value in values) else tuple(values)

    def read_item(self, number: int, node: Node, reading: Reading) -> Any:
        """Returns the value of one item; ``number`` counts from 0."""
        return self.of.read(node, reading)

    def seen(self, values: list[Any], node: List, reading: Reading) -> Any:
        """Looks at the whole list, wrong items included; returns :data:`BAD` if it reported something."""

    def write(self, value: Any) -> Data:
        return [self.of.write(item) for item in value]

    def schema(self) -> Schema:
        return {"type": "array", "items": self.of.schema(), "minItems": self.min, "maxItems": self.max}


@frozen
class Key:
    """One key of a record.

    Attributes:
        shape: what may stand there.
        attribute: name of the value it becomes; the key itself by default.
        required: whether it must be there.
        default: the value when it is not; found in the record's class by default.
        doc: one sentence for the author; found in the record's class by default.
    """

    shape: Shape
    attribute: str = ""
    required: bool = False
    default: Any = ...
    doc: str = ""
    code: str = "E030"


@frozen(kw_only=True)
class Record(Shape):
    """A mapping with known keys.

    Attributes:
        what: noun phrase with article, for messages.
        keys: the keys, in canonical order.
        cls: the class that is built; documents and defaults come from it.
        build: makes the value of attribute values; ``cls`` by default.
        take: the way back.
        nullable: nothing at all may stand for no keys.
        exclusive: pairs of keys of which only one may be given.
        one_of: keys of which at least one must be given.
    """

    what: str
    keys: Mapping[str, Key]
    cls: Any = dict
    build: Callable[..., Any] | None = None
    take: Callable[[Any], Mapping[str, Any]] | None = None
    nullable: bool = False
    exclusive: tuple[tuple[str, str], ...] = ()
    one_of: tuple[str, ...] = ()
    doc: str = ""
    code: str = "E101"
    _defaults: Mapping[str, Any] = field(init=False)

    def __attrs_post_init__(self) -> None:
        known = {} if self.cls is dict else {a.name.lstrip("_"): _default(a.default) for a in fields(self.cls)}
        defaults = {
            self.attribute(name): known.get(self.attribute(name)) if key.default is ... else key.default
            for name, key in self.keys.items()
        }
        object.__setattr__(self, "_defaults", defaults)

    def attribute(self, name: str) -> str:
        """Returns the attribute that a key becomes."""
        return self.keys[name].attribute or name

    def read(self, node: Node, reading: Reading) -> Any:
        if self.nullable and isinstance(node, Scalar) and node.kind == "null":
            node = MappingNode(at=node.at, entries=())
        if not isinstance(node, MappingNode):
            return self.wrong(node, reading)
        values: dict[str, Any] = {}
        for name, key in self.keys.items():
            found = node.get(name)
            if found is not None:
                values[self.attribute(name)] = key.shape.read(found, reading)
            elif key.required:
                values[name] = reading.error(
                    key.code, node.at, f"{self.what} needs the key {quoted(name)}", note=key.doc
                )
        wrong = [self._unknown(node, reading), self._conflict(node, reading), *values.values()]
        if BAD in [value for value in wrong if isinstance(value, Bad)]:
            return BAD
        return (self.build or self.cls)(**values)

    def _unknown(self, node: MappingNode, reading: Reading) -> Any:
        found: Any = None
        for key, _ in node.entries:
            if key.text not in self.keys:
                message = f"unknown key {quoted(key.text)} in {self.what}"
                note = f"keys: {', '.join(self.keys)}"
                found = reading.error(self.code, key.at, message, note=note, near=self.keys, word=key.text)
        return found

    def _conflict(self, node: MappingNode, reading: Reading) -> Any:
        for first, second in self.exclusive:
            if node.get(first) is not None and node.get(second) is not None:
                at = max(node.span_of(first), node.span_of(second), key=lambda span: (span.line, span.column))
                return reading.error("E031", at, f"{self.what} has {first} or {second}, not both")
        if self.one_of and not any(node.get(name) for name in self.one_of):
            return reading.error("E030", node.at, f"{self.what} needs one of {listed(self.one_of)}")
        return None

    def wrong(self, node: Node, reading: Reading) -> Bad:
        note = f"keys: {', '.join(self.keys)}"
        return reading.error("E020", node.at, f"expected {self.what} as a mapping, found {describe(node)}", note=note)

    def write(self, value: Any) -> Data:
        taken = self.take(value) if self.take else _attributes(value)
        written = {}
        for name, key in self.keys.items():
            item = taken.get(self.attribute(name))
            if key.required or (item is not None and item != self._defaults[self.attribute(name)]):
                written[name] = key.shape.write(item)
        return written

    def schema(self) -> Schema:
        properties = {name: self._property(name, key) for name, key in self.keys.items()}
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        if required := [name for name, key in self.keys.items() if key.required]:
            schema["required"] = required
        rules: list[Schema] = [{"not": {"required": list(pair)}} for pair in self.exclusive]
        if self.one_of:
            rules.append({"anyOf": [{"required": [name]} for name in self.one_of]})
        if rules:
            schema["allOf"] = rules
        if self.nullable:
            schema = {"anyOf": [schema, {"type": "null"}]}
        if doc := self.doc or _summary(self.cls):
            schema["description"] = doc
        return schema

    def _property(self, name: str, key: Key) -> Schema:
        doc = key.doc or attribute_docs(self.cls).get(self.attribute(name), "")
        schema = key.shape.schema()
        return {"description": doc, **schema} if doc and "$ref" not in schema else schema


@frozen(kw_only=True)
class OneKey(Shape):
    """A mapping with exactly one key, which says what it is.

    Attributes:
        what: noun phrase with article, for messages.
        words: the keys and what may stand behind each.
        key_of: tells which key writes a value.
    """

    what: str
    words: Mapping[str, Shape]
    key_of: Callable[[Any], str]
    code: str = "E101"

    def read(self, node: Node, reading: Reading) -> Any:
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

    def write(self, value: Any) -> Data:
        key = self.key_of(value)
        return {key: self.words[key].write(value)}

    def schema(self) -> Schema:
        return {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "properties": {word: shape.schema() for word, shape in self.words.items()},
        }


@frozen(kw_only=True)
class MapOf(Shape):
    """A mapping from names that the author chooses, as a dict; ``special`` keys have shapes of their own."""

    what: str
    name: Name
    of: Shape
    special: Mapping[str, Shape] = field(factory=dict)
    nullable: bool = False

    def read(self, node: Node, reading: Reading) -> Any:
        if self.nullable and isinstance(node, Scalar) and node.kind == "null":
            return {}
        if not isinstance(node, MappingNode):
            return self.wrong(node, reading)
        if len(node.entries) > NAMES_MAX:
            return reading.error("E032", node.at, f"there are too many {self.what}", note=f"at most {NAMES_MAX}")
        values: dict[str, Any] = {}
        for key, value in node.entries:
            values[key.text] = self.read_entry(key, value, reading)
            if key.text not in self.special and self.name.read(key, reading) is BAD:
                values[key.text] = BAD
        return BAD if any(value is BAD for value in values.values()) else values

    def read_entry(self, key: Scalar, value: Node, reading: Reading) -> Any:
        """Returns the value behind one name."""
        return self.special.get(key.text, self.of).read(value, reading)

    def write(self, value: Any) -> Data:
        return {name: self.special.get(name, self.of).write(item) for name, item in value.items()}

    def schema(self) -> Schema:
        return {
            "type": ["object", "null"] if self.nullable else "object",
            "properties": {name: shape.schema() for name, shape in self.special.items()},
            "patternProperties": {f"^(?!({'|'.join(self.special) or '$'})$){self.name.pattern}$": self.of.schema()},
            "additionalProperties": False,
            "maxProperties": NAMES_MAX,
        }


def only_entry(node: MappingNode, what: str, reading: Reading) -> tuple[Scalar, Node] | Bad:
    """Returns the single entry of a mapping."""
    if not node.entries:
        return reading.error("E029", node.at, f"{what} is empty")
    if len(node.entries) > 1:
        note = "begin this one with a dash of its own, or indent it"
        return reading.error("E031", node.entries[1][0].at, f"{what} has exactly one key", note=note)
    return node.entries[0]


def _default(default: Any) -> Any:
    return default.factory() if hasattr(default, "factory") else default


def _attributes(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {a.name: getattr(value, a.name) for a in fields(type(value))}


def _summary(cls: Any) -> str:
    return "" if cls is dict else (inspect.getdoc(cls) or "").split("\n")[0]


def attribute_docs(cls: Any) -> dict[str, str]:
    """Returns the sentences of the ``Attributes`` section of a class's docstring, by attribute."""
    section = (inspect.getdoc(cls) or "").partition("Attributes:\n")[2]
    found = re.findall(r"^    (\w+): (.*(?:\n {6,}.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}
