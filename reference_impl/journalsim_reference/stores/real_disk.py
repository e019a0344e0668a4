"""Implements :mod:`journalsim.contract.disk_port` on a real folder; the operating system provides the durability."""

from __future__ import annotations

import fcntl
import os
from io import BufferedRandom, FileIO
from pathlib import Path
from typing import cast


class RealDisk:
    """Implements :class:`journalsim.contract.disk_port.DiskPort` on an existing folder of a POSIX system."""

    def __init__(self, where: str) -> None:
        self._where = Path(where)

    def open(self, name: str, *, create: bool = False, buffered: bool = False) -> RealFile:
        """Opens a file."""
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        raw = FileIO(os.open(self._where / name, flags, 0o644), "r+")
        return RealFile(BufferedRandom(raw) if buffered else raw)

    def exists(self, name: str) -> bool:
        """Returns True if a file of this name exists."""
        return (self._where / name).exists()

    def list(self) -> tuple[str, ...]:
        """Returns the names of all files, sorted."""
        return tuple(sorted(os.listdir(self._where)))

    def rename(self, old: str, new: str) -> None:
        """Renames a file."""
        os.replace(self._where / old, self._where / new)

    def unlink(self, name: str) -> None:
        """Removes a name."""
        (self._where / name).unlink()

    def sync_folder(self) -> None:
        """Makes every name durable."""
        folder = os.open(self._where, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class RealFile:
    """Implements :class:`journalsim.contract.disk_port.DiskFile`."""

    def __init__(self, file: BufferedRandom | FileIO) -> None:
        self._file = file

    def read(self, offset: int, amount: int) -> bytes:
        """Returns up to ``amount`` bytes from ``offset``."""
        self._file.seek(offset)
        return cast(bytes, self._file.read(amount))

    def write(self, offset: int, data: bytes) -> int:
        """Writes at ``offset``; returns the number of bytes taken."""
        self._file.seek(offset)
        return cast(int, self._file.write(data))

    def truncate(self, size: int) -> None:
        """Makes the file ``size`` bytes long."""
        self._file.truncate(size)

    def size(self) -> int:
        """Returns the length in bytes."""
        return self._file.seek(0, os.SEEK_END)

    def flush(self) -> None:
        """Hands the buffer to the operating system."""
        self._file.flush()

    def sync(self) -> None:
        """Flushes, and makes bytes and length durable."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def lock(self) -> bool:
        """Takes the advisory lock."""
        try:
            fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(self) -> None:
        """Releases the lock."""
        fcntl.flock(self._file.fileno(), fcntl.LOCK_UN)

    def close(self) -> None:
        """Flushes and closes the file."""
        self._file.close()
