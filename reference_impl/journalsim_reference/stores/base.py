"""Defines the interface of a store: few verbs, each all or nothing.

A store holds rows and nothing else. ``append`` returns when the whole batch is stored; when it raises a
:class:`StoreError`, no row is. When it raises :class:`journalsim.contract.adapters.OutcomeUnknown`, the disk failed in
the middle, and all rows or no row is stored: ``load`` settles that, and the rows that it then returns are certain. The
ids of rows are the caller's, so a batch that is appended again is stored at most once.

Every ``open`` begins a new epoch, and a writer of an earlier epoch is refused at the only place where it could do harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from journalsim_reference.events import Event


class StoreError(Exception):
    """The store failed, and stored nothing."""


class StoreClosed(StoreError):
    """The store was closed, or its process crashed."""


class StaleWriter(StoreError):
    """A newer process has opened the same store; this one may read but no longer write."""


class DuplicateRow(StoreError):
    """A row with this event id is already there."""


class Store(Protocol):
    """Rows of all sessions, in the order in which they were appended.

    Attributes:
        epoch: this writer's fencing token.
    """

    epoch: int

    def load(self) -> tuple[Event, ...]:
        """Returns all rows, oldest first; settles an unknown outcome first.

        Raises:
            StoreError: the outcome cannot be settled, or the rows cannot be read.
        """
        ...

    def append(self, events: Sequence[Event], *, barrier: bool = True) -> None:
        """Stores all of ``events`` or none.

        Args:
            events: rows, in order.
            barrier: True if they must be on the disk on return; else the operating system must have them.

        Raises:
            StoreError: no row was stored.
            OutcomeUnknown: all rows were stored, or none.
        """
        ...

    def close(self) -> None:
        """Closes the store in good order; closing twice is allowed."""
        ...

    def crash(self) -> None:
        """Releases the store as a killed process does, without a further write."""
        ...
