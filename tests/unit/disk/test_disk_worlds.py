"""All crash states of short lives, against a second, independent enumeration, and properties of longer ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journalsim.actors.disk.content import Image
from journalsim.actors.disk.mount import Mount, OpenFile
from journalsim.actors.disk.simulated import Disk
from journalsim.contract.disk_faults import NAMED, DiskOptions, Loss
from journalsim.errors import UsageError

SECTOR = 4
RECORDS = (b"<1a>\n", b"<22bb>\n", b"<3>\n")

World = frozenset[tuple[str, bytes]]


def frozen(image: Image) -> World:
    return frozenset(image.items())


# --- a second enumeration: by bytes of whole snapshots, for files that only grow


def worlds_by_hand(snapshots: list[bytes], spans: list[tuple[int, int]], tears: bool) -> set[bytes]:
    """All contents of a file whose append ``n`` took it from ``snapshots[n]`` to the next over bytes ``spans[n]``."""
    longest = len(snapshots[-1])
    choices = []  # per sector: what it held at the sync, and after each append that touched it
    for start in range(0, longest, SECTOR):
        held = [snapshots[0][start : start + SECTOR].ljust(SECTOR, b"\0")]
        for snapshot, (begin, end) in zip(snapshots[1:], spans, strict=True):
            if begin < start + SECTOR and end > start:
                held.append(snapshot[start : start + SECTOR].ljust(SECTOR, b"\0"))
        choices.append(held)
    lengths = {len(snapshot) for snapshot in snapshots}
    for length in range(len(snapshots[0]), longest):
        if tears or length % SECTOR == 0:
            lengths.add(length)
    found = set()
    for sectors in _with_tears(choices) if tears else product(*choices):
        whole = b"".join(sectors)
        found |= {whole[:length] for length in lengths}
    return found


def _with_tears(choices: list[list[bytes]]) -> Iterator[tuple[bytes, ...]]:
    yield from product(*choices)
    for torn, held in enumerate(choices):
        mixed = []
        for n in range(len(held) - 1):
            for cut in range(1, SECTOR):
                mixed.append(held[n][:cut] + held[n + 1][cut:])
                mixed.append(held[n + 1][:cut] + held[n][cut:])
        yield from product(*choices[:torn], mixed, *choices[torn + 1 :])


def append(file: OpenFile, record: bytes) -> None:
    file.write(file.size(), record)


@pytest.mark.parametrize("tears", [False, True], ids=["whole", "torn"])
@pytest.mark.parametrize("synced", list(product((False, True), repeat=3)))
@pytest.mark.parametrize("folder_synced", [False, True])
def test_the_crash_states_of_a_journal_of_three_appends_are_those_counted_by_hand(
    synced: tuple[bool, ...], folder_synced: bool, tears: bool
) -> None:
    disk = Disk(options=DiskOptions(sector=SECTOR))
    mount = Mount(disk)
    file = mount.open("log", create=True)
    if folder_synced:
        mount.sync_folder()
    snapshots, spans, promised = [b""], [], b""
    for record, sync in zip(RECORDS, synced, strict=True):
        before = snapshots[-1]
        append(file, record)
        snapshots.append(before + record)
        spans.append((len(before), len(before) + len(record)))
        by_hand = {frozenset({("log", data)}) for data in worlds_by_hand(snapshots, spans, tears)}
        if not folder_synced:
            by_hand.add(frozenset())
        assert {frozen(world) for world in disk.crash_states(tears=tears)} == by_hand
        if sync:
            file.sync()
            promised = snapshots[-1]
            snapshots, spans = [promised], []
    found = [dict(world).get("log", b"") for world in disk.crash_states(tears=tears)]
    assert all(data.startswith(promised) for data in found) or not folder_synced


def test_a_world_is_named_once() -> None:
    disk = Disk({"a": b"x"}, options=DiskOptions(entries="any_order"))
    mount = Mount(disk)
    mount.open("b", create=True)
    mount.unlink("b")
    worlds = [frozen(world) for world in disk.crash_states()]
    assert len(worlds) == len(set(worlds)) == 2


def test_too_many_worlds_are_refused_rather_than_waited_for() -> None:
    disk = Disk({"log": b""}, options=DiskOptions(sector=1))
    Mount(disk).open("log").write(0, bytes(range(1, 12)))
    with pytest.raises(UsageError, match="more than 100 crash states"):
        list(disk.crash_states(limit=100))


def test_two_files_with_many_worlds_each_are_refused_too() -> None:
    disk = Disk({"a": b"", "b": b""}, options=DiskOptions(sector=1))
    for name in ("a", "b"):
        Mount(disk).open(name).write(0, b"1234")
    assert len(list(disk.crash_states())) > 400
    with pytest.raises(UsageError, match="more than 400"):
        list(disk.crash_states(limit=400))


# --- properties of any life

NAMES = ("a", "b")
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(NAMES), st.integers(0, 9), st.binary(min_size=1, max_size=6)),
        st.tuples(st.just("truncate"), st.sampled_from(NAMES), st.integers(0, 9)),
        st.tuples(st.just("sync"), st.sampled_from(NAMES)),
        st.tuples(st.just("rename"), st.permutations(NAMES)),
        st.tuples(st.just("unlink"), st.sampled_from(NAMES)),
        st.tuples(st.just("sync_folder")),
    ),
    max_size=6,
)
OPTIONS = st.builds(
    DiskOptions,
    sector=st.sampled_from((3, 4)),
    entries=st.sampled_from(("at_once", "in_order", "any_order")),
    truncates=st.sampled_from(("in_order", "any_order")),
    fill=st.sampled_from((0, 0xA5)),
)
ANY_LOSS = st.sampled_from(NAMED) | st.integers(1, 400).map(lambda number: Loss("drawn", number))


def live(disk: Disk, operations: list[tuple[object, ...]]) -> None:
    mount = Mount(disk)
    for verb, *arguments in operations:
        if verb == "sync_folder":
            mount.sync_folder()
        elif verb == "rename":
            old, new = arguments[0]  # type: ignore[misc]
            if mount.exists(old):
                mount.rename(old, new)
        elif verb == "unlink":
            if mount.exists(str(arguments[0])):
                mount.unlink(str(arguments[0]))
        else:
            file = mount.open(str(arguments[0]), create=True)
            getattr(file, str(verb))(*arguments[1:])


@given(OPERATIONS, OPTIONS, ANY_LOSS)
@settings(max_examples=60, deadline=None)
def test_every_loss_is_one_of_the_crash_states(
    operations: list[tuple[object, ...]], options: DiskOptions, loss: Loss
) -> None:
    disk = Disk({"a": b"0123456"}, options=options)
    live(disk, operations[:4])
    world = disk.crash(loss)
    assert frozen(world) in {frozen(state) for state in disk.crash_states(tears=True)}
    assert disk.crash(loss) == world


@given(OPERATIONS, OPTIONS, OPERATIONS, ANY_LOSS)
@settings(max_examples=60, deadline=None)
def test_what_was_synced_is_never_lost(
    before: list[tuple[object, ...]], options: DiskOptions, after: list[tuple[object, ...]], loss: Loss
) -> None:
    disk = Disk({"a": b"0123456"}, options=options)
    live(disk, before)
    mount = Mount(disk)
    for name in mount.list():
        mount.open(name).sync()
    mount.sync_folder()
    synced = disk.image()
    assert disk.crash(loss) == synced
    later = [operation for operation in after if operation[0] != "rename"]
    live(disk, later)
    touched = {operation[1] for operation in later if len(operation) > 1}
    untouched = {name: data for name, data in synced.items() if name not in touched}
    world = disk.crash(loss)
    assert untouched == {name: data for name, data in world.items() if name in untouched}


@given(OPERATIONS, OPTIONS, ANY_LOSS)
@settings(max_examples=60, deadline=None)
def test_every_byte_that_is_found_was_there_since_the_last_sync(
    operations: list[tuple[object, ...]], options: DiskOptions, loss: Loss
) -> None:
    disk = Disk({"a": b"0123456"}, options=options)
    writes = [operation for operation in operations if operation[0] in ("write", "truncate", "sync")]
    held: dict[str, list[bytes]] = {"a": [b"0123456"], "b": [b""]}
    for operation in writes:
        live(disk, [operation])
        name = str(operation[1])
        now = disk.image()[name]
        held[name] = [now] if operation[0] == "sync" else [*held[name], now]
    for name, data in disk.crash(loss).items():
        assert min(map(len, held[name])) <= len(data) <= max(map(len, held[name]))
        for place, byte in enumerate(data):
            possible = {content[place] for content in held[name] if place < len(content)} | {0, options.fill}
            assert byte in possible
