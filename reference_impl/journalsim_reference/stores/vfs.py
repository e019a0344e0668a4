"""Runs SQLite on a disk port: the real engine on the simulated disk, or on any other.

SQLite reaches files through a VFS. This one hands every call to a :class:`journalsim.contract.disk_port.DiskPort`, and
also does the same as SQLite's own VFS for Unix: a journal or log that it has just created is synced together with the
folder, and a journal is removed together with a sync of the folder if SQLite requests it (``synchronous=EXTRA``). It
reports the same facts about the device: nothing is atomic or in order, bytes beside those written do not change.

There is no shared memory, so WAL needs ``locking_mode=EXCLUSIVE``.
"""

from __future__ import annotations

import errno
from hashlib import blake2b
from typing import Any, cast

import apsw

from journalsim.contract.disk_port import DiskFile, DiskPort

JULIAN_MS = 212_000_000_000_000  # the present time of SQLite's date functions; the journal does not use them


class DiskVFS(apsw.VFS):
    """Hands SQLite's calls to a disk port.

    Attributes:
        vfs_name: its name in SQLite.
        gone: True once the process is dead; then no call reaches the disk.
        death: the error of the disk with which the process died during a call.
    """

    def __init__(self, vfs_name: str, port: DiskPort) -> None:
        super().__init__(vfs_name, base="")
        self.vfs_name = vfs_name
        self.gone = False
        self.death: BaseException | None = None
        self._port = port
        self._seed = b""

    def take_seed(self) -> None:
        """Takes a digest of the folder as the seed of SQLite's random numbers."""
        self._seed = self.run(apsw.SQLITE_CANTOPEN, folder_digest, self._port)

    def run(self, code: int, call: Any, *arguments: Any) -> Any:
        """Calls the port; an error of the disk becomes one of SQLite's, the death of the process ends all calls."""
        if self.gone:
            return None
        try:
            return call(*arguments)
        except OSError as error:
            raise _as_sqlite(error, code) from error
        except BaseException as error:
            if not isinstance(error, Exception):
                self.gone, self.death = True, error
            raise

    def xOpen(self, name: Any, flags: list[int]) -> Any:  # noqa: N802 -- the names are SQLite's
        """Opens a file."""
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if self.gone or path is None or not flags[0] & _KINDS:
            raise apsw.CantOpenError("the process is gone, or it is a temporary file: those belong in memory here")
        create = bool(flags[0] & apsw.SQLITE_OPEN_CREATE)
        new = not self.run(apsw.SQLITE_CANTOPEN, self._port.exists, path)
        file = self.run(apsw.SQLITE_CANTOPEN, lambda: self._port.open(path, create=create))
        flags[1] = flags[0]
        return DiskVFSFile(self, file, sync_folder=new and bool(flags[0] & _JOURNALS))

    def xAccess(self, name: str, flags: int) -> bool:  # noqa: N802
        """Returns True if a file of this name exists."""
        return bool(self.run(apsw.SQLITE_IOERR_ACCESS, self._port.exists, name))

    def xDelete(self, name: str, sync_folder: int) -> None:  # noqa: N802
        """Removes a file, durably if SQLite requests it."""
        self.run(apsw.SQLITE_IOERR_DELETE, self._port.unlink, name)
        if sync_folder:
            self.sync_folder()

    def sync_folder(self) -> None:
        """Makes names durable."""
        self.run(apsw.SQLITE_IOERR_DIR_FSYNC, self._port.sync_folder)

    def xFullPathname(self, name: str) -> str:  # noqa: N802
        """Returns the name: there is one folder."""
        return name

    def xRandomness(self, amount: int) -> bytes:  # noqa: N802
        """Returns the digest of the folder; SQLite stretches it as far as it needs."""
        return self._seed[:amount]

    def xCurrentTimeInt64(self) -> int:  # noqa: N802
        """Returns a constant: a journal takes its times from elsewhere."""
        return JULIAN_MS

    def xGetLastError(self) -> tuple[int, str]:  # noqa: N802
        """Returns no error: each error is complete when it is raised."""
        return 0, ""


