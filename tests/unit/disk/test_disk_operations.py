"""The simulated disk while the machine is up: three states of a byte, two of a name, numbers, points and locks."""

from __future__ import annotations

import pytest

from journalsim.actors.disk.mount import BUFFER_BYTES, Mount
from journalsim.actors.disk.simulated import FILE_BYTES_MAX, Disk, PowerOff
from journalsim.contract.disk_faults import DiskOptions, Loss

KILL, POWER = Loss("buffers"), Loss("unsynced")


def disk_with(**files: bytes) -> Disk:
    return Disk(files)


# --- bytes


def test_a_synced_byte_survives_the_power_cut() -> None:
    disk = disk_with(log=b"")
    file = Mount(disk).open("log")
    file.write(0, b"one")
    file.sync()
    assert disk.crash(POWER) == {"log": b"one"}


def test_a_flushed_byte_survives_the_process_and_not_the_power() -> None:
    disk = disk_with(log=b"")
    Mount(disk).open("log").write(0, b"one")
    assert disk.crash(KILL) == {"log": b"one"}
    assert disk.crash(POWER) == {"log": b""}


def test_a_buffered_byte_dies_with_the_process() -> None:
    disk = disk_with(log=b"")
    file = Mount(disk).open("log", buffered=True)
    assert file.write(0, b"one") == 3
    assert disk.crash(KILL) == {"log": b""}
    file.flush()
    assert disk.crash(KILL) == {"log": b"one"}


def test_a_buffer_is_flushed_when_it_is_full_or_the_place_changes() -> None:
    disk = disk_with(log=b"")
    file = Mount(disk).open("log", buffered=True)
    file.write(0, b"ab")
    file.write(2, b"cd")
    assert disk.count("write") == 0
    file.write(9, b"x")
    assert disk.image()["log"] == b"abcd"
    file.write(10, b"y" * BUFFER_BYTES)
    assert len(disk.image()["log"]) == 10 + BUFFER_BYTES


@pytest.mark.parametrize("verb", ["read", "size", "sync", "truncate", "close"])
def test_what_needs_the_bytes_flushes_the_buffer_first(verb: str) -> None:
    disk = disk_with(log=b"")
    file = Mount(disk).open("log", buffered=True)
    file.write(0, b"abc")
    {
        "read": lambda: file.read(0, 3),
        "size": file.size,
        "sync": file.sync,
        "truncate": lambda: file.truncate(3),
        "close": file.close,
    }[verb]()
    assert disk.image() == {"log": b"abc"}


def test_a_gap_reads_as_zeros() -> None:
    disk = disk_with(log=b"a")
    file = Mount(disk).open("log")
    file.write(4, b"z")
    assert file.read(0, 99) == b"a\0\0\0z"
    file.truncate(7)
    assert file.read(3, 99) == b"\0z\0\0"
    assert file.size() == 7


def test_a_file_has_a_bound() -> None:
    file = Mount(disk_with(log=b"")).open("log")
    with pytest.raises(OSError, match="longer than"):
        file.write(FILE_BYTES_MAX, b"x")


# --- names


def test_a_new_name_is_certain_after_a_sync_of_the_folder() -> None:
    disk = Disk()
    mount = Mount(disk)
    file = mount.open("log", create=True)
    file.write(0, b"one")
    file.sync()
    assert disk.crash(POWER) == {}
    mount.sync_folder()
    assert disk.crash(POWER) == {"log": b"one"}


def test_a_removed_name_comes_back_with_what_was_synced() -> None:
    disk = disk_with(log=b"one")
    mount = Mount(disk)
    mount.open("log").write(3, b" two")
    mount.unlink("log")
    assert disk.crash(POWER) == {"log": b"one"}
    assert disk.crash(Loss("names")) == {"log": b"one two"}
    mount.sync_folder()
    assert disk.crash(POWER) == {}


def test_a_rename_is_whole_or_not_there() -> None:
    disk = disk_with(new=b"new", log=b"old")
    mount = Mount(disk)
    mount.rename("new", "log")
    assert disk.image() == {"log": b"new"}
    assert list(disk.crash_states()) == [{"log": b"old", "new": b"new"}, {"log": b"new"}]


def test_a_file_that_was_replaced_before_its_bytes_were_synced_is_empty() -> None:
    disk = disk_with(log=b"old")
    mount = Mount(disk)
    mount.open("new", create=True).write(0, b"new")
    mount.rename("new", "log")
    assert disk.crash(Loss("bytes")) == {"log": b""}


def test_a_disk_may_say_that_names_are_certain_at_once() -> None:
    disk = Disk({"a": b"1"}, options=DiskOptions(entries="at_once"))
    mount = Mount(disk)
    mount.rename("a", "b")
    mount.open("c", create=True)
    assert disk.crash(POWER) == {"b": b"1", "c": b""}


def test_changes_of_names_survive_in_order_or_in_any_order() -> None:
    found = {}
    for entries in ("in_order", "any_order"):
        disk = Disk({"a": b"1"}, options=DiskOptions(entries=entries))
        mount = Mount(disk)
        mount.unlink("a")
        mount.open("b", create=True)
        found[entries] = {tuple(world) for world in disk.crash_states()}
    assert found["in_order"] == {("a",), (), ("b",)}
    assert found["any_order"] == found["in_order"] | {("a", "b")}


