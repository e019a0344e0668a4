"""Reads docstrings: schemas and the documentation of events are made from those of the classes."""

from __future__ import annotations

import inspect
import re


def first_sentence(cls: type) -> str:
    """Returns the first line of a class's docstring; empty if it has none."""
    return (inspect.getdoc(cls) or "").split("\n")[0]


def attribute_docs(cls: type) -> dict[str, str]:
    """Returns the sentences of the ``Attributes`` section of a class's docstring, by attribute."""
    section = (inspect.getdoc(cls) or "").partition("Attributes:\n")[2]
    found = re.findall(r"^    (\w+): (.*(?:\n {6,}.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}
