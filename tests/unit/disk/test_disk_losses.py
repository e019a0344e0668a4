"""What each named loss takes, on sectors of four bytes."""

from __future__ import annotations

import pytest

from journalsim.actors.disk.mount import Mount
from journalsim.actors.disk.simulated import Disk
from journalsim.contract.disk_faults import NAMED, DiskOptions, Loss


def lost(disk: Disk, name: str) -> bytes:
    return disk.crash(Loss(name))["log"]


def disk_with_appends(*appends: bytes, data: bytes = b"", **options: object) -> Disk:
    disk = Disk({"log": data}, options=DiskOptions(sector=4, **options))  # type: ignore[arg-type]
    file = Mount(disk).open("log")
    for append in appends:
        file.write(file.size(), append)
    return disk


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("buffers", b"aaaaBBBBBBBBBBBB"),
        ("unsynced", b""),
        ("names", b"aaaaBBBBBBBBBBBB"),
        ("bytes", b""),
        ("last_tail", b"aaaaBBBBBB"),
        ("last_head", b"aaaa\0\0\0\0\0\0BBBBBB"),
        ("last_middle", b"aaaaBBBB\0\0\0\0BBBB"),
        ("last_bytes", b"aaaa" + bytes(12)),
        ("all_but_last", b"\0\0\0\0BBBBBBBBBBBB"),
        ("other_files", b"aaaaBBBBBBBBBBBB"),
        ("first", b"\0\0\0\0BBBBBBBBBBBB"),
    ],
)
def test_each_loss_takes_its_part_of_two_appends(name: str, found: bytes) -> None:
    assert lost(disk_with_appends(b"aaaa", b"BBBBBBBBBBBB"), name) == found


def test_an_overwritten_sector_falls_back_to_what_it_was() -> None:
    disk = disk_with_appends(data=b"oldoldoldold")
    Mount(disk).open("log").write(2, b"NEWNEWNEW")
    assert lost(disk, "last_tail") == b"olNEWNoldold"
    assert lost(disk, "last_head") == b"oldoldEWNEWd"
    assert lost(disk, "last_middle") == b"olNEldolNEWd"
    assert lost(disk, "last_bytes") == b"oldoldoldold"


def test_a_later_write_to_one_sector_is_never_there_without_the_earlier_one() -> None:
    disk = disk_with_appends(b"a", b"b")
    assert lost(disk, "all_but_last") == b"ab"
    assert {world["log"] for world in disk.crash_states()} == {b"", b"a", b"\0", b"ab", b"a\0", b"\0\0"}


def test_half_of_a_write_lies_on_what_the_write_before_it_left() -> None:
    disk = disk_with_appends(data=b"....")
    file = Mount(disk).open("log")
    file.write(0, b"aaaa")
    file.write(0, b"bbbb")
    assert (lost(disk, "last_tail"), lost(disk, "last_head")) == (b"bbaa", b"aabb")
    assert (lost(disk, "last_bytes"), lost(disk, "first")) == (b"aaaa", b"....")


def test_a_write_that_overtook_the_cut_before_it_depends_on_the_file_system() -> None:
    found = {}
    for truncates in ("in_order", "any_order"):
        disk = disk_with_appends(data=b"old old ", truncates=truncates)
        file = Mount(disk).open("log")
        file.truncate(0)
        file.write(0, b"new!")
        found[truncates] = {world["log"] for world in disk.crash_states()}
    assert found["in_order"] == {b"old old ", b"", b"\0\0\0\0", b"new!"}
    assert found["any_order"] == found["in_order"] | {b"new!old ", b"old "}


def test_a_cut_within_a_sector_clears_its_end() -> None:
    disk = disk_with_appends(data=b"abcdefgh")
    file = Mount(disk).open("log")
    file.truncate(6)
    file.write(7, b"H")
    assert disk.image()["log"] == b"abcdef\0H"
    assert {world["log"] for world in disk.crash_states()} == {
        b"abcdefgh",
        b"abcdef",
        b"abcdef\0\0",
        b"abcdef\0H",
    }


def test_last_losses_take_nothing_from_a_cut() -> None:
    disk = disk_with_appends(data=b"abcdefgh")
    Mount(disk).open("log").truncate(2)
    assert {lost(disk, name) for name in ("last_tail", "last_head", "last_middle", "last_bytes", "first")} == {b"ab"}


def test_where_a_file_grew_and_its_bytes_never_came_is_what_the_disk_fills_it_with() -> None:
    disk = disk_with_appends(b"bbbbcccc", data=b"aa", fill=0xA5)
    assert lost(disk, "last_bytes") == b"aa\0\0\xa5\xa5\xa5\xa5\xa5\xa5"


def test_losses_across_files_keep_the_file_written_last() -> None:
    disk = Disk({"a": b"", "b": b""})
    mount = Mount(disk)
    mount.open("a").write(0, b"first")
    mount.open("b").write(0, b"last")
    assert disk.crash(Loss("other_files")) == {"a": b"", "b": b"last"}
    assert disk.crash(Loss("all_but_last")) == {"a": b"", "b": b"last"}
    assert disk.crash(Loss("first")) == {"a": bytes(5), "b": b"last"}
    assert disk.crash(Loss("last_tail")) == {"a": b"first", "b": b"la"}


@pytest.mark.parametrize("loss", [*NAMED, *(Loss("drawn", number) for number in range(1, 9))], ids=str)
def test_no_loss_takes_anything_from_a_disk_that_was_synced(loss: Loss) -> None:
    disk = Disk({"kept": b"before"})
    mount = Mount(disk)
    file = mount.open("log", create=True)
    file.write(0, b"one")
    file.sync()
    mount.sync_folder()
    assert disk.crash(loss) == {"kept": b"before", "log": b"one"}
    assert Disk().crash(loss) == {}
