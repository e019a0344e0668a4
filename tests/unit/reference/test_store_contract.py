"""Both stores keep the same promises; what only one of them can promise stands at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest
from attrs import evolve

from journalsim_reference.events import Event
from journalsim_reference.stores import sqlite
from journalsim_reference.stores.base import DuplicateRow, StaleWriter, Store, StoreClosed, StoreError
from journalsim_reference.stores.memory import FOLDERS_MAX, Folders
from journalsim_reference.stores.sqlite import FILE, SQLiteStore

Open = Callable[[], Store]


def row(seq: int, run: str = "r1", text: str = "") -> Event:
    return Event(
        run_id=run,
        session_id="s1",
        seq=seq,
        epoch=1,
        at=0,
        kind="message.delta",
        actor="lead",
        origin="model",
        payload={"message_id": f"{run}/m1", "text": text},
    )


@pytest.fixture(params=["memory", "sqlite"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens the same store as often as asked; all are closed at the end."""
    folders, opened = Folders(), []

    def open_one() -> Store:
        store: Store = folders.open("here") if request.param == "memory" else SQLiteStore(str(tmp_path))
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        store.close()


def test_a_new_store_is_empty_and_of_the_first_epoch(open_store: Open) -> None:
    store = open_store()
    assert (store.load(), store.epoch) == ((), 1)


def test_rows_come_back_as_they_were_in_the_order_of_their_batches(open_store: Open) -> None:
    store = open_store()
    store.append([row(1, "r2", "é\u2028\ud83d"), row(1, "r1")])
    store.append([row(2, "r2")], barrier=False)
    assert store.load() == (row(1, "r2", "é\u2028\ud83d"), row(1, "r1"), row(2, "r2"))


@pytest.mark.parametrize("leave", ["close", "crash"])
def test_what_was_acknowledged_is_there_for_the_next_process(open_store: Open, leave: str) -> None:
    store = open_store()
    store.append([row(1)])
    getattr(store, leave)()
    again = open_store()
    assert (again.load(), again.epoch) == ((row(1),), 2)


@pytest.mark.parametrize("batch", [[row(2), row(1)], [row(2), row(2)]])
def test_a_batch_with_a_row_that_is_there_is_refused_whole(open_store: Open, batch: list[Event]) -> None:
    store = open_store()
    store.append([row(1)])
    with pytest.raises(DuplicateRow):
        store.append(batch)
    assert store.load() == (row(1),)
    store.append([row(2)])
    assert len(store.load()) == 2


def test_a_writer_of_an_earlier_epoch_is_refused_and_may_read(open_store: Open) -> None:
    stale = open_store()
    stale.append([row(1)])
    fresh = open_store()
    with pytest.raises(StaleWriter, match="epoch 1 was replaced by 2"):
        stale.append([row(2)])
    fresh.append([row(2)])
    assert stale.load() == (row(1), row(2))


@pytest.mark.parametrize("leave", ["close", "crash"])
def test_a_store_that_is_gone_answers_nothing(open_store: Open, leave: str) -> None:
    store = open_store()
    getattr(store, leave)()
    with pytest.raises(StoreClosed):
        store.load()
    with pytest.raises(StoreClosed):
        store.append([row(1)])
    store.crash()
    store.close()


# --- memory


def test_folders_that_nobody_has_opened_for_long_are_forgotten() -> None:
    folders = Folders()
    folders.open("old").append([row(1)])
    folders.open("kept").append([row(1)])
    for number in range(FOLDERS_MAX - 1):
        assert len(folders.open("kept").load()) == 1
        folders.open(f"new {number}")
    assert folders.open("old").load() == ()
    assert len(folders.open("kept").load()) == 1


# --- SQLite


def test_the_settings_are_in_force(tmp_path: Path) -> None:
    store = SQLiteStore(str(tmp_path))
    other = apsw.Connection(str(tmp_path / FILE))
    assert other.pragma("journal_mode") == "wal"
    other.close()
    store.close()


def test_a_journal_mode_that_sqlite_does_not_take_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "Connection", lambda path: _Deaf("delete"))
    with pytest.raises(StoreError, match="keeps journal_mode 'delete'"):
        SQLiteStore(str(tmp_path))


def test_a_sync_mode_that_sqlite_does_not_take_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "Connection", lambda path: _Deaf("wal"))
    with pytest.raises(StoreError, match="runs with synchronous=wal, not FULL"):
        SQLiteStore(str(tmp_path))


class _Deaf:
    """Stands for a connection that answers every pragma with the same word."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    def pragma(self, name: str, value: str | None = None) -> str:
        return self._answer


def test_a_barrier_makes_the_next_commit_a_synced_one(tmp_path: Path) -> None:
    store = SQLiteStore(str(tmp_path))
    modes = []
    for barrier in (True, False, False, True):
        store.append([row(len(modes) + 1)], barrier=barrier)
        modes.append(store._open_connection().pragma("synchronous"))  # what SQLite itself says
    store.close()
    assert modes == [2, 1, 1, 2]


def test_a_crash_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    store = SQLiteStore(str(tmp_path))
    store.append([row(1)])
    store.crash()
    assert (tmp_path / f"{FILE}-wal").stat().st_size > 0


def test_an_error_of_sqlite_is_told_as_one_of_the_store_and_keeps_nothing(tmp_path: Path) -> None:
    store = SQLiteStore(str(tmp_path))
    holder = apsw.Connection(str(tmp_path / FILE))
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        store.append([row(1)])
    holder.execute("ROLLBACK")
    holder.close()
    assert store.load() == ()
    store.close()


def test_a_transaction_that_fails_half_way_is_rolled_back(tmp_path: Path) -> None:
    store = SQLiteStore(str(tmp_path))
    with pytest.raises(StoreError, match="CHECK constraint") as caught:
        store.append([row(1), evolve(row(2), seq=0)])
    assert not isinstance(caught.value, DuplicateRow)
    assert store.load() == ()
    store.append([row(1)])
    store.close()


def test_the_schema_is_the_one_on_the_page(tmp_path: Path) -> None:
    SQLiteStore(str(tmp_path)).close()
    connection = apsw.Connection(str(tmp_path / FILE))
    names = [
        name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    ]
    connection.close()
    assert names == ["event", "writer"]
    assert all(f"CREATE TABLE IF NOT EXISTS {name}" in sqlite.SCHEMA for name in names)
