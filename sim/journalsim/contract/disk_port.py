"""The folder that a journal writes to, as one process sees it.

A journal that opens its files through :class:`DiskPort` runs on a real folder and
on the simulated disk alike.  Every verb is synchronous and does what the system
call of the same name does.  Three states of a byte must not be confused:

* *written*: it is in a buffer of this process (a file opened ``buffered``); it
  dies with the process;
* *flushed*: the operating system has it; it survives the process, not the power;
* *synced*: it is on the disk; it survives both.

``write`` on an unbuffered file flushes at once.  Names of files have a durability
of their own: one that was created, renamed or removed is certain only after
``sync_folder``.

Errors are :class:`OSError` with the usual ``errno``.  Once the process or its
machine is gone, every verb but ``unlock`` and ``close`` raises something that is not
an :class:`Exception`, so no error handling of a journal goes on after its own death.
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
            How many bytes were taken, from the front of ``data``; like the system call, it may be fewer than given.

        Raises:
            OSError: some bytes may have been written all the same.
        """
        ...

    def truncate(self, size: int) -> None:
        """Makes the file ``size`` bytes long; what is added reads as zeros."""
        ...

    def size(self) -> int:
        """Returns the length in bytes."""
        ...

    def flush(self) -> None:
        """Hands what is in the buffer to the operating system."""
        ...

    def sync(self) -> None:
        """Flushes, and returns when bytes and length are on the disk; says nothing about the file's name.

        Raises:
            OSError: what was not yet on the disk may never get there, even if a later sync succeeds.
        """
        ...

    def lock(self) -> bool:
        """Takes the file's advisory lock; never waits.

        Returns:
            False if another open file has it.
        """
        ...

    def unlock(self) -> None:
        """Gives the lock back; the death of the process does so too."""
        ...

    def close(self) -> None:
        """Flushes and closes; syncs nothing.  Closing twice is fine."""
        ...


class DiskPort(Protocol):
    """One folder without subfolders."""

    def open(self, name: str, *, create: bool = False, buffered: bool = False) -> DiskFile:
        """Opens a file to read and write.

        Args:
            name: of the file, without a folder.
            create: makes an empty file if there is none.
            buffered: keeps what is written in this process until it is flushed.

        Raises:
            FileNotFoundError: there is none, and ``create`` is false.
        """
        ...

    def exists(self, name: str) -> bool:
        """Returns whether there is a file of this name."""
        ...

    def list(self) -> tuple[str, ...]:
        """Returns the names of all files, sorted."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Gives a file another name, in place of any file that has it; all or nothing, also in a crash."""
        ...

    def unlink(self, name: str) -> None:
        """Removes a name; files that are open stay usable.

        Raises:
            FileNotFoundError: there is none.
        """
        ...

    def sync_folder(self) -> None:
        """Returns when every name is on the disk as it now is; says nothing about what the files hold."""
        ...
