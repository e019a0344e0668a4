"""The simulated disk and a real folder behave alike behind the port, and so do the stores on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from disk_crashes import OpenStore, batch, log, sqlite

from journalsim.actors.disk.mount import Mount
from journalsim.actors.disk.simulated import Disk
from journalsim.contract.disk_port import DiskPort
from journalsim_reference.stores.base import DuplicateRow, StoreClosed, StoreError
from journalsim_reference.stores.real_disk import RealDisk

Ports = Callable[[], DiskPort]


@pytest.fixture(params=["simulated", "real"])
def ports(request: pytest.FixtureRequest, tmp_path: Path) -> Ports:
    """What gives each process its view of one folder."""
    disk = Disk()
    return (lambda: Mount(disk)) if request.param == "simulated" else (lambda: RealDisk(str(tmp_path)))


@pytest.fixture
def port(ports: Ports) -> DiskPort:
    return ports()


# --- files


@pytest.mark.parametrize("buffered", [False, True], ids=["unbuffered", "buffered"])
def test_a_file_holds_what_is_written_to_it(port: DiskPort, buffered: bool) -> None:
    file = port.open("log", create=True, buffered=buffered)
    assert file.write(0, b"hello") == 5
    assert file.write(7, b"!") == 1
    assert file.write(0, b"J") == 1
    file.flush()
    file.sync()
    assert (file.read(0, 99), file.read(6, 1), file.read(50, 9), file.size()) == (b"Jello\0\0!", b"\0", b"", 8)
    file.truncate(3)
    assert file.read(0, 99) == b"Jel"
    file.truncate(5)
    assert file.read(0, 99) == b"Jel\0\0"
    file.close()
    file.close()


def test_what_is_in_a_buffer_is_nobody_elses_until_it_is_flushed(ports: Ports) -> None:
    file = ports().open("log", create=True, buffered=True)
    file.write(0, b"one")
    other = ports().open("log")
    assert other.read(0, 9) == b""
    file.flush()
    assert other.read(0, 9) == b"one"
    file.close()
    other.close()


def test_names_come_and_go(port: DiskPort) -> None:
    for name in ("b", "a"):
        port.open(name, create=True).close()
    assert port.list() == ("a", "b")
    port.rename("b", "a")
    port.sync_folder()
    assert (port.list(), port.exists("b")) == (("a",), False)
    port.unlink("a")
    assert port.list() == ()


@pytest.mark.parametrize("verb", ["open", "unlink", "rename"])
def test_what_is_not_there_is_not_found(port: DiskPort, verb: str) -> None:
    with pytest.raises(FileNotFoundError):
        {"open": port.open, "unlink": port.unlink, "rename": lambda name: port.rename(name, "b")}[verb]("a")


def test_a_lock_is_held_by_one_open_file(ports: Ports) -> None:
    first, second = ports().open("log", create=True), ports().open("log")
    assert first.lock()
    assert first.lock()
    assert not second.lock()
    first.unlock()
    assert second.lock()
    second.close()
    assert first.lock()
    first.close()


# --- stores


STORES = {
    "log": log,
    "wal": sqlite("wal", "full"),
    "delete": sqlite("delete", "extra"),
    "truncate": sqlite("truncate", "full"),
    "persist": sqlite("persist", "full"),
}


@pytest.fixture(params=STORES)
def open_store(request: pytest.FixtureRequest) -> OpenStore:
    return STORES[request.param]


def test_a_store_keeps_its_rows_from_process_to_process(ports: Ports, open_store: OpenStore) -> None:
    store = open_store(ports())
    store.append(batch(1))
    store.append(batch(2), barrier=False)
    assert store.load() == (*batch(1), *batch(2))
    store.close()
    store.close()
    again = open_store(ports())
    assert (store.epoch, again.epoch) == (1, 2)
    assert again.load() == (*batch(1), *batch(2))
    again.close()


def test_a_store_that_crashed_left_what_it_acknowledged(ports: Ports, open_store: OpenStore) -> None:
    store = open_store(ports())
    store.append(batch(1))
    store.crash()
    again = open_store(ports())
    assert again.load() == batch(1)
    again.crash()


def test_a_batch_is_kept_whole_or_not_at_all(ports: Ports, open_store: OpenStore) -> None:
    store = open_store(ports())
    store.append(batch(1))
    with pytest.raises(DuplicateRow):
        store.append((*batch(2), batch(1)[0]))
    assert store.load() == batch(1)
    store.append(batch(2))
    store.close()
    with pytest.raises(StoreClosed):
        store.append(batch(3))


def test_a_real_folder_that_is_not_there_cannot_be_opened(tmp_path: Path, open_store: OpenStore) -> None:
    with pytest.raises((StoreError, FileNotFoundError)):
        open_store(RealDisk(str(tmp_path / "missing")))
