"""Tools and runs that take too long are cut off in virtual time, and nothing that was there is lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from reference_fakes import FakePorts, Move, asks, finish, serving, settle, shape, text
from trio.testing import MockClock

from journalsim.contract.model_call import ToolError, ToolTraits
from journalsim_reference.batch import CUT_OFF
from journalsim_reference.server import Server

pytestmark = pytest.mark.trio

MS = 1_000_000
DONE: list[Move] = [text("Done"), finish()]


@asynccontextmanager
async def limited(
    *script: list[Move], tool: int = 0, run: int = 0, **policies: str
) -> AsyncIterator[tuple[Server, FakePorts]]:
    """Serves with time limits in milliseconds, and starts one run."""
    async with serving(*script, **policies) as (server, ports):
        ports.limits_ns = {name: limit * MS for name, limit in (("tool", tool), ("run", run)) if limit}
        ports.now_ns = lambda: round(trio.current_time() * 1e9)  # type: ignore[method-assign]  # the mock clock's
        await server.start("s1", "Hi", "k1")
        yield server, ports


async def forever() -> str:
    await trio.sleep_forever()
    raise AssertionError


async def takes(duration_ms: int) -> str:
    await trio.sleep(duration_ms / 1000)
    return "3 hits"


async def test_a_tool_that_hangs_is_cut_off_and_the_run_goes_on(autojump_clock: MockClock) -> None:
    async with limited([*asks("c1"), finish("tool_use")], DONE, tool=100) as (server, ports):
        ports.tools = {"c1": forever}
        await trio.sleep(0.2)
        told = ports.requests[1].context[-1]
        assert (told.state, told.outcome, told.text) == ("aborted", "unknown", CUT_OFF)
        assert shape(server.read("s1"))[-2:] == ["assistant Done", "marker"]


async def test_a_result_that_comes_in_time_is_a_result(autojump_clock: MockClock) -> None:
    async with limited([*asks("c1"), finish("tool_use")], DONE, tool=100) as (server, ports):
        ports.tools = {"c1": lambda: takes(99)}
        await trio.sleep(0.2)
        assert shape(server.read("s1"))[2] == "tool_result c1"


async def test_a_result_that_has_come_is_kept_however_long_its_row_takes(autojump_clock: MockClock) -> None:
    async with limited([*asks("c1"), finish("tool_use")], DONE, tool=100) as (server, ports):
        ports.tools = {"c1": lambda: takes(99)}
        ports.gates[7] = gate = trio.Event()  # load, accepted, started, opened, completed, tool started, tool completed
        await trio.sleep(0.2)
        gate.set()
        await trio.sleep(0.1)
        assert shape(server.read("s1"))[2] == "tool_result c1"


async def test_a_tool_that_fails_in_time_has_failed(autojump_clock: MockClock) -> None:
    async def fails() -> str:
        raise ToolError("no such page")

    async with limited([*asks("c1"), finish("tool_use")], DONE, tool=100) as (server, ports):
        ports.tools = {"c1": fails}
        await trio.sleep(0.2)
        assert shape(server.read("s1"))[2] == "tool_result c1 failed"


async def test_waiting_for_a_person_is_not_counted_as_the_tools_time(autojump_clock: MockClock) -> None:
    async with limited([*asks("c1"), finish("tool_use")], DONE, tool=100) as (server, ports):
        ports.traits["search"] = ToolTraits(approval=True)
        ports.tools = {"c1": lambda: takes(50)}
        await trio.sleep(10)
        await server.answer("s1", "run1", "c1", True)
        await trio.sleep(0.1)
        assert shape(server.read("s1"))[2] == "tool_result c1"


@pytest.mark.parametrize("sync", ["every_event", "barriers"])
async def test_a_run_that_takes_too_long_keeps_what_it_said(autojump_clock: MockClock, sync: str) -> None:
    async with limited([text("Hel"), text("lo"), trio.Event()], run=500, sync=sync) as (server, ports):
        await trio.sleep(0.499)
        assert shape(server.read("s1")) == ["user Hi", "assistant Hello open"]
        await trio.sleep(0.1)
        assert shape(server.read("s1")) == ["user Hi", "assistant Hello interrupted", "marker timed_out interrupted"]
        assert [row.kind for row in server.writer.store.load()][-1] == "run.expired"
        assert (ports.frames[-1].state, ports.frames[-1].cause) == ("interrupted", "timed_out")
        assert server.statistics().partial_messages == 0
        assert await server.stop("s1", "run1") == "ended"


async def test_a_run_that_ends_in_time_is_completed(autojump_clock: MockClock) -> None:
    async with limited(DONE, run=500) as (server, _ports):
        await trio.sleep(1)
        assert shape(server.read("s1"))[-1] == "marker"


async def test_a_stop_that_is_durable_first_is_what_ended_the_run(autojump_clock: MockClock) -> None:
    async with limited([text("Hello"), trio.Event()], run=500) as (server, ports):
        await trio.sleep(0.4)
        ports.gates[len(ports.steps) + 2] = gate = trio.Event()  # after the stop comes the last batch
        await server.stop("s1", "run1")
        await trio.sleep(0.4)
        gate.set()
        await settle()
        assert shape(server.read("s1"))[-1] == "marker stopped interrupted"


async def test_a_stop_that_overtakes_the_row_of_the_time_limit_wins(autojump_clock: MockClock) -> None:
    async with limited([text("Hello"), trio.Event()], run=500) as (server, ports):
        await trio.sleep(0.4)
        ports.gates[len(ports.steps) + 1] = gate = trio.Event()
        await trio.sleep(0.2)
        await server.stop("s1", "run1")
        gate.set()
        await settle()
        kinds = [row.kind for row in server.writer.store.load()]
        assert kinds[-3:] == ["run.stop_requested", "message.interrupted", "run.aborted"]


async def test_the_limit_counts_from_acceptance_also_behind_another_run(autojump_clock: MockClock) -> None:
    script: list[Move] = [text("One"), trio.Event()]
    async with limited(script, run=500, busy="queue") as (server, ports):
        await trio.sleep(0.3)
        await server.start("s1", "Ho", "k2")
        await trio.sleep(0.3)
        assert len(ports.requests) == 2
        await server.start("s1", "Hm", "k3")
        await server.stop("s1", "run2")
        await settle()
        assert [item.cause for item in server.read("s1") if item.kind == "marker"][:2] == ["timed_out", None]


async def test_a_run_that_never_had_its_turn_expires_too(autojump_clock: MockClock) -> None:
    async with limited([text("One"), trio.Event()], busy="queue") as (server, ports):
        await settle()
        ports.limits_ns = {"run": 100 * MS}
        await server.start("s1", "Ho", "k2")
        await trio.sleep(0.2)
        assert shape(server.read("s1")) == ["user Hi", "assistant One open", "user Ho", "marker timed_out interrupted"]
        assert len(ports.requests) == 1
