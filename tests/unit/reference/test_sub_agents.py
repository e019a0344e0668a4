"""A sub-agent answers a call of the lead in its own name, and its words never become the lead's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from reference_fakes import FakePorts, Move, finish, serving, settle, shape, text

from journalsim.contract.model_call import ModelError, ModelEvent, ToolTraits
from journalsim_reference.server import Server
from journalsim_reference.worker import NO_DELEGATION, TURNS_MAX

pytestmark = pytest.mark.trio

OVERLOADED = ModelError("overloaded")
DONE: list[Move] = [text("Done"), finish()]


def asks(call_id: str, name: str = "scout", arguments: str = "Look around") -> list[Move]:
    return [
        ModelEvent("tool_call", call_id=call_id, name=name),
        ModelEvent("tool_arguments", call_id=call_id, text=arguments),
    ]


LEAD: list[Move] = [text("Let me ask."), *asks("s1"), finish("tool_use")]


@asynccontextmanager
async def delegating(*script: list[Move], **policies: str) -> AsyncIterator[tuple[Server, FakePorts]]:
    async with serving(*script, **policies) as (server, ports):
        ports.traits["scout"] = ToolTraits(agent=True)
        await server.start("s1", "Hi", "k1")
        await settle()
        yield server, ports


def kinds(server: Server, actor: str) -> list[str]:
    return [row.kind for row in server.writer.store.load() if row.actor == actor]


async def test_what_the_sub_agent_says_is_the_result_of_the_call() -> None:
    async with delegating(LEAD, [text("Nothing "), text("here."), finish()], DONE) as (server, ports):
        assert shape(server.read("s1")) == [
            "user Hi",
            "assistant Let me ask.",
            "tool_call s1",
            "tool_result s1",
            "assistant Done",
            "marker",
        ]
        assert server.read("s1")[3].text == "Nothing here."
        assert [request.actor for request in ports.requests] == ["lead", "sub:scout", "lead"]
        assert shape(ports.requests[1].context) == ["user Look around"]
        assert "message.completed" in kinds(server, "sub:scout")


@pytest.mark.parametrize("sync", ["every_event", "barriers"])
async def test_nothing_that_a_sub_agent_says_is_told_to_readers(sync: str) -> None:
    async with delegating(LEAD, [text("Nothing "), text("here."), finish()], DONE, sync=sync) as (_server, ports):
        assert [frame.text for frame in ports.frames if frame.text] == [
            "Let me ask.",
            "Let me ask.",
            "Done",
            "Done",
        ]
        assert ports.kinds().count("message.opened") == 2


async def test_several_messages_are_one_result_and_no_message_is_an_empty_one() -> None:
    lead: list[Move] = [*asks("s1"), *asks("s2"), finish("tool_use")]
    async with delegating(lead, [text("One"), ModelEvent("message"), text("Two"), finish()], [finish()]) as (server, _):
        assert sorted(item.text for item in server.read("s1") if item.kind == "tool_result") == ["", "One\nTwo"]


async def test_a_sub_agent_uses_tools_of_its_own() -> None:
    async def search() -> str:
        await trio.lowlevel.checkpoint()
        return "3 hits"

    own: list[Move] = [*asks("t1", "search", "{}"), finish("tool_use")]
    async with serving(LEAD, own, [text("Three."), finish()], DONE) as (server, ports):
        ports.traits["scout"] = ToolTraits(agent=True)
        ports.tools = {"t1": search}
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(ports.requests[2].context) == ["user Look around", "tool_call t1", "tool_result t1"]
        assert "t1" not in [item.call_id for item in server.read("s1")]
        assert server.read("s1")[3].text == "Three."
        assert kinds(server, "sub:scout").count("tool.completed") == 1


async def test_a_sub_agent_does_not_delegate() -> None:
    async with delegating(LEAD, [*asks("t1"), finish("tool_use")], [text("Alone."), finish()], DONE) as (server, ports):
        refused = ports.requests[2].context[-1]
        assert (refused.call_id, refused.outcome, refused.text) == ("t1", "not_started", NO_DELEGATION)
        assert server.read("s1")[3].text == "Alone."


async def test_a_sub_agent_that_fails_does_not_fail_the_run() -> None:
    broken: list[list[Move]] = [[text("It is "), OVERLOADED], [OVERLOADED], [OVERLOADED]]
    async with delegating(LEAD, *broken, DONE) as (server, ports):
        assert shape(server.read("s1"))[3:] == ["tool_result s1 failed", "assistant Done", "marker"]
        assert server.read("s1")[3].text == "overloaded"
        assert [request.attempt for request in ports.requests] == [1, 1, 2, 3, 1]
        assert server.statistics().partial_messages == 0
        assert "message.interrupted" in kinds(server, "sub:scout")


async def test_a_sub_agent_that_goes_in_circles_fails_its_call() -> None:
    circles: list[list[Move]] = [[*asks(f"t{turn}"), finish("tool_use")] for turn in range(TURNS_MAX)]
    async with delegating(LEAD, *circles, DONE) as (server, _ports):
        assert server.read("s1")[3].text == f"the model asked for tools {TURNS_MAX} times"


@pytest.mark.parametrize("sync", ["every_event", "barriers"])
async def test_a_stop_ends_the_sub_agent_and_files_nothing_of_it(sync: str) -> None:
    async with delegating(LEAD, [text("Nothing "), trio.Event()], sync=sync) as (server, ports):
        assert shape(server.read("s1"))[-1] == "tool_call s1"
        await server.stop("s1", "run1")
        await settle()
        assert shape(server.read("s1")) == [
            "user Hi",
            "assistant Let me ask.",
            "tool_call s1",
            "tool_result s1 aborted",
            "marker stopped interrupted",
        ]
        assert server.read("s1")[3].outcome == "unknown"
        assert kinds(server, "sub:scout")[-1] == "message.interrupted"
        assert "message.interrupted" not in ports.kinds()
        assert shape(server.context("s1")) == shape(server.read("s1"))


async def test_two_sub_agents_know_nothing_of_each_other() -> None:
    lead: list[Move] = [*asks("s1"), *asks("s2", arguments="Look below"), finish("tool_use")]
    async with delegating(lead, [text("Light."), finish()], [text("Dark."), finish()], DONE) as (server, ports):
        assert sorted(shape(ports.requests[1].context) + shape(ports.requests[2].context)) == [
            "user Look around",
            "user Look below",
        ]
        assert sorted(item.text for item in server.read("s1") if item.kind == "tool_result") == ["Dark.", "Light."]
