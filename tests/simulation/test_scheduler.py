"""The scheduler owns order, time, cancellation and the end of a case."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import scheduler_programs
import trio
from scheduler_programs import MS, STRATEGIES, play_all

from journalsim.case import Delay
from journalsim.engine.entries import Entry, Killed, Strategy
from journalsim.engine.hosting import Host, host
from journalsim.engine.scheduler import Scheduler
from journalsim.engine.schedules import CountChoices, Uniform

SEEDS = range(200)
HASH_SEEDS = ("0", "1", "7", "42")


class Last(Strategy):
    """Chooses the entry that came last."""

    def pick(self, ready: list[Entry]) -> int:
        return len(ready) - 1


def play(
    body: Callable[[Scheduler, trio.Nursery], Awaitable[Any]],
    strategy: Strategy | None = None,
    delays: tuple[Delay, ...] = (),
) -> Scheduler:
    """Runs one case and returns its scheduler, which was told to finish."""

    async def search(it: Host) -> Scheduler:
        scheduler = it.next_case()
        scheduler.reset(strategy, delays)
        async with trio.open_nursery() as nursery:
            await body(scheduler, nursery)
            scheduler.finish()
            nursery.cancel_scope.cancel()
        return scheduler

    return host(search)


async def sleep(scheduler: Scheduler, duration_ns: int) -> None:
    entry = scheduler.waiter()
    scheduler.after(duration_ns, "alarm", lambda: scheduler.wake(entry))
    await scheduler.wait(entry)


async def wait_for_ever(scheduler: Scheduler) -> None:
    with suppress(Killed):
        await scheduler.wait(scheduler.waiter())


async def walk(scheduler: Scheduler, name: str, log: list[str], steps: int = 2) -> None:
    for number in range(1, steps + 1):
        await scheduler.point()
        log.append(f"{name}{number}")


# --- order


def test_what_is_ready_happens_first_in_first_out() -> None:
    log: list[str] = []

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        scheduler.soon("s", lambda: log.append("s"))
        nursery.start_soon(walk, scheduler, "a", log)
        nursery.start_soon(walk, scheduler, "b", log)
        scheduler.soon("t", lambda: log.append("t"))
        await scheduler.wait_quiet(MS)

    play(body)
    assert log == ["s", "t", "a1", "b1", "a2", "b2"]


def test_equal_instants_keep_the_order_of_the_calls() -> None:
    log: list[str] = []

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        scheduler.after(2 * MS, "late", lambda: log.append("late"))
        for name in "abc":
            scheduler.after(MS, name, partial(log.append, name))
        await scheduler.wait_quiet(10 * MS)

    play(body)
    assert log == ["a", "b", "c", "late"]


def test_the_strategy_chooses_among_sources_and_tasks_alike() -> None:
    log: list[str] = []

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        nursery.start_soon(walk, scheduler, "a", log)
        nursery.start_soon(walk, scheduler, "b", log)
        scheduler.soon("s", lambda: log.append("s"))
        await scheduler.wait_quiet(MS)

    scheduler = play(body, Last())
    assert log == ["a1", "a2", "b1", "b2", "s"]
    assert Delay("s", 0, 4) in scheduler.recorded


def test_the_strategy_chooses_among_tasks_that_trio_woke() -> None:
    def order(strategy: Strategy | None) -> str:
        log: list[str] = []

        async def task(name: str) -> None:
            log.append(name)

        async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
            async with trio.open_nursery() as inner:
                for name in "abc":
                    inner.start_soon(task, name, name=name)

        play(body, strategy)
        return "".join(log)

    assert order(None) == "abc"
    assert order(Last()) == "cba"
    assert len({order(Uniform(seed)) for seed in range(30)}) == 6


def test_tasks_of_one_name_have_lanes_of_their_own() -> None:
    lanes: list[str] = []

    async def task(scheduler: Scheduler) -> None:
        await scheduler.point()
        lanes.append(scheduler.lane(trio.lowlevel.current_task()))

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        for _ in range(3):
            nursery.start_soon(task, scheduler, name="task")
        await scheduler.wait_quiet(MS)

    play(body)
    assert lanes == ["task", "task.2", "task.3"]


def test_an_action_is_placed_before_the_step_of_its_number() -> None:
    log: list[str] = []

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        scheduler.placed[2] = [lambda: log.append("placed")]
        for name in "abc":
            scheduler.soon(name, partial(log.append, name))
        await scheduler.wait_quiet(MS)

    play(body)
    assert log == ["a", "b", "placed", "c"]


# --- the schedule as delays


@pytest.mark.parametrize(("name", "make"), STRATEGIES, ids=[name for name, _ in STRATEGIES])
def test_recorded_delays_replay_to_the_same_log(name: str, make: Callable[[int], Strategy]) -> None:
    """Whatever a strategy chose among points, sources, native wakes, timeouts and cancels happens again."""
    explored = play_all([(seed, make(seed), ()) for seed in SEEDS])
    replayed = play_all([(seed, None, played.recorded) for seed, played in enumerate(explored)])
    assert replayed == explored
    assert sum(len(played.recorded) for played in explored) > len(SEEDS)


def test_first_in_first_out_records_nothing() -> None:
    assert not any(played.recorded for played in play_all([(seed, None, ()) for seed in range(20)]))


def test_counting_choices_changes_no_choice() -> None:
    counters = [CountChoices() for _ in range(20)]
    plain = play_all([(seed, None, ()) for seed in range(20)])
    assert play_all([(seed, counters[seed], ()) for seed in range(20)]) == plain
    assert all(counter.choices for counter in counters)


def test_an_entry_that_was_passed_over_and_never_happened_is_recorded() -> None:
    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        entry = scheduler.waiter()
        scheduler.soon("never", lambda: None)
        scheduler.soon("wakes", lambda: scheduler.wake(entry))
        await scheduler.wait(entry)

    assert play(body, Last()).recorded == [Delay("never", 0, 2)]


def test_a_delay_counts_turns_of_others_and_is_void_when_nothing_else_is_ready() -> None:
    log: list[str] = []

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        for name in "abcd":
            scheduler.soon(name, partial(log.append, name))
        await scheduler.wait_quiet(MS)

    scheduler = play(body, delays=(Delay("a", 0, 2), Delay("d", 0, 9)))
    assert log == ["b", "c", "a", "d"]
    assert scheduler.recorded == [Delay("a", 0, 2)]


def test_fresh_processes_with_different_hash_seeds_do_the_same() -> None:
    """trio keeps the tasks of a cancel scope in a set and breaks ties of deadlines by address: neither shows."""
    script = Path(scheduler_programs.__file__)
    processes = [
        subprocess.Popen(
            [sys.executable, str(script)], env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, text=True
        )
        for seed in HASH_SEEDS
    ]
    digests = [process.communicate()[0].strip() for process in processes]
    assert len(digests[0]) == 64
    assert digests == [digests[0]] * len(HASH_SEEDS)


# --- time


def test_move_on_after_takes_exactly_its_time() -> None:
    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        with trio.move_on_after(5):
            await trio.sleep_forever()
        assert trio.current_time() == 5.0
        assert scheduler.now_ns == 5_000 * MS

    assert play(body).now_ns == 5_000 * MS


def test_deadlines_a_rounding_error_apart_are_one_instant() -> None:
    """The strategy chooses between tasks whose timeouts differ in the last bit only."""
    log: list[str] = []

    async def time_out(name: str, deadline: float) -> None:
        with trio.CancelScope(deadline=deadline):
            await trio.sleep_forever()
        log.append(name)
        while trio.current_time() < deadline:
            await trio.sleep(deadline - trio.current_time())

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        nursery.start_soon(time_out, "a", 0.1 + 0.2)
        nursery.start_soon(time_out, "b", 0.3)
        scheduler.after(300 * MS, "source", lambda: log.append("source"))
        await scheduler.wait_quiet(1_000 * MS)

    assert 0.1 + 0.2 > 0.3
    assert play(body).now_ns == 300 * MS
    assert log == ["source", "a", "b"]
    log.clear()
    play(body, Last())
    assert log == ["source", "b", "a"]


def test_a_deadline_in_the_infinite_past_is_due_now() -> None:
    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        with trio.CancelScope(deadline=-float("inf")) as scope:
            await trio.sleep_forever()
        assert scope.cancelled_caught

    assert play(body).now_ns == 0


def test_time_does_not_pass_a_timeout_while_a_task_hands_over() -> None:
    """A source that is ready first must not hide the next deadline from the jump after it."""
    log: list[tuple[str, int]] = []

    async def time_out(scheduler: Scheduler) -> None:
        with trio.move_on_after(1):
            await trio.sleep_forever()
        log.append(("timeout", scheduler.now_ns))

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        nursery.start_soon(time_out, scheduler)
        await scheduler.point()
        await scheduler.point()
        scheduler.soon("idle", lambda: None)
        await sleep(scheduler, 5_000 * MS)
        log.append(("woken", scheduler.now_ns))

    play(body)
    assert log == [("timeout", 1_000 * MS), ("woken", 5_000 * MS)]


def test_a_cancelled_timer_never_steps() -> None:
    log: list[str] = []

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        timers = [scheduler.after(MS, name, partial(log.append, name)) for name in "ab"]
        timers[0].cancel()
        await scheduler.wait_quiet(10 * MS)
        timers[1].cancel()

    play(body)
    assert log == ["b"]


# --- waiting


def test_a_wake_before_the_wait_is_not_lost() -> None:
    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        entry = scheduler.waiter()
        scheduler.wake(entry)
        await scheduler.wait(entry)
        late = scheduler.waiter()
        scheduler.wake(late)
        await scheduler.point()
        await scheduler.wait(late)

    assert play(body).now_ns == 0


def test_a_wake_after_the_wait_ends_no_later_wait() -> None:
    """The alarm of a sleep that was cancelled does not cut the next one short."""
    ended: list[int] = []

    async def sleeper(scheduler: Scheduler, scope: trio.CancelScope) -> None:
        with scope:
            await sleep(scheduler, 3 * MS)
        await sleep(scheduler, 10 * MS)
        ended.append(scheduler.now_ns)

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        scope = trio.CancelScope()
        nursery.start_soon(sleeper, scheduler, scope)
        scheduler.after(MS, "stop", lambda: scheduler.cancel(scope))
        await scheduler.wait_quiet(100 * MS)

    play(body)
    assert ended == [11 * MS]


def test_a_deadlock_ends_the_wait_for_quiet() -> None:
    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        nursery.start_soon(trio.sleep_forever)
        nursery.start_soon(wait_for_ever, scheduler)
        await scheduler.wait_quiet(3_600_000 * MS)

    scheduler = play(body)
    assert (scheduler.now_ns, scheduler.over) == (0, None)


def test_the_wait_for_quiet_is_bounded_in_virtual_time() -> None:
    """Even by a task that never gives trio a turn."""

    async def busy(scheduler: Scheduler) -> None:
        with suppress(Killed):
            while True:
                await sleep(scheduler, 10 * MS)

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        nursery.start_soon(busy, scheduler)
        await scheduler.wait_quiet(1_000 * MS)

    scheduler = play(body)
    assert (scheduler.now_ns, scheduler.over) == (1_000 * MS, None)


def test_too_many_steps_end_the_wait_for_quiet() -> None:
    async def spin(scheduler: Scheduler) -> None:
        with suppress(Killed):
            while True:
                await scheduler.point()

    overs: list[str | None] = []

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        scheduler.steps_max = 500
        nursery.start_soon(spin, scheduler)
        await scheduler.wait_quiet(MS)
        overs.append(scheduler.over)

    assert play(body).steps < 510
    assert overs == ["steps"]


# --- cancellation


def test_tasks_cancelled_together_run_by_age() -> None:
    log: list[int] = []

    async def task(scheduler: Scheduler, number: int) -> None:
        await scheduler.point()
        try:
            await wait_for_ever(scheduler)
        finally:
            log.append(number)

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as inner:
                for number in range(20):
                    inner.start_soon(task, scheduler, number)
                scheduler.after(MS, "stop", lambda: scheduler.cancel(scope))

    play(body)
    assert log == list(range(20))


def test_a_wait_in_a_cancelled_scope_takes_no_time() -> None:
    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        with trio.CancelScope() as scope:
            scope.cancel()
            await sleep(scheduler, 5 * MS)
        assert scope.cancelled_caught
        assert scheduler.now_ns == 0

    assert play(body).closing


def test_a_source_cancels_the_task_that_is_handing_over() -> None:
    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        with trio.CancelScope() as scope:
            scheduler.after(MS, "stop", lambda: scheduler.cancel(scope))
            await sleep(scheduler, 5 * MS)
        assert scheduler.now_ns == MS

    assert play(body).now_ns == MS


def test_a_point_delivers_a_cancellation() -> None:
    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        with trio.CancelScope() as scope:
            scope.cancel()
            await scheduler.point()
        assert scope.cancelled_caught

    assert play(body).steps == 1


# --- death


def test_a_kill_reaches_a_task_behind_a_shield() -> None:
    log: list[str] = []

    async def shielded(scheduler: Scheduler) -> None:
        with trio.CancelScope(shield=True):
            try:
                await scheduler.wait(scheduler.waiter())
            except Killed:
                log.append("killed")

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        tasks: list[trio.lowlevel.Task] = []
        nursery.start_soon(shielded, scheduler)
        await scheduler.wait_quiet(MS)
        tasks += nursery.child_tasks
        assert scheduler.kill(tasks[0])
        await scheduler.wait_quiet(MS)
        assert not scheduler.kill(tasks[0])

    play(body)
    assert log == ["killed"]


@pytest.mark.parametrize("where", ["point", "wait"])
def test_a_kill_reaches_the_task_that_is_handing_over(where: str) -> None:
    log: list[int] = []

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        me = trio.lowlevel.current_task()
        kill = (lambda: log.append(scheduler.kill(me))) if where == "wait" else (lambda: None)
        scheduler.after(MS, "crash", kill)
        if where == "point":
            scheduler.soon("crash", lambda: log.append(scheduler.kill(me)))
        with trio.CancelScope(shield=True):
            try:
                await (scheduler.point() if where == "point" else sleep(scheduler, 5 * MS))
            except Killed:
                log.append(scheduler.now_ns)

    play(body)
    assert log == [True, 0 if where == "point" else MS]


def test_a_task_that_waits_natively_is_not_ours_to_kill() -> None:
    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        nursery.start_soon(trio.sleep_forever)
        await scheduler.wait_quiet(MS)
        assert [scheduler.kill(task) for task in nursery.child_tasks] == [False]

    assert play(body).closing


def test_the_end_of_a_case_empties_its_nursery() -> None:
    """Whatever its tasks do: at a point, in a wait, in a native wait, behind a shield, or about to reach a point."""
    log: list[str] = []

    async def at_points(scheduler: Scheduler) -> None:
        with suppress(Killed):
            while True:
                await sleep(scheduler, MS)
                await scheduler.point()

    async def behind_a_shield(scheduler: Scheduler) -> None:
        with trio.CancelScope(shield=True):
            await wait_for_ever(scheduler)

    async def about_to(scheduler: Scheduler) -> None:
        try:
            await trio.sleep_forever()
        finally:
            with suppress(Killed):
                await scheduler.point()
                log.append("lived on")

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        for task in (at_points, behind_a_shield, about_to, wait_for_ever):
            nursery.start_soon(task, scheduler)
        scheduler.after(5 * MS, "source", lambda: log.append("in time"))
        scheduler.after(50 * MS, "source", lambda: log.append("too late"))
        await scheduler.wait_quiet(20 * MS)

    play(body)
    assert log == ["in time"]


def test_the_next_case_starts_from_nothing() -> None:
    async def search(it: Host) -> list[tuple[int, int]]:
        ends = []
        for _ in range(3):
            scheduler = it.next_case()
            scheduler.reset()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(sleep, scheduler, 7 * MS)
            ends.append((scheduler.now_ns, scheduler.steps))
        return ends

    assert host(search) == [(7 * MS, 2)] * 3


def test_collections_between_cases_look_at_what_cases_left_only() -> None:
    """The collector is off inside a run, and everything older is out of its sight until the run ends."""
    seen: list[tuple[bool, bool]] = []

    async def search(it: Host) -> None:
        seen.append((gc.isenabled(), gc.get_freeze_count() > 1_000))

    before = gc.isenabled(), gc.get_freeze_count()
    host(search)
    assert seen == [(False, True)]
    assert (gc.isenabled(), gc.get_freeze_count()) == before


def test_a_host_leaves_frozen_what_others_froze() -> None:
    async def search(it: Host) -> int:
        return gc.get_freeze_count()

    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        assert host(search) == frozen
        assert gc.get_freeze_count() == frozen
    finally:
        gc.unfreeze()


def test_what_a_killed_task_asks_for_on_its_way_out_does_not_come() -> None:
    """The stream of a model that is closed by the end of the case reports nothing late."""
    came: list[str] = []

    async def body(scheduler: Scheduler, nursery: trio.Nursery) -> None:
        scheduler.closing = True
        scheduler.after(0, "model", lambda: came.append("late"))
        scheduler.closing = False
        scheduler.after(0, "model", lambda: came.append("soon"))
        await sleep(scheduler, 10)

    play(body)
    assert came == ["soon"]
