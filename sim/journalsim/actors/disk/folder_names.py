"""Holds the names in a folder, and computes which of them may survive a power cut.

A name has a durability of its own. A created, renamed or removed name is durable once the folder was synced, or at
once if the disk is of that kind. Each such change survives whole or not at all; see the theory in
:mod:`journalsim.actors.disk.simulated`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple

from journalsim.actors.disk.content import Content
from journalsim.contract.disk_faults import DiskOptions

Names = dict[str, Content]


class NameChange(NamedTuple):
    """One change of the folder that is not durable yet."""

    verb: Literal["create", "rename", "unlink"]
    name: str
    new_name: str
    content: Content


class Folder:
    """Names, as programs see them and as the disk has them.

    Attributes:
        view: the names that programs see.
        durable: the names that are durable.
        pending: the changes that lead from ``durable`` to ``view``, in order.
    """

    def __init__(self, names: Mapping[str, Content], options: DiskOptions) -> None:
        self.view: Names = dict(names)
        self.durable: Names = dict(names)
        self.pending: list[NameChange] = []
        self._options = options

    def change(self, change: NameChange, *, volatile: bool = False) -> None:
        """Changes a name; a ``volatile`` change needs a sync of the folder under all options."""
        carry_out(self.view, change)
        if self._options.entries == "at_once" and not volatile:
            carry_out(self.durable, change)
        else:
            self.pending.append(change)

    def sync(self) -> None:
        """Makes every name durable."""
        self.durable = dict(self.view)
        self.pending.clear()

    def with_changes(self, survives: Sequence[bool]) -> Names:
        """Returns the names on the disk with the pending changes marked in ``survives``."""
        names = dict(self.durable)
        for change, survived in zip(self.pending, survives, strict=True):
            if survived:
                carry_out(names, change)
        return names

    def survivals(self) -> Iterator[tuple[bool, ...]]:
        """Yields the sets of pending changes that may survive together, the smallest first where they stay in order."""
        count = len(self.pending)
        if self._options.entries == "in_order":
            yield from (tuple(position < first for position in range(count)) for first in range(count + 1))
        else:
            yield from product((False, True), repeat=count)


def carry_out(names: Names, change: NameChange) -> None:
    """Makes one change; renaming or removing an absent name changes nothing."""
    if change.verb == "create":
        names[change.name] = change.content
    elif change.verb == "unlink":
        names.pop(change.name, None)
    elif names.get(change.name) is change.content:
        del names[change.name]
        names[change.new_name] = change.content
