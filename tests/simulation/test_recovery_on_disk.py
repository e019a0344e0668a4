"""A process that recovers may be killed, or lose its power, at any disk operation of the recovery."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import pytest
from disk_crashes import DURABLE, OpenStore
from reference_fakes import Book, call

from journalsim.actors.disk.content import Image
from journalsim.actors.disk.mount import Mount
from journalsim.actors.disk.simulated import Disk, PowerOff
from journalsim.contract.disk_faults import NAMED, Loss
from journalsim_reference.content import Content
from journalsim_reference.events import Event
from journalsim_reference.journal import decide_spill
from journalsim_reference.recovery import recover
from journalsim_reference.server import Server

LOSSES = (*NAMED, *(Loss("drawn", number) for number in range(1, 4)))


class Quiet:
    """Ports of a process that only recovers."""

    policies = {"sync": "every_event"}

    def now_ns(self) -> int:
        return 0

    def publish(self, *frame: object) -> None:
        """Nobody watches."""


def open_runs() -> list[tuple[Event, ...]]:
    """Returns the appends of two runs that never ended: stored text, a call that had started, one that had not."""
    book = Book()
    appends = [0]

    def append() -> None:
        appends.append(len(book.rows))

    book.started()
    append()
    book.complete("r1", book.open(), "Look", call("c1"), call("c2"))
    append()
    book.tool("c1")
    append()
    book.started("r2", session="s2")
    message = book.open("r2")
    append()
    book.take(decide_spill, "r2", message, Content("Half an ans"))
    append()
    return [tuple(book.rows[a:b]) for a, b in pairwise(appends)]


def crashed(open_store: OpenStore) -> Image:
    """Returns what a process leaves that lost its power with two open runs; its last line is torn."""
    disk = Disk()
    store = open_store(Mount(disk))
    for batch in open_runs():
        store.append(batch)
    disk.observe = lambda point: disk.lose_power(Loss("last_tail")) if point.startswith("disk.sync#") else None
    with suppress(PowerOff):
        store.append(
            [
                Event(
                    run_id="r3",
                    session_id="s3",
                    seq=1,
                    epoch=1,
                    at=0,
                    kind="run.accepted",
                    actor="lead",
                    origin="user",
                    payload={"key": "k", "text": "x" * 999, "message_id": "m"},
                )
            ]
        )
    store.crash()
    return disk.image()


def recovered(open_store: OpenStore, disk: Disk) -> Sequence[Event]:
    """Does what a new process does first, and returns the rows that it ends up with."""
    store = open_store(Mount(disk))
    try:
        server = Server(store, Quiet())  # type: ignore[arg-type]  # all that it needs
        for event in store.load():
            server.state.apply(event)
        if server.state.active_runs():
            server.writer.commit(lambda stamp: recover(server.state, stamp, closures=True))
        return store.load()
    finally:
        disk.kill()
        store.crash()


def without_epochs(rows: Sequence[Event]) -> list[tuple[str, str, object]]:
    return [(row.event_id, row.kind, {**row.payload, "evidence": ""}) for row in rows]


@pytest.mark.parametrize("open_store", DURABLE.values(), ids=DURABLE)
def test_recovery_comes_to_the_same_rows_wherever_it_was_cut_off(open_store: OpenStore) -> None:
    image = crashed(open_store)
    points: list[str] = []
    whole = without_epochs(recovered(open_store, Disk(image, observe=points.append)))
    kinds = [kind for _, kind, _ in whole]
    assert kinds.count("run.aborted") == 2 + ("r3:1" in [event_id for event_id, _, _ in whole])
    assert [p["outcome"] for _, kind, p in whole if kind == "tool.aborted"] == ["unknown", "not_started"]  # type: ignore[index]
    assert [p["text"] for _, kind, p in whole if kind == "message.interrupted"] == ["Half an ans"]  # type: ignore[index]
    assert len(points) >= 6
    for point in points:
        for loss in LOSSES:
            disk = Disk(image)
            _cut_off_at(disk, point, loss, open_store)
            assert without_epochs(recovered(open_store, disk)) == whole, (point, loss)
            assert without_epochs(recovered(open_store, disk)) == whole, (point, loss)


def _cut_off_at(disk: Disk, point: str, loss: Loss, open_store: OpenStore) -> None:
    def observe(passed: str) -> None:
        if passed == point:
            disk.lose_power(loss)

    disk.observe = observe
    with pytest.raises(PowerOff):
        recovered(open_store, disk)
    disk.observe = None
