"""Shapes that can be written in more than one way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from attrs import frozen

from journalsim.scenario.shapes.nodes import List, Mapping, Node, Scalar
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.shape import Shape, T

S = TypeVar("S")


class Form(ABC, Generic[T]):
    """One way to write a value; it need not be able to write every value."""

    @abstractmethod
    def read(self, node: Node, reading: Reading) -> T | Bad:
        """Returns the value of a node, or ``BAD`` after reporting what is wrong with it."""

    @abstractmethod
    def write(self, value: T) -> Data | Bad:
        """Returns the plain data that reads as ``value``, or ``BAD`` if this form cannot write the value."""

    @abstractmethod
    def schema(self) -> Schema:
        """Returns the JSON Schema of this form."""


@frozen(kw_only=True)
class Short(Form[T], Generic[S, T]):
    """A short form.

    Attributes:
        shape: what may stand there.
        wrap: makes the value.
        unwrap: the way back, which may lose something; None where there is none.
    """

    shape: Shape[S]
    wrap: Callable[[S], T]
    unwrap: Callable[[T], S | None]

    def read(self, node: Node, reading: Reading) -> T | Bad:
        found = self.shape.read(node, reading)
        return BAD if isinstance(found, Bad) else self.wrap(found)

    def write(self, value: T) -> Data | Bad:
        inner = self.unwrap(value)
        return BAD if inner is None or self.wrap(inner) != value else self.shape.write(inner)

    def schema(self) -> Schema:
        return self.shape.schema()


@frozen(kw_only=True)
class Forms(Shape[T]):
    """A value with a short form as scalar or list, besides a long one as mapping."""

    what: str
    scalar: Form[T] | None = None
    list: Form[T] | None = None
    mapping: Shape[T] | None = None

    def read(self, node: Node, reading: Reading) -> T | Bad:
        forms = {Scalar: self.scalar, List: self.list, Mapping: self.mapping}
        form = forms[type(node)]
        return self.wrong(node, reading) if form is None else form.read(node, reading)

    def write(self, value: T) -> Data:
        for form in (self.scalar, self.list):
            written = BAD if form is None else form.write(value)
            if not isinstance(written, Bad):
                return written
        assert self.mapping is not None, value
        return self.mapping.write(value)

    def schema(self) -> Schema:
        return {"anyOf": [form.schema() for form in (self.scalar, self.list, self.mapping) if form is not None]}
