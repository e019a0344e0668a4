"""The worker carries a run out, and writes what it must behind a shield."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from reference_fakes import FakePorts, Move, asks, completion, finish, serving, settle, shape, text

from journalsim.contract.model_call import LateCompletion, ModelError, ModelEvent, ToolError
from journalsim_reference.content import Content
from journalsim_reference.journal import decide_stop
from journalsim_reference.model_calls import BACKOFF_NS
from journalsim_reference.partials import Partials
from journalsim_reference.server import Server
from journalsim_reference.worker import TURNS_MAX, Worker

pytestmark = pytest.mark.trio

BUFFERED = {"sync": "barriers"}  # text waits in buffers for its row
OVERLOADED = ModelError("overloaded")


async def returns(output: str) -> str:
    await trio.lowlevel.checkpoint()
    return output


def kinds(server: Server, run: str = "run1") -> list[str]:
    return [row.kind for row in server.writer.store.load() if row.run_id == run]


# --- answers


async def test_an_answer_is_published_piece_by_piece_and_kept_whole() -> None:
    async with serving([text("Hel", "a"), text("lo", "b"), finish(provider_id="c")]) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "assistant Hello", "marker"]
        assert server.read("s1")[1].aliases == ("a", "b", "c")
        assert ports.kinds() == [
            "run.started",
            "message.opened",
            "message.delta",
            "message.delta",
            "message.completed",
            "run.ended",
        ]
        assert [frame.source for frame in ports.frames[1:5]] == ["a", "a", "b", "c"]


async def test_a_row_is_durable_before_its_frame_is_published() -> None:
    async with serving([text("Hello"), finish()]) as (server, ports):
        missing = []
        plain = ports.publish

        def check(session_id: str, frame):  # type: ignore[no-untyped-def]  # as in Ports
            known = {row.event_id for row in server.writer.store.load()}
            missing.extend([frame.kind] if frame.event_id is not None and frame.event_id not in known else [])
            plain(session_id, frame)

        ports.publish = check  # type: ignore[method-assign]  # a spy
        await server.start("s1", "Hi", "k1")
        await settle()
        assert missing == []
        assert ports.kinds()[-1] == "run.ended"


async def test_text_is_a_row_before_it_is_shown_where_every_event_is_synced() -> None:
    async with serving([text("Hel"), text("lo"), finish()]) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        deltas = [frame.event_id for frame in ports.frames if frame.kind == "message.delta"]
        assert deltas == ["run1:4", "run1:5"]
        assert server.writer.partials.bytes == 0


async def test_text_waits_in_a_buffer_where_only_barriers_are_synced() -> None:
    held = trio.Event()
    async with serving([text("Hel"), text("lo"), held, finish()], **BUFFERED) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        assert (server.statistics().partial_messages, server.statistics().partial_bytes) == (1, 5)
        assert shape(server.read("s1")) == ["user Hi", "assistant Hello open"]
        held.set()
        await settle()
        assert (server.statistics().partial_messages, server.statistics().active_runs) == (0, 0)
        assert "message.delta" not in kinds(server)


async def test_what_does_not_fit_in_the_buffers_spills_and_is_not_lost() -> None:
    held = trio.Event()
    script = [text("Hello "), text("big "), text("world"), text("!"), held, finish()]
    async with serving(script, **BUFFERED) as (server, ports):
        server.writer.partials = Partials(bytes_max=8)
        await server.start("s1", "Hi", "k1")
        await settle()
        assert server.writer.partials.bytes <= 8
        assert shape(server.read("s1"))[1] == "assistant Hello big world! open"
        held.set()
        await settle()
        assert "".join(frame.text for frame in ports.frames if frame.kind == "message.delta") == "Hello big world!"
        assert shape(server.read("s1"))[1] == "assistant Hello big world!"


async def test_a_first_piece_that_does_not_fit_spills_at_once() -> None:
    async with serving([text("Hello"), finish()], **BUFFERED) as (server, _ports):
        server.writer.partials = Partials(bytes_max=2)
        await server.start("s1", "Hi", "k1")
        await settle()
        assert kinds(server)[2:4] == ["message.opened", "message.delta"]
        assert shape(server.read("s1"))[1] == "assistant Hello"


async def test_reasoning_is_kept_beside_the_text() -> None:
    async with serving([ModelEvent("reasoning", text="hm"), text("Yes"), finish()]) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        assert (server.read("s1")[1].text, server.read("s1")[1].reasoning) == ("Yes", "hm")
        assert [frame.reasoning for frame in ports.frames if frame.kind == "message.delta"] == ["hm", ""]


async def test_a_further_message_completes_the_one_before_it() -> None:
    script = [ModelEvent("message"), text("One"), ModelEvent("message"), ModelEvent("ping"), text("Two"), finish()]
    async with serving(script) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "assistant One", "assistant Two", "marker"]


async def test_a_finish_that_is_reported_twice_is_one_message() -> None:
    script = [text("Hello"), finish(), finish("max_tokens"), text("ghost"), ModelEvent("message")]
    async with serving(script) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "assistant Hello", "marker"]


async def test_an_empty_answer_leaves_a_marker_and_no_shell() -> None:
    async with serving([text(""), finish()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "marker"]


async def test_an_error_after_the_finish_takes_nothing_back() -> None:
    async with serving([text("Hello"), finish(), OVERLOADED]) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "assistant Hello", "marker"]
        assert len(ports.requests) == 1


# --- retries


async def test_a_failed_attempt_is_made_again_and_replaced() -> None:
    async with serving([text("Uno "), OVERLOADED], [text("Dos"), finish()]) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "assistant Dos", "marker"]
        assert [request.attempt for request in ports.requests] == [1, 2]
        assert ports.slept == [BACKOFF_NS[0]]
        assert "message.superseded" in ports.kinds()


async def test_a_stream_that_just_ends_is_no_answer() -> None:
    async with serving([text("Uno ")], [text("Dos"), finish()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "assistant Dos", "marker"]


async def test_an_attempt_without_content_leaves_the_text_of_the_one_before() -> None:
    async with serving([text("Uno "), OVERLOADED], [OVERLOADED], []) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "assistant Uno  interrupted", "marker failed failed"]
        assert ports.slept == list(BACKOFF_NS)
        last = server.writer.store.load()[-1]
        assert last.payload["reason"] == "the model's stream ended without a finish"


async def test_a_stop_between_attempts_keeps_the_text_of_the_failed_one() -> None:
    async with serving([text("Uno "), OVERLOADED]) as (server, ports):

        async def sleep(duration_ns: int) -> None:
            await trio.sleep_forever()

        ports.sleep = sleep  # type: ignore[method-assign]  # a pause that lasts
        await server.start("s1", "Hi", "k1")
        await settle()
        await server.stop("s1", "run1")
        await settle()
        assert shape(server.read("s1"))[1:] == ["assistant Uno  interrupted", "marker stopped interrupted"]


# --- tools


async def test_tools_run_side_by_side_and_their_results_are_kept_as_they_come() -> None:
    slow = trio.Event()

    async def waits() -> str:
        await slow.wait()
        return "late"

    script = [text("Look"), *asks("c1"), *asks("c2"), finish("tool_use")], [text("Done"), finish()]
    async with serving(*script) as (server, ports):
        ports.tools = {"c1": waits, "c2": lambda: returns("3 hits")}
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1"))[-1] == "tool_result c2"
        slow.set()
        await settle()
        assert shape(server.read("s1")) == [
            "user Hi",
            "assistant Look",
            "tool_call c1",
            "tool_call c2",
            "tool_result c2",
            "tool_result c1",
            "assistant Done",
            "marker",
        ]
        assert shape(ports.requests[1].context)[-1] == "tool_result c1"


async def test_a_tool_that_raises_is_a_result_that_failed() -> None:
    async def fails() -> str:
        raise ToolError("no such page")

    async with serving([*asks("c1"), finish("tool_use")]) as (server, ports):
        ports.tools = {"c1": fails}
        await server.start("s1", "Hi", "k1")
        await settle()
        result = server.read("s1")[2]
        assert (result.state, result.text) == ("failed", "no such page")


async def test_a_call_that_was_answered_is_not_run_again() -> None:
    async with serving([*asks("c1"), finish("tool_use")]) as (server, ports):
        ran: list[str] = []
        ports.tools = {"c1": lambda: returns(ran.append("c1") or "3 hits")}  # type: ignore[func-returns-value]
        await server.start("s1", "Hi", "k1")
        await settle()
        run = server.state.runs["run1"]
        await Worker(server.writer, run).run_tool(run.calls["c1"])
        assert ran == ["c1"]


async def test_calls_of_an_answer_that_does_not_wait_for_tools_are_closed() -> None:
    async with serving([*asks("c1"), finish("max_tokens")]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "tool_call c1", "tool_result c1 aborted", "marker"]


async def test_a_model_that_asks_for_tools_without_end_is_stopped() -> None:
    script = [[*asks(f"c{turn}"), finish("tool_use")] for turn in range(TURNS_MAX)]
    async with serving(*script) as (server, ports):
        ports.tools = {f"c{turn}": lambda: returns("again") for turn in range(TURNS_MAX)}
        await server.start("s1", "Hi", "k1")
        await settle()
        assert len(ports.requests) == TURNS_MAX
        assert shape(server.read("s1"))[-1] == "marker failed failed"


# --- stops


@pytest.mark.parametrize("policies", [{}, BUFFERED], ids=["rows", "buffers"])
async def test_a_stop_in_mid_text_keeps_what_was_shown(policies: dict[str, str]) -> None:
    async with serving([text("Hel"), text("lo"), trio.Event()], **policies) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        assert await server.stop("s1", "run1") == "stopping"
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "assistant Hello interrupted", "marker stopped interrupted"]
        assert ports.kinds()[-2:] == ["message.interrupted", "run.ended"]
        assert server.statistics().partial_messages == 0


async def test_a_stop_that_was_asked_for_again_says_the_same() -> None:
    async with serving([text("Hel"), trio.Event()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.stop, "s1", "run1")
            nursery.start_soon(server.stop, "s1", "run1")
        await settle()
        assert kinds(server).count("run.stop_requested") == 1
        assert await server.stop("s1", "run1") == "ended"
        assert await server.stop("s1", "run9") == "unknown"


async def test_a_stop_before_the_run_has_begun_means_no_model_call() -> None:
    async with serving() as (server, ports):
        await server.start("s1", "Hi", "k1")
        await server.stop("s1", "run1")
        await settle()
        assert ports.requests == []
        assert shape(server.read("s1")) == ["user Hi", "marker stopped interrupted"]


async def test_a_stop_that_comes_just_before_the_start_is_written_wins() -> None:
    async with serving() as (server, ports):
        _stop_at(ports, server, 2)
        await server.start("s1", "Hi", "k1")
        await settle()
        assert ports.requests == []
        assert kinds(server) == ["run.accepted", "run.stop_requested", "run.aborted"]


def _stop_at(ports: FakePorts, server: Server, number: int) -> None:
    """Lets a stop of run1 be written just before the body of the n-th append, which is past its first point."""

    def at(step: str) -> None:
        if ports.steps.count("store.append") == number:
            ports.at_step = lambda _: None
            server.writer.commit(
                lambda stamp: decide_stop(server.state, stamp, "s1", "run1", buffered=server.writer.snapshot)
            )

    ports.at_step = at


async def test_a_piece_in_hand_is_dropped_when_the_stop_was_first() -> None:
    async with serving([text("Hel"), text("lo"), trio.Event()]) as (server, ports):
        _stop_at(ports, server, 3)
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "marker stopped interrupted"]
        assert "message.delta" not in ports.kinds()


async def test_a_piece_for_the_buffers_is_dropped_when_the_stop_was_first() -> None:
    async with serving([text("Hel"), trio.Event()], **BUFFERED) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        await server.stop("s1", "run1")
        run = server.state.runs["run1"]
        server.writer.buffer(run, "run1/m1", Content("lo"), None)
        await settle()
        assert shape(server.read("s1"))[1] == "assistant Hel interrupted"


async def test_a_spill_that_comes_after_the_stop_is_dropped() -> None:
    async with serving([text("Hel"), text("lo"), trio.Event()]) as (server, ports):
        _stop_at(ports, server, 4)
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1"))[1:] == ["assistant Hel interrupted", "marker stopped interrupted"]


async def test_a_finish_that_was_received_is_written_however_the_stop_raced() -> None:
    async with serving([text("Hello"), finish(), trio.Event()]) as (server, ports):
        _stop_at(ports, server, 4)
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "assistant Hello", "marker stopped interrupted"]


async def test_a_tool_that_returned_is_kept_however_the_stop_raced() -> None:
    async with serving(
        [
            *asks("c1"),
            finish("tool_use"),
        ]
    ) as (server, ports):
        ports.tools = {"c1": lambda: returns("3 hits")}
        _stop_at(ports, server, 7)
        await server.start("s1", "Hi", "k1")
        await settle()
        assert shape(server.read("s1")) == ["user Hi", "tool_call c1", "tool_result c1", "marker stopped interrupted"]


async def test_no_tool_starts_after_the_stop() -> None:
    async with serving([*asks("c1"), finish("tool_use")]) as (server, ports):
        _stop_at(ports, server, 6)
        await server.start("s1", "Hi", "k1")
        await settle()
        assert server.read("s1")[2].outcome == "not_started"


async def test_a_stop_in_mid_tool_closes_the_calls_with_what_is_known() -> None:
    async def hangs() -> str:
        await trio.sleep_forever()
        raise AssertionError

    async with serving([text("Look"), *asks("c1"), *asks("c2"), finish("tool_use")]) as (server, ports):
        ports.tools = {"c1": hangs, "c2": lambda: returns("3 hits")}
        await server.start("s1", "Hi", "k1")
        await settle()
        await server.stop("s1", "run1")
        await settle()
        results = {item.call_id: (item.state, item.outcome) for item in server.read("s1") if item.kind == "tool_result"}
        assert results == {"c1": ("aborted", "unknown"), "c2": ("completed", "")}


async def test_a_second_cancellation_in_the_last_batch_loses_nothing() -> None:
    async with serving([text("Hello"), trio.Event()]) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        control = server.writer.controls["run1"]
        ports.at_step = lambda _: control.scope.cancel()
        await server.stop("s1", "run1")
        await server.shutdown()
        assert shape(server.read("s1")) == ["user Hi", "assistant Hello interrupted", "marker stopped interrupted"]


async def test_a_rollback_leaves_the_marker_alone() -> None:
    async with serving([text("Hello"), trio.Event()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        await server.stop("s1", "run1", "rollback")
        await settle()
        assert shape(server.read("s1")) == ["marker rolled_back interrupted"]


async def test_a_cancellation_without_a_stop_writes_nothing() -> None:
    async with serving([text("Hello"), trio.Event()]) as (server, _ports):
        await server.start("s1", "Hi", "k1")
        await settle()
    assert kinds(server)[-1] == "message.delta"


# --- late completions


@asynccontextmanager
async def stopped_before_its_end(*script: Move) -> AsyncIterator[tuple[Server, LateCompletion]]:
    """A run that was stopped, its last batch held back until the block ends; gives its late-completion callback."""
    async with serving(script) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        gate = trio.Event()
        ports.gates[len(ports.steps) + 2] = gate  # the stop is the next operation, then comes the last batch
        await server.stop("s1", "run1")
        await settle()
        assert not server.state.runs["run1"].ended
        late = ports.late[0]
        assert late is not None
        yield server, late
        gate.set()
        await settle()
        assert shape(server.read("s1"))[-1] == "marker stopped interrupted"


async def test_a_late_completion_before_the_terminal_wins() -> None:
    async with stopped_before_its_end(text("Hel", "a"), trio.Event()) as (server, late):
        assert shape(server.read("s1"))[1] == "assistant Hel interrupted"
        await late(completion("Hello", "a"))
    assert shape(server.read("s1")) == ["user Hi", "assistant Hello", "marker stopped interrupted"]


async def test_late_completions_without_ids_belong_to_the_open_message_and_then_to_the_next() -> None:
    async with stopped_before_its_end(text("Hel"), trio.Event()) as (server, late):
        await late(completion("Hello"))
        await late(completion("World"))
    assert shape(server.read("s1"))[1:3] == ["assistant Hello", "assistant World"]


async def test_a_late_completion_of_a_message_without_a_chunk_opens_it() -> None:
    async with stopped_before_its_end(trio.Event()) as (server, late):
        await late(completion("Hello", "a"))
    assert shape(server.read("s1"))[1] == "assistant Hello"


async def test_a_late_completion_after_the_terminal_is_kept_for_audit_alone() -> None:
    async with serving([text("Hel", "a"), trio.Event()]) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        await server.stop("s1", "run1")
        await settle()
        late = ports.late[0]
        assert late is not None
        await late(completion("Hello", "a"))
        assert shape(server.read("s1"))[1] == "assistant Hel interrupted"
        assert kinds(server)[-1] == "terminal.rejected"


async def test_a_late_completion_of_a_finished_message_is_the_same_message() -> None:
    async with serving([text("Hello", "a"), finish(), trio.Event()]) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        late = ports.late[0]
        assert late is not None
        await late(completion("Hello", "a"))
        await late(completion("Hello", "z"))
        assert shape(server.read("s1")) == ["user Hi", "assistant Hello"]


async def test_a_completion_that_comes_when_the_server_has_gone_is_dropped() -> None:
    async with serving([text("Hel"), trio.Event()]) as (server, ports):
        await server.start("s1", "Hi", "k1")
        await settle()
        await server.shutdown()
        late = ports.late[0]
        assert late is not None
        await late(completion("Hello"))
        assert shape(server.read("s1"))[1] == "assistant Hel interrupted"
