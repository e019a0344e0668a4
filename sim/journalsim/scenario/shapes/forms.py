"""Shapes that can be written in more than one way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from journalsim.scenario.shapes.nodes import List, Mapping, Node, Scalar
from journalsim.scenario.shapes.reading import BAD, Reading
from journalsim.scenario.shapes.scalars import Data, ScalarShape, Schema, Shape


@frozen(kw_only=True)
class Short:
    """A short form: ``wrap`` makes the value of what stands there, ``unwrap`` goes back where that loses nothing."""

    shape: Shape
    wrap: Callable[[Any], Any]
    unwrap: Callable[[Any], Any]

    def read(self, node: Node, reading: Reading) -> Any:
        """Returns the wrapped value."""
        value = self.shape.read(node, reading)
        return BAD if value is BAD else self.wrap(value)

    def fits(self, value: Any) -> bool:
        """Tells whether this form can say the value."""
        inner = self.unwrap(value)
        return inner is not None and bool(self.wrap(inner) == value)


@frozen(kw_only=True)
class Forms(Shape):
    """A value with a short form as scalar or list, besides a long one as mapping."""

    what: str
    scalar: Short | None = None
    list: Short | None = None
    mapping: Shape | None = None

    def read(self, node: Node, reading: Reading) -> Any:
        forms = {Scalar: self.scalar, List: self.list, Mapping: self.mapping}
        form = forms[type(node)]
        return self.wrong(node, reading) if form is None else form.read(node, reading)

    def write(self, value: Any) -> Data:
        for form in (self.scalar, self.list):
            if form is not None and form.fits(value):
                return form.shape.write(form.unwrap(value))
        assert self.mapping is not None, value
        return self.mapping.write(value)

    def schema(self) -> Schema:
        shapes = [form.shape for form in (self.scalar, self.list) if form is not None]
        return {"anyOf": [shape.schema() for shape in (*shapes, self.mapping) if shape is not None]}


@frozen(kw_only=True)
class WordOr(ScalarShape):
    """A fixed word, which stands for itself, or something else."""

    word: str
    other: ScalarShape
    what: str

    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        return self.word if node.text == self.word else self.other.read(node, reading)

    def write(self, value: Any) -> Data:
        return value if value == self.word else self.other.write(value)

    def schema(self) -> Schema:
        return {"anyOf": [{"const": self.word}, self.other.schema()]}


@frozen
class Defined(Shape):
    """A shape with a name in the JSON Schema, which may contain itself."""

    name: str
    get: Callable[[], Shape]

    def read(self, node: Node, reading: Reading) -> Any:
        return self.get().read(node, reading)

    def write(self, value: Any) -> Data:
        return self.get().write(value)

    def schema(self) -> Schema:
        return {"$ref": f"#/definitions/{self.name}"}
