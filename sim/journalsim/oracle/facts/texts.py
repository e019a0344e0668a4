"""Comparing what is kept with what the model emitted."""

from __future__ import annotations

import json
from collections.abc import Sequence


def common_prefix(a: str, b: str) -> str:
    """Returns the longest text with which both begin."""
    if b.startswith(a):
        return a
    return a[: next(i for i, character in enumerate(a) if b[i : i + 1] != character)]


def leaves_out(kept: str, emitted: str) -> bool:
    """Whether ``kept`` is ``emitted`` with something, or nothing, left out: it adds and moves nothing."""
    if emitted.startswith(kept):
        return True
    rest = iter(emitted)
    return all(character in rest for character in kept)


def glued(kept: str, attempts: Sequence[str]) -> bool:
    """Whether ``kept`` is made of the beginnings of two or more attempts, one behind the other.

    Args:
        kept: some text.
        attempts: what each attempt emitted, in order.
    """
    parts, rest = 0, kept
    for emitted in attempts:
        part = common_prefix(emitted, rest)
        parts, rest = parts + bool(part), rest[len(part) :]
    return not rest and parts > 1


def same_arguments(ours: str, theirs: str) -> bool:
    """Whether two argument texts of a tool call say the same: equal, or equal as JSON."""
    if ours == theirs:
        return True
    try:
        return bool(json.loads(ours) == json.loads(theirs))
    except ValueError:
        return False


def is_whole(arguments: str) -> bool:
    """Whether an argument text of a tool call is complete: JSON that could be read."""
    try:
        json.loads(arguments)
    except ValueError:
        return False
    return True
