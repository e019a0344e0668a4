"""Defines the folder that a journal writes to, as one process sees it.

A journal that opens its files through :class:`DiskPort` runs on a real folder and on the simulated disk alike. Every
verb is synchronous and does what the system call of the same name does. A byte passes through three states:

* *written*: it is in a buffer of this process (a file opened ``buffered``); it
  is lost with the process;
* *flushed*: the operating system has it; it survives the process, but not a power cut;
* *synced*: it is on the disk; it survives both.

``write`` on an unbuffered file flushes at once. Names of files have a durability of their own: a name that was
created, renamed or removed is durable only after ``sync_folder``.

Errors are :class:`OSError` with the usual ``errno``. Once the process or its machine is gone, every verb but
``unlock`` and ``close`` raises an exception outside :class:`Exception`, so that no error handling of a journal
continues after its own crash.
"""

from __future__ import annotations

from typing import Protocol


class DiskFile(Protocol):
    """An open file."""

    def read(self, offset: int, amount: int) -> bytes:
        """Returns up to ``amount`` bytes from ``offset``; fewer at the end of the file."""
        ...

    def write(self, offset: int, data: bytes) -> int:
        """Writes at ``offset``; a gap before it reads as zeros.

        Returns:
            The number of bytes taken from the front of ``data``; like the system call, it may take fewer than given.

        Raises:
            OSError: the write failed; a prefix of ``data`` may have been written.
        """
        ...

    def truncate(self, size: int) -> None:
        """Makes the file ``size`` bytes long; added bytes read as zeros."""
        ...

    def size(self) -> int:
        """Returns the length in bytes."""
        ...

    def flush(self) -> None:
        """Hands the buffered bytes to the operating system."""
        ...

    def sync(self) -> None:
        """Flushes, and returns when bytes and length are on the disk; the file's name is not part of it.

        Raises:
            OSError: the bytes that were not yet on the disk may never get there, even if a later sync succeeds.
        """
        ...

    def lock(self) -> bool:
        """Takes the file's advisory lock without waiting.

        Returns:
            False if another open file holds it.
        """
        ...

    def unlock(self) -> None:
        """Releases the lock; the death of the process does so too."""
        ...

    def close(self) -> None:
        """Flushes and closes the file without a sync. Closing twice is allowed."""
        ...


class DiskPort(Protocol):
    """One folder without subfolders."""

    def open(self, name: str, *, create: bool = False, buffered: bool = False) -> DiskFile:
        """Opens a file to read and write.

        Args:
            name: name of the file, without a folder.
            create: makes an empty file if none exists.
            buffered: holds written bytes in this process until they are flushed.

        Raises:
            FileNotFoundError: the file does not exist and ``create`` is false.
        """
        ...

    def exists(self, name: str) -> bool:
        """Returns True if a file of this name exists."""
        ...

    def list(self) -> tuple[str, ...]:
        """Returns the names of all files, sorted."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Renames a file and replaces any file of the new name; all or nothing, also in a crash."""
        ...

    def unlink(self, name: str) -> None:
        """Removes a name; open files stay usable.

        Raises:
            FileNotFoundError: no file has this name.
        """
        ...

    def sync_folder(self) -> None:
        """Returns when the current names of all files are on the disk; the contents of the files are not part of it."""
        ...
