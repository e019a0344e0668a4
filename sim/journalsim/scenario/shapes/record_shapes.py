"""Mappings that become instances of an attrs class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from attrs import NOTHING, AttrsInstance, field, fields, frozen

from journalsim.contract.docstrings import attribute_docs, first_sentence
from journalsim.scenario.shapes.keyed import Keyed
from journalsim.scenario.shapes.keys import Key
from journalsim.scenario.shapes.plain_data import Schema
from journalsim.scenario.shapes.problems import listed

R = TypeVar("R", bound=AttrsInstance)


@frozen(kw_only=True)
class Record(Keyed[R, object]):
    """A mapping that becomes an instance of an attrs class.

    Attributes:
        cls: the class; defaults come from it.
        given: attributes that no key sets.
        described: the class whose docstring describes the keys; ``cls`` by default.

    Raises:
        TypeError: a key has an attribute of another class, or an attribute without a default has no required key.
    """

    cls: type[R]
    given: Mapping[str, object] = field(factory=dict)
    described: type | None = None
    _attributes: Mapping[str, str] = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        attributes = {name: key.attribute for name, key in self.keys.items() if isinstance(key, Key)}
        strangers = [name for name, attribute in attributes.items() if attribute not in fields(self.cls)]
        if strangers:
            raise TypeError(f"no attribute of {self.cls.__name__}: {listed(strangers)}")
        always = {*self.given, *(attributes[name].name for name in attributes if self.keys[name].required)}
        missing = [one.name for one in fields(self.cls) if one.default is NOTHING and one.name not in always]
        if missing:
            raise TypeError(f"no required key for an attribute of {self.cls.__name__}: {listed(missing)}")
        object.__setattr__(self, "_attributes", {name: attribute.name for name, attribute in attributes.items()})

    def built(self, parts: Mapping[str, object]) -> R:
        build: Callable[..., R] = self.cls
        values = {attribute: parts[name] for name, attribute in self._attributes.items() if name in parts}
        return build(**self.given, **values)

    def part(self, value: R, name: str) -> object:
        part: object = getattr(value, self._attributes[name]) if name in self._attributes else None
        return part

    def docs(self) -> Mapping[str, str]:
        docs = attribute_docs(self.described or self.cls)
        return {name: docs.get(attribute, "") for name, attribute in self._attributes.items()}

    def schema(self) -> Schema:
        schema = super().schema()
        summary = self.doc or first_sentence(self.described or self.cls)
        return {**schema, "description": summary} if summary else schema
