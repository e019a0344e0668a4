"""The whole reference on a disk that fails, and two processes on one folder: nothing uncertain is ever announced."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import trio
from disk_crashes import DURABLE, OpenStore, kept, log, sqlite
from reference_fakes import FakePorts, asks, finish, settle, shape, text

from journalsim.actors.disk.mount import Mount
from journalsim.actors.disk.simulated import Disk
from journalsim.contract.adapters import OutcomeUnknown
from journalsim.contract.disk_faults import Fault, Loss
from journalsim_reference.recovery import recover
from journalsim_reference.server import Server
from journalsim_reference.stores.base import Store, StoreClosed, StoreError
from journalsim_reference.writer import PAUSES_NS

EVERY_STORE = pytest.mark.parametrize("open_store", DURABLE.values(), ids=DURABLE)


@asynccontextmanager
async def serving_on(store: Store, *script: list[object]) -> AsyncIterator[tuple[Server, FakePorts]]:
    async with trio.open_nursery() as nursery:
        ports = FakePorts(nursery, script)  # type: ignore[arg-type]
        server = Server(store, ports)
        await server.recover()
        yield server, ports
        nursery.cancel_scope.cancel()


def conversation() -> list[list[object]]:
    return [[text("Let me "), text("look"), *asks("c1"), finish("tool_use")], [text("Done"), finish()]]


async def _life(store: Store) -> tuple[Server, FakePorts]:
    async with serving_on(store, *conversation()) as (server, ports):

        async def returns() -> str:
            await trio.lowlevel.checkpoint()
            return "found"

        ports.tools["c1"] = returns
        with suppress(StoreError, OutcomeUnknown):
            await server.start("s1", "Hi", "k1")
        await settle()
    return server, ports


WHOLE = ["user Hi", "assistant Let me look", "tool_call c1", "tool_result c1", "assistant Done", "marker"]


def _whole_life(open_store: OpenStore) -> list[str]:
    points: list[str] = []
    disk = Disk(observe=points.append)
    server, _ = trio.run(_life, open_store(Mount(disk)))
    assert shape(server.read("s1")) == WHOLE
    disk.observe = None
    server.writer.store.crash()
    return [point.removesuffix(".before") for point in points if point.endswith(".before")]


@EVERY_STORE
@pytest.mark.parametrize("kind", ["error", "full"])
def test_a_fault_that_comes_once_costs_a_conversation_nothing(open_store: OpenStore, kind: str) -> None:
    for at in _whole_life(open_store):
        if kind == "error" or ".write#" in at:
            disk = Disk(faults=[Fault(kind, at)])
            try:
                server, _ = trio.run(_life, open_store(Mount(disk)))
            except StoreError:
                continue  # while it was being opened: nobody was promised anything
            assert shape(server.read("s1")) == WHOLE, at
            assert not server.writer.fenced
            disk.lose_power()
            server.writer.store.crash()
            assert [row.seq for row in kept(open_store, disk)] == list(range(1, server.state.runs["run1"].seq + 1)), at


@EVERY_STORE
@pytest.mark.parametrize(("kind", "verb"), [("error", "sync"), ("error", "write"), ("full", "write")])
def test_a_disk_that_never_gets_well_again_makes_the_process_fence_itself(
    open_store: OpenStore, kind: str, verb: str
) -> None:
    """From any operation on; whatever had been announced by then is there for the next process."""
    for at in _whole_life(open_store):
        if f".{verb}#" not in at:
            continue
        disk = Disk(faults=[Fault(kind, at, times=0)])
        try:
            server, ports = trio.run(_life, open_store(Mount(disk)))
        except (StoreError, OutcomeUnknown):
            continue
        announced = [frame.event_id for frame in ports.frames if frame.event_id is not None]
        ended = "run.ended" in ports.kinds()
        assert ended or server.writer.fenced or not server.state.runs, at
        disk.heal()
        disk.lose_power(Loss("unsynced"))
        server.writer.store.crash()
        found = [row.event_id for row in kept(open_store, disk)]
        assert set(announced) <= set(found), at
        assert set(ports.slept) <= set(PAUSES_NS)


@pytest.mark.trio
async def test_a_worker_waits_for_a_disk_that_is_full_for_a_while() -> None:
    disk = Disk()
    async with serving_on(log(Mount(disk)), [text("Hello"), finish()]) as (server, ports):
        full = Disk(faults=[Fault("full", "disk.write#1", times=0)])._faults  # a disk that fills up while it is up
        plain = ports.sleep

        async def sleep(duration_ns: int) -> None:
            if len(ports.slept) == 2:
                disk.heal()
            await plain(duration_ns)

        ports.sleep = sleep  # type: ignore[method-assign]  # room is made while the worker waits
        await server.start("s1", "Hi", "k1")
        disk._faults = full
        await settle()
        assert ports.slept == [*PAUSES_NS[:3]]
        assert shape(server.read("s1")) == ["user Hi", "assistant Hello", "marker"]


@pytest.mark.trio
async def test_a_person_is_told_that_nothing_was_done_and_the_process_goes_on() -> None:
    disk = Disk(faults=[Fault("full", "disk.write#2", times=3)])
    async with serving_on(log(Mount(disk))) as (server, ports):
        with pytest.raises(StoreError, match="No space left"):
            await server.start("s1", "Hi", "k1")
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "assistant ok", "marker"]
        assert ports.slept == []


@pytest.mark.trio
async def test_a_person_is_told_that_nobody_knows_and_a_later_read_does() -> None:
    disk = Disk(faults=[Fault("error", "disk.sync#2", times=0)])
    async with serving_on(log(Mount(disk))) as (server, _):
        with pytest.raises(OutcomeUnknown):
            await server.start("s1", "Hi", "k1")
        with pytest.raises(StoreClosed, match="fenced itself"):
            await server.start("s1", "Hi", "k1")
        await server.shutdown()
    disk.heal()
    disk.kill()
    async with serving_on(log(Mount(disk))) as (server, _):
        assert await server.start("s1", "Hi", "k1") == "run1"
        await settle()
        assert [item.text for item in server.read("s1") if item.kind == "user"] == ["Hi"]


# --- fencing


@pytest.mark.trio
@pytest.mark.parametrize("open_store", [sqlite("delete", "extra"), log], ids=["delete", "log"])
async def test_an_old_process_that_wakes_up_writes_and_announces_nothing_more(open_store: OpenStore) -> None:
    """At every append of a run: the new process opens the folder in front of it, and ends the run."""
    disk = Disk()
    total = len(trio_steps(await _interrupted(disk, open_store, 0)))
    for number in range(2, total + 1):
        disk = Disk()
        old, ports, announced = await _interrupted(disk, open_store, number)
        assert old.writer.fenced, number
        assert ports.frames[announced:] == [], number
        with pytest.raises(StoreClosed):
            await old.stop("s1", "run1")
        await old.shutdown()
        rows = kept(open_store, disk)
        assert [row.epoch for row in rows] == sorted(row.epoch for row in rows)
        assert [row.kind for row in rows][-1] == "run.aborted"
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))


def trio_steps(found: tuple[Server, FakePorts, int]) -> list[str]:
    return [name for name in found[1].steps if name == "store.append"]


async def _interrupted(disk: Disk, open_store: OpenStore, number: int) -> tuple[Server, FakePorts, int]:
    """Has a second process recover the folder just before the first one's append of this number."""
    announced = 0
    async with serving_on(open_store(Mount(disk)), *conversation()) as (old, ports):

        async def returns() -> str:
            await trio.lowlevel.checkpoint()
            return "found"

        def at_step(name: str) -> None:
            nonlocal announced
            if ports.steps.count("store.append") == number and name == "store.append" and not announced:
                announced = len(ports.frames) or -1
                take_over(open_store(Mount(disk)))

        ports.tools["c1"], ports.at_step = returns, at_step
        await old.start("s1", "Hi", "k1")
        await settle()
    return old, ports, max(announced, 0)


def take_over(store: Store) -> None:
    """Does what a new process does when it starts."""
    new = Server(store, FakePorts(None))  # type: ignore[arg-type]  # it spawns nothing
    for event in store.load():
        new.state.apply(event)
    if new.state.active_runs():
        new.writer.commit(lambda stamp: recover(new.state, stamp, closures=True))
    store.close()
