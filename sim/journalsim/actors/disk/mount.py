"""Implements :mod:`journalsim.contract.disk_port` on the simulated disk, for one process.

A mount lives as long as its process. After that every verb raises :class:`journalsim.actors.disk.simulated.PowerOff`,
so that no action of a dead process, such as closing its files, reaches the disk.
"""

from __future__ import annotations

import errno
from os import strerror  # noqa: TID251  (the words of an error number, no file)
from typing import Literal

from journalsim.actors.disk.content import Content
from journalsim.actors.disk.folder_names import NameChange
from journalsim.actors.disk.simulated import Disk, Life, Operation

BUFFER_BYTES = 8192  # the largest buffer of a file, as in the standard library


class Mount:
    """Implements :class:`journalsim.contract.disk_port.DiskPort`."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._life = disk.begin_life()

    @property
    def alive(self) -> bool:
        """True while process and machine are up."""
        return self._life.alive

    def open(self, name: str, *, create: bool = False, buffered: bool = False) -> OpenFile:
        """Opens a file."""
        if create and name not in self._disk.folder.view:
            operation = _begin(self._disk, self._life, "create")
            content = self._disk.create(name, volatile="volatile" in operation.faults)
            self._disk.end(operation, self._life)
        else:
            _begin(self._disk, self._life, "open")
            content = self._find(name)
        return OpenFile(self._disk, self._life, content, buffered)

    def exists(self, name: str) -> bool:
        """Returns True if a file of this name exists."""
        self._disk.check(self._life)
        return name in self._disk.folder.view

    def list(self) -> tuple[str, ...]:
        """Returns the names of all files, sorted."""
        self._disk.check(self._life)
        return tuple(sorted(self._disk.folder.view))

    def rename(self, old: str, new: str) -> None:
        """Renames a file."""
        self._change("rename", old, new)

    def unlink(self, name: str) -> None:
        """Removes a name."""
        self._change("unlink", name, "")

    def sync_folder(self) -> None:
        """Makes every name durable."""
        operation = _begin(self._disk, self._life, "sync_folder")
        if not self._disk.lies_about(operation, "sync_folder"):
            self._disk.folder.sync()
        self._disk.end(operation, self._life)

    def _change(self, verb: Literal["rename", "unlink"], name: str, new_name: str) -> None:
        operation = _begin(self._disk, self._life, verb)
        change = NameChange(verb, name, new_name, self._find(name))
        self._disk.folder.change(change, volatile="volatile" in operation.faults)
        self._disk.end(operation, self._life)

    def _find(self, name: str) -> Content:
        content = self._disk.folder.view.get(name)
        if content is None:
            raise FileNotFoundError(errno.ENOENT, strerror(errno.ENOENT), name)
        return content


class OpenFile:
    """Implements :class:`journalsim.contract.disk_port.DiskFile`."""

    def __init__(self, disk: Disk, life: Life, content: Content, buffered: bool) -> None:
        self._disk = disk
        self._life = life
        self._content = content
        self._buffered = buffered
        self._buffer = bytearray()  # written, not yet flushed
        self._buffer_at = 0
        self._open = True

    def read(self, offset: int, amount: int) -> bytes:
        """Returns up to ``amount`` bytes from ``offset``."""
        self.flush()
        _begin(self._disk, self._life, "read")
        return bytes(self._content.view[offset : offset + amount])

    def write(self, offset: int, data: bytes) -> int:
        """Writes at ``offset``; returns the number of bytes taken."""
        self._check()
        if not self._buffered:
            return self._hand_over(offset, data)
        if self._buffer and offset != self._buffer_at + len(self._buffer):
            self.flush()
        if not self._buffer:
            self._buffer_at = offset
        self._buffer += data
        if len(self._buffer) > BUFFER_BYTES:
            self.flush()
        return len(data)

    def truncate(self, size: int) -> None:
        """Makes the file ``size`` bytes long."""
        self.flush()
        operation = _begin(self._disk, self._life, "truncate")
        self._disk.truncate(self._content, size)
        self._disk.end(operation, self._life)

    def size(self) -> int:
        """Returns the length in bytes."""
        self.flush()
        return len(self._content.view)

    def flush(self) -> None:
        """Hands the buffer to the operating system; bytes that were not taken stay in the buffer."""
        self._check()
        while self._buffer:
            taken = self._hand_over(self._buffer_at, bytes(self._buffer))
            del self._buffer[:taken]
            self._buffer_at += taken

    def sync(self) -> None:
        """Flushes, and makes bytes and length durable."""
        self.flush()
        disk = self._disk
        operation = disk.begin("sync", self._life)
        if "error" in operation.faults:
            self._content.fail_sync()
            raise OSError(errno.EIO, strerror(errno.EIO), operation.name)
        if not disk.lies_about(operation, "sync"):
            self._content.sync()
        disk.end(operation, self._life)

    def lock(self) -> bool:
        """Takes the advisory lock."""
        self._check()
        holder = self._content.holder
        if holder is None or not holder[0].alive:
            holder = self._content.holder = (self._life, self)
        return holder[1] is self

    def unlock(self) -> None:
        """Releases the lock."""
        if self._content.holder == (self._life, self):
            self._content.holder = None

    def close(self) -> None:
        """Flushes and closes the file; a file of a dead process closes without a flush."""
        if self._open:
            if self._life.alive:
                self.flush()
            self._open = False
            self.unlock()

    def _check(self) -> None:
        self._disk.check(self._life)
        if not self._open:
            raise OSError(errno.EBADF, "the file is closed")

    def _hand_over(self, offset: int, data: bytes) -> int:
        operation = self._disk.begin("write", self._life)
        faults = operation.faults
        if not faults:
            self._disk.write(self._content, offset, data)
            self._disk.end(operation, self._life)
            return len(data)
        full = "full" in faults and offset + len(data) > len(self._content.view)
        kind = "error" if "error" in faults else "full" if full else "short"
        taken = data[: faults[kind].kept] if kind in faults else data
        if taken:
            self._disk.write(self._content, offset, taken)
        if kind != "short":
            number = errno.EIO if kind == "error" else errno.ENOSPC
            raise OSError(number, strerror(number), operation.name)
        self._disk.end(operation, self._life)
        return len(taken)


def _begin(disk: Disk, life: Life, verb: str) -> Operation:
    """Begins an operation, or raises the error of its fault."""
    operation = disk.begin(verb, life)
    for kind, number in (("error", errno.EIO), ("full", errno.ENOSPC)):
        if kind in operation.faults:
            raise OSError(number, strerror(number), operation.name)
    return operation
