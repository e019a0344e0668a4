"""Builds the reference journal, correct or with one seeded bug; ``journalsim -a ref`` loads this module."""

from __future__ import annotations

from collections.abc import Mapping

from journalsim_reference.bugs import BUGS
from journalsim_reference.runner import ReferenceJournal
from journalsim_reference.stores.opening import VARIANTS, as_asked

STORES: Mapping[str, str] = {name: what for name, (_, what) in VARIANTS.items()}
"""Variants that differ only in their store, with a description of each."""


def make(variant: str = "") -> ReferenceJournal:
    """Builds the reference journal.

    Args:
        variant: empty for the store that the scenario names, SQLite by default; a key of :data:`STORES`; or
            ``bug-NAME`` for an entry of the zoo.

    Raises:
        ValueError: no such variant exists.
    """
    if variant == "":
        return ReferenceJournal(as_asked)
    if variant in VARIANTS:
        return ReferenceJournal(VARIANTS[variant][0])
    for bug in BUGS:
        if variant == f"bug-{bug.name}":
            return bug.build()
    raise ValueError(f"the reference journal has no variant {variant!r}")
