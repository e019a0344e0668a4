"""The SQLite store on a disk port, in any journal mode, and what each mode is good for.

The rows, the transactions and the epoch are those of
:class:`reference_impl.stores.sqlite.SQLiteStore`; only the way to the disk differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from reference_impl.events import Event
from reference_impl.stores.base import StoreClosed, StoreError
from reference_impl.stores.database import Database, Settings, WrongMode
from reference_impl.stores.sqlite import FILE, SCHEMA, SQLiteStore
from sim.adapters.disk_protocol import DiskPort
from sim.adapters.protocol import OutcomeUnknown

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
"""What an acknowledged row survives on an honest disk, by journal mode and ``synchronous``.

* *durable*: every power cut;
* *ordered*: every kill; after a power cut whole transactions from the beginning are left, the last ones may be gone;
* *none*: every kill; a power cut may leave anything.

Delete with FULL is durable where an unlink needs no sync of the folder.  A rollback journal with NORMAL may be torn
in a place that the checksum of its pages, which samples every 200th byte, does not see.  One thing is more than WAL
survives: a sync fails, the process is killed before it can react, and the next one reads and builds on rows that no
sync will write.  Tests produce this table and show the exception.
"""


class DiskSQLiteStore(SQLiteStore):
    """Implements :class:`reference_impl.stores.base.Store` on a disk port.

    Args:
        port: the folder, as this process sees it.
        settings: journal mode and ``synchronous`` of commits that are barriers.
    """

    def __init__(self, port: DiskPort, settings: Settings | None = None) -> None:
        settings = settings or Settings()
        # a commit that is no barrier is synced with the next one; with a rollback journal it could not be left alone
        relaxed = "normal" if settings.journal == "wal" and settings.synchronous != "off" else settings.synchronous
        self._words = {True: settings.synchronous, False: relaxed}
        self._synced = True
        try:
            self._database = Database(port, FILE, settings)
        except (apsw.Error, WrongMode) as error:
            raise StoreError(str(error)) from error
        self._connection = self._database.connection
        try:
            self._begin_epoch()
        except (apsw.Error, WrongMode) as error:
            self.crash()
            raise StoreError(str(error)) from error

    def _begin_epoch(self) -> None:
        with self._database.speaking():
            connection = self._database.connection
            with connection:
                connection.execute(SCHEMA).fetchall()
                self.epoch = connection.execute("SELECT epoch FROM writer").get
            self._database.check_journal()

    def load(self) -> tuple[Event, ...]:
        """Returns all rows, oldest first.

        Raises:
            StoreError: the database is damaged.
        """
        try:
            with self._database.speaking():
                return super().load()
        except apsw.Error as error:
            raise StoreError(str(error)) from error

    def append(self, events: Sequence[Event], *, barrier: bool = True) -> None:
        """Keeps all of ``events`` or none, in one transaction.

        Raises:
            OutcomeUnknown: the disk failed in mid-commit, so that only the next open tells.
        """
        try:
            with self._database.speaking():
                super().append(events, barrier=barrier)
        except StoreError as error:
            if isinstance(error.__cause__, apsw.IOError):
                raise OutcomeUnknown(str(error)) from error
            raise

    def integrity(self) -> str:
        """Returns ``ok``, or the first thing that SQLite finds wrong; it does not notice half a transaction."""
        try:
            with self._database.speaking():
                return str(self._open_connection().pragma("integrity_check"))
        except apsw.Error as error:
            return str(error)

    def close(self) -> None:
        """Closes it in good order."""
        self._connection = None
        self._database.close()

    def crash(self) -> None:
        """Lets go of it as a killed process does."""
        self._connection = None
        self._database.abandon()

    def _set_sync(self, full: bool) -> None:
        if full is not self._synced:
            self._database.set_synchronous(self._words[full])
            self._synced = full

    def _open_connection(self) -> apsw.Connection:
        if self._connection is None or not self._database.usable:
            raise StoreClosed("this store was closed")
        return self._connection
