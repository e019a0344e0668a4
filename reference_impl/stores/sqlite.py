"""A store in one SQLite file, ``journal.db`` in the folder that it is given.

A batch is one transaction, and a row is acknowledged when its transaction has
committed.  In WAL mode a commit is one write to the end of the log; with
``synchronous=FULL`` it is synced too, with ``NORMAL`` only with the next FULL
commit.  Both settings are asked back after they were set, because SQLite ignores
what it does not know or cannot do (a file system without shared memory keeps its
old journal mode) and says nothing.

Event ids are unique, and so is (run, seq): of two writers that do not know of
each other at most one gets a number.  The ``writer`` table holds the epoch, which
every append checks inside its own transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw

from reference_impl.events import BadRow, Event, from_json, to_json
from reference_impl.stores.base import DuplicateRow, StaleWriter, StoreClosed, StoreError

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
    """Implements :class:`reference_impl.stores.base.Store` on a file.

    Args:
        where: an existing folder.
    """

    def __init__(self, where: str) -> None:
        connection = apsw.Connection(str(Path(where) / FILE))
        self._connection: apsw.Connection | None = connection
        self._synced = False
        mode = connection.pragma("journal_mode", "WAL")
        if mode != "wal":
            raise StoreError(f"SQLite keeps journal_mode {mode!r} in {where!r}; the journal needs WAL")
        self._set_sync(True)
        with connection:
            connection.execute(SCHEMA).fetchall()
            self.epoch: int = connection.execute("SELECT epoch FROM writer").get

    def load(self) -> tuple[Event, ...]:
        """Returns all rows, oldest first.

        Raises:
            StoreError: the database is damaged.
        """
        try:
            rows = self._open_connection().execute("SELECT row FROM event ORDER BY position")
            return tuple(from_json(row) for (row,) in rows)
        except (apsw.Error, BadRow) as error:
            raise StoreError(str(error)) from error

    def append(self, events: Sequence[Event], *, barrier: bool = True) -> None:
        """Keeps all of ``events`` or none, in one transaction."""
        connection = self._open_connection()
        self._set_sync(barrier)
        try:
            connection.execute("BEGIN IMMEDIATE")
            epoch = connection.execute("SELECT epoch FROM writer").get
            if epoch != self.epoch:
                raise StaleWriter(f"epoch {self.epoch} was replaced by {epoch}")
            connection.executemany(INSERT, [(e.event_id, e.run_id, e.seq, to_json(e)) for e in events])
            connection.execute("COMMIT")
        except (apsw.Error, StoreError) as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if isinstance(error, StoreError):
                raise
            unique = getattr(error, "extendedresult", 0) == apsw.SQLITE_CONSTRAINT_UNIQUE
            raise (DuplicateRow if unique else StoreError)(str(error)) from error

    def close(self) -> None:
        """Moves the log into the file and closes it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def crash(self) -> None:
        """Drops the connection and leaves the log as it is, as a killed process does."""
        if self._connection is not None:
            self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self.close()

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

    def _open_connection(self) -> apsw.Connection:
        if self._connection is None:
            raise StoreClosed("this store was closed")
        return self._connection
