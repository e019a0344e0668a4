"""A second opinion on the simulated disk: every crash state of a journal of three appends, enumerated in another way.

The enumeration here is written from the fault budget in :mod:`journalsim.actors.disk.simulated` and knows
nothing of how the disk keeps its sectors: it notes what a store does, and tries out
every choice.  Then every world is opened, recovered and judged, once by comparing rows
and once by the invariant, and the two must agree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import pytest
from disk_crashes import OpenStore, sqlite

sys.path.insert(0, str(Path(__file__).parents[1] / "histories"))

from reference_fakes import Book
from story import END, A, Story, U

from journalsim.actors.disk.content import Image
from journalsim.actors.disk.mount import Mount
from journalsim.actors.disk.simulated import Disk
from journalsim.contract.disk_faults import DiskOptions
from journalsim.contract.disk_port import DiskFile, DiskPort
from journalsim.contract.items import Item
from journalsim.oracle.invariants.judge import check_history
from journalsim.oracle.invariants.verdict import Status
from journalsim_reference.batch import Stamp
from journalsim_reference.content import Content
from journalsim_reference.events import Event
from journalsim_reference.journal import decide_complete, decide_start
from journalsim_reference.projections import history
from journalsim_reference.recovery import recover
from journalsim_reference.state import State
from journalsim_reference.stores.base import Store
from journalsim_reference.stores.disk_sqlite import DiskSQLiteStore
from journalsim_reference.stores.log import LogStore

World = tuple[tuple[str, bytes], ...]


# --- the second opinion


class Notes:
    """What happened to one file since its last sync: its bytes then, and after each change."""

    def __init__(self) -> None:
        self.views = [b""]

    def write(self, offset: int, data: bytes) -> None:
        view = self.views[-1].ljust(offset, b"\0")
        self.views.append(view[:offset] + data + view[offset + len(data) :])

    def sync(self) -> None:
        del self.views[:-1]

    def possible(self, sector: int) -> set[bytes]:
        """Returns all that a power cut may leave: a length of this time, and a content of this time per sector."""
        found = set()
        count = -(-max(map(len, self.views)) // sector)
        versions = [
            {view[n * sector : (n + 1) * sector].ljust(sector, b"\0") for view in self.views} for n in range(count)
        ]
        for size in self._sizes(sector):
            parts = versions[: -(-size // sector)]
            found |= {b"".join(picked)[:size] for picked in product(*parts)}
        return found

    def _sizes(self, sector: int) -> set[int]:
        """Returns the lengths that it had, and those at sector ends on the way from one to the next."""
        sizes = [len(view) for view in self.views]
        assert sizes == sorted(sizes), "this journal is never cut"
        between = {at for a, b in pairwise(sizes) for at in range(a + 1, b) if at % sector == 0}
        return {*sizes, *between}


class Witness:
    """A folder that passes everything on, notes it, and has its notes compared after each change."""

    def __init__(self, port: DiskPort, compare: Callable[[Witness], None]) -> None:
        self._port = port
        self._compare = compare
        self.files: dict[str, Notes] = {}
        self.folders: list[dict[str, Notes]] = [{}]  # names at the last sync of the folder, and after each change

    def worlds(self, sector: int) -> set[World]:
        """Returns every world: names as they were at one moment, and every file by itself."""
        found: set[World] = set()
        for names in self.folders:
            listed = sorted(names)
            for contents in product(*(names[name].possible(sector) for name in listed)):
                found.add(tuple(zip(listed, contents, strict=True)))
        return found

    def changed(self) -> None:
        self._compare(self)

    def open(self, name: str, *, create: bool = False, buffered: bool = False) -> DiskFile:
        file = self._port.open(name, create=create, buffered=buffered)
        if name not in self.files:
            self.files[name] = Notes()
            self.folders.append(dict(self.files))
            self.changed()
        return WitnessFile(file, self, self.files[name])  # type: ignore[return-value]  # the rest is passed on

    def unlink(self, name: str) -> None:
        self._port.unlink(name)
        del self.files[name]
        self.folders.append(dict(self.files))
        self.changed()

    def sync_folder(self) -> None:
        self._port.sync_folder()
        del self.folders[:-1]
        self.changed()

    def __getattr__(self, name: str) -> object:
        assert name in ("exists", "list"), name
        return getattr(self._port, name)


class WitnessFile:
    """A file of it."""

    def __init__(self, file: DiskFile, witness: Witness, notes: Notes) -> None:
        self._file = file
        self._witness = witness
        self._notes = notes

    def write(self, offset: int, data: bytes) -> int:
        taken = self._file.write(offset, data)
        self._notes.write(offset, data[:taken])
        self._witness.changed()
        return taken

    def truncate(self, size: int) -> None:
        self._file.truncate(size)
        assert size == len(self._notes.views[-1]), "this journal is never cut"
        self._witness.changed()

    def sync(self) -> None:
        self._file.sync()
        self._notes.sync()
        self._witness.changed()

    def __getattr__(self, name: str) -> object:
        assert name in ("read", "size", "lock", "unlock", "close"), name
        return getattr(self._file, name)


# --- the journal of three appends


@cache
def batches() -> list[tuple[Event, ...]]:
    """Returns a run in three appends: the prompt, the answer, the end."""
    book = Book()
    book.accept()
    prompt = len(book.rows)
    book.take(decide_start, "r1")
    book.take(decide_complete, "r1", None, Content("Hello there"))
    answer = len(book.rows)
    book.end()
    return [tuple(book.rows[:prompt]), tuple(book.rows[prompt:answer]), tuple(book.rows[answer:])]


class NeverSyncs(LogStore):
    """Says of every row that it need not be on the disk."""

    def append(self, events: Sequence[Event], *, barrier: bool = True) -> None:
        super().append(events, barrier=False)


JOURNALS: dict[str, tuple[OpenStore, int]] = {  # each with a sector that leaves some hundred worlds at most
    "log": (LogStore, 96),
    "log-never-synced": (NeverSyncs, 256),
    "wal-full": (sqlite("wal", "full"), 16384),
    "wal-normal": (sqlite("wal", "normal"), 65536),
    "delete-extra": (sqlite("delete", "extra"), 16384),
    "delete-full": (sqlite("delete", "full"), 16384),
}
LOSES = {"log-never-synced", "wal-normal", "delete-full"}


def live(open_store: OpenStore, sector: int) -> Iterator[tuple[Image, int]]:
    """Yields every world of every moment with the number of appends that had returned; both opinions must agree."""
    disk = Disk(options=DiskOptions(sector=sector))
    seen: dict[tuple[World, int], None] = {}
    promised = 0

    def compare(witness: Witness) -> None:
        theirs = {tuple(image.items()) for image in disk.crash_states()}
        assert witness.worlds(sector) == theirs
        seen.update(((world, promised), None) for world in sorted(theirs))

    witness = Witness(Mount(disk), compare)
    store = open_store(witness)  # type: ignore[arg-type]  # what it does not note it passes on
    for batch in batches():
        store.append(batch)
        promised += 1
        compare(witness)
    disk.kill()
    store.crash()
    yield from ((dict(world), number) for world, number in seen)


def found_in(open_store: OpenStore, image: Image) -> tuple[Event, ...]:
    """Returns the rows of a world as the next process reads them."""
    disk = Disk(image)
    store = open_store(Mount(disk))
    assert sound(store)
    rows = store.load()
    disk.kill()
    store.crash()
    return rows


def sound(store: Store) -> bool:
    return store.integrity() == "ok" if isinstance(store, DiskSQLiteStore) else not store.damage  # type: ignore[attr-defined]


def loses(rows: tuple[Event, ...], promised: int) -> bool:
    """Compares rows: whole batches from the beginning, all that were promised and at most one more."""
    whole = [sum(batches()[:count], ()) for count in range(4)]
    assert rows in whole
    kept = whole.index(rows)
    assert kept <= promised + 1
    return kept < promised


def invariant_sees_a_loss(rows: tuple[Event, ...], promised: int) -> bool:
    """Asks the invariant about what people see after the recovery."""
    state = State()
    for row in rows:
        state.apply(row)
    for row in recover(state, Stamp(2, 99), closures=True):
        state.apply(row)
    story = Story()
    if promised >= 1:
        story = story.asks().answers()
    if promised >= 2:
        story = story.frame("message.completed", "model.turn1", text="Hello there", event_id="r1:4")
    if promised >= 3:
        story = story.ends()
    shown = [as_told(item) for item in history(state, "s1", {}, lambda _: Content())]
    told = story.crashes("unsynced").starts().quiet().reads(*shown).history()
    [verdict] = check_history(told, only=["acknowledged-is-durable"])
    assert verdict.status in (Status.HOLDS, Status.VIOLATED) or not promised
    return verdict.status is Status.VIOLATED


def as_told(item: Item) -> Item:
    if item.kind == "user":
        return U(item.text)
    return A("model.turn1", item.text) if item.kind == "assistant" else END("r1", item.state, item.cause)


@pytest.mark.parametrize("name", JOURNALS)
def test_disk_rows_and_invariant_agree_on_every_crash_state_of_three_appends(name: str) -> None:
    """Losses are found where they belong, and nowhere else."""
    open_store, sector = JOURNALS[name]
    answers: dict[tuple[int, int], bool] = {}
    worlds = 0
    for image, promised in live(open_store, sector):
        worlds += 1
        rows = found_in(open_store, image)
        lost = loses(rows, promised)
        if (len(rows), promised) not in answers:
            answers[len(rows), promised] = invariant_sees_a_loss(rows, promised)
        assert answers[len(rows), promised] == lost
    assert worlds >= 20
    assert any(answers.values()) == (name in LOSES)
