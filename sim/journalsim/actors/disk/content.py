"""Holds the bytes of one file, with every content that its parts have had since the last sync.

A file system writes cached sectors back in any order and at any time. So after a power cut each sector holds *some*
content that it has had since the last sync, each of a moment of its own, and the length is *some* length of that time.
:class:`Versions` holds all of them; :mod:`journalsim.actors.disk.loss` or :mod:`journalsim.actors.disk.worlds` chooses
one.

A sector never holds a later write without an earlier one to the same sector: both were in one cached page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from journalsim.contract.disk_faults import DiskOptions

Image = dict[str, bytes]
"""The files of a folder: contents by name."""


class Change(NamedTuple):
    """One write, or, without data, a change of the length to ``offset``."""

    order: int  # position among all changes of the disk
    offset: int
    data: bytes | None


class Content:
    """One file, under all its names.

    Attributes:
        view: the bytes that programs read.
        base: the bytes that are durable.
        changes: the changes that lead from ``base`` to ``view``, in order.
        holder: the life and the open file that hold the advisory lock.
    """

    __slots__ = ("_cached", "_options", "base", "changes", "holder", "number", "view")

    def __init__(self, number: int, data: bytes, options: DiskOptions) -> None:
        self.number = number
        self.view = bytearray(data)
        self.base = bytearray(data)
        self.changes: list[Change] = []
        self.holder: tuple[Any, object] | None = None
        self._options = options
        self._cached: bytes | None = None  # the view at the last sync, if a failed one left it unwritten

    def change(self, order: int, offset: int, data: bytes | None) -> None:
        """Hands a change to the operating system."""
        apply(self.view, offset, data)
        self.changes.append(Change(order, offset, data))

    def sync(self) -> None:
        """Writes the cache to the disk, except for sectors that the cache wrongly marks as written."""
        if self._cached is None:
            for _, offset, data in self.changes:
                apply(self.base, offset, data)
        else:
            versions = self.versions()
            self.base = bytearray(versions.assemble(len(self.view), versions.newest(len(self.changes))))
            self._cached = bytes(self.view) if self.base != self.view else None
        self.changes.clear()

    def fail_sync(self) -> None:
        """Forgets the unwritten changes, as file systems do: programs still read them, and no sync will write them.

        A later sync writes such a sector only after a further write to it.
        """
        self._cached = bytes(self.view)
        self.changes.clear()

    def versions(self) -> Versions:
        """Returns every content of the file since its last sync."""
        sector, in_order = self._options.sector, self._options.truncates == "in_order"
        cache = bytearray(self.base if self._cached is None else self._cached)
        sizes, shrinks = [len(self.base)], []
        sectors: dict[int, list[tuple[int, bytes]]] = {}
        for moment, (_, offset, data) in enumerate(self.changes, 1):
            size = len(cache)
            apply(cache, offset, data)
            sizes.append(len(cache))
            if data is None and offset < size:
                shrinks.append((moment, offset))
            for number in _touched(offset, data, size, sector):
                content = bytes(cache[number * sector : (number + 1) * sector]).ljust(sector, b"\0")
                sectors.setdefault(number, [(0, self._on_disk(number))]).append((moment, content))
        return Versions(bytes(self.base), sector, tuple(sizes), tuple(shrinks), in_order, sectors)

    def _on_disk(self, number: int) -> bytes:
        sector = self._options.sector
        content = bytes(self.base[number * sector : (number + 1) * sector])
        return content.ljust(sector, b"\0" if content else bytes([self._options.fill]))


class Versions(NamedTuple):
    """Contents of one file since its last sync, by *moment*: 0 is the sync, then one per change.

    Attributes:
        base: the synced bytes.
        sector: bytes in one sector.
        sizes: length at each moment.
        shrinks: moments of truncations, each with the new length.
        in_order: whether truncations stay in order with writes.
        sectors: contents of each changed sector, each with its first moment.
    """

    base: bytes
    sector: int
    sizes: tuple[int, ...]
    shrinks: tuple[tuple[int, int], ...]
    in_order: bool
    sectors: Mapping[int, Sequence[tuple[int, bytes]]]

    def allowed(self, number: int, moment: int) -> list[tuple[int, bytes]]:
        """Returns the contents that a sector may have when the length is that of ``moment``.

        The zeros of a truncation are there only if the truncation survived. Where truncations stay in order, a
        surviving one implies that everything before it survived, and a lost one implies that everything after it was
        lost.
        """
        cuts = [when for when, size in self.shrinks if (number + 1) * self.sector > size]
        survived, lost = [when for when in cuts if when <= moment], [when for when in cuts if when > moment]
        if self.in_order:
            low, high = max(survived, default=0), min(lost, default=len(self.sizes))
            found = [version for version in self.sectors[number] if low <= version[0] < high]
        else:
            found = [version for version in self.sectors[number] if version[0] not in lost]
        return found or [(0, bytes(self.sector))]

    def newest(self, moment: int, until: int | None = None) -> dict[int, bytes]:
        """Returns the last content of each sector, at the moment ``until`` if given."""
        picks = {}
        for number in self.sectors:
            versions = self.allowed(number, moment)
            early = versions if until is None else [version for version in versions if version[0] <= until]
            picks[number] = early[-1][1] if early else versions[0][1]
        return picks

    def assemble(self, size: int, picks: Mapping[int, bytes]) -> bytes:
        """Returns the file with this length and these sectors."""
        content = bytearray(self.base)
        for number, data in picks.items():
            apply(content, number * self.sector, data)
        apply(content, size, None)
        return bytes(content)


def apply(content: bytearray, offset: int, data: bytes | None) -> None:
    """Makes one change to the bytes of a file."""
    missing = offset - len(content)
    if missing > 0:
        content.extend(bytes(missing))
    if data is None:
        del content[offset:]
    else:
        content[offset : offset + len(data)] = data


def _touched(offset: int, data: bytes | None, size: int, sector: int) -> range:
    """Returns the sectors whose content a change replaces; ``size`` is the length before it."""
    end = offset + len(data) if data is not None else max(size, offset)
    begin = offset if data is not None or offset < size else end
    return range(begin // sector, -(-end // sector)) if begin < end else range(0)
