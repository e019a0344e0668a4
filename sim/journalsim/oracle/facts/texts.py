"""Comparison of stored text with emitted text."""

from __future__ import annotations

import json
from collections.abc import Sequence


def common_prefix(a: str, b: str) -> str:
    """Returns the longest common prefix of two texts."""
    if b.startswith(a):
        return a
    return a[: next(i for i, character in enumerate(a) if b[i : i + 1] != character)]


def leaves_out(stored: str, emitted: str) -> bool:
    """Returns True if ``stored`` is a subsequence of ``emitted``: it adds and moves no character."""
    if emitted.startswith(stored):
        return True
    rest = iter(emitted)
    return all(character in rest for character in stored)


def glued(stored: str, attempts: Sequence[str]) -> bool:
    """Returns True if ``stored`` joins prefixes of two or more attempts, in their order.

    Args:
        stored: a text.
        attempts: the text of each attempt, in order.
    """
    parts, rest = 0, stored
    for emitted in attempts:
        part = common_prefix(emitted, rest)
        parts, rest = parts + bool(part), rest[len(part) :]
    return not rest and parts > 1


def same_arguments(ours: str, theirs: str) -> bool:
    """Returns True if two argument texts of a tool call are equal, or equal as JSON."""
    if ours == theirs:
        return True
    try:
        return bool(json.loads(ours) == json.loads(theirs))
    except ValueError:
        return False


def is_whole(arguments: str) -> bool:
    """Returns True if an argument text of a tool call is complete: valid JSON."""
    try:
        json.loads(arguments)
    except ValueError:
        return False
    return True
