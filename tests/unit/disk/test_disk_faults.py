"""Each kind of fault, addressed to an operation."""

from __future__ import annotations

import errno

import pytest

from journalsim.actors.disk.mount import Mount, OpenFile
from journalsim.actors.disk.simulated import Disk, PowerOff
from journalsim.contract.disk_faults import FAULTS, LOSSES, NAMED, DiskOptions, Fault, Loss

POWER = Loss("unsynced")


def opened(*faults: Fault, data: bytes = b"", buffered: bool = False) -> tuple[Disk, OpenFile]:
    disk = Disk({"log": data}, faults=faults)
    return disk, Mount(disk).open("log", buffered=buffered)


def test_a_crash_comes_just_before_its_operation_with_its_loss() -> None:
    disk, file = opened(Fault("crash", "disk.write#2", loss=Loss("buffers")))
    file.write(0, b"one")
    with pytest.raises(PowerOff):
        file.write(3, b"two")
    assert disk.image() == {"log": b"one"}


def test_an_io_error_comes_once_and_then_it_is_ok() -> None:
    disk, file = opened(Fault("error", "disk.write#1"))
    with pytest.raises(OSError, match=r"disk\.write#1") as raised:
        file.write(0, b"one")
    assert raised.value.errno == errno.EIO
    assert file.write(0, b"one") == 3
    assert disk.image() == {"log": b"one"}


def test_an_io_error_may_leave_half_of_the_write() -> None:
    disk, file = opened(Fault("error", "disk.write#1", kept=2))
    with pytest.raises(OSError, match=r"disk\.write#1"):
        file.write(0, b"one")
    assert disk.image() == {"log": b"on"}


def test_a_fault_may_last_for_some_operations_or_until_the_disk_is_healed() -> None:
    _, file = opened(Fault("error", "disk.read#2", times=2))
    outcomes = [fails(lambda: file.read(0, 1)) for _ in range(4)]
    assert outcomes == [False, True, True, False]
    disk, file = opened(Fault("error", "disk.read#2", times=0))
    outcomes = [fails(lambda: file.read(0, 1)) for _ in range(4)]
    disk.heal()
    assert [*outcomes, fails(lambda: file.read(0, 1))] == [False, True, True, True, False]


def fails(call: object) -> bool:
    try:
        call()  # type: ignore[operator]
    except OSError:
        return True
    return False


def test_a_full_disk_takes_what_needs_no_space() -> None:
    disk, file = opened(Fault("full", "disk.write#1", times=0, kept=1), data=b"abc")
    assert file.write(0, b"ABC") == 3
    with pytest.raises(OSError, match=r"disk\.write#2") as raised:
        file.write(3, b"def")
    assert raised.value.errno == errno.ENOSPC
    assert disk.image() == {"log": b"ABCd"}
    file.truncate(0)
    assert disk.image() == {"log": b""}


def test_a_full_disk_makes_no_file() -> None:
    mount = Mount(Disk(faults=[Fault("full", "disk.create#1")]))
    with pytest.raises(OSError, match=r"disk\.create#1"):
        mount.open("log", create=True)
    assert mount.list() == ()


def test_a_short_write_says_how_much_it_took() -> None:
    disk, file = opened(Fault("short", "disk.write#1", kept=2))
    assert file.write(0, b"one") == 2
    assert disk.image() == {"log": b"on"}


def test_a_buffered_file_goes_on_after_a_short_write_and_keeps_what_an_error_left() -> None:
    disk, file = opened(Fault("short", "disk.write#1", kept=2), Fault("error", "disk.write#2"), buffered=True)
    file.write(0, b"one")
    with pytest.raises(OSError, match=r"disk\.write#2"):
        file.flush()
    assert disk.image() == {"log": b"on"}
    file.flush()
    assert disk.image() == {"log": b"one"}


def test_a_slow_operation_reports_its_time_to_whoever_asks() -> None:
    disk, file = opened(Fault("slow", "disk.sync#1", duration_ns=5), Fault("slow", "disk.read#1", duration_ns=2))
    file.sync()
    file.read(0, 1)
    assert (disk.take_delay_ns(), disk.take_delay_ns()) == (7, 0)