_JOURNALS = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL
_KINDS = apsw.SQLITE_OPEN_MAIN_DB | _JOURNALS


class DiskVFSFile:
    """One file of SQLite's. It has no base class, so no call falls through to the real disk."""

    def __init__(self, vfs: DiskVFS, file: DiskFile, sync_folder: bool) -> None:
        self._vfs = vfs
        self._file = file
        self._sync_folder = sync_folder  # with the first sync only

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        """Reads; SQLite fills missing bytes at the end with zeros."""
        return self._vfs.run(apsw.SQLITE_IOERR_READ, self._file.read, offset, amount) or b""

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Writes all of ``data``, in several writes if the disk takes only a part."""
        left = bytes(data)
        while left:
            taken = self._vfs.run(apsw.SQLITE_IOERR_WRITE, self._file.write, offset, left)
            if taken is None:
                return
            offset, left = offset + taken, left[taken:]

    def xTruncate(self, size: int) -> None:  # noqa: N802
        """Cuts or stretches the file."""
        self._vfs.run(apsw.SQLITE_IOERR_TRUNCATE, self._file.truncate, size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Makes bytes and length durable, and the name of a new journal."""
        self._vfs.run(apsw.SQLITE_IOERR_FSYNC, self._file.sync)
        if self._sync_folder:
            self._sync_folder = False
            self._vfs.sync_folder()

    def xFileSize(self) -> int:  # noqa: N802
        """Returns the length."""
        return self._vfs.run(apsw.SQLITE_IOERR_FSTAT, self._file.size) or 0

    def xLock(self, level: int) -> None:  # noqa: N802
        """Takes the one lock that stands for all of SQLite's levels, as its own VFS on ``flock`` does."""
        if self._vfs.run(apsw.SQLITE_IOERR_LOCK, self._file.lock) is False:
            raise apsw.BusyError("another connection is using the database")

    def xUnlock(self, level: int) -> None:  # noqa: N802
        """Releases the lock when SQLite needs none."""
        if level == 0:
            self._vfs.run(apsw.SQLITE_IOERR_UNLOCK, self._file.unlock)

    def xCheckReservedLock(self) -> bool:  # noqa: N802
        """Returns False: while this connection may read, no other is about to write."""
        return False

    def xSectorSize(self) -> int:  # noqa: N802
        """Returns the value of SQLite's VFS for Unix."""
        return 4096

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        """Returns the value of SQLite's VFS for Unix: bytes beside those written do not change, no more."""
        return apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE

    def xFileControl(self, operation: int, pointer: int) -> bool:  # noqa: N802
        """Returns False: it knows no file control."""
        return False

    def xClose(self) -> None:  # noqa: N802
        """Closes the file, which writes nothing, for it is unbuffered."""
        self._file.close()


def folder_digest(port: DiskPort) -> bytes:
    """Returns a digest of all names and contents in a folder."""
    digest = blake2b()
    for name in port.list():
        file = port.open(name)
        try:
            digest.update(f"{name}:{file.size()}:".encode())
            digest.update(file.read(0, file.size()))
        finally:
            file.close()
    return digest.digest()


def _as_sqlite(error: OSError, code: int) -> apsw.Error:
    if error.errno == errno.ENOSPC:
        return apsw.FullError(str(error))
    if code == apsw.SQLITE_CANTOPEN:
        return apsw.CantOpenError(str(error))
    translated: Any = apsw.IOError(str(error))
    missing = code == apsw.SQLITE_IOERR_DELETE and error.errno == errno.ENOENT
    translated.extendedresult = apsw.SQLITE_IOERR_DELETE_NOENT if missing else code
    return cast(apsw.Error, translated)
