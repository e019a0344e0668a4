"""The real SQLite engine on the simulated disk: what each journal mode keeps, crashed at every disk operation."""

from __future__ import annotations

import gc
import weakref

import apsw
import pytest
from disk_crashes import OpenStore, Plan, batch, explore, judge, log, sqlite
from disk_table import MODES, OTHERS, Row

from journalsim.actors.disk.content import Image
from journalsim.actors.disk.mount import Mount
from journalsim.actors.disk.simulated import Disk, PowerOff
from journalsim.contract.adapters import OutcomeUnknown
from journalsim.contract.disk_faults import DiskOptions, Fault, Loss
from journalsim_reference.stores.base import StaleWriter, StoreClosed, StoreError
from journalsim_reference.stores.database import SYNCHRONOUS, Database, Settings, WrongMode, journal_in_force
from journalsim_reference.stores.disk_sqlite import PROMISES, DiskSQLiteStore
from journalsim_reference.stores.vfs import DiskVFS

WAL = Settings(checkpoint_pages=12)
DELETE = Settings(journal="delete", synchronous="extra")


# --- the table


@pytest.mark.parametrize("row", MODES + OTHERS, ids=str)
def test_a_store_keeps_what_the_table_says_and_no_more(row: Row) -> None:
    assert row.explore().promise == row.promise


@pytest.mark.campaign
@pytest.mark.parametrize("row", MODES + OTHERS, ids=str)
def test_a_store_keeps_what_the_table_says_over_a_longer_life(row: Row) -> None:
    assert row.explore(appends=5, every=11, draws=16).promise == row.promise


def test_the_reference_promises_what_the_table_shows() -> None:
    assert {(row.journal, row.synchronous): row.promise for row in MODES} == PROMISES


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_kill_finds_nothing_even_without_any_sync(journal: str) -> None:
    killed = (Loss("buffers"),)
    found = explore(Plan(open_store=sqlite(journal, "off"), losses=killed, losses_in_recovery=killed))
    assert found.syncs == 0
    assert found.worst == "ok"


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_tail_torn_in_order_finds_nothing_even_without_any_sync(journal: str) -> None:
    """Everything is there, in order, up to half of the write in hand: only loss out of order shows a missing sync."""
    torn = (Loss("last_tail"),)
    plan = Plan(open_store=sqlite(journal, "off"), losses=torn, losses_in_recovery=torn, at=_just_written)
    assert explore(plan).worst == "ok"


def _just_written(point: str) -> bool:
    return point.startswith("disk.write#") and point.endswith(".after")


def test_the_integrity_check_passes_on_half_a_transaction() -> None:
    verdicts = {verdict for image in _worlds_without_sync() for verdict in [_half(image)]}
    assert "half, and found to be sound" in verdicts


def _worlds_without_sync() -> list[Image]:
    worlds: list[Image] = []
    disk = Disk()
    database = Database(Mount(disk), "t.db", Settings(journal="delete", synchronous="off"))
    database.connection.execute(
        "create table message(text); create table head(n); insert into head values(0)"
    ).fetchall()
    disk.lose_power(Loss("buffers"))
    database.abandon()
    database = Database(Mount(disk), "t.db", Settings(journal="delete", synchronous="off"))
    disk.observe = lambda point: worlds.extend(disk.crash(Loss("drawn", number)) for number in range(1, 9))
    with database.connection:
        database.connection.execute("insert into message values('one'); update head set n=1").fetchall()
    disk.observe = None
    disk.kill()
    database.abandon()
    return worlds


def _half(image: Image) -> str:
    database = None
    try:
        database = Database(Mount(Disk(image)), "t.db", Settings(journal="delete"))
        sound = database.connection.pragma("integrity_check") == "ok"
        rows = database.connection.execute("select count(*) from message").get
        whole = rows == database.connection.execute("select n from head").get
    except apsw.Error:
        return "an error"
    finally:
        if database is not None:
            database.abandon()
    return f"{'whole' if whole else 'half'}, and found to be {'sound' if sound else 'damaged'}"


# --- modes


@pytest.mark.parametrize("synchronous", SYNCHRONOUS)
@pytest.mark.parametrize("journal", ["delete", "truncate", "persist", "wal"])
def test_the_mode_that_was_asked_for_is_the_one_that_the_files_show(journal: str, synchronous: str) -> None:
    disk = Disk()
    store = sqlite(journal, synchronous)(Mount(disk))
    store.append(batch(1))
    assert journal_in_force(Mount(disk), "journal.db") == journal
    assert (disk.count("sync") == 0) == (synchronous == "off")
    store.close()


def test_exclusive_locking_turns_delete_into_persist_and_that_is_refused() -> None:
    with pytest.raises(StoreError, match="journal_mode=persist, not delete"):
        DiskSQLiteStore(Mount(Disk()), Settings(journal="delete", locking="exclusive"))


def test_wal_without_exclusive_locking_is_refused() -> None:
    with pytest.raises(StoreError, match="journal_mode=delete, not wal"):
        DiskSQLiteStore(Mount(Disk()), Settings(journal="wal", locking="normal"))


