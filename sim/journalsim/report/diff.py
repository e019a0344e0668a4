"""Two lists of journal rows side by side: what should be there, and what is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from journalsim.report.escape import ELLIPSIS, columns, elide, visible
from journalsim.report.words import count

EQUAL_MAX = 4  # a longer stretch of equal rows is folded to its two ends


def journal_diff(expected: Sequence[str], actual: Sequence[str], width: int = 92) -> list[str]:
    """Returns the rows as lines: both sides as they are, ``-`` expected only, ``+`` found only.

    Args:
        expected: rows that should be there.
        actual: rows that are there.
        width: columns of a row without its mark.
    """
    lines: list[str] = []
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, expected, actual, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += _equal(expected[a0:a1], width)
        else:
            lines += _changed(expected[a0:a1], actual[b0:b1], width)
    if not actual and expected:
        lines.append("+ (nothing)")
    return lines


def _equal(rows: Sequence[str], width: int) -> list[str]:
    lines = [f"  {elide(row, width)}" for row in rows]
    if len(lines) <= EQUAL_MAX:
        return lines
    return [lines[0], f"  {ELLIPSIS} {count(len(lines) - 2, 'equal row')} {ELLIPSIS}", lines[-1]]


def _changed(expected: Sequence[str], actual: Sequence[str], width: int) -> list[str]:
    pairs = list(_cut(expected, actual, width))
    return [f"- {row}" for row, _ in pairs if row is not None] + [f"+ {row}" for _, row in pairs if row is not None]


def _cut(expected: Sequence[str], actual: Sequence[str], width: int) -> Iterator[tuple[str | None, str | None]]:
    """Yields the rows in pairs, cut so that the first difference of a pair stays in sight."""
    for ours, theirs in zip_longest(expected, actual):
        if ours is None or theirs is None:
            yield (None if ours is None else elide(ours, width)), (None if theirs is None else elide(theirs, width))
            continue
        start = max(0, _common(ours, theirs) - width // 3)
        yield _from(ours, start, width), _from(theirs, start, width)


def _common(a: str, b: str) -> int:
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _from(row: str, start: int, width: int) -> str:
    if columns(visible(row)) <= width:
        return visible(row)
    return elide(row, width) if start == 0 else ELLIPSIS + elide(row[start:], width - 1)
