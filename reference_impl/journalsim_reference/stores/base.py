"""What the journal asks of a store: few verbs, each all or nothing.

A store keeps rows and nothing else.  ``append`` returns when the whole batch is
kept; when it raises a :class:`StoreError`, none of it is.  When it raises
:class:`journalsim.contract.adapters.OutcomeUnknown`, the disk failed in the middle, and all or
none of it is: ``load`` settles that, and what it then returns is certain.  The ids of
rows are the caller's, so a batch that is given once more can never be there twice.

Every ``open`` is a new epoch, and a writer of an earlier one is refused at the only
place where it could do harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from journalsim_reference.events import Event


class StoreError(Exception):
    """The store did not do what it was asked, and kept nothing of it."""


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
            StoreError: it cannot, or the rows cannot be read.
        """
        ...

    def append(self, events: Sequence[Event], *, barrier: bool = True) -> None:
        """Keeps all of ``events`` or none.

        Args:
            events: rows, in order.
            barrier: whether they must be on the disk, rather than with the operating system, on return.

        Raises:
            StoreError: nothing was kept.
            OutcomeUnknown: all or nothing was.
        """
        ...

    def close(self) -> None:
        """Closes it in good order; closing twice is fine."""
        ...

    def crash(self) -> None:
        """Lets go of it as a killed process does, without a last word to the disk."""
        ...