def test_a_transaction_under_way_shows_no_mode() -> None:
    mount = Mount(Disk())
    database = Database(mount, "t.db", Settings(journal="persist"))
    database.connection.execute("create table t(x); begin; insert into t values(1)").fetchall()
    with pytest.raises(WrongMode, match="a transaction under way"):
        database.check_journal()
    database.close()
    database.close()


# --- lives


def test_a_life_repeats_to_the_byte_whatever_sqlite_did_before() -> None:
    lives = []
    for disturb in (False, True):
        points: list[str] = []
        disk = Disk(observe=points.append)
        if disturb:
            apsw.Connection(":memory:").execute("select random()").fetchall()
        store = DiskSQLiteStore(Mount(disk), WAL)
        for number in range(1, 4):
            store.append(batch(number))
            if disturb:
                apsw.Connection(":memory:").execute("select 1").fetchall()
        lives.append((points, disk.image()))
        store.close()
    assert lives[0] == lives[1]


def test_random_numbers_are_a_function_of_the_folder_and_differ_from_life_to_life() -> None:
    numbers = []
    for lives in (2, 2):
        disk = Disk()
        for _ in range(lives):
            store = DiskSQLiteStore(Mount(disk), DELETE)
            numbers.append(apsw.randomness(8))
            disk.lose_power(Loss("buffers"))
            store.crash()
    assert numbers[:2] == numbers[2:]
    assert numbers[0] != numbers[1]


def test_databases_leave_nothing_behind() -> None:
    before = apsw.vfs_names()
    gc.collect()
    gc.disable()
    try:
        watched = []
        for number in range(50):
            disk = Disk()
            store = DiskSQLiteStore(Mount(disk), WAL if number % 2 else DELETE)
            store.append(batch(1))
            watched.append(weakref.ref(disk))
            store.close() if number % 3 else store.crash()
            del disk, store
        assert [ref() for ref in watched] == [None] * 50
    finally:
        gc.enable()
    assert apsw.vfs_names() == before


@pytest.mark.parametrize("settings", [WAL, DELETE], ids=["wal", "delete"])
def test_a_process_may_die_at_any_operation_and_its_store_be_let_go_of_there(settings: Settings) -> None:
    """What a harness does: the disk goes, then the store is told, and all this in the middle of a commit."""
    before = apsw.vfs_names()
    whole = Disk()
    _live(whole, settings, [])
    for number in range(1, whole.count() + 1):
        disk = Disk()
        stores: list[DiskSQLiteStore] = []

        def die(point: str, disk: Disk = disk, stores: list[DiskSQLiteStore] = stores, number: int = number) -> None:
            if point.endswith(".before") and disk.count() == number and disk.observe is not None:
                disk.observe = None
                disk.lose_power(Loss("last_tail"))
                for store in stores:
                    store.crash()

        disk.observe = die
        with pytest.raises(PowerOff):
            _live(disk, settings, stores)
        assert apsw.vfs_names() == before
        for store in stores:
            with pytest.raises(StoreClosed):
                store.append(batch(9))
        survivor = DiskSQLiteStore(Mount(disk), settings)
        assert len(survivor.load()) in (0, 2, 4)
        survivor.close()


def _live(disk: Disk, settings: Settings, stores: list[DiskSQLiteStore]) -> None:
    store = DiskSQLiteStore(Mount(disk), settings)
    stores.append(store)
    store.append(batch(1))
    store.append(batch(2))
    disk.kill()
    store.crash()


def test_a_second_process_waits_for_the_lock_of_wal_and_fences_the_first_without_it() -> None:
    disk = Disk()
    first = DiskSQLiteStore(Mount(disk), WAL)
    with pytest.raises(StoreError, match="locked"):
        DiskSQLiteStore(Mount(disk), WAL)
    first.close()
    disk = Disk()
    old = DiskSQLiteStore(Mount(disk), DELETE)
    old.append(batch(1))
    new = DiskSQLiteStore(Mount(disk), DELETE)
    new.append(batch(2))
    with pytest.raises(StaleWriter):
        old.append(batch(3))
    assert [len(store.load()) for store in (old, new)] == [4, 4]
    old.close()
    new.close()


# --- faults


@pytest.mark.parametrize("kind", ["error", "full", "short"])
@pytest.mark.parametrize("settings", [WAL, DELETE], ids=["wal", "delete"])
def test_a_fault_at_any_operation_of_a_commit_keeps_all_or_nothing(settings: Settings, kind: str) -> None:
    for at in _operations_of_a_commit(settings, kind):
        disk = Disk(faults=[Fault(kind, at, kept=7 if kind == "short" else 0)])
        store = DiskSQLiteStore(Mount(disk), settings)
        store.append(batch(1))
        possible = [[*batch(1)], [*batch(1), *batch(2)]]
        try:
            store.append(batch(2))
        except OutcomeUnknown:
            pass
        except StoreError:
            possible = possible[:1]
            assert list(store.load()) == possible[0]
        else:
            possible = possible[1:]
        disk.lose_power()
        store.crash()
        again = DiskSQLiteStore(Mount(disk), settings)
        assert list(again.load()) in possible
        assert again.integrity() == "ok"
        again.close()