def test_a_rename_of_a_file_whose_creation_was_lost_brings_nothing() -> None:
    disk = Disk(options=DiskOptions(entries="any_order"))
    mount = Mount(disk)
    mount.open("new", create=True)
    mount.rename("new", "log")
    assert {tuple(world) for world in disk.crash_states()} == {(), ("new",), ("log",)}


def test_an_open_file_outlives_its_name() -> None:
    mount = Mount(disk_with(log=b"one"))
    file = mount.open("log")
    mount.unlink("log")
    assert file.read(0, 9) == b"one"
    assert not mount.exists("log")
    assert mount.list() == ()


@pytest.mark.parametrize("verb", ["open", "rename", "unlink"])
def test_what_is_not_there_is_not_found(verb: str) -> None:
    mount = Mount(Disk())
    with pytest.raises(FileNotFoundError):
        {"open": mount.open, "rename": lambda n: mount.rename(n, "b"), "unlink": mount.unlink}[verb]("a")


# --- lives


def test_a_dead_process_reaches_nothing() -> None:
    disk = disk_with(log=b"one")
    mount = Mount(disk)
    file, buffered = mount.open("log"), mount.open("log", buffered=True)
    buffered.write(0, b"ONE")
    disk.kill()
    calls = (
        lambda: file.read(0, 1),
        lambda: file.write(0, b"x"),
        file.sync,
        file.size,
        file.lock,
        lambda: file.truncate(0),
        lambda: mount.open("log"),
        mount.list,
        lambda: mount.exists("log"),
        mount.sync_folder,
    )
    for call in calls:
        with pytest.raises(PowerOff):
            call()
    file.close()
    buffered.close()
    file.unlock()
    assert not mount.alive
    assert disk.image() == {"log": b"one"}


def test_a_kill_leaves_what_was_flushed_as_unsynced_as_it_was() -> None:
    disk = disk_with(log=b"")
    Mount(disk).open("log").write(0, b"one")
    disk.kill()
    assert Mount(disk).open("log").read(0, 9) == b"one"
    assert disk.crash(POWER) == {"log": b""}


def test_after_a_power_cut_everything_that_is_left_is_synced() -> None:
    disk = disk_with(log=b"")
    Mount(disk).open("log").write(0, b"one")
    assert disk.lose_power(Loss("last_tail")) == {"log": b"o"}
    assert list(disk.crash_states(tears=True)) == [{"log": b"o"}]


def test_a_closed_file_is_closed() -> None:
    file = Mount(disk_with(log=b"")).open("log")
    file.close()
    file.close()
    with pytest.raises(OSError, match="closed"):
        file.write(0, b"x")


def test_one_open_file_has_the_lock_until_it_or_its_process_ends() -> None:
    disk = disk_with(log=b"")
    first, second = Mount(disk).open("log"), Mount(disk).open("log")
    assert first.lock()
    assert first.lock()
    assert not second.lock()
    second.unlock()
    assert not second.lock()
    first.unlock()
    assert second.lock()
    disk.kill()
    assert Mount(disk).open("log").lock()


# --- operations


def test_operations_are_numbered_by_verb_and_have_a_point_before_and_after() -> None:
    points: list[str] = []
    disk = Disk(observe=points.append)
    mount = Mount(disk)
    file = mount.open("log", create=True)
    file.write(0, b"a")
    file.write(1, b"b")
    file.read(0, 2)
    mount.open("log").truncate(1)
    file.sync()
    mount.rename("log", "old")
    mount.unlink("old")
    mount.sync_folder()
    operations = [point.removesuffix(".before") for point in points[::2]]
    assert operations == [
        "disk.create#1",
        "disk.write#1",
        "disk.write#2",
        "disk.truncate#1",
        "disk.sync#1",
        "disk.rename#1",
        "disk.unlink#1",
        "disk.sync_folder#1",
    ]
    assert points[1::2] == [f"{name}.after" for name in operations]
    assert (disk.count(), disk.count("write"), disk.count("open", "read")) == (8, 2, 2)


@pytest.mark.parametrize(("moment", "found"), [("before", b""), ("after", b"one")])
def test_whoever_crashes_the_disk_at_a_point_ends_the_operation_there(moment: str, found: bytes) -> None:
    disk = disk_with(log=b"")

    def observe(point: str) -> None:
        if point == f"disk.write#1.{moment}":
            disk.lose_power(KILL)

    disk.observe = observe
    file = Mount(disk).open("log")
    with pytest.raises(PowerOff):
        file.write(0, b"one")
    assert disk.image() == {"log": found}


def test_numbers_go_on_in_the_next_life() -> None:
    points: list[str] = []
    disk = Disk({"log": b""}, observe=points.append)
    Mount(disk).open("log").write(0, b"a")
    disk.lose_power()
    Mount(disk).open("log").write(0, b"b")
    assert points[::2] == ["disk.write#1.before", "disk.write#2.before"]
