"""The names in a folder, and which of them a power cut may leave.

A name has a durability of its own.  That a file was created, renamed or removed
is certain once the folder was synced, and at once if the disk says so.  Each such
change happens whole or not at all; see the theory in :mod:`journalsim.actors.disk.simulated`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple

from journalsim.actors.disk.content import Content
from journalsim.contract.disk_faults import DiskOptions

Names = dict[str, Content]


class NameChange(NamedTuple):
    """One change of the folder that is not certain yet."""

    verb: Literal["create", "rename", "unlink"]
    name: str
    new_name: str
    content: Content


class Folder:
    """Names, as programs see them and as the disk has them.

    Attributes:
        view: what programs see.
        durable: what is certain to be on the disk.
        pending: what leads from one to the other, in order.
    """

    def __init__(self, names: Mapping[str, Content], options: DiskOptions) -> None:
        self.view: Names = dict(names)
        self.durable: Names = dict(names)
        self.pending: list[NameChange] = []
        self._options = options

    def change(self, change: NameChange, *, volatile: bool = False) -> None:
        """Changes a name; a ``volatile`` change needs a sync of the folder whatever the options say."""
        carry_out(self.view, change)
        if self._options.entries == "at_once" and not volatile:
            carry_out(self.durable, change)
        else:
            self.pending.append(change)

    def sync(self) -> None:
        """Makes every name certain."""
        self.durable = dict(self.view)
        self.pending.clear()

    def with_changes(self, kept: Sequence[bool]) -> Names:
        """Returns the names on the disk with the pending changes that are ``kept``."""
        names = dict(self.durable)
        for change, keep in zip(self.pending, kept, strict=True):
            if keep:
                carry_out(names, change)
        return names

    def survivals(self) -> Iterator[tuple[bool, ...]]:
        """Yields which pending changes may survive together, the fewest first where they keep their order."""
        count = len(self.pending)
        if self._options.entries == "in_order":
            yield from (tuple(position < kept for position in range(count)) for kept in range(count + 1))
        else:
            yield from product((False, True), repeat=count)


def carry_out(names: Names, change: NameChange) -> None:
    """Makes one change; to rename or remove what is not there changes nothing."""
    if change.verb == "create":
        names[change.name] = change.content
    elif change.verb == "unlink":
        names.pop(change.name, None)
    elif names.get(change.name) is change.content:
        del names[change.name]
        names[change.new_name] = change.content
