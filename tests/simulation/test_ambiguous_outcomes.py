"""A disk that fails in mid-append: what is not certain is never acknowledged, and what has been read stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from disk_crashes import DURABLE, OpenStore, batch, kept, log

from journalsim.actors.disk.mount import Mount
from journalsim.actors.disk.simulated import Disk, PowerOff
from journalsim.contract.adapters import OutcomeUnknown
from journalsim.contract.disk_faults import Fault
from journalsim_reference.events import Event
from journalsim_reference.stores.base import StaleWriter, Store, StoreClosed, StoreError
from journalsim_reference.stores.real_disk import RealDisk

EVERY_STORE = pytest.mark.parametrize("open_store", DURABLE.values(), ids=DURABLE)


def operations(open_store: OpenStore, work: Callable[[Store], object]) -> list[str]:
    """Returns the disk operations of some work, by name."""
    points: list[str] = []
    disk = Disk()
    store = open_store(Mount(disk))
    disk.observe = points.append
    work(store)
    disk.observe = None
    store.close()
    return [point.removesuffix(".before") for point in points if point.endswith(".before")]


def three(store: Store) -> None:
    """Two batches that may wait for the third, which is a barrier."""
    for number, barrier in ((1, False), (2, False), (3, True)):
        store.append(batch(number), barrier=barrier)


# --- the stores


@EVERY_STORE
@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_whatever_an_append_answers_is_true_after_a_power_cut(open_store: OpenStore, times: int) -> None:
    """Errors at every operation, once or several times in a row; each batch is given until it is answered."""
    for at in operations(open_store, three):
        disk = Disk(faults=[Fault("error", at, times=times)])
        store = open_store(Mount(disk))
        certain: list[Event] = []
        doubtful: Sequence[Event] = ()
        for number in (1, 2, 3):
            try:
                certain += _given(store, number, barrier=number == 3)
            except (StoreError, OutcomeUnknown):
                doubtful = batch(number)
                break
        else:
            assert [*store.load()] == certain, at
        disk.heal()
        disk.lose_power()
        store.crash()
        found = [*kept(open_store, disk)]
        whole = [certain, [*certain, *doubtful]]
        assert found in (whole if certain[4:] else [rows[:end] for rows in whole for end in (0, 2, 4, 6)]), at


def _given(store: Store, number: int, *, barrier: bool) -> Sequence[Event]:
    for _ in range(6):
        try:
            store.append(batch(number), barrier=barrier)
        except OutcomeUnknown as error:
            failure: Exception = error
            if batch(number)[0] in store.load():
                return batch(number)
        except StoreError as error:
            failure = error
        else:
            return batch(number)
    raise failure


@EVERY_STORE
def test_what_a_process_has_read_is_there_for_the_next_one_whatever_failed_before(open_store: OpenStore) -> None:
    """An operation fails, the process is killed at any point after it, the next one reads, and the power fails."""
    names = operations(open_store, three)
    worlds = 0
    for position, at in enumerate(names):
        for kill_at in (*names[position + 1 :], ""):
            disk = Disk(faults=[Fault("error", at)])
            _live_until(disk, open_store, kill_at)
            reader = open_store(Mount(disk))
            read = reader.load()
            disk.lose_power()
            reader.crash()
            assert kept(open_store, disk) == read, (at, kill_at)
            worlds += 1
    assert worlds >= 10


def _live_until(disk: Disk, open_store: OpenStore, point: str) -> None:
    store = open_store(Mount(disk))
    disk.observe = lambda passed: disk.kill() if passed == f"{point}.before" else None
    with suppress(StoreError, OutcomeUnknown, PowerOff):
        three(store)
    disk.observe = None
    disk.kill()
    store.crash()


def test_a_sync_that_fails_twice_takes_no_earlier_rows_of_the_log_along() -> None:
    disk = Disk(faults=[Fault("error", "disk.sync#2", times=2)])
    store = log(Mount(disk))
    store.append(batch(1), barrier=False)
    with pytest.raises(OutcomeUnknown):
        store.append(batch(2))
    store.append(batch(2))
    disk.lose_power()
    assert [*kept(log, disk)] == [*batch(1), *batch(2)]


@EVERY_STORE
def test_a_store_in_doubt_is_refused_when_another_process_has_opened_it_in_between(open_store: OpenStore) -> None:
    at = next(name for name in operations(open_store, lambda store: store.append(batch(1))) if "sync" in name)
    disk = Disk(faults=[Fault("error", at, times=0)])
    old = open_store(Mount(disk))
    for _ in range(2):
        with pytest.raises(OutcomeUnknown):
            old.append(batch(1))
    disk.heal()
    new = open_store(Mount(disk))
    assert [*new.load()] in ([], [*batch(1)])
    with pytest.raises((StaleWriter, OutcomeUnknown)):  # SQLite in WAL mode does not even get the lock
        old.append(batch(2))
    new.append(batch(2))
    new.close()
    with pytest.raises((StaleWriter, StoreClosed)):
        old.append(batch(3))
    assert batch(3)[0] not in kept(open_store, disk)


@pytest.mark.parametrize("real", [False, True], ids=["simulated", "real"])
@EVERY_STORE
def test_a_writer_that_was_replaced_is_refused_at_its_next_append(
    open_store: OpenStore, real: bool, tmp_path: Path
) -> None:
    """Two stores on one folder; SQLite in WAL mode keeps the folder to itself for as long as it lives."""
    disk = Disk()

    def opened() -> Store:
        return open_store(RealDisk(str(tmp_path)) if real else Mount(disk))

    old = opened()
    old.append(batch(1))
    if open_store is DURABLE["wal"]:
        with pytest.raises(StoreError, match="locked"):
            opened()
        old.crash()
    new = opened()
    new.append(batch(2))
    for _ in range(2):
        with pytest.raises((StaleWriter, StoreClosed)):
            old.append(batch(3))
    assert [*new.load()] == [*batch(1), *batch(2)]
    assert new.epoch == old.epoch + 1
    old.crash()
    new.close()
