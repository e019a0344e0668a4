"""Kills real processes that write real files.  *Not simulated.*

The reference runs a conversation in a child process, on a real folder; the child tells
its parent over a pipe what happened and what was acknowledged.  SIGKILL comes at a
place in the file operations of the run: before one, or in the middle of a write, of
which the operating system then has the first half.  A store that reaches its file in a
way that cannot be counted is killed from outside, wherever it is by then.  Every third
time the process that recovers is killed too.  Then the parent opens the folder, recovers,
and the invariants judge what is found, as they judge a simulated crash.

A kill takes what a process holds in memory, and nothing that the operating system was
given.  So this cannot show a missing sync; the simulated disk does that.  What it shows
is that real processes, files and locks are as the simulation says.

Run: python tests/companion/kills.py [--kills 30] [--seed 1] [--store NAME …]
"""

from __future__ import annotations

import argparse
import os
import pickle
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import trio
from attrs import Factory, define, frozen

from journalsim.actors.disk.worlds import Draw
from journalsim.contract.disk_port import DiskPort
from journalsim.contract.events.client_events import ClientApplied
from journalsim.contract.events.event_record import EventRecord
from journalsim.contract.events.harness_events import QuietReached
from journalsim.contract.events.journal_events import JournalRead
from journalsim.contract.events.server_events import RunAccepted, RunEnded, ServerCrashed, ServerStarted
from journalsim.contract.frames import Frame
from journalsim.engine.world import World
from journalsim.history import Event, EventOf, History
from journalsim.hosts.loading import adapter_from
from journalsim.oracle.invariants.judge import check_history
from journalsim.oracle.invariants.verdict import Status, Verdict
from journalsim.scenario.loader import load_scenario
from journalsim.search.checking import run_case
from journalsim_reference.events import Event as Row
from journalsim_reference.lifecycle import TERMINALS
from journalsim_reference.runner import CAPABILITIES, ReferenceJournal
from journalsim_reference.stores.base import Store
from journalsim_reference.stores.database import Settings, journal_in_force
from journalsim_reference.stores.disk_sqlite import DiskSQLiteStore
from journalsim_reference.stores.log import LogStore
from journalsim_reference.stores.real_disk import RealDisk, RealFile
from journalsim_reference.stores.sqlite import FILE, SQLiteStore

SCENARIO = b"""\
version: 1
name: companion
actors:
  search: {is: tool}
script:
  model:
    - stream:
        - text: ["Let me ", "look that up."]
        - tool_call: {id: c1, name: search, args_chunks: ['{"q":', '"a"}']}
        - finish: tool_use
    - when: {tool_result: c1}
      stream: [{text: ["The ", "answer ", "is 42."]}, {finish: end_turn}]
    - when: {user: "Tell me more"}
      stream: [{text: {words: 12, every: 10ms}}, {finish: end_turn}]
    - when: {user: "In short"}
      stream: [{text: ["42", "."]}, {finish: end_turn}]
  search:
    - result: {for: c1, text: "3 hits"}
steps:
  - client.send: "What is it?"
  - client.send: {text: "Tell me more", at: 1s}
  - client.stop: {at: model.turn3.c5.after}
  - client.send: {text: "In short", at: 3s}
"""


class Broken(LogStore):
    """Acknowledges a batch and writes it with the next one."""

    _held: tuple[Sequence[Row], bool] | None = None

    def append(self, events: Sequence[Row], *, barrier: bool = True) -> None:
        """Writes the batch before."""
        held, self._held = self._held, (events, barrier)
        if held is not None:
            super().append(held[0], barrier=held[1])


def _sqlite(journal: Any, synchronous: Any) -> Callable[[DiskPort], Store]:
    settings = Settings(journal=journal, synchronous=synchronous, checkpoint_pages=12)
    return lambda port: DiskSQLiteStore(port, settings)


STORES: Mapping[str, Callable[[DiskPort], Store]] = {
    "sqlite-delete-extra": _sqlite("delete", "extra"),
    "sqlite-truncate-full": _sqlite("truncate", "full"),
    "sqlite-persist-full": _sqlite("persist", "full"),
    "sqlite-wal-full": _sqlite("wal", "full"),
    "sqlite-wal-normal": _sqlite("wal", "normal"),
    "log": LogStore,
    "broken": Broken,
}
"""Stores over the disk port.  ``sqlite`` besides is the one that uses SQLite's own way to the file."""

