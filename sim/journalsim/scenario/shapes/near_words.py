"""Which known word an author probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from journalsim.scenario.shapes.problems import QUOTED_MAX, quoted


def nearest(word: str, known: Iterable[str], other_words: Mapping[str, Sequence[str]] = {}) -> str | None:
    """Returns the known word that was probably meant, or None.

    Args:
        word: what the author wrote.
        known: the words that fit there.
        other_words: for words of other systems, the words that mean the same here.
    """
    words = sorted(known)
    found = [ours for ours in other_words.get(word, ()) if ours in words]
    if not found and word in words:  # nothing is nearer; a comparison with all of them takes long
        return word
    found += get_close_matches(word[:QUOTED_MAX], words, n=1)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str], other_words: Mapping[str, Sequence[str]] = {}) -> str:
    """Returns a help text with the nearest known word; empty if there is none."""
    near = nearest(word, known, other_words)
    return f"did you mean {quoted(near)}?" if near else ""
