"""The server admits, stops, shows and maintains; each operation is one critical section."""

from __future__ import annotations

import pytest
import trio
from reference_fakes import finish, serving, settle, shape, text

from journalsim.contract.adapters import RunBusy
from journalsim.contract.model_call import ModelError
from journalsim_reference.server import KeyReused, StaleRevision
from journalsim_reference.stores.base import StoreClosed, StoreError
from journalsim_reference.stores.memory import Folder

pytestmark = pytest.mark.trio


# --- admission


async def test_a_prompt_is_durable_when_start_returns() -> None:
    async with serving([trio.Event()]) as (server, ports):
        assert await server.start("s1", "Hi", "k1") == "run1"
        assert server.writer.store.load()[0].payload["text"] == "Hi"
        assert ports.requests == []


async def test_a_request_key_that_comes_again_is_answered_with_its_run() -> None:
    async with serving() as (server, ports):
        first = await server.start("s1", "Hi", "k1")
        await settle()
        assert await server.start("s1", "Hi", "k1") == first
        with pytest.raises(KeyReused):
            await server.start("s1", "Ho", "k1")
        await settle()
        assert len(ports.requests) == 1


async def test_a_busy_session_refuses_and_another_one_does_not() -> None:
    async with serving([trio.Event()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        with pytest.raises(RunBusy, match="s1 has an active run"):
            await server.start("s1", "Ho", "k2")
        await server.start("s2", "Ho", "k2")
        await settle()
        assert shape(server.read("s2"))[-1] == "marker"


async def test_a_queue_runs_prompts_one_after_the_other() -> None:
    held = trio.Event()
    async with serving([text("One"), held, finish()], [text("Two"), finish()], busy="queue") as (server, ports):
        await server.start("s1", "Hi", "k1")
        await server.start("s1", "Ho", "k2")
        await settle()
        assert len(ports.requests) == 1
        held.set()
        await settle()
        assert shape(server.read("s1")) == [
            "user Hi",
            "assistant One",
            "marker",
            "user Ho",
            "assistant Two",
            "marker",
        ]
        assert shape(ports.requests[1].context) == ["user Hi", "assistant One", "user Ho"]


async def test_a_queued_prompt_can_be_stopped_and_the_one_behind_it_waits_on() -> None:
    held = trio.Event()
    async with serving([text("One"), held, finish()], busy="queue") as (server, ports):
        for number, words in enumerate(("Hi", "Ho", "Hm")):
            await server.start("s1", words, f"k{number}")
        await settle()
        await server.stop("s1", "run2")
        await settle()
        assert len(ports.requests) == 1
        held.set()
        await settle()
        assert [item.state for item in server.read("s1") if item.kind == "marker"] == [
            "completed",
            "interrupted",
            "completed",
        ]


async def test_a_newer_prompt_can_take_the_place_of_the_active_run() -> None:
    async with serving([text("One"), trio.Event()], [text("Two"), finish()], busy="cancel_earlier") as (server, _):
        await server.start("s1", "Hi", "k1")
        await settle()
        await server.start("s1", "Ho", "k2")
        await settle()
        assert shape(server.read("s1")) == [
            "user Hi",
            "assistant One interrupted",
            "marker stopped interrupted",
            "user Ho",
            "assistant Two",
            "marker",
        ]


async def test_a_batch_that_the_store_refuses_changes_nothing() -> None:
    async with serving() as (server, ports):

        def refuse(events: object, *, barrier: bool = True) -> None:
            raise StoreError("disk full")

        server.writer.store.append = refuse  # type: ignore[method-assign]  # a full disk
        with pytest.raises(StoreError):
            await server.start("s1", "Hi", "k1")
        assert (server.read("s1"), ports.frames) == ((), [])


@pytest.mark.parametrize(("sync", "barriers"), [("every_event", {True}), ("barriers", {True, False})])
async def test_the_policy_says_which_rows_are_synced(sync: str, barriers: set[bool]) -> None:
    async with serving([text("One"), finish()], sync=sync) as (server, _ports):
        seen: list[tuple[bool, str]] = []
        plain = server.writer.store.append

        def spy(events, *, barrier=True):  # type: ignore[no-untyped-def]  # as in Store
            seen.append((barrier, events[-1].kind))
            plain(events, barrier=barrier)

        server.writer.store.append = spy  # type: ignore[method-assign]  # a spy
        await server.start("s1", "Hi", "k1")
        await settle()
        assert {barrier for barrier, _ in seen} == barriers
        assert seen[0] == (True, "run.accepted")
        assert seen[-1] == (True, "run.completed")


# --- readers


async def test_a_reader_that_goes_away_changes_nothing() -> None:
    async with serving([text("One"), trio.Event()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        before = server.writer.store.load()
        await server.disconnected("s1", "alice")
        assert server.writer.store.load() == before


async def test_a_reader_that_goes_away_stops_the_run_where_the_policy_says_so() -> None:
    async with serving([text("One"), trio.Event()], disconnect="cancel") as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        await server.disconnected("s1", "alice")
        await settle()
        assert shape(server.read("s1"))[-1] == "marker disconnected interrupted"


# --- shutdown and restart


async def test_a_shutdown_ends_runs_in_good_order() -> None:
    folder = Folder()
    async with serving([text("One"), trio.Event()], folder=folder, busy="queue") as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await server.start("s1", "Ho", "k2")
        await settle()
        await server.shutdown()
        with pytest.raises(StoreClosed):
            server.writer.store.load()
        with pytest.raises(RunBusy, match="shutting down"):
            await server.start("s1", "Hm", "k3")
    async with serving(folder=folder) as (again, ports):
        assert shape(again.read("s1")) == [
            "user Hi",
            "assistant One interrupted",
            "marker shut_down interrupted",
            "user Ho",
            "marker shut_down interrupted",
        ]
        assert ports.steps == ["store.load"]


async def test_a_crash_is_recovered_by_the_next_process() -> None:
    folder = Folder()
    async with serving([text("One"), trio.Event()], folder=folder) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        server.writer.store.crash()
    async with serving(folder=folder) as (again, ports):
        assert shape(again.read("s1")) == ["user Hi", "assistant One interrupted", "marker crashed interrupted"]
        assert ports.kinds() == ["message.interrupted", "run.ended"]
        ports.ids["run"] = 1
        await again.start("s1", "Ho", "k2")
        await settle()
        assert shape(again.read("s1"))[-2:] == ["assistant ok", "marker"]


async def test_a_process_that_was_replaced_cannot_write() -> None:
    folder = Folder()
    async with serving(folder=folder) as (old, _), serving(folder=folder) as (new, _ports):
        with pytest.raises(StoreError, match="epoch 1 was replaced by 2"):
            await old.start("s1", "Hi", "k1")
        await new.start("s1", "Hi", "k1")
        assert old.read("s1") == ()


# --- maintenance


async def test_an_annotation_shows_and_survives_a_restart() -> None:
    folder = Folder()
    async with serving(folder=folder) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        await server.annotate("s1", "run1/user", {"starred": True})
        with pytest.raises(LookupError, match="shows no message 'run9/user'"):
            await server.annotate("s1", "run9/user", {})
        await server.shutdown()
    async with serving(folder=folder) as (again, _ports):
        assert again.read("s1")[0].metadata == {"starred": True}


async def test_a_compaction_gives_the_model_the_summary() -> None:
    summary = [text("They "), text("met."), finish(), text("ghost")]
    async with serving([text("Hello"), finish()], summary) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        await server.compact("s1")
        assert (ports.requests[1].purpose, ports.requests[1].run_id) == ("compaction", "compaction1")
        assert shape(server.context("s1")) == ["summary They met."]
        assert shape(server.read("s1")) == ["user Hi", "assistant Hello", "marker", "summary They met."]


async def test_a_summary_that_does_not_finish_replaces_nothing() -> None:
    async with serving([text("Hello"), finish()], [text("They")]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        with pytest.raises(ModelError, match="has no finish"):
            await server.compact("s1")
        assert "summary" not in [item.kind for item in server.read("s1")]


async def test_a_summary_of_a_history_that_moved_on_replaces_nothing() -> None:
    held = trio.Event()
    async with serving([held, text("They met."), finish()]) as (server, _ports):

        async def move_on() -> None:
            await settle()
            await server.start("s1", "Hi", "k1")
            await settle()
            held.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(move_on)
            with pytest.raises(StaleRevision, match="s1 is stale"):
                await server.compact("s1")
        assert "summary" not in [item.kind for item in server.read("s1")]


@pytest.mark.parametrize("verb", ["compact", "clear"])
async def test_a_busy_session_is_not_rewritten(verb: str) -> None:
    async with serving([trio.Event()]) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        with pytest.raises(StaleRevision, match="s1 is busy"):
            await getattr(server, verb)("s1")
        assert len(ports.requests) == 1


async def test_a_clear_begins_the_history_anew_and_keeps_the_rows() -> None:
    async with serving() as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        rows = server.writer.store.load()
        await server.clear("s1")
        assert (server.read("s1"), server.context("s1")) == ((), ())
        assert server.writer.store.load()[: len(rows)] == rows


async def test_closures_can_be_left_to_whoever_reads() -> None:
    async with serving(orphans="on_read") as (server, _ports):
        assert not server.writer.closes_on_write
    async with serving() as (server, _ports):
        assert server.writer.closes_on_write