NAMES = ("sqlite", *(name for name in STORES if name != "broken"))


# --- the child


class DeadlyDisk(RealDisk):
    """A real folder that kills its process at the file operation of a number."""

    def __init__(self, where: str, at: int) -> None:
        super().__init__(where)
        self.at = at
        self.count = 0

    def open(self, name: str, *, create: bool = False, buffered: bool = False) -> RealFile:
        self.pass_one()
        return DeadlyFile(self, super().open(name, create=create, buffered=buffered))

    def unlink(self, name: str) -> None:
        self.pass_one()
        super().unlink(name)

    def sync_folder(self) -> None:
        self.pass_one()
        super().sync_folder()

    def pass_one(self) -> bool:
        """Counts an operation; returns whether to die in the middle of it, dies now at every other one."""
        self.count += 1
        if self.count != self.at:
            return False
        if self.at % 2:
            die()
        return True


class DeadlyFile(RealFile):
    """A file of it."""

    def __init__(self, disk: DeadlyDisk, file: RealFile) -> None:
        super().__init__(file._file)
        self._disk = disk

    def write(self, offset: int, data: bytes) -> int:
        if self._disk.pass_one():
            super().write(offset, data[: len(data) // 2])
            die()
        return super().write(offset, data)

    def truncate(self, size: int) -> None:
        self._after(lambda: super(DeadlyFile, self).truncate(size))

    def sync(self) -> None:
        self._after(lambda: super(DeadlyFile, self).sync())

    def _after(self, work: Callable[[], None]) -> None:
        last = self._disk.pass_one()
        work()
        if last:
            die()


def die() -> NoReturn:
    """Ends this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


def _open(name: str, folder: str, at: int = 0) -> tuple[Store, DeadlyDisk]:
    disk = DeadlyDisk(folder, at)
    return (SQLiteStore(folder) if name == "sqlite" else STORES[name](disk)), disk


def _live(name: str, folder: str, at: int, tell: Callable[[str, Any], None]) -> None:
    """Runs the conversation; everything is told the moment it has happened."""
    record = World.record

    def recorded(*arguments: Any, **data: Any) -> Event:
        event = record(*arguments, **data)
        tell("event", event)
        return event

    World.record = recorded  # type: ignore[method-assign]  # this process is not used for anything else

    def opened(_: str, __: object) -> Store:
        store, disk = _open(name, folder, at)
        append = store.append

        def acknowledged(events: Sequence[Row], *, barrier: bool = True) -> None:
            append(events, barrier=barrier)
            tell("row", tuple(events))

        store.append = acknowledged  # type: ignore[method-assign]  # a spy
        store.disk = disk  # type: ignore[attr-defined]  # lives as long as the store
        return store

    scenario = load_scenario(SCENARIO, "companion.race.yaml")
    run_case(scenario, adapter_from(lambda: ReferenceJournal(opened), "companion"))


def _recover(name: str, folder: str, at: int, tell: Callable[[str, Any], None]) -> None:
    """Does what the next process does first."""
    trio.run(_set_up, ReferenceJournal(lambda where, _: _open(name, where, at)[0]), folder, Ports())


AT_REST = ("rest", None)


@frozen
class Child:
    """A process that has ended.

    Attributes:
        killed: by SIGKILL, rather than at its end.
        events: of the history.
        rows: acknowledged.
        told: how many things it told.
    """

    killed: bool
    events: tuple[Event, ...]
    rows: tuple[Row, ...]
    told: int


def run_child(
    work: Callable[[str, str, int, Callable[[str, Any], None]], None],
    name: str,
    folder: str,
    at: int,
    told_max: int = 0,
) -> Child:
    """Does some work in a fork of this process, and listens to it until it dies.

    Args:
        work: what the child does.
        name: of the store.
        folder: where it is.
        at: number of the file operation at which it dies; 0 for never.
        told_max: after so many things that it told, it is killed from here.
    """
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        _in_child(work, name, folder, at, writing, wait=bool(told_max))
    os.close(writing)
    told: list[tuple[str, Any]] = []
    with os.fdopen(reading, "rb") as stream:
        for thing in _things(stream):
            told.append(thing)
            if len(told) == told_max or thing == AT_REST:
                os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert killed or os.waitstatus_to_exitcode(status) == 0, f"the child ended with {status}"
    events = tuple(thing for kind, thing in told if kind == "event")
    return Child(killed, events, tuple(row for kind, rows in told if kind == "row" for row in rows), len(told))


def _in_child(work: Callable[..., None], name: str, folder: str, at: int, pipe: int, *, wait: bool) -> NoReturn:
    status = 1

    def tell(kind: str, thing: Any) -> None:
        _write_all(pipe, pickle.dumps((kind, thing)))

    try:
        work(name, folder, at, tell)
        status = 0
        if wait:  # to be killed at rest, rather than to be gone by then
            tell(*AT_REST)
            signal.pause()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _write_all(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]


def _things(stream: Any) -> Iterator[tuple[str, Any]]:
    while True:
        try:
            yield pickle.load(stream)
        except (EOFError, pickle.UnpicklingError):  # it died in the middle of a word
            return


# --- afterwards


class Ports:
    """What a process needs that recovers and then only reads."""

    policies: Mapping[str, str] = {}
    limits_ns: Mapping[str, int] = {}
    disk = None

    def __init__(self) -> None:
        self.frames: list[Frame] = []

    @asynccontextmanager
    async def step(self, name: str, touches: tuple[str, ...] = ()) -> AsyncIterator[None]:
        """Waits for nothing."""
        yield

    def publish(self, session_id: str, frame: Frame) -> None:
        """Keeps a frame."""
        self.frames.append(frame)

    def now_ns(self) -> int:
        """Returns some time."""
        return 0


async def _set_up(journal: ReferenceJournal, folder: str, ports: Ports) -> None:
    await trio.lowlevel.checkpoint()
    await journal.setup(folder, ports)  # type: ignore[arg-type]  # nobody asks for a model here


class Found(NamedTuple):
    """What a recovered folder holds."""

    rows: tuple[Row, ...]
    history: History
    verdicts: tuple[Verdict, ...]


def look(name: str, folder: str, child: Child) -> Found:
    """Opens a folder as the next process does, and returns what is found, with the history that led there."""
    sound = "log" if name == "broken" else name  # what is left is read by a store that reads
    journal, ports = ReferenceJournal(lambda where, _: _open(sound, where)[0]), Ports()
    trio.run(_set_up, journal, folder, ports)
    events = list(child.events)

    def add(data: EventRecord) -> None:
        events.append(EventOf(len(events), events[-1].time_ns if events else 0, 0, "server", data))

    add(ServerCrashed())
    add(ServerStarted(incarnation=2))
    for frame in ports.frames:
        if frame.kind == "run.ended":
            add(RunEnded(run=frame.run_id, state=frame.state, cause=frame.cause))
    for session in sorted(journal.server.state.sessions) or ["main"]:
        add(JournalRead(items=tuple(journal.read(session)), reason="quiet", session=session))
    add(QuietReached(unfinished=(), waits_for=()))
    rows = journal.server.writer.store.load()
    journal.server.writer.store.close()
    history = History(events=tuple(events), capabilities=CAPABILITIES)
    return Found(rows, history, check_history(history))


def complaints(child: Child, found: Found, again: Found) -> list[str]:
    """Returns what is wrong with a folder after a kill, a sentence each."""
    wrong = []
    if found.rows[: len(child.rows)] != child.rows:
        wrong.append("an acknowledged row is lost")
    texts = {row.payload["text"] for row in found.rows if row.kind == "run.accepted"}
    ended = {row.run_id: row.kind for row in found.rows if row.kind in TERMINALS}
    for event in child.events:
        if isinstance(event.data, RunAccepted) and event.data.text not in texts:
            wrong.append("an accepted prompt is lost")
        elif isinstance(event.data, RunEnded) and event.run not in ended:
            wrong.append("an announced end is lost")
    if set(ended) != {row.run_id for row in found.rows if not row.run_id.startswith("@")}:
        wrong.append("a run is left open")
    if again.rows != found.rows:
        wrong.append("a second recovery changed something")
    for verdict in found.verdicts:
        if verdict.status is Status.VIOLATED:
            wrong.append(f"{verdict.invariant} does not hold: {verdict.violations[0].found}")
    return list(dict.fromkeys(wrong)) + _applied_and_lost(child, found)


def _applied_and_lost(child: Child, found: Found) -> list[str]:
    """Returns a complaint if text that a client had shown is nowhere; every event is synced before it is shown."""
    shown: dict[str, str] = {}
    for event in child.events:
        data = event.data
        if isinstance(data, ClientApplied) and data.frame == "message.delta":
            shown[data.message] = shown.get(data.message, "") + data.text
    read = found.history.last(JournalRead)
    kept = {item.id: item.text for item in read.data.items}
    return ["text that was on a screen is lost"] * any(
        not kept.get(message, "").startswith(text) for message, text in shown.items()
    )


# --- all of it


@define
class Tally:
    """What came of many kills of one store.

    Attributes:
        store: its name.
        journal: the journal mode that its files show.
        operations: of the run that nobody kills, files or, for ``sqlite``, things told.
        kills: of processes, those that recover included.
        in_recovery: of these, of processes that recover.
        rows: acknowledged rows that were looked for.
        held: invariants that were put to the test and held.
        lost: complaints, with how often.
    """

    store: str
    journal: str = "-"
    operations: int = 0
    kills: int = 0
    in_recovery: int = 0
    rows: int = 0
    held: int = 0
    lost: Counter[str] = Factory(Counter)

    def __str__(self) -> str:
        lost = "; ".join(f"{count} x {what}" for what, count in sorted(self.lost.items())) or "nothing"
        return (
            f"{self.store}: journal mode {self.journal}, {self.operations} places, {self.kills} kills "
            f"({self.in_recovery} in recovery), {self.rows} acknowledged rows looked for, "
            f"invariants held {self.held} times, lost: {lost}"
        )


def kill_often(name: str, kills: int, seed: int, where: Path, *, until_lost: bool = False) -> Tally:
    """Kills processes on one kind of store, at places spread over the run, and judges what each leaves."""
    tally, draw = Tally(name), Draw(seed)
    tally.operations = _operations(name, where)
    number = 0
    while tally.kills < kills and not (until_lost and tally.lost):
        number += 1
        folder = str(where / f"{name}-{number}")
        os.mkdir(folder)
        low, high = ((n * tally.operations) // kills for n in (tally.kills, tally.kills + 1))
        place = 1 + low + draw.below(max(high - low, 1))  # one in each of as many stretches as there are kills
        outside = name == "sqlite"
        child = run_child(_live, name, folder, 0 if outside else place, place if outside else 0)
        tally.kills += child.killed
        if number % 3 == 0 and not outside:
            second = run_child(_recover, name, folder, 1 + draw.below(24 if name.startswith("sqlite") else 8))
            tally.kills += second.killed
            tally.in_recovery += second.killed
        found = look(name, folder, child)
        tally.lost.update(complaints(child, found, look(name, folder, child)))
        tally.rows += len(child.rows)
        tally.held += sum(verdict.status is Status.HOLDS for verdict in found.verdicts)
        tally.journal = _journal(name, folder)
        shutil.rmtree(folder)
    return tally


def _operations(name: str, where: Path) -> int:
    """Returns how many places there are at which a run can be killed."""
    folder = str(where / f"{name}-whole")
    os.mkdir(folder)
    disks: list[DeadlyDisk] = []
    if name == "sqlite":
        child = run_child(_live, name, folder, 0)
        return child.told
    scenario = load_scenario(SCENARIO, "companion.race.yaml")

    def opened(_: str, __: object) -> Store:
        store, disk = _open(name, folder)
        disks.append(disk)
        return store

    judged = run_case(scenario, adapter_from(lambda: ReferenceJournal(opened), "companion"))
    assert judged.result.history.events
    shutil.rmtree(folder)
    return sum(disk.count for disk in disks)


def _journal(name: str, folder: str) -> str:
    """Returns the journal mode that is in force, by the files or, where those are gone at the end, as SQLite says."""
    if name in ("log", "broken"):
        return "-"
    store, _ = _open(name, folder)  # asks every setting back, and looks at the files
    found = journal_in_force(RealDisk(folder), FILE)
    store.close()
    return found


def main() -> None:
    """Prints a line for each store; fails if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=30, help="of each store")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", action="append", choices=(*NAMES, "broken"))
    parser.add_argument("--until-lost", action="store_true", help="stop at the first loss")
    chosen = parser.parse_args()
    lost = False
    # what the operating system was given survives a kill on any file system, and in memory a sync takes no time
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="journalsim-kills-", dir=memory) as folder:
        for name in chosen.store or NAMES:
            tally = kill_often(name, chosen.kills, chosen.seed, Path(folder), until_lost=chosen.until_lost)
            lost = lost or bool(tally.lost)
            print(f"not simulated: {tally}", flush=True)
    sys.exit(lost)


if __name__ == "__main__":
    main()
