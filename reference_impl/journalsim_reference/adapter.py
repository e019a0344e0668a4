"""Makes the reference journal, whole or with one known bug: what ``journalsim -a ref`` loads."""

from __future__ import annotations

from collections.abc import Mapping

from journalsim_reference.bugs import BUGS
from journalsim_reference.runner import ReferenceJournal
from journalsim_reference.stores.opening import VARIANTS, as_asked

STORES: Mapping[str, str] = {name: what for name, (_, what) in VARIANTS.items()}
"""Variants that differ in their store alone, and what each is."""


def make(variant: str = "") -> ReferenceJournal:
    """Builds the reference journal.

    Args:
        variant: empty for the store that the scenario asks for, SQLite by default; a key of :data:`STORES`; or
            ``bug-NAME`` for an entry of the zoo.

    Raises:
        ValueError: there is no such variant.
    """
    if variant == "":
        return ReferenceJournal(as_asked)
    if variant in VARIANTS:
        return ReferenceJournal(VARIANTS[variant][0])
    for bug in BUGS:
        if variant == f"bug-{bug.name}":
            return bug.build()
    raise ValueError(f"the reference journal has no variant {variant!r}")
