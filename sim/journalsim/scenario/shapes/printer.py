"""Printing plain data as canonical YAML.

A collection goes on one line where it fits and is shallow; everything else is
spread over lines.  Words are bare, texts are in quotes; long texts are folded
and texts of several lines are blocks.  :class:`Printer` records the line at
which each part begins, so that comments can be put back.
"""

from __future__ import annotations

import re

from journalsim.scenario.shapes.nodes import Path, kind_of
from journalsim.scenario.shapes.plain_data import Data, Quoted

WIDTH = 110  # columns: two files side by side on a wide screen
FLOW_HEIGHT = 2  # levels of brackets that a reader takes in at a glance
_BARE = re.compile(r"(-?[A-Za-z0-9]|[$_])[A-Za-z0-9_.#$/-]*")
_TRUTHS_ELSEWHERE = frozenset(["y", "n", "yes", "no", "on", "off"])
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


class Printer:
    """Prints one document.

    Attributes:
        lines: the text, line by line.
        places: the line at which each part begins, by its path.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: dict[Path, int] = {}

    def document(self, data: dict[str, Data]) -> str:
        """Returns the text of a mapping."""
        self._block_mapping(data, (), "")
        return "".join(f"{line}\n" for line in self.lines)

    def _block_mapping(self, data: dict[str, Data], path: Path, indent: str, first: str | None = None) -> None:
        """Prints one key a line; ``first`` replaces the indent of the first line, such as ``  - ``."""
        for key, value in data.items():
            lead = indent if first is None else first
            first = None
            self._entry(f"{lead}{scalar(key)}:", value, (*path, key), indent)

    def _entry(self, lead: str, value: Data, path: Path, indent: str) -> None:
        self.places[path] = len(self.lines)
        one_line = f"{lead} {flow(value)}" if self._fits_flow(value, path) else ""
        if one_line and (len(one_line) <= WIDTH or not isinstance(value, dict | list | Quoted)):
            self.lines.append(one_line)
        elif isinstance(value, dict):
            self.lines.append(lead)
            self._block_mapping(value, path, f"{indent}  ")
        elif isinstance(value, list):
            self.lines.append(lead)
            self._block_list(value, path, f"{indent}  ")
        else:
            assert isinstance(value, Quoted), value
            self.lines += _long_text(lead, value, f"{indent}  ")

    def _fits_flow(self, value: Data, path: Path) -> bool:
        """Returns whether the value goes in brackets; a whole section never does."""
        if isinstance(value, Quoted):
            return "\n" not in value.rstrip("\n") or not _is_block(value)
        section = len(path) == 1 and (isinstance(value, dict) or height(value) > 1)
        return not value or (not section and height(value) <= FLOW_HEIGHT)

    def _block_list(self, data: list[Data], path: Path, indent: str) -> None:
        for number, item in enumerate(data):
            here = (*path, number)
            self.places[here] = len(self.lines)
            if isinstance(item, dict) and item:
                self._block_mapping(item, here, f"{indent}  ", first=f"{indent}- ")
            else:
                self.lines.append(f"{indent}- {flow(item)}")


def height(value: Data) -> int:
    """Returns the number of levels of collections."""
    if isinstance(value, dict | list):
        return 1 + max((height(item) for item in (value.values() if isinstance(value, dict) else value)), default=0)
    return 0


def flow(value: Data) -> str:
    """Returns the value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def scalar(value: Data) -> str:
    """Returns a scalar as YAML; a word is bare if every reader of YAML reads it as a word."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    bare = not isinstance(value, Quoted) and _BARE.fullmatch(value) and kind_of(value) == "text"
    if bare and value.lower() not in _TRUTHS_ELSEWHERE:
        return str(value)
    if '"' in value and "'" not in value and value.isprintable() and "\\" not in value:
        return f"'{value}'"
    return '"' + "".join(_escaped(character) for character in value) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    if character in _ESCAPES or character.isprintable():
        return _ESCAPES.get(character, character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_block(text: str) -> bool:
    """Returns whether a block can hold the text: nothing invisible, no space at a line's end or at the beginning."""
    lines = text.removesuffix("\n").split("\n")
    plain = all(line.isprintable() and line == line.rstrip() for line in lines)
    return plain and bool(lines[0] and lines[-1]) and not text.startswith(" ")


def _long_text(lead: str, text: str, indent: str) -> list[str]:
    """Prints a text over several lines, so that it reads as exactly the same text."""
    keep = "" if text.endswith("\n") else "-"
    body = text.removesuffix("\n")
    if _is_block(text) and "\n" in body:
        return [f"{lead} |{keep}", *(f"{indent}{line}".rstrip() for line in body.split("\n"))]
    if _is_block(text) and "  " not in body:
        return [f"{lead} >{keep}", *(f"{indent}{line}" for line in _wrapped(body, WIDTH - len(indent)))]
    return [f"{lead} {scalar(Quoted(text))}"]


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines
