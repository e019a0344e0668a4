"""The log store: lines that are whole, tails that are cut, damage that hides nothing, appends that fail."""

from __future__ import annotations

import json

import pytest

from journalsim.actors.disk.mount import Mount
from journalsim.actors.disk.simulated import Disk
from journalsim.contract.adapters import OutcomeUnknown
from journalsim.contract.disk_faults import DiskOptions, Fault, Loss
from journalsim_reference.events import Event, to_json
from journalsim_reference.stores.base import DuplicateRow, StaleWriter, StoreClosed, StoreError
from journalsim_reference.stores.log import FILE, LogStore
from journalsim_reference.stores.log_lines import to_line, whole_lines

HOSTILE = '\u2028 ]\n [2,"00000000",0,1,[]]\n \\" \ud800 \x00'


def row(seq: int, text: str = "hi") -> Event:
    return Event(
        run_id="r",
        session_id="s",
        seq=seq,
        epoch=1,
        at=0,
        kind="message.delta",
        actor="lead",
        origin="model",
        payload={"text": text},
    )


def seqs(store: LogStore) -> list[int]:
    return [event.seq for event in store.load()]


def reopened(disk: Disk) -> LogStore:
    return LogStore(Mount(disk))


def file_of(*seqs: int) -> bytes:
    disk = Disk()
    store = reopened(disk)
    for seq in seqs:
        store.append([row(seq)])
    return disk.image()[FILE]


# --- lines


def test_a_line_is_json_and_holds_any_text() -> None:
    rows = (to_json(row(1, HOSTILE)), to_json(row(2)))
    line = to_line(rows, 7, epoch=3, synced=5)
    size, checksum, synced, epoch, body = json.loads(line)
    assert (size, len(checksum), synced, epoch, len(body)) == (len(",".join(rows)) + 2, 8, 5, 3, 2)
    [found] = whole_lines(line, start=7)
    assert (found.start, found.end, found.synced, found.epoch, found.rows) == (7, 7 + len(line), 5, 3, rows)


def test_a_line_that_is_cut_anywhere_is_not_whole() -> None:
    line = to_line((to_json(row(1)),), 0, epoch=1, synced=0)
    assert not [cut for cut in range(len(line)) if list(whole_lines(line[:cut]))]


def test_a_line_with_a_changed_byte_is_not_whole() -> None:
    line = to_line((to_json(row(1)),), 0, epoch=1, synced=0)
    for place in range(len(line)):
        torn = line[:place] + b"\0" + line[place + 1 :]
        assert not list(whole_lines(torn)), place


def test_a_line_counts_only_in_its_place_and_in_an_epoch_that_does_not_fall() -> None:
    line = to_line((), 10, epoch=2, synced=0)
    assert [found.epoch for found in whole_lines(line, 10, epoch=2)] == [2]
    assert list(whole_lines(line, 11, epoch=2)) == []
    assert list(whole_lines(line, 10, epoch=3)) == []


@pytest.mark.parametrize("junk", [b"", b"half a line", b"\0" * 40, b'[999,"0000', HOSTILE.encode("utf-8", "replace")])
def test_a_bad_line_never_hides_the_good_one_behind_it(junk: bytes) -> None:
    good = to_line((to_json(row(1, HOSTILE)),), len(junk), epoch=1, synced=0)
    assert [line.start for line in whole_lines(junk + good)] == [len(junk)]


# --- reading


def test_rows_come_back_in_order_in_every_life() -> None:
    disk = Disk()
    store = reopened(disk)
    store.append([row(1, HOSTILE), row(2)])
    store.append([row(3)], barrier=False)
    store.close()
    store.close()
    again = reopened(disk)
    assert again.load() == (row(1, HOSTILE), row(2), row(3))
    assert (store.epoch, again.epoch, again.damage) == (1, 2, ())


def test_a_torn_tail_is_cut_and_the_next_row_is_readable() -> None:
    for torn in (b"x", b"[12", file_of(1)[-9:-1], bytes(700)):
        disk = Disk({FILE: file_of(1) + torn})
        store = reopened(disk)
        store.append([row(2)])
        assert seqs(reopened(disk)) == [1, 2]
        assert store.damage == ()
        data = disk.image()[FILE]
        lines = list(whole_lines(data))
        assert len(lines) == 5, "three epochs, two rows"
        assert sum(line.end - line.start for line in lines) == len(data)


def test_a_file_without_any_whole_line_begins_anew() -> None:
    disk = Disk({FILE: b"[9" + bytes(600)})
    assert seqs(reopened(disk)) == []
    assert disk.image()[FILE] == to_line((), 0, epoch=1, synced=0)


def test_what_overtook_a_lost_line_goes_with_it() -> None:
    disk = Disk({FILE: file_of(1)}, options=DiskOptions(sector=16))
    store = reopened(disk)
    store.append([row(2)], barrier=False)
    store.append([row(3)], barrier=False)
    disk.lose_power(Loss("first"))
    again = reopened(disk)
    assert seqs(again) == [1]
    assert again.damage == ()


def test_damage_before_what_was_synced_is_told_and_hides_nothing() -> None:
    data = file_of(1, 2, 3)
    start = data.index(b'"seq":2')
    disk = Disk({FILE: data[:start] + b"#" + data[start + 1 :]})
    store = reopened(disk)
    assert seqs(store) == [1, 3]
    [told] = store.damage
    assert "were synced and are no line" in told
    store.append([row(4)])
    assert seqs(reopened(disk)) == [1, 3, 4]
    assert len(disk.image()[FILE]) > len(data), "nothing of it was cut"


def test_recovery_is_idempotent_and_may_be_crashed_anywhere() -> None:
    torn = file_of(1, 2) + b"[99"
    points: list[str] = []
    reopened(Disk({FILE: torn}, observe=points.append))
    for number in range(len(points)):
        for loss in ("unsynced", "last_tail", "all_but_last", "buffers"):
            disk = Disk({FILE: torn})
            _crash_at(disk, points[number], Loss(loss))
            assert seqs(reopened(disk)) == [1, 2]
            assert seqs(reopened(disk)) == [1, 2]


def _crash_at(disk: Disk, point: str, loss: Loss) -> None:
    disk.observe = lambda name: disk.lose_power(loss) if name == point else None
    with pytest.raises(BaseException, match="the disk is gone"):
        reopened(disk)
    disk.observe = None


def test_lines_that_a_killed_process_left_unsynced_are_synced_before_anybody_reads_them() -> None:
    disk = Disk()
    store = reopened(disk)
    store.append([row(1)], barrier=False)
    disk.kill()
    store.crash()
    assert seqs(reopened(disk)) == [1]
    disk.lose_power()
    assert seqs(reopened(disk)) == [1]


def test_lines_that_no_sync_would_write_are_written_again_before_anybody_reads_them() -> None:
    disk = Disk(options=DiskOptions(sector=16), faults=[Fault("error", "disk.sync#2"), Fault("error", "disk.read#2")])
    store = reopened(disk)
    with pytest.raises(OutcomeUnknown):
        store.append([row(1)])
    disk.kill()
    store.crash()
    assert seqs(reopened(disk)) == [1]
    disk.lose_power()
    assert seqs(reopened(disk)) == [1]


def test_the_file_is_certain_before_the_first_row_is_acknowledged() -> None:
    disk = Disk()
    reopened(disk).append([row(1)])
    disk.lose_power()
    assert seqs(reopened(disk)) == [1]


@pytest.mark.parametrize(
    ("sector", "barriers"), [(64, (True, True, True)), (96, (False, True, False)), (192, (False, False, False))]
)
def test_every_crash_state_of_three_appends_holds_whole_batches_and_all_that_were_promised(
    sector: int, barriers: tuple[bool, ...]
) -> None:
    """Every world of every moment, not a sample."""
    disk = Disk(options=DiskOptions(sector=sector))
    promised = 0
    seen = set()

    def look(point: str) -> None:
        for world in disk.crash_states():
            key = (tuple(world.items()), promised)
            if key not in seen:
                seen.add(key)
                found = seqs(reopened(Disk(world)))
                assert found == list(range(1, len(found) + 1))
                assert len(found) % 2 == 0
                assert promised <= len(found), point

    disk.observe = look
    store = reopened(disk)
    for number, barrier in enumerate(barriers, 1):
        store.append([row(2 * number - 1), row(2 * number)], barrier=barrier)
        promised = 2 * number if barrier else promised
    look("idle")
    assert len(seen) > 100


# --- refusing


def test_a_row_is_there_once() -> None:
    store = reopened(Disk())
    store.append([row(1)])
    for again in ([row(1)], [row(2), row(2)]):
        with pytest.raises(DuplicateRow):
            store.append(again)
    assert seqs(store) == [1]


def test_an_older_writer_is_refused() -> None:
    disk = Disk()
    old = reopened(disk)
    old.append([row(1)])
    new = reopened(disk)
    with pytest.raises(StaleWriter, match="epoch 1 was replaced by 2"):
        old.append([row(2)])
    new.append([row(2)])
    assert seqs(new) == [1, 2]


def test_a_writer_whose_file_was_cut_by_another_is_refused() -> None:
    disk = Disk()
    store = reopened(disk)
    Mount(disk).open(FILE).truncate(3)
    with pytest.raises(StaleWriter, match="another"):
        store.append([row(1)])


def test_a_writer_waits_for_nobody() -> None:
    disk = Disk()
    store = reopened(disk)
    Mount(disk).open(FILE).lock()
    with pytest.raises(StoreError, match="another process is writing"):
        store.append([row(1)])
    with pytest.raises(StoreError, match="another process is writing"):
        reopened(disk)


def test_a_closed_store_is_closed() -> None:
    store = reopened(Disk())
    store.crash()
    store.crash()
    with pytest.raises(StoreClosed):
        store.append([row(1)])


# --- failing


@pytest.mark.parametrize(
    "fault",
    [
        Fault("error", "disk.write#2", kept=30),
        Fault("full", "disk.write#2", kept=30),
        Fault("error", "disk.sync#2"),
        Fault("error", "disk.write#2", kept=10_000),
    ],
    ids=str,
)
def test_a_failed_append_leaves_nothing_and_can_be_repeated(fault: Fault) -> None:
    disk = Disk(faults=[fault])
    store = reopened(disk)
    with pytest.raises(StoreError):
        store.append([row(1)])
    assert seqs(store) == []
    store.append([row(1)])
    disk.lose_power()
    assert seqs(reopened(disk)) == [1]


def test_a_short_write_is_no_failure() -> None:
    disk = Disk(faults=[Fault("short", "disk.write#2", kept=5, times=3)])
    store = reopened(disk)
    store.append([row(1)])
    assert seqs(store) == [1]


def test_a_failed_sync_does_not_take_earlier_rows_along() -> None:
    disk = Disk(options=DiskOptions(sector=16), faults=[Fault("error", "disk.sync#2")])
    store = reopened(disk)
    store.append([row(1)], barrier=False)
    with pytest.raises(StoreError):
        store.append([row(2)])
    store.append([row(2)])
    disk.lose_power()
    assert seqs(reopened(disk)) == [1, 2]


def test_an_append_that_can_be_neither_done_nor_undone_is_unknown_until_the_disk_is_well() -> None:
    disk = Disk(faults=[Fault("error", "disk.sync#2", times=0)])
    store = reopened(disk)
    with pytest.raises(OutcomeUnknown):
        store.append([row(1)])
    with pytest.raises(OutcomeUnknown):
        store.append([row(1)])
    disk.heal()
    store.append([row(1)])
    assert seqs(reopened(disk)) == [1]


def test_garbage_of_our_own_is_cut_before_the_next_append() -> None:
    disk = Disk(faults=[Fault("error", "disk.write#2", kept=9), Fault("error", "disk.truncate#1")])
    store = reopened(disk)
    with pytest.raises(OutcomeUnknown):
        store.append([row(1)])
    store.append([row(1)])
    assert seqs(reopened(disk)) == [1]


def test_a_disk_that_stays_full_loses_nothing_that_was_acknowledged() -> None:
    disk = Disk(faults=[Fault("full", "disk.write#3", times=0)])
    store = reopened(disk)
    store.append([row(1)])
    for _ in range(2):
        with pytest.raises(StoreError):
            store.append([row(2)])
    with pytest.raises(StoreError):
        reopened(disk)
    disk.heal()
    assert seqs(reopened(disk)) == [1]


@pytest.mark.parametrize("at", ["disk.create#1", "disk.read#1", "disk.write#1", "disk.sync#1", "disk.sync_folder#1"])
def test_a_store_that_cannot_be_opened_says_so(at: str) -> None:
    disk = Disk(faults=[Fault("error", at, times=0)])
    with pytest.raises(StoreError):
        reopened(disk)
    disk.heal()
    assert seqs(reopened(disk)) == []


def test_a_store_that_cannot_be_closed_says_so() -> None:
    store = reopened(Disk(faults=[Fault("error", "disk.sync#2")]))
    with pytest.raises(StoreError):
        store.close()


def test_a_disk_that_takes_nothing_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    store = reopened(Disk())
    monkeypatch.setattr("journalsim.actors.disk.mount.OpenFile.write", lambda *_: 0)
    with pytest.raises(StoreError, match="takes nothing"):
        store.append([row(1)])
