"""Crashes a store at every disk operation of its life, and again at every one of its recovery.

The life runs once: what a power cut leaves is a function of the disk at that moment,
so it is asked at every point instead of living up to it again.  Equal worlds are
looked at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import Factory, define, frozen

from journalsim.actors.disk.content import Image
from journalsim.actors.disk.mount import Mount
from journalsim.actors.disk.simulated import Disk
from journalsim.contract.adapters import OutcomeUnknown
from journalsim.contract.disk_faults import NAMED, DiskOptions, Fault, Loss
from journalsim.contract.disk_port import DiskPort
from journalsim_reference.events import Event
from journalsim_reference.stores.base import DuplicateRow, Store, StoreError
from journalsim_reference.stores.database import Settings
from journalsim_reference.stores.disk_sqlite import DiskSQLiteStore
from journalsim_reference.stores.log import LogStore

LOSSES = (*NAMED, *(Loss("drawn", number) for number in range(1, 5)))
LOSSES_IN_RECOVERY = (Loss("unsynced"), Loss("last_tail"), Loss("all_but_last"), Loss("drawn", 1))
ATTEMPTS = 3  # a fault that comes once is over by the second

OpenStore = Callable[[DiskPort], Store]


@frozen(kw_only=True)
class Plan:
    """What is crashed, where and how.

    Attributes:
        open_store: opens the store under test.
        options: which disk it runs on.
        faults: what goes wrong before the crash.
        appends: how many batches it is given; one that fails is given again, as a client does.
        losses: what each power cut in the life takes.
        losses_in_recovery: what each one in the recovery takes.
        every: of how many worlds one has its recovery crashed too.
        at: the points at which it is crashed.
    """

    open_store: OpenStore
    options: DiskOptions = Factory(DiskOptions)
    faults: Sequence[Fault] = ()
    appends: int = 2
    losses: Sequence[Loss] = LOSSES
    losses_in_recovery: Sequence[Loss] = LOSSES_IN_RECOVERY
    every: int = 1
    at: Callable[[str], bool] = lambda point: point.endswith(".before")


VERDICTS: Mapping[str, str] = {
    "ok": "whole batches from the beginning: every promised one, and at most one more",
    "lost": "whole batches from the beginning, but a promised one is missing",
    "wrong": "the store finds nothing wrong, and what it holds is neither of these",
    "corrupt": "the store itself reports damage",
}


@define
class Found:
    """What came of a plan: verdicts after one crash, and after a second one in the recovery."""

    operations: int = 0
    syncs: int = 0
    worlds: int = 0
    once: Counter[str] = Factory(Counter)
    twice: Counter[str] = Factory(Counter)

    @property
    def worst(self) -> str:
        """The worst verdict of all."""
        return max({*self.once, *self.twice}, key=list(VERDICTS).index)

    @property
    def promise(self) -> str:
        """What the store may promise of an acknowledged batch, by this evidence."""
        return {"ok": "durable", "lost": "ordered"}.get(self.worst, "none")


def explore(plan: Plan) -> Found:
    """Carries out a plan."""
    found = Found()
    verdicts: dict[tuple[object, int], str] = {}
    second: dict[object, list[Image]] = {}
    for number, (image, promised) in enumerate(worlds_of_a_life(plan, found)):
        found.once[_verdict(plan, verdicts, image, promised)] += 1
        if number % plan.every == 0:
            key = tuple(image.items())
            if key not in second:
                second[key] = _worlds_of_a_recovery(plan, image)
            for again in second[key]:
                found.twice[_verdict(plan, verdicts, again, promised)] += 1
    found.worlds = len({key for key, _ in verdicts})
    return found


def worlds_of_a_life(plan: Plan, found: Found) -> list[tuple[Image, int]]:
    """Returns what each power cut of one life leaves, with the number of batches promised by then."""
    worlds: list[tuple[Image, int]] = []
    promised = 0
    disk = Disk(options=plan.options, faults=plan.faults)
    disk.observe = observe = _watch(disk, plan, plan.losses, lambda image: worlds.append((image, promised)))
    store = plan.open_store(Mount(disk))
    for number in range(1, plan.appends + 1):
        _append(store, number)
        promised = number
    observe("idle.before")
    disk.observe = None
    found.operations, found.syncs = disk.count(), disk.count("sync")
    disk.kill()
    store.crash()
    return worlds


def _append(store: Store, number: int) -> None:
    for _ in range(ATTEMPTS):
        try:
            store.append(batch(number))
        except DuplicateRow:
            return  # an attempt that seemed to fail did not
        except (StoreError, OutcomeUnknown) as error:
            failure = error
        else:
            return
    raise failure


def _worlds_of_a_recovery(plan: Plan, image: Image) -> list[Image]:
    worlds: list[Image] = []
    disk = Disk(image, options=plan.options)
    disk.observe = _watch(disk, plan, plan.losses_in_recovery, worlds.append)
    judge(plan, disk, 0)
    return worlds


def _watch(disk: Disk, plan: Plan, losses: Iterable[Loss], take: Callable[[Image], None]) -> Callable[[str], None]:
    def observe(point: str) -> None:
        if plan.at(point):
            for loss in losses:
                take(disk.crash(loss))

    return observe


def _verdict(plan: Plan, verdicts: dict[tuple[object, int], str], image: Image, promised: int) -> str:
    key = (tuple(image.items()), promised)
    if key not in verdicts:
        verdicts[key] = judge(plan, Disk(image, options=plan.options), promised)
    return verdicts[key]


def judge(plan: Plan, disk: Disk, promised: int) -> str:
    """Lets the store recover, and compares what it holds with what it promised."""
    store: Store | None = None
    try:
        store = plan.open_store(Mount(disk))
        rows, sound = list(store.load()), _is_sound(store)
    except StoreError:
        return "corrupt"
    finally:
        disk.kill()
        if store is not None:
            store.crash()
    if not sound:
        return "corrupt"
    batches = len(rows) // 2
    if batches > promised + 1 or rows != [row for number in range(1, batches + 1) for row in batch(number)]:
        return "wrong"
    return "ok" if batches >= promised else "lost"


def _is_sound(store: Store) -> bool:
    if isinstance(store, LogStore):
        return not store.damage
    assert isinstance(store, DiskSQLiteStore)
    return store.integrity() == "ok"


def batch(number: int) -> tuple[Event, Event]:
    """Returns the two rows of a batch; a row takes a line to more than a page."""
    words = 3 + 90 * (number % 4)
    return _row(2 * number - 1, words), _row(2 * number, 2)


def _row(seq: int, words: int) -> Event:
    return Event(
        run_id="run1",
        session_id="main",
        seq=seq,
        epoch=1,
        at=seq,
        kind="message.delta",
        actor="lead",
        origin="model",
        payload={"text": f"message {seq} " * words},
    )


def sqlite(journal: str, synchronous: str) -> OpenStore:
    """Returns what opens a SQLite store."""
    settings = Settings(journal=journal, synchronous=synchronous, checkpoint_pages=12)  # type: ignore[arg-type]
    return lambda port: DiskSQLiteStore(port, settings)


def log(port: DiskPort) -> Store:
    """Opens a log store."""
    return LogStore(port)


DURABLE: Mapping[str, OpenStore] = {"wal": sqlite("wal", "full"), "delete": sqlite("delete", "extra"), "log": log}
"""The stores that survive every power cut."""


def kept(open_store: OpenStore, disk: Disk) -> Sequence[Event]:
    """Returns what the next process reads."""
    store = open_store(Mount(disk))
    rows = store.load()
    disk.kill()
    store.crash()
    return rows
