"""Opens a SQLite database on a disk port, and verifies that SQLite runs in the requested mode.

SQLite silently ignores a setting that it does not know or cannot follow. So every setting is read back. For the
journal mode even that is not enough: with exclusive locking ``DELETE`` works as ``PERSIST`` does, and the pragma still
answers "delete". Only the files in the folder after a transaction count, and :meth:`Database.check_journal` looks
there.

A database repeats to the byte: SQLite's random numbers start again at every open, from a digest of the folder. With a
constant they would repeat from life to life, and a journal that a crash left behind would look like one of this life:
its checksums depend on such a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any, Literal

import apsw
from attrs import field, frozen
from attrs.validators import in_

from journalsim.contract.disk_port import DiskFile, DiskPort
from journalsim_reference.stores.files import write_all
from journalsim_reference.stores.vfs import DiskVFS

SYNCHRONOUS = {"off": 0, "normal": 1, "full": 2, "extra": 3}  # word to set, number that SQLite answers with

_NUMBERS = count(1)  # names of VFSs; no stored data depends on them


class WrongMode(Exception):
    """SQLite runs with another setting than the requested one, and gave no error."""


@frozen(kw_only=True)
class Settings:
    """The settings with which SQLite makes a transaction atomic.

    Attributes:
        journal: ``journal_mode``.
        synchronous: ``synchronous``, which says how long a commit waits.
        locking: ``locking_mode``; ``wal`` needs ``exclusive``, for want of shared memory.
        checkpoint_pages: pages in the log after which a commit copies them into the database.
    """

    journal: Literal["delete", "truncate", "persist", "wal"] = field(
        default="wal", validator=in_(("delete", "truncate", "persist", "wal"))
    )
    synchronous: Literal["off", "normal", "full", "extra"] = field(default="full", validator=in_(SYNCHRONOUS))
    locking: Literal["normal", "exclusive"] = field(validator=in_(("normal", "exclusive")))
    checkpoint_pages: int = 1000

    @locking.default
    def _locking(self) -> str:
        return "exclusive" if self.journal == "wal" else "normal"


class Database:
    """A connection, and the VFS that lives as long as it does.

    Use the connection inside :meth:`speaking`.

    Args:
        port: the folder.
        name: name of the database file.
        settings: the settings, read back after they were set.

    Attributes:
        connection: SQLite's connection.

    Raises:
        WrongMode: SQLite runs with another setting.
        apsw.Error: SQLite cannot open the file.
    """

    def __init__(self, port: DiskPort, name: str, settings: Settings) -> None:
        self.settings = settings
        self._port = port
        self._name = name
        self._vfs = DiskVFS(f"disk-port-{next(_NUMBERS)}", port)
        self._registered = True
        try:
            make_certain(port, name)
            with self.speaking():
                _seed(self._vfs)
                self.connection = apsw.Connection(name, vfs=self._vfs.vfs_name)
                self._set_up()
        except BaseException:
            self.abandon()
            raise

    @property
    def usable(self) -> bool:
        """True if the database is open and its process alive."""
        return self._registered and not self._vfs.gone

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """Lets the block use the connection.

        If the process dies in the block, this raises the error of that death, whatever SQLite makes of it, and abandons
        the database.
        """
        try:
            yield
        except BaseException:
            death, self._vfs.death = self._vfs.death, None
            if death is not None:
                raise death from None
            raise
        finally:
            if self._vfs.gone:
                self.abandon()

    def set_synchronous(self, word: str) -> None:
        """Sets ``synchronous`` for all further commits."""
        self._set("synchronous", word, SYNCHRONOUS[word])

    def check_journal(self) -> None:
        """Checks in the folder that the journal mode is the requested one; a transaction must have ended.

        Raises:
            WrongMode: the mode is another, whatever the pragma answers.
        """
        found = journal_in_force(self._port, self._name)
        if found != self.settings.journal:
            raise WrongMode(f"SQLite leaves a journal as with journal_mode={found}, not {self.settings.journal}")

    def close(self) -> None:
        """Closes the database in good order; closing twice is allowed."""
        if self._registered:
            try:
                with self.speaking():
                    self.connection.close()
            finally:
                self._unregister()

    def abandon(self) -> None:
        """Releases the database without a further write; in mid-statement, once the statement has ended."""
        self._vfs.gone = True
        connection: apsw.Connection | None = getattr(self, "connection", None)
        with suppress(apsw.ThreadingViolationError):
            if connection is not None:
                connection.close()
            self._unregister()

    def _unregister(self) -> None:
        if self._registered:
            self._registered = False
            self._vfs.unregister()

    def _set_up(self) -> None:
        settings = self.settings
        self._set("locking_mode", settings.locking, settings.locking)
        self._set("temp_store", "memory", 2)
        self.set_synchronous(settings.synchronous)
        self._set("wal_autocheckpoint", settings.checkpoint_pages, settings.checkpoint_pages)
        self._set("journal_mode", settings.journal, settings.journal)

    def _set(self, pragma: str, value: Any, answer: Any) -> None:
        self.connection.pragma(pragma, value)
        found = self.connection.pragma(pragma)
        if found != answer:
            raise WrongMode(f"SQLite runs with {pragma}={found}, not {value}")


def make_certain(port: DiskPort, name: str) -> None:
    """Makes the files of an earlier process durable, before any process acts on them.

    A process that was killed after a failed sync leaves a log, or a journal, which can be read and which no later sync
    will write; a process that was killed before it could sync the folder leaves a journal which is gone only until the
    power fails. So both are written once more and synced, and so are the names. The database file needs none of this:
    each doubtful part of it is in the log or the journal, and SQLite writes it from there.
    """
    if not port.exists(name):
        return
    database = port.open(name)
    try:
        if not database.lock():
            return  # another process uses it, so no killed process left anything; SQLite will report it
        for journal in (f"{name}-journal", f"{name}-wal"):
            if port.exists(journal):
                _write_again(port.open(journal))
        port.sync_folder()
        database.unlock()
    finally:
        database.close()


def _write_again(file: DiskFile) -> None:
    try:
        data = file.read(0, file.size())
        write_all(file, 0, data)
        file.truncate(len(data))
        file.sync()
    finally:
        file.close()


def journal_in_force(port: DiskPort, name: str) -> str:
    """Returns the journal mode that the files beside a database show, once a transaction has ended."""
    if port.exists(f"{name}-wal"):
        return "wal"
    if not port.exists(f"{name}-journal"):
        return "delete"
    journal = port.open(f"{name}-journal")
    try:
        if journal.size() == 0:
            return "truncate"
        return "persist" if not any(journal.read(0, 28)) else "a transaction under way"
    finally:
        journal.close()


def _seed(vfs: DiskVFS) -> None:
    """Restarts SQLite's random numbers, which come from the default VFS: this one is the default for a moment."""
    vfs.take_seed()
    before = apsw.vfs_names()[0]
    apsw.set_default_vfs(vfs.vfs_name)
    try:
        apsw.randomness(0)
        apsw.randomness(1)
    finally:
        apsw.set_default_vfs(before)
