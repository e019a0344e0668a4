"""Text of models, users and adapters, made safe to print and measured in columns.

Such text is hostile until proven otherwise: it may carry terminal escapes, line
separators that JSON viewers and terminals disagree on, direction overrides that
reorder what stands beside them, halves of surrogate pairs, or a megabyte of
anything.  Everything that is not plainly printable becomes a backslash escape,
so a report reads the same in a terminal, a log and a browser, and can always be
encoded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import accumulate

MARKS_MAX = 3  # real scripts stack up to three combining marks; a longer pile would cover the lines above
CHARACTERS_PER_COLUMN_MAX = MARKS_MAX + 1
ELLIPSIS = "…"

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_COMMAND_START = re.compile(r"(?m)^(\s*):(?=:)")


def visible(text: str) -> str:
    """Returns ``text`` on one line, with everything unprintable as a backslash escape."""
    return text if text.isascii() and text.isprintable() else "".join(_tokens(text))


def quoted(text: str, width: int) -> str:
    """Returns raw text in double quotes, at most ``width`` columns wide, elided in the middle.

    Unlike :func:`visible` it escapes backslashes and quotes as well, so two texts that
    differ never look alike unless the difference was elided.
    """
    return f'"{_fit(text, width - 2, quote=True)}"'


def elide(text: str, width: int) -> str:
    """Returns ``text`` made visible and cut in the middle to at most ``width`` columns."""
    return _fit(text, width, quote=False)


def clip(text: str, width: int) -> str:
    """Returns text that is already visible, cut at its end to at most ``width`` columns."""
    return text if columns(text) <= width else "".join(_take(list(text), width - 1)) + ELLIPSIS


def columns(text: str) -> int:
    """Returns how many terminal columns visible ``text`` takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def pad(text: str, width: int) -> str:
    """Returns ``text`` followed by blanks up to ``width`` columns."""
    return text + " " * (width - columns(text))


def wrap(text: str, width: int) -> list[str]:
    """Returns visible ``text`` as lines of at most ``width`` columns, at least one line."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if columns(joined) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        *whole, lines[-1] = _chop(word, width)
        lines[-1:] = [*whole, lines[-1]]
    return lines


def inert(block: str) -> str:
    """Returns a block of report text in which no line can act as a command of a CI runner.

    GitHub's runner obeys lines of a log that start with ``::`` and, anywhere in a line, ``##[``.
    """
    return _COMMAND_START.sub(r"\1\\x3a", block).replace("##[", "\\x23#[")


def _chop(word: str, width: int) -> list[str]:
    parts = [""]
    room = width
    for char in word:
        if _width(char) > room and parts[-1]:
            parts.append("")
            room = width
        parts[-1] += char
        room -= _width(char)
    return parts


def _fit(text: str, width: int, *, quote: bool) -> str:
    reach = width * CHARACTERS_PER_COLUMN_MAX
    if len(text) > 2 * reach:  # a megabyte costs no more than what is shown of it
        head, tail = _tokens(text[:reach], quote=quote), _tokens(text[-reach:], quote=quote)
    else:
        head = tail = _tokens(text, quote=quote)
        if sum(map(columns, head)) <= width:
            return "".join(head)
    budget = width - 1
    start = _take(head, budget - budget // 3)
    end = _take(tail[::-1], budget // 3)[::-1]
    return "".join(_whole_words(start)) + ELLIPSIS + "".join(_whole_words(end[::-1])[::-1])


def _tokens(text: str, *, quote: bool = False) -> list[str]:
    """Returns what to print for each character; a token is never cut in two."""
    tokens: list[str] = []
    marks = 0
    for char in text:
        marks = marks + 1 if _width(char) == 0 else 0
        if char.isprintable() and marks <= MARKS_MAX:
            tokens.append("\\" + char if quote and char in '\\"' else char)
        else:
            tokens.append(_escape(char))
    return tokens


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return _NAMED.get(char, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _take(tokens: Sequence[str], width: int) -> list[str]:
    """Returns as many tokens from the front as fit."""
    used = accumulate(map(columns, tokens))
    return [token for token, end in zip(tokens, used, strict=True) if end <= width]


def _whole_words(tokens: list[str]) -> list[str]:
    """Drops a torn word at the end, unless that would drop more than a third."""
    cut = next((n for n in range(len(tokens), len(tokens) * 2 // 3, -1) if tokens[n - 1] == " "), len(tokens))
    return tokens[:cut]


def _width(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
