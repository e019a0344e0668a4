"""Implements the SQLite store on a disk port, in any journal mode, and states the durability of each mode.

The rows, the transactions and the epoch are those of :class:`journalsim_reference.stores.sqlite.SQLiteStore`; only the
way to the disk differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager

import apsw

from journalsim.contract.disk_port import DiskPort
from journalsim_reference.stores.base import StoreClosed, StoreError
from journalsim_reference.stores.database import Database, Settings, WrongMode
from journalsim_reference.stores.sqlite import FILE, SQLiteStore

PROMISES: Mapping[tuple[str, str], str] = {
    ("delete", "extra"): "durable",
    ("delete", "full"): "ordered",
    ("delete", "normal"): "none",
    ("delete", "off"): "none",
    ("truncate", "extra"): "durable",
    ("truncate", "full"): "durable",
    ("truncate", "normal"): "none",
    ("truncate", "off"): "none",
    ("persist", "extra"): "durable",
    ("persist", "full"): "durable",
    ("persist", "normal"): "none",
    ("persist", "off"): "none",
    ("wal", "extra"): "durable",
    ("wal", "full"): "durable",
    ("wal", "normal"): "ordered",
    ("wal", "off"): "none",
}
"""The crashes that an acknowledged row survives on an honest disk, by journal mode and ``synchronous``.

* *durable*: every power cut;
* *ordered*: every kill; after a power cut a prefix of whole transactions is left;
* *none*: every kill; a power cut may leave anything.

Delete with FULL is durable where an unlink needs no sync of the folder. A rollback journal with NORMAL may be torn in
a place that the checksum of its pages, which samples every 200th byte, does not see. A failed sync does not change the
table, also if the process is killed before it can react: the next process to open the database writes again the data
that no sync would write, see :func:`journalsim_reference.stores.database.make_certain`. Tests produce this table.
"""


class DiskSQLiteStore(SQLiteStore):
    """Implements :class:`journalsim_reference.stores.base.Store` on a disk port.

    Args:
        port: the folder, as this process sees it.
        settings: journal mode and ``synchronous`` of commits that are barriers.
    """

    def __init__(self, port: DiskPort, settings: Settings | None = None) -> None:
        self._port = port
        self._settings = settings = settings or Settings()
        # a commit that is no barrier is synced with the next one; a rollback journal does not allow that
        relaxed = "normal" if settings.journal == "wal" and settings.synchronous != "off" else settings.synchronous
        self._words = {True: settings.synchronous, False: relaxed}
        self._database: Database | None = None
        self._begin()

    def integrity(self) -> str:
        """Returns ``ok``, or the first fault that SQLite finds; SQLite does not notice half a transaction."""
        try:
            with self._speaking():
                return str(self._open_connection().pragma("integrity_check"))
        except apsw.Error as error:
            return str(error)

    def close(self) -> None:
        """Closes the store in good order.

        Raises:
            StoreError: the disk failed; acknowledged rows are in the log all the same.
        """
        self._connection = None
        if self._database is not None:
            try:
                self._database.close()
            except apsw.Error as error:
                raise StoreError(str(error)) from error

    def crash(self) -> None:
        """Releases the store as a killed process does."""
        self._connection = None
        if self._database is not None:
            self._database.abandon()

    def _begin(self) -> None:
        super()._begin()
        try:
            with self._speaking():
                self._open_database().check_journal()
        except (WrongMode, OSError) as error:
            self.crash()
            raise StoreError(str(error)) from error

    def _connect(self) -> apsw.Connection:
        try:
            self._database = Database(self._port, FILE, self._settings)
        except WrongMode as error:
            raise StoreError(str(error)) from error
        self._connection, self._synced = self._database.connection, True
        return self._connection

    def _make_certain(self) -> None:
        """Does nothing: :class:`Database` does so when it opens."""

    def _speaking(self) -> AbstractContextManager[None]:
        return self._open_database().speaking()

    def _set_sync(self, full: bool) -> None:
        if full is not self._synced:
            self._open_database().set_synchronous(self._words[full])
            self._synced = full

    def _open_database(self) -> Database:
        if self._database is None:
            raise StoreClosed("this store was closed")
        return self._database

    def _open_connection(self) -> apsw.Connection:
        if not self._open_database().usable:
            raise StoreClosed("this store was closed")
        return super()._open_connection()
