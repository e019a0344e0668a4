"""A run asks a person before it lets certain tools run, and goes on with the answer."""

from __future__ import annotations

import pytest
import trio
from reference_fakes import FakePorts, Move, asks, finish, serving, settle, shape, text

from journalsim.contract.model_call import ToolTraits
from journalsim_reference.batch import DENIED
from journalsim_reference.journal import decide_stop
from journalsim_reference.server import Server
from journalsim_reference.stores.memory import Folder

pytestmark = pytest.mark.trio

ASKS: list[Move] = [text("May I?"), *asks("c1"), finish("tool_use")]
DONE: list[Move] = [text("Done"), finish()]


async def begun(server: Server, ports: FakePorts, *ran: str) -> list[str]:
    """Starts a run whose tools need approval; returns a list to which each tool that runs adds its call."""
    used: list[str] = []

    def tool(call_id: str):  # type: ignore[no-untyped-def]  # as FakePorts wants it
        async def use() -> str:
            await trio.lowlevel.checkpoint()
            used.append(call_id)
            return "3 hits"

        return use

    ports.traits["search"] = ToolTraits(approval=True)
    ports.tools = {call_id: tool(call_id) for call_id in ran or ("c1",)}
    await server.start("s1", "Hi", "k1")
    await settle()
    return used


async def test_the_tool_runs_when_a_person_has_agreed() -> None:
    async with serving(ASKS, DONE) as (server, ports):
        used = await begun(server, ports)
        assert (used, ports.kinds()[-1]) == ([], "approval.requested")
        assert shape(server.read("s1"))[-1] == "tool_call c1 open"
        assert await server.answer("s1", "run1", "c1", True) == "resolved"
        await settle()
        assert used == ["c1"]
        assert shape(server.read("s1"))[2:] == ["tool_call c1", "tool_result c1", "assistant Done", "marker"]
        assert server.writer.controls == {}


async def test_the_question_is_durable_before_anybody_is_told() -> None:
    async with serving(ASKS) as (server, ports):
        await begun(server, ports)
        asked = ports.frames[-1]
        assert server.writer.store.load()[-1].event_id == asked.event_id
        assert (asked.kind, asked.call_id) == ("approval.requested", "c1")


async def test_a_denied_call_is_closed_and_the_model_is_told() -> None:
    async with serving(ASKS, DONE) as (server, ports):
        used = await begun(server, ports)
        assert await server.answer("s1", "run1", "c1", False) == "resolved"
        await settle()
        told = ports.requests[1].context[-1]
        assert (told.kind, told.outcome, told.text) == ("tool_result", "not_started", DENIED)
        assert (used, shape(server.read("s1"))[-1]) == ([], "marker")


async def test_an_answer_that_comes_twice_runs_the_tool_once() -> None:
    async with serving(ASKS, DONE) as (server, ports):
        used = await begun(server, ports)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.answer, "s1", "run1", "c1", True)
            nursery.start_soon(server.answer, "s1", "run1", "c1", True)
        await settle()
        assert await server.answer("s1", "run1", "c1", True) == "resolved"
        assert await server.answer("s1", "run1", "c1", False) == "late"
        await settle()
        assert used == ["c1"]


async def test_other_calls_go_on_while_one_waits() -> None:
    script = [*asks("c1"), *asks("c2"), finish("tool_use")], DONE
    async with serving(*script) as (server, ports):
        used = await begun(server, ports, "c1", "c2")
        await server.answer("s1", "run1", "c2", True)
        await settle()
        assert used == ["c2"]
        assert shape(server.read("s1"))[-1] == "tool_result c2"
        await server.answer("s1", "run1", "c1", True)
        await settle()
        assert shape(server.read("s1"))[-3:] == ["tool_result c1", "assistant Done", "marker"]


async def test_a_stop_ends_a_run_that_waits_and_a_later_answer_starts_nothing() -> None:
    async with serving(ASKS) as (server, ports):
        used = await begun(server, ports)
        assert await server.stop("s1", "run1") == "stopping"
        await settle()
        assert await server.answer("s1", "run1", "c1", True) == "late"
        await settle()
        assert used == []
        result = server.read("s1")[3]
        assert (result.state, result.outcome) == ("aborted", "not_started")
        assert shape(server.read("s1"))[-1] == "marker stopped interrupted"


async def test_a_stop_that_comes_just_before_the_question_is_written_wins() -> None:
    async with serving(ASKS) as (server, ports):

        def at(step: str) -> None:
            if len(ports.steps) == 8:  # load, accepted, started, text, two pieces of a call, completed, asked
                server.writer.commit(lambda stamp: decide_stop(server.state, stamp, "s1", "run1"))

        ports.at_step = at
        await begun(server, ports)
        assert "approval.requested" not in ports.kinds()
        assert await server.answer("s1", "run1", "c1", True) == "late"


@pytest.mark.parametrize(("run", "call_id"), [("run9", "c1"), ("run1", "c9")])
async def test_an_answer_to_no_question_is_unknown(run: str, call_id: str) -> None:
    async with serving(ASKS) as (server, ports):
        await begun(server, ports)
        assert await server.answer("s1", run, call_id, True) == "unknown"


async def test_a_crash_while_a_person_is_asked_is_recovered() -> None:
    folder = Folder()
    async with serving(ASKS, folder=folder) as (server, ports):
        await begun(server, ports)
        server.writer.store.crash()
    async with serving(folder=folder) as (again, _ports):
        assert shape(again.read("s1"))[2:] == ["tool_call c1", "tool_result c1 aborted", "marker crashed interrupted"]
        assert again.read("s1")[3].outcome == "not_started"
        assert await again.answer("s1", "run1", "c1", True) == "late"


async def test_a_message_waits_behind_a_run_that_waits_for_a_person() -> None:
    async with serving(ASKS, [text("Two"), finish()], busy="queue") as (server, ports):
        await begun(server, ports)
        await server.start("s1", "Ho", "k2")
        await settle()
        assert len(ports.requests) == 1
        await server.stop("s1", "run1")
        await settle()
        assert shape(server.read("s1"))[-3:] == ["user Ho", "assistant Two", "marker"]


async def test_a_newer_prompt_takes_the_place_of_a_run_that_waits() -> None:
    async with serving(ASKS, [text("Two"), finish()], busy="cancel_earlier") as (server, ports):
        used = await begun(server, ports)
        await server.start("s1", "Ho", "k2")
        await settle()
        assert (used, shape(server.read("s1"))[-2:]) == ([], ["assistant Two", "marker"])
