"""Makes the reference journal, whole or with one known bug: what ``journalsim -a ref`` loads."""

from __future__ import annotations

from reference_impl.bugs import BUGS
from reference_impl.runner import ReferenceJournal
from reference_impl.stores.memory import Folders
from reference_impl.stores.sqlite import SQLiteStore

_FOLDERS = Folders()  # a server process is a new adapter, and finds the folders of the one before


def make(variant: str = "") -> ReferenceJournal:
    """Builds the reference journal.

    Args:
        variant: empty for SQLite, ``memory`` for a store in memory, ``bug-NAME`` for an entry of the zoo.

    Raises:
        ValueError: there is no such variant.
    """
    if variant == "":
        return ReferenceJournal(SQLiteStore)
    if variant == "memory":
        return ReferenceJournal(_FOLDERS.open)
    for bug in BUGS:
        if variant == f"bug-{bug.name}":
            return bug.build()
    raise ValueError(f"the reference journal has no variant {variant!r}")
