"""Bugs of the zoo that tell something else than the rows say: each makes its mistake, and only there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from reference_fakes import FakePorts, Move, asks, finish, settle, shape, text

from journalsim.contract.items import Item
from journalsim.contract.model_call import ModelEvent
from journalsim_reference.adapter import make
from journalsim_reference.runner import ReferenceJournal
from journalsim_reference.server import StaleRevision

HELD = trio.Event
STOPPED = "marker stopped interrupted"
NOTE = "\n\n[Response interrupted by user]"


class Stage:
    """One buggy journal in a nursery of its own."""

    def __init__(self, journal: ReferenceJournal, ports: FakePorts) -> None:
        self.journal = journal
        self.ports = ports

    def items(self) -> tuple[Item, ...]:
        return self.journal.read("s1")

    def shown(self) -> list[str]:
        return shape(self.items())

    def given(self) -> list[str]:
        return shape(self.journal.context("s1"))

    async def start(self, words: str = "Hi") -> str:
        run = await self.journal.start("s1", words, f"key {words}")
        await settle()
        return run

    async def stopped(self, words: str = "Hi") -> str:
        run = await self.start(words)
        await self.journal.stop("s1", run)
        await settle()
        return run


async def returns(output: str) -> str:
    await trio.lowlevel.checkpoint()
    return output


@asynccontextmanager
async def staged(name: str, where: Path, *script: list[Move], **policies: str) -> AsyncIterator[Stage]:
    async with trio.open_nursery() as nursery:
        journal = make(f"bug-{name}")
        ports = FakePorts(nursery, script, **policies)
        await journal.setup(str(where), ports)
        yield Stage(journal, ports)
        nursery.cancel_scope.cancel()


CALLS: list[Move] = [*asks("c1"), *asks("c2"), finish("tool_use")]


# --- what is kept of a message


@pytest.mark.trio
@pytest.mark.parametrize(
    ("name", "shown", "given"),
    [
        ("screen-text-never-stored", [], []),
        ("partial-unknown-to-model", ["assistant Hello interrupted"], []),
        ("note-inside-the-text", [f"assistant Hello{NOTE} interrupted"], [f"assistant Hello{NOTE} interrupted"]),
    ],
)
async def test_an_interrupted_text_is_not_what_was_said(
    name: str, shown: list[str], given: list[str], tmp_path: Path
) -> None:
    async with staged(name, tmp_path, [text("Hello"), HELD()]) as stage:
        await stage.stopped()
        assert stage.shown() == ["user Hi", *shown, STOPPED]
        assert stage.given() == ["user Hi", *given, STOPPED]


@pytest.mark.trio
async def test_a_text_that_contains_an_earlier_one_is_dropped(tmp_path: Path) -> None:
    scripts: list[list[Move]] = [[text("OK"), finish()], [text("OK, so"), HELD()], [text("No"), HELD()]]
    async with staged("substring-taken-for-duplicate", tmp_path, *scripts) as stage:
        await stage.start()
        await stage.stopped("Ho")
        await stage.stopped("Hm")
        assert stage.shown()[3:] == ["user Ho", STOPPED, "user Hm", "assistant No interrupted", STOPPED]


@pytest.mark.trio
async def test_a_message_that_comes_while_a_run_unwinds_takes_its_text(tmp_path: Path) -> None:
    scripts: list[list[Move]] = [[text("One"), HELD()], [text("Two"), HELD()]]
    async with staged("abandoned-worker-loses-text", tmp_path, *scripts, busy="queue") as stage:
        run = await stage.start()
        gate = stage.ports.gates[len(stage.ports.steps) + 2] = trio.Event()  # the terminal
        await stage.journal.stop("s1", run)
        await settle()
        await stage.start("Ho")
        gate.set()
        await settle()
        assert stage.shown() == ["user Hi", STOPPED, "user Ho", "assistant Two open"]
        await stage.stopped("Ho")
        assert stage.shown()[2:] == ["user Ho", "assistant Two interrupted", STOPPED]


@pytest.mark.trio
async def test_thinking_is_stripped_unless_there_is_text(tmp_path: Path) -> None:
    thought = ModelEvent("reasoning", text="Hm")
    async with staged(
        "thinking-stripped-to-nothing", tmp_path, [thought, HELD()], [thought, text("A"), HELD()]
    ) as stage:
        await stage.stopped()
        await stage.stopped("Ho")
        kept = [(item.text, item.reasoning) for item in stage.items() if item.kind == "assistant"]
        assert kept == [("", ""), ("A", "Hm")]


@pytest.mark.trio
@pytest.mark.parametrize(
    ("name", "made_up"),
    [("empty-shell-kept", "assistant"), ("internal-data-as-answer", 'assistant {"run":"run1","state":"interrupted"}')],
)
async def test_a_run_that_said_nothing_has_an_answer(name: str, made_up: str, tmp_path: Path) -> None:
    async with staged(name, tmp_path, [HELD()], [text("One"), HELD()]) as stage:
        await stage.stopped()
        assert stage.shown() == stage.given() == ["user Hi", made_up, STOPPED]
        await stage.stopped("Ho")
        assert stage.shown()[3:] == ["user Ho", "assistant One interrupted", STOPPED]


@pytest.mark.trio
async def test_a_message_of_nothing_but_calls_is_stored_empty_and_twice(tmp_path: Path) -> None:
    async with staged("empty-copies-pile-up", tmp_path, CALLS) as stage:
        stage.ports.tools = {"c1": trio.sleep_forever, "c2": trio.sleep_forever}
        await stage.stopped()
        assert stage.shown()[:4] == ["user Hi", "assistant", "assistant", "tool_call c1"]
        assert stage.shown().count("assistant") == 2


# --- calls and markers


@pytest.mark.trio
async def test_what_a_call_leaves_stands_behind_the_marker(tmp_path: Path) -> None:
    async with staged("late-output-after-marker", tmp_path, CALLS) as stage:
        stage.ports.tools = {"c1": lambda: returns("3 hits"), "c2": trio.sleep_forever}
        await stage.stopped()
        rows = ["user Hi", "tool_call c1", "tool_call c2", "tool_result c1", STOPPED, "tool_result c2 aborted"]
        assert (stage.shown(), stage.given()) == (rows, rows)


@pytest.mark.trio
async def test_a_call_that_is_broken_off_stays_open(tmp_path: Path) -> None:
    async with staged("orphan-call-in-context", tmp_path, CALLS) as stage:
        stage.ports.tools = {"c1": lambda: returns("3 hits"), "c2": trio.sleep_forever}
        await stage.stopped()
        rows = ["user Hi", "tool_call c1", "tool_call c2", "tool_result c1", STOPPED]
        assert (stage.shown(), stage.given()) == (rows, rows)


@pytest.mark.trio
async def test_a_result_is_lost_beside_a_call_that_is_broken_off(tmp_path: Path) -> None:
    async with staged("parallel-results-lost", tmp_path, CALLS) as stage:
        stage.ports.tools = {"c1": lambda: returns("3 hits"), "c2": trio.sleep_forever}
        await stage.stopped()
        assert stage.shown()[3:5] == ["tool_result c1 aborted", "tool_result c2 aborted"]


@pytest.mark.trio
async def test_results_of_one_millisecond_share_an_id(tmp_path: Path) -> None:
    async with staged("same-millisecond-same-id", tmp_path, CALLS) as stage:
        stage.ports.tools = {"c1": trio.sleep_forever, "c2": trio.sleep_forever}
        await stage.stopped()
        assert [item.id for item in stage.items() if item.kind == "tool_result"] == ["result-0", "result-0"]


@pytest.mark.trio
async def test_a_run_that_had_answered_has_two_terminals(tmp_path: Path) -> None:
    async with staged("two-terminals-kept", tmp_path, [text("One"), finish(), HELD()]) as stage:
        await stage.stopped()
        assert stage.shown() == ["user Hi", "assistant One", "marker", STOPPED]
        assert stage.given() == ["user Hi", "assistant One", STOPPED]


@pytest.mark.trio
async def test_a_run_that_had_not_answered_has_one_terminal(tmp_path: Path) -> None:
    async with staged("two-terminals-kept", tmp_path, [text("One"), HELD()]) as stage:
        await stage.stopped()
        assert stage.shown() == ["user Hi", "assistant One interrupted", STOPPED]


@pytest.mark.trio
async def test_the_end_is_announced_before_it_is_written(tmp_path: Path) -> None:
    async with staged("end-announced-before-written", tmp_path, [text("One"), HELD()]) as stage:
        run = await stage.start()
        gate = stage.ports.gates[len(stage.ports.steps) + 2] = trio.Event()
        await stage.journal.stop("s1", run)
        await settle()
        assert stage.ports.frames[-1].kind == "run.ended"
        assert stage.shown() == ["user Hi", "assistant One interrupted"]
        gate.set()
        await settle()
        assert stage.shown()[-1] == STOPPED


# --- prompts and copies


@pytest.mark.trio
async def test_a_submit_that_is_repeated_runs_again_once_its_run_is_over(tmp_path: Path) -> None:
    async with staged("repeated-submit-runs-twice", tmp_path, [text("One"), HELD()]) as stage:
        run = await stage.start()
        assert await stage.start() == run
        await stage.journal.stop("s1", run)
        await settle()
        assert await stage.start() != run
        assert stage.shown().count("user Hi") == 2


@pytest.mark.trio
async def test_a_prompt_is_shown_with_the_first_words_of_its_answer(tmp_path: Path) -> None:
    word = HELD()
    async with staged("prompt-stored-with-the-answer", tmp_path, [word, text("One"), HELD()]) as stage:
        await stage.start()
        assert (stage.shown(), stage.given()) == ([], ["user Hi"])
        word.set()
        await settle()
        assert stage.shown() == ["user Hi", "assistant One open"]


@pytest.mark.trio
async def test_the_model_is_not_given_a_prompt_that_was_restored(tmp_path: Path) -> None:
    async with staged("restored-prompt-unknown-to-model", tmp_path, [text("One"), HELD()]) as stage:
        await stage.start()
        stage.journal.crash()
        await stage.journal.setup(str(tmp_path), stage.ports)
        assert "user Hi" in stage.shown()
        assert "user Hi" not in stage.given()


@pytest.mark.trio
async def test_a_finalizer_saves_over_the_next_answer(tmp_path: Path) -> None:
    async with staged(
        "finalizer-overwrites-next-turn", tmp_path, [text("One"), HELD()], [text("Two"), finish()]
    ) as stage:
        tidy = HELD()
        stage.ports.sleep = lambda duration_ns: tidy.wait()  # type: ignore[method-assign]  # the finalizer takes its time
        await stage.stopped()
        await stage.start("Ho")
        assert "assistant Two" in stage.shown()
        tidy.set()
        await settle()
        assert stage.shown()[3:] == ["user Ho", "marker"]


@pytest.mark.trio
async def test_a_compaction_saves_over_a_turn_that_came_meanwhile(tmp_path: Path) -> None:
    word = HELD()
    scripts: list[list[Move]] = [[text("One"), finish()], [word, text("All"), finish()], [text("Two"), finish()]]
    async with staged("stale-snapshot-saved", tmp_path, *scripts) as stage, trio.open_nursery() as nursery:
        await stage.start()
        nursery.start_soon(stage.journal.compact, "s1")
        await settle()
        await stage.start("Ho")
        word.set()
        await settle()
        assert stage.shown() == ["user Hi", "assistant One", "marker"]


@pytest.mark.trio
async def test_a_compaction_of_a_busy_session_is_refused(tmp_path: Path) -> None:
    async with staged("stale-snapshot-saved", tmp_path, [text("One"), HELD()]) as stage:
        await stage.start()
        with pytest.raises(StaleRevision):
            await stage.journal.compact("s1")
