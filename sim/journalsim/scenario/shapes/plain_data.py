"""Plain data: the values that the printer prints, and that free data and JSON Schemas consist of."""

from __future__ import annotations

from typing import TypeAlias


class Quoted(str):
    """A text. The printer puts it in quotes, unlike a word, which is a plain ``str``."""


Data: TypeAlias = "bool | int | float | str | list[Data] | dict[str, Data] | None"
"""What the printer prints: ``str`` is a word, :class:`Quoted` a text."""

Schema: TypeAlias = dict[str, Data]
"""A JSON Schema, draft-07, as JSON data."""
