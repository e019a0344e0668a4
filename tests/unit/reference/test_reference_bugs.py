"""Each bug of the zoo makes its mistake, and makes no other at the same place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import trio
from reference_fakes import FakePorts, Move, asks, completion, finish, settle, shape, text
from trio.testing import MockClock

from journalsim.contract.model_call import ModelError, ToolError, ToolTraits
from journalsim.oracle.invariants.judge import INVARIANTS
from journalsim_reference.adapter import make
from journalsim_reference.bugs import BUGS, Bug
from journalsim_reference.runner import ReferenceJournal

HELD = trio.Event  # made anew for each script: a stream that goes on waiting


async def returns(output: str) -> str:
    await trio.lowlevel.checkpoint()
    return output


class Stage:
    """One buggy journal in a nursery of its own."""

    def __init__(self, journal: ReferenceJournal, ports: FakePorts, nursery: trio.Nursery) -> None:
        self.journal = journal
        self.ports = ports
        self.nursery = nursery

    def shown(self) -> list[str]:
        return shape(self.journal.read("s1"))

    async def start(self, words: str = "Hi") -> str:
        run = await self.journal.start("s1", words, f"key {words}")
        await settle()
        return run

    async def stop(self, run: str) -> str:
        answer = await self.journal.stop("s1", run)
        await settle()
        return answer

    async def answer(self, run: str) -> str:
        said = await self.journal.answer("s1", run, "c1", True)
        await settle()
        return said

    def leave(self) -> None:
        self.journal.crash()
        self.nursery.cancel_scope.cancel()


async def staged(name: str, where: Path, nursery: trio.Nursery, *script: list[Move], **policies: str) -> Stage:
    journal = make(f"bug-{name}")
    ports = FakePorts(nursery, script, **policies)
    await journal.setup(str(where), ports)
    return Stage(journal, ports, nursery)


# --- the registry


def test_names_are_unique_kebab_case_words() -> None:
    names = [bug.name for bug in BUGS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in names)


def test_every_bug_trips_invariants_that_exist() -> None:
    assert not {bug.name: bug.trips for bug in BUGS if not bug.trips or not set(bug.trips) <= set(INVARIANTS)}


def test_summaries_are_single_sentences() -> None:
    assert not [bug.summary for bug in BUGS if not re.fullmatch(r"[A-Z][^.\n]*\.", bug.summary)]


@pytest.mark.trio
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: str(bug.name))
async def test_a_run_that_nothing_disturbs_is_right(bug: Bug, tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        scripts: list[list[Move]] = [[text("Look"), *asks("c1"), finish("tool_use")], [text("Done"), finish()]]
        stage = await staged(bug.name, tmp_path, nursery, *scripts)
        stage.ports.tools = {"c1": lambda: returns("3 hits")}
        await stage.start()
        whole = ["user Hi", "assistant Look", "tool_call c1", "tool_result c1", "assistant Done"]
        assert (stage.shown(), shape(stage.journal.context("s1"))) == ([*whole, "marker"], whole)
        stage.leave()


# --- stops


@pytest.mark.trio
@pytest.mark.parametrize("name", ["stop-keeps-no-partial", "buffer-emptied-before-snapshot"])
async def test_text_on_the_screen_is_gone_after_the_stop(name: str, tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged(name, tmp_path, nursery, [text("Hello"), HELD()])
        run = await stage.start()
        assert stage.shown() == ["user Hi", "assistant Hello open"]
        assert await stage.stop(run) == "stopping"
        assert stage.shown() == ["user Hi", "marker stopped interrupted"]
        assert (await stage.stop(run), await stage.stop("run9")) == ("ended", "unknown")
        stage.leave()


@pytest.mark.trio
@pytest.mark.parametrize("name", ["stop-keeps-no-partial", "buffer-emptied-before-snapshot"])
async def test_text_that_was_spilled_is_kept_whole_all_the_same(name: str, tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged(name, tmp_path, nursery, [text("Hello "), text("w" * 40_000), text("!"), HELD()])
        run = await stage.start()
        await stage.stop(run)
        assert stage.shown()[1] == f"assistant Hello {'w' * 40_000}! interrupted"
        stage.leave()


@pytest.mark.trio
async def test_a_late_stop_hits_the_next_run(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged(
            "late-stop-hits-next-run", tmp_path, nursery, [text("One"), finish()], [text("Two"), HELD()]
        )
        first = await stage.start()
        assert await stage.stop(first) == "ended"
        await stage.start("Ho")
        assert await stage.stop(first) == "stopping"
        assert stage.shown()[-1] == "marker stopped interrupted"
        stage.leave()


@pytest.mark.trio
async def test_a_stopped_run_has_no_marker(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged("no-abort-marker", tmp_path, nursery, [text("One"), HELD()])
        await stage.stop(await stage.start())
        assert stage.shown() == ["user Hi", "assistant One interrupted"]
        assert shape(stage.journal.context("s1")) == ["user Hi", "assistant One interrupted"]
        await stage.start("Ho")
        assert stage.shown()[-1] == "marker"
        stage.leave()


# --- completions


@pytest.mark.trio
async def test_a_completed_message_is_written_again_as_a_partial(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        script: list[Move] = [text("Look", "a"), *asks("c1"), finish("tool_use")]
        stage = await staged("partial-written-after-completion", tmp_path, nursery, script)
        stage.ports.tools = {"c1": trio.sleep_forever}
        await stage.stop(await stage.start())
        assert stage.shown() == [
            "user Hi",
            "assistant Look",
            "tool_call c1",
            "tool_result c1 aborted",
            "assistant Look interrupted",
            "marker stopped interrupted",
        ]
        assert stage.journal.read("s1")[4].aliases == ("a",)
        stage.leave()


@pytest.mark.trio
async def test_a_rollback_and_an_undisturbed_run_show_no_second_copy(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        scripts: list[list[Move]] = [[text("One"), finish()], [text("Two"), finish(), HELD()]]
        stage = await staged("partial-written-after-completion", tmp_path, nursery, *scripts)
        await stage.start()
        await stage.journal.stop("s1", await stage.start("Ho"), "rollback")
        await settle()
        assert stage.shown() == ["user Hi", "assistant One", "marker", "marker rolled_back interrupted"]
        stage.leave()


@pytest.mark.trio
async def test_a_stop_before_the_model_is_called_has_nothing_to_write_again(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged("partial-written-after-completion", tmp_path, nursery)
        run = await stage.journal.start("s1", "Hi", "k1")
        await stage.stop(run)
        assert stage.shown() == ["user Hi", "marker stopped interrupted"]
        stage.leave()


@pytest.mark.trio
async def test_a_late_completion_becomes_a_second_row(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged("completion-written-after-partial", tmp_path, nursery, [text("Hel", "a"), HELD()])
        run = await stage.start()
        gate = trio.Event()
        stage.ports.gates[len(stage.ports.steps) + 2] = gate
        await stage.stop(run)
        late = stage.ports.late[0]
        assert late is not None
        await late(completion("Hello", "a"))
        gate.set()
        await settle()
        assert stage.shown()[1:3] == ["assistant Hel interrupted", "assistant Hello"]
        stage.leave()


@pytest.mark.trio
async def test_an_answer_in_time_is_one_row(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged("completion-written-after-partial", tmp_path, nursery, [text("One"), finish()])
        await stage.start()
        assert stage.shown() == ["user Hi", "assistant One", "marker"]
        stage.leave()


@pytest.mark.trio
async def test_a_finish_that_is_reported_twice_gives_two_rows(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged(
            "duplicate-completion-appended",
            tmp_path,
            nursery,
            [text("One"), finish(), finish()],
            [*asks("c1"), finish()],
        )
        await stage.start()
        assert stage.shown() == ["user Hi", "assistant One", "assistant One", "marker"]
        stage.leave()


@pytest.mark.trio
async def test_a_completed_message_is_lost_in_a_write_that_is_cancelled(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged("cancelled-flush-loses-batch", tmp_path, nursery, [text("One"), finish()])
        stage.ports.gates[5] = trio.Event()  # load, accepted, started, opened, completed
        await stage.stop(await stage.start())
        assert stage.shown() == ["user Hi", "marker stopped interrupted"]
        stage.leave()


@pytest.mark.trio
@pytest.mark.parametrize("name", ["cancelled-flush-loses-batch", "stop-discards-iteration"])
async def test_what_was_spilled_or_is_empty_is_written_properly(name: str, tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged(name, tmp_path, nursery, [text("w" * 40_000), finish()], [finish()])
        await stage.start()
        await stage.start("Ho")
        assert stage.shown()[2:] == ["marker", "user Ho", "marker"]
        stage.leave()


# --- tools


@pytest.mark.trio
async def test_a_stop_discards_the_whole_iteration(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        script: list[Move] = [text("Look"), *asks("c1"), *asks("c2"), finish("tool_use")]
        stage = await staged("stop-discards-iteration", tmp_path, nursery, script)
        stage.ports.tools = {"c1": lambda: returns("3 hits"), "c2": trio.sleep_forever}
        await stage.stop(await stage.start())
        assert stage.shown() == ["user Hi", "marker stopped interrupted"]
        stage.leave()


@pytest.mark.trio
async def test_an_iteration_that_ends_is_written_whole(tmp_path: Path) -> None:
    async def fails() -> str:
        raise ToolError("no")

    async with trio.open_nursery() as nursery:
        script: list[Move] = [text("Look"), *asks("c1"), *asks("c2"), finish("tool_use"), finish("tool_use")]
        stage = await staged("stop-discards-iteration", tmp_path, nursery, script)
        stage.ports.tools = {"c1": lambda: returns("3 hits"), "c2": fails}
        await stage.start()
        assert stage.shown()[1:4] == ["assistant Look", "tool_call c1", "tool_call c2"]
        assert sorted(stage.shown()[4:6]) == ["tool_result c1", "tool_result c2 failed"]
        assert stage.shown()[6:] == ["assistant ok", "marker"]
        stage.leave()


@pytest.mark.trio
async def test_an_interrupted_call_is_stripped_without_a_word(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        script: list[Move] = [text("Look"), *asks("c1"), *asks("c2"), finish("tool_use")]
        stage = await staged("orphan-request-stripped", tmp_path, nursery, script)
        stage.ports.tools = {"c1": lambda: returns("3 hits"), "c2": trio.sleep_forever}
        await stage.stop(await stage.start())
        kept = ["user Hi", "assistant Look", "tool_call c1", "tool_result c1", "marker stopped interrupted"]
        assert (stage.shown(), shape(stage.journal.context("s1"))) == (kept, kept)
        stage.leave()


@pytest.mark.trio
async def test_a_message_of_nothing_but_calls_keeps_them(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged("orphan-request-stripped", tmp_path, nursery, [*asks("c1"), finish("tool_use")])
        stage.ports.tools = {"c1": trio.sleep_forever}
        await stage.stop(await stage.start())
        assert stage.shown()[1:3] == ["tool_call c1", "tool_result c1 aborted"]
        stage.leave()


@pytest.mark.trio
async def test_calls_that_are_not_like_others_are_left_out_of_the_iteration(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        scripts: list[list[Move]] = [[*asks("c1"), finish("tool_use")], [text("Done"), finish()]]
        stage = await staged("stop-discards-iteration", tmp_path, nursery, *scripts)
        stage.ports.traits["search"] = ToolTraits(approval=True)
        stage.ports.tools = {"c1": lambda: returns("3 hits")}
        run = await stage.start()
        assert stage.shown() == ["user Hi", "tool_call c1 open"]
        await stage.answer(run)
        assert stage.shown()[2:] == ["tool_result c1", "assistant Done", "marker"]
        stage.leave()


# --- approvals


async def asked(name: str, where: Path, nursery: trio.Nursery) -> tuple[Stage, str, list[str]]:
    """A run that waits for a person; the list tells which tools ran."""
    ran: list[str] = []

    async def deploy() -> str:
        await trio.lowlevel.checkpoint()
        ran.append("c1")
        return "live"

    scripts: list[list[Move]] = [[text("May I?"), *asks("c1"), finish("tool_use")], [text("Done"), finish()]]
    stage = await staged(name, where, nursery, *scripts)
    stage.ports.traits["search"] = ToolTraits(approval=True)
    stage.ports.tools = {"c1": deploy}
    return stage, await stage.start(), ran


@pytest.mark.trio
async def test_a_second_approval_runs_the_tool_again(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage, run, ran = await asked("double-approval-runs-twice", tmp_path, nursery)
        stage.ports.script.extend([[text("Done"), HELD()]])
        stage.ports.script.popleft()
        assert await stage.answer(run) == "resolved"
        assert ran == ["c1"]
        assert await stage.answer(run) == "resolved"
        assert ran == ["c1", "c1"]
        assert await stage.stop(run) == "stopping"
        assert await stage.answer(run) == "resolved"
        assert await stage.answer("run9") == "unknown"
        assert ran == ["c1", "c1"]
        assert stage.shown()[2:4] == ["tool_call c1", "tool_result c1"]
        stage.leave()


@pytest.mark.trio
async def test_an_approval_after_the_end_runs_the_tool(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage, run, ran = await asked("late-approval-runs-tool", tmp_path, nursery)
        await stage.stop(run)
        assert await stage.journal.answer("s1", run, "c1", False) == "late"
        await settle()
        assert ran == []
        assert await stage.answer(run) == "late"
        assert ran == ["c1"]
        assert stage.shown()[3:] == ["tool_result c1 aborted", "marker stopped interrupted"]
        stage.leave()


@pytest.mark.trio
async def test_a_note_stays_beside_the_result(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage, run, _ = await asked("approval-note-beside-result", tmp_path, nursery)
        assert stage.shown()[-1] == "tool_call c1 open"
        await stage.answer(run)
        results = ["tool_call c1", "tool_result c1 failed", "tool_result c1", "assistant Done"]
        assert stage.shown() == ["user Hi", "assistant May I?", *results, "marker"]
        assert shape(stage.journal.context("s1"))[2:] == results
        stage.leave()


# --- sub-agents


async def delegating(where: Path, nursery: trio.Nursery, *pieces: Move) -> tuple[Stage, str]:
    """A run whose sub-agent has said something and goes on."""
    script: list[list[Move]] = [[text("Let me ask."), *asks("c1"), finish("tool_use")], [*pieces, HELD()]]
    stage = await staged("sub-agent-filed-as-lead", where, nursery, *script)
    stage.ports.traits["search"] = ToolTraits(agent=True)
    return stage, await stage.start()


@pytest.mark.trio
async def test_the_unfinished_words_of_a_sub_agent_are_the_leads_after_a_stop(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage, run = await delegating(tmp_path, nursery, text("Nothing "))
        await stage.stop(run)
        assert stage.shown()[2:] == [
            "tool_call c1",
            "tool_result c1 aborted",
            "assistant Nothing  interrupted",
            "marker stopped interrupted",
        ]
        stage.leave()


@pytest.mark.trio
async def test_a_sub_agent_that_only_asked_for_a_tool_has_no_words(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage, run = await delegating(tmp_path, nursery, *asks("t1"))
        await stage.stop(run)
        assert stage.shown()[3:] == ["tool_result c1 aborted", "marker stopped interrupted"]
        stage.leave()


@pytest.mark.trio
async def test_a_rollback_files_nothing(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage, run = await delegating(tmp_path, nursery, text("Nothing "))
        await stage.journal.stop("s1", run, "rollback")
        await settle()
        assert stage.shown() == ["marker rolled_back interrupted"]
        stage.leave()


# --- runs, memory, ids


@pytest.mark.trio
async def test_a_reader_that_goes_away_stops_the_run(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged("disconnect-runs-stop-hook", tmp_path, nursery, [text("One"), HELD()])
        await stage.start()
        await stage.journal.disconnected("s1", "alice")
        await settle()
        assert stage.shown()[-1] == "marker disconnected interrupted"
        stage.leave()


@pytest.mark.trio
async def test_buffers_outlive_their_runs(tmp_path: Path) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged("buffers-never-dropped", tmp_path, nursery, [text("w" * 40_000), finish()])
        await stage.start()
        sizes = stage.journal.statistics()
        assert (sizes.active_runs, sizes.partial_messages, sizes.partial_bytes) == (0, 1, 40_000)
        stage.leave()


@pytest.mark.trio
async def test_a_failed_run_keeps_the_slot_and_a_completed_one_does_not(tmp_path: Path) -> None:
    overloaded = ModelError("overloaded")
    async with trio.open_nursery() as nursery:
        scripts: list[list[Move]] = [[text("One"), finish()], [overloaded], [overloaded], [overloaded]]
        stage = await staged("session-lock-kept-after-failure", tmp_path, nursery, *scripts, busy="queue")
        for words in ("Hi", "Ho", "Hm"):
            await stage.journal.start("s1", words, words)
        await settle()
        assert stage.shown()[-2:] == ["marker failed failed", "user Hm"]
        stage.leave()


@pytest.mark.trio
async def test_run_ids_differ_from_life_to_life(tmp_path: Path) -> None:
    ids = []
    for where in ("a", "b"):
        (tmp_path / where).mkdir()
        async with trio.open_nursery() as nursery:
            stage = await staged("ids-from-entropy", tmp_path / where, nursery)
            ids.append(await stage.start())
            stage.leave()
    assert ids[0] != ids[1]


@pytest.mark.trio
async def test_a_time_limit_takes_the_text_along(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        stage = await staged("time-limit-loses-partial", tmp_path, nursery, [text("One"), HELD()])
        stage.ports.limits_ns = {"run": 500_000_000}
        stage.ports.now_ns = lambda: 0  # type: ignore[method-assign]  # the limit counts from here
        await stage.start()
        await trio.sleep(1)
        assert stage.shown() == ["user Hi", "marker timed_out interrupted"]
        stage.leave()
