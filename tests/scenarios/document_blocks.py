"""The blocks of the project's documents, so that tests can run what people read.

A block of YAML that begins with ``version:`` is a whole scenario.  Any other one
is a part: it takes the place of the sections of the same name in the whole
scenario above it, as ``scenarios/README.md`` tells its readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_SECTION = re.compile(r"^(?=[a-z]+:)", re.MULTILINE)


@frozen(kw_only=True)
class Block:
    """One fenced block of a document."""

    document: str
    heading: str
    number: int
    language: str
    text: str

    @property
    def id(self) -> str:
        """Names the block in a test report."""
        return f"{self.document}:{self.number}:{self.heading}"


def document(name: str) -> str:
    """Returns the text of a document, named from the top of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str) -> list[Block]:
    """Returns the fenced blocks of a document, in order."""
    text = document(name)
    return [
        Block(
            document=name,
            heading=_HEADING.findall(text[: found.start()])[-1],
            number=number,
            language=found[1],
            text=found[2],
        )
        for number, found in enumerate(_BLOCK.finditer(text), 1)
    ]


def examples(name: str) -> Iterator[tuple[Block, str]]:
    """Yields each block of YAML with the whole scenario that it stands for."""
    whole = ""
    for block in blocks(name):
        if block.language != "yaml":
            continue
        if re.search(r"^version:", block.text, re.MULTILINE):
            whole = block.text
            yield block, whole
        else:
            yield block, _merged(whole, block.text)


def _merged(whole: str, part: str) -> str:
    return "".join((_sections(whole) | _sections(part)).values())


def _sections(text: str) -> dict[str, str]:
    return {section.partition(":")[0]: section for section in _SECTION.split(text) if section}