def test_what_a_failed_sync_did_not_write_no_sync_will() -> None:
    disk, file = opened(Fault("error", "disk.sync#1"))
    file.write(0, b"one")
    with pytest.raises(OSError, match=r"disk\.sync#1"):
        file.sync()
    assert disk.crash(POWER) == {"log": b""}
    file.sync()
    assert file.read(0, 9) == b"one"
    assert disk.crash(POWER) == {"log": b"\0\0\0"}, "the length is not a sector, and gets there"


def test_a_write_to_the_same_sector_takes_along_what_a_failed_sync_left() -> None:
    disk = Disk({"log": b""}, options=DiskOptions(sector=4), faults=[Fault("error", "disk.sync#1")])
    file = Mount(disk).open("log")
    file.write(0, b"aaaabbbb")
    with pytest.raises(OSError, match=r"disk\.sync#1"):
        file.sync()
    file.write(7, b"B")
    file.sync()
    assert file.read(0, 9) == b"aaaabbbB"
    assert disk.crash(POWER) == {"log": b"\0\0\0\0bbbB"}
    file.write(0, b"A")
    file.sync()
    assert disk.crash(POWER) == {"log": b"AaaabbbB"}


def test_a_lie_makes_nothing_certain_and_is_on_record() -> None:
    disk, file = opened(Fault("lie", "disk.sync#1"))
    file.write(0, b"one")
    file.sync()
    assert disk.crash(POWER) == {"log": b""}
    assert disk.lies == ["disk.sync#1"]


def test_a_disk_that_always_lies_says_so_at_every_sync() -> None:
    disk = Disk(options=DiskOptions(lying_sync=True))
    mount = Mount(disk)
    mount.open("log", create=True).sync()
    mount.sync_folder()
    assert disk.lies == ["disk.sync#1", "disk.sync_folder#1"]
    assert disk.crash(POWER) == {}


def test_an_honest_disk_has_no_lies() -> None:
    disk, file = opened()
    file.sync()
    assert disk.lies == []


@pytest.mark.parametrize("verb", ["create", "rename", "unlink"])
def test_a_volatile_change_of_a_name_waits_for_the_folder(verb: str) -> None:
    disk = Disk({"a": b"1"}, options=DiskOptions(entries="at_once"), faults=[Fault("volatile", f"disk.{verb}#1")])
    mount = Mount(disk)
    {
        "create": lambda: mount.open("b", create=True),
        "rename": lambda: mount.rename("a", "b"),
        "unlink": lambda: mount.unlink("a"),
    }[verb]()
    assert disk.crash(POWER) == {"a": b"1"}
    mount.sync_folder()
    assert disk.crash(POWER) == disk.image() != {"a": b"1"}


# --- values


@pytest.mark.parametrize("kind", FAULTS)
def test_every_kind_of_fault_hits_every_verb_it_is_for(kind: str) -> None:
    verbs, says = FAULTS[kind]
    assert says
    for verb in verbs:
        fault = Fault(kind, f"disk.{verb}#3", kept=1)
        assert [fault.hits(verb, number) for number in (2, 3, 4)] == [False, True, False]
        assert not fault.hits("close", 3)


@pytest.mark.parametrize(
    ("kind", "at", "says"),
    [
        ("explode", "disk.write#1", "not a fault"),
        ("short", "disk.sync#1", "does not happen"),
        ("error", "disk.write", "does not happen"),
        ("error", "disk.write#0", "does not happen"),
        ("error", "store.write#1", "does not happen"),
        ("short", "disk.write#1", "at least one byte"),
    ],
)
def test_a_fault_that_cannot_happen_cannot_be_made(kind: str, at: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Fault(kind, at)


@pytest.mark.parametrize("loss", [*NAMED, Loss("drawn", 17)], ids=str)
def test_a_loss_reads_back_what_it_prints(loss: Loss) -> None:
    assert Loss.parse(str(loss)) == loss
    assert LOSSES[loss.name]


@pytest.mark.parametrize("text", ["", "everything", "drawn", "drawn#", "drawn#x", "drawn#0", "unsynced#2"])
def test_what_is_no_loss_cannot_be_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a loss|have numbers from 1"):
        Loss.parse(text)


@pytest.mark.parametrize("wrong", [{"sector": 0}, {"entries": "never"}, {"truncates": "x"}, {"fill": 256}])
def test_options_that_no_disk_has_cannot_be_made(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be"):
        DiskOptions(**wrong)  # type: ignore[arg-type]