def _operations_of_a_commit(settings: Settings, kind: str) -> list[str]:
    points: list[str] = []
    disk = Disk()
    store = DiskSQLiteStore(Mount(disk), settings)
    store.append(batch(1))
    disk.observe = points.append
    store.append(batch(2))
    disk.observe = None
    store.close()
    names = [point.removesuffix(".before") for point in points if point.endswith(".before")]
    wanted = {"error": "", "full": "write", "short": "write"}[kind]
    return [name for name in names if wanted in name]


@pytest.mark.parametrize("settings", [WAL, DELETE], ids=["wal", "delete"])
def test_no_promise_is_broken_when_the_power_fails_after_a_failed_sync(settings: Settings) -> None:
    syncs = [name for name in _operations_of_a_commit(settings, "error") if "disk.sync#" in name]
    assert syncs
    for at in syncs:
        plan = Plan(open_store=lambda port: DiskSQLiteStore(port, settings), faults=[Fault("error", at)], every=10_000)
        assert explore(plan).worst == "ok"


@pytest.mark.parametrize("open_store", [sqlite("wal", "full"), log], ids=["wal", "log"])
def test_rows_that_no_sync_would_write_are_written_again_when_the_store_is_opened(open_store: OpenStore) -> None:
    """A sync fails, the process is killed before it can react, the next one reads its rows, and the power fails."""
    disk = _killed_after_a_failed_sync(open_store)
    reader = open_store(Mount(disk))
    shown = len(reader.load())
    disk.lose_power()
    reader.crash()
    survivor = open_store(Mount(disk))
    assert (shown, len(survivor.load())) == (4, 4)
    survivor.close()


def _killed_after_a_failed_sync(open_store: OpenStore) -> Disk:
    whole = Disk()
    store = open_store(Mount(whole))
    store.append(batch(1))
    at = f"disk.sync#{whole.count('sync') + 1}"
    store.close()

    disk, failed = Disk(faults=[Fault("error", at)]), False

    def observe(point: str) -> None:
        nonlocal failed
        if failed:
            disk.kill()
        failed = failed or point == f"{at}.before"

    disk.observe = observe
    store = open_store(Mount(disk))
    store.append(batch(1))
    with pytest.raises((OutcomeUnknown, PowerOff)):
        store.append(batch(2))
    disk.observe = None
    disk.kill()
    store.crash()
    return disk


def test_a_store_that_cannot_be_opened_says_so() -> None:
    for fault in (Fault("error", "disk.open#1"), Fault("error", "disk.create#1"), Fault("full", "disk.write#1")):
        with pytest.raises(StoreError):
            DiskSQLiteStore(Mount(Disk({} if "create" in fault.at else {"journal.db": b""}, faults=[fault])), WAL)


def test_a_damaged_database_is_reported() -> None:
    disk = Disk({"journal.db": b"SQLite format 3\0" + bytes(range(200))})
    assert judge(Plan(open_store=sqlite("wal", "full")), disk, 0) == "corrupt"


def test_temporary_files_have_no_place_on_the_disk() -> None:
    vfs = DiskVFS("no-temporary-files", Mount(Disk()))
    with pytest.raises(apsw.CantOpenError, match="temporary"):
        vfs.xOpen(None, [apsw.SQLITE_OPEN_TEMP_DB | apsw.SQLITE_OPEN_CREATE, 0])
    vfs.unregister()


def test_temporary_files_stay_in_memory() -> None:
    disk = Disk()
    database = Database(Mount(disk), "t.db", DELETE)
    database.connection.execute("create temp table t(x); insert into t values(1)").fetchall()
    assert disk.image() == {"t.db": b""}
    assert database.connection.execute("select julianday('now') = julianday('now')").get == 1
    database.close()


# --- the log beside it


@pytest.mark.parametrize(
    ("verb", "kind"), [("write", "error"), ("write", "full"), ("write", "short"), ("sync", "error")]
)
def test_no_promise_of_the_log_is_broken_by_a_fault_and_then_a_crash(verb: str, kind: str) -> None:
    for number in range(2, 6):
        fault = Fault(kind, f"disk.{verb}#{number}", kept=40)
        found = explore(Plan(open_store=log, faults=[fault], appends=3, options=DiskOptions(sector=128), every=17))
        assert found.worst == "ok"


@pytest.mark.campaign
@pytest.mark.parametrize(
    "open_store", [sqlite("wal", "full"), sqlite("delete", "extra"), log], ids=["wal", "delete", "log"]
)
def test_no_promise_is_broken_in_a_life_of_twenty_appends(open_store: OpenStore) -> None:
    losses = tuple(Loss("drawn", number) for number in range(1, 33))
    found = explore(Plan(open_store=open_store, appends=20, losses=losses, every=29))
    assert found.worst == "ok"
    assert found.operations >= 40
