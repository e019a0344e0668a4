"""Implements a store in one SQLite file, ``journal.db`` in a given folder.

A batch is one transaction, and a row is acknowledged when its transaction has committed. In WAL mode a commit is one
write to the end of the log; with ``synchronous=FULL`` it is synced too, with ``NORMAL`` only with the next FULL commit.
Both settings are read back after they were set, because SQLite silently ignores a setting that it does not know or
cannot follow (a file system without shared memory keeps its old journal mode).

Event ids are unique, and so is (run, seq): of two writers that do not know of each other at most one gets a number.
The ``writer`` table holds the epoch, which every append checks inside its own transaction.

When the disk fails in mid-commit, the transaction may be stored or not, and a connection that has seen a failed sync
may mark data as written that no later sync will write. Such a connection is never used again: the next call opens the
file again, under the same epoch, and relies on the rows that it finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import apsw

from journalsim.contract.adapters import OutcomeUnknown
from journalsim_reference.events import Event, from_json, to_json
from journalsim_reference.stores.base import DuplicateRow, StaleWriter, StoreClosed, StoreError

FILE = "journal.db"

SCHEMA = """
CREATE TABLE IF NOT EXISTS writer (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    epoch    INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS event (
    position INTEGER PRIMARY KEY,
    event_id TEXT NOT NULL UNIQUE,
    run_id   TEXT NOT NULL,
    seq      INTEGER NOT NULL CHECK (seq >= 1),
    row      TEXT NOT NULL,
    UNIQUE (run_id, seq)
) STRICT;
INSERT INTO writer (only_row, epoch) VALUES (1, 1) ON CONFLICT (only_row) DO UPDATE SET epoch = epoch + 1;
"""

INSERT = "INSERT INTO event (event_id, run_id, seq, row) VALUES (?, ?, ?, ?)"

SYNC = {True: ("FULL", 2), False: ("NORMAL", 1)}  # word to set, number that SQLite answers with


class SQLiteStore:
    """Implements :class:`journalsim_reference.stores.base.Store` on a file.

    Args:
        where: an existing folder.
    """

    epoch: int
    _connection: apsw.Connection | None = None
    _synced: bool  # whether commits wait for the disk
    _doubtful = False  # whether the last append's outcome is unknown

    def __init__(self, where: str) -> None:
        self._where = where
        self._begin()

    def load(self) -> tuple[Event, ...]:
        """Returns all rows, oldest first.

        Raises:
            StoreError: the database is damaged, or holds rows of another version.
        """
        self._settle()
        try:
            with self._speaking():
                rows = self._open_connection().execute("SELECT row FROM event ORDER BY position").fetchall()
            return tuple(from_json(str(row)) for (row,) in rows)  # a damaged page can give NULL where a text must be
        except (apsw.Error, ValueError) as error:
            raise StoreError(str(error)) from error

    def append(self, events: Sequence[Event], *, barrier: bool = True) -> None:
        """Stores all of ``events`` or none, in one transaction.

        Raises:
            OutcomeUnknown: the disk failed in mid-commit; the next call reads the file to decide.
        """
        try:
            self._settle()
        except StaleWriter:
            raise
        except StoreError as error:
            raise OutcomeUnknown(str(error)) from error
        connection = self._open_connection()
        try:
            with self._speaking():
                self._set_sync(barrier)
                self._insert(connection, events)
        except (apsw.Error, StoreError) as error:
            if not self._rolled_back(connection) or isinstance(error, apsw.IOError):
                raise self._in_doubt(error) from error
            if isinstance(error, StoreError):
                raise
            unique = getattr(error, "extendedresult", 0) == apsw.SQLITE_CONSTRAINT_UNIQUE
            raise (DuplicateRow if unique else StoreError)(str(error)) from error
        try:
            with self._speaking():
                connection.execute("COMMIT")
        except apsw.BusyError as error:
            if not self._rolled_back(connection):
                raise self._in_doubt(error) from error
            raise StoreError(str(error)) from error
        except apsw.Error as error:  # perhaps only of the checkpoint, after the commit
            raise self._in_doubt(error) from error

    def close(self) -> None:
        """Moves the log into the file and closes it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def crash(self) -> None:
        """Drops the connection and leaves the log as it is, as a killed process does."""
        if self._connection is not None:
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        SQLiteStore.close(self)

    # --- the connection; a store on another way to the disk has its own

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(Path(self._where) / FILE))
        self._connection, self._synced = connection, False
        mode = connection.pragma("journal_mode", "WAL")
        if mode != "wal":
            raise StoreError(f"SQLite keeps journal_mode {mode!r} in {self._where!r}; the journal needs WAL")
        self._set_sync(True)
        return connection

    def _make_certain(self) -> None:
        """Makes the readable data durable, after a connection on which the disk had failed."""
        self._open_connection().pragma("wal_checkpoint", "TRUNCATE")

    def _speaking(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _set_sync(self, full: bool) -> None:
        if full is self._synced:
            return
        connection = self._open_connection()
        word, number = SYNC[full]
        connection.pragma("synchronous", word)
        found = connection.pragma("synchronous")
        if found != number:
            raise StoreError(f"SQLite runs with synchronous={found}, not {word} ({number})")
        self._synced = full

    # --- pieces

    def _begin(self) -> None:
        """Opens the file and begins an epoch."""
        try:
            connection = self._connect()
            with self._speaking(), connection:
                connection.execute(SCHEMA).fetchall()
                self.epoch = connection.execute("SELECT epoch FROM writer").get
        except (apsw.Error, OSError) as error:
            self.crash()
            raise StoreError(str(error)) from error

    def _settle(self) -> None:
        """Opens the file again after an unknown outcome, so that only stored rows can be read.

        Raises:
            StaleWriter: another process has opened it in between.
            StoreError: the disk still fails.
        """
        if not self._doubtful:
            return
        self.crash()
        try:
            connection = self._connect()
            with self._speaking():
                epoch = connection.execute("SELECT epoch FROM writer").get
                self._make_certain()
        except (apsw.Error, OSError) as error:
            self.crash()
            raise StoreError(str(error)) from error
        self._doubtful = False
        if epoch != self.epoch:
            self.crash()
            raise StaleWriter(f"epoch {self.epoch} was replaced by {epoch}")

    def _insert(self, connection: apsw.Connection, events: Sequence[Event]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        epoch = connection.execute("SELECT epoch FROM writer").get
        if epoch != self.epoch:
            raise StaleWriter(f"epoch {self.epoch} was replaced by {epoch}")
        connection.executemany(INSERT, [(e.event_id, e.run_id, e.seq, to_json(e)) for e in events])

    def _in_doubt(self, error: Exception) -> OutcomeUnknown:
        self._doubtful = True
        return OutcomeUnknown(str(error))

    def _rolled_back(self, connection: apsw.Connection) -> bool:
        """Ends a failed transaction; returns True if it certainly left nothing."""
        try:
            with self._speaking():
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except apsw.Error:
            return False
        return True

    def _open_connection(self) -> apsw.Connection:
        if self._connection is None:
            raise StoreClosed("this store was closed")
        return self._connection
