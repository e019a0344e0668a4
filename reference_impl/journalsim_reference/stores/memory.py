"""Implements a store in memory; the folder, which outlives a crash, belongs to the caller."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import Factory, define

from journalsim_reference.events import Event
from journalsim_reference.stores.base import DuplicateRow, StaleWriter, StoreClosed


@define
class Folder:
    """The rows under one path, and the epoch of the latest process to open it."""

    epoch: int = 0
    rows: dict[str, Event] = Factory(dict)


class MemoryStore:
    """Implements :class:`journalsim_reference.stores.base.Store` on a folder."""

    def __init__(self, folder: Folder) -> None:
        folder.epoch += 1
        self.epoch = folder.epoch
        self._folder: Folder | None = folder

    def load(self) -> tuple[Event, ...]:
        """Returns all rows, oldest first."""
        return tuple(self._open_folder().rows.values())

    def append(self, events: Sequence[Event], *, barrier: bool = True) -> None:
        """Stores all of ``events`` or none; memory has no barrier to wait for."""
        folder = self._open_folder()
        if folder.epoch != self.epoch:
            raise StaleWriter(f"epoch {self.epoch} was replaced by {folder.epoch}")
        new = {event.event_id: event for event in events}
        known = [event_id for event_id in new if event_id in folder.rows]
        if known or len(new) != len(events):
            raise DuplicateRow(f"rows that are already there: {', '.join(known) or 'within the batch'}")
        folder.rows.update(new)

    def close(self) -> None:
        """Releases the folder."""
        self._folder = None

    def crash(self) -> None:
        """Releases the folder; closing in good order would do nothing else."""
        self._folder = None

    def _open_folder(self) -> Folder:
        if self._folder is None:
            raise StoreClosed("this store was closed")
        return self._folder


FOLDERS_MAX = 16
"""A process of ours works on one folder at a time; the few before it may still be read."""


class Folders:
    """Replaces a disk: maps paths to folders, and forgets the oldest when there are too many."""

    def __init__(self) -> None:
        self._folders: dict[str, Folder] = {}

    def open(self, where: str) -> MemoryStore:
        """Opens the store at ``where``."""
        folder = self._folders.pop(where, None) or Folder()
        self._folders[where] = folder
        if len(self._folders) > FOLDERS_MAX:
            del self._folders[next(iter(self._folders))]
        return MemoryStore(folder)
