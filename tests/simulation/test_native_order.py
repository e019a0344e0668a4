"""The private switch: what it needs of trio, and that it is put back.

When a test here fails after an upgrade of trio, look at ``trio/_core/_run.py``
for the new names and change ``sim/journalsim/engine/native_order.py``, nothing else.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
import trio
import trio._core._run as _run

from journalsim.engine.native_order import native_order
from journalsim.engine.scheduler import Scheduler, next_deadline


def hosted(main: Any, scheduler: Scheduler) -> Any:
    with native_order(scheduler):
        return trio.run(main, clock=scheduler, instruments=[scheduler])


def switches() -> tuple[object, ...]:
    return _run._ALLOW_DETERMINISTIC_SCHEDULING, _run._r


def test_trio_still_has_the_switch_that_its_testing_plugins_set() -> None:
    assert isinstance(_run._ALLOW_DETERMINISTIC_SCHEDULING, bool)
    assert type(_run._r) is random.Random


def test_trio_shuffles_every_batch_sorted_by_age_while_the_switch_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in sees whole batches, in an order that does not depend on who woke first."""
    batches: list[list[str]] = []
    scheduler = Scheduler()
    pick = scheduler.pick_native

    def note(tasks: list[trio.lowlevel.Task]) -> int:
        batches.append([task.name for task in tasks])
        return pick(tasks)

    monkeypatch.setattr(Scheduler, "pick_native", lambda self, tasks: note(tasks))

    async def main() -> None:
        events = [trio.Event() for _ in range(3)]
        async with trio.open_nursery() as nursery:
            for number, event in enumerate(events):
                nursery.start_soon(event.wait, name=f"t{number}")
            await scheduler.wait_quiet(1)
            batches.clear()
            for event in reversed(events):
                event.set()

    hosted(main, scheduler)
    assert batches[:3] == [["t0", "t1", "t2"], ["t1", "t2"], ["t2"]]


def test_one_task_a_pass_runs_and_the_others_go_back_to_the_queue() -> None:
    """A task that was not chosen first can be overtaken by what the chosen one did."""
    log: list[str] = []

    async def task(name: str) -> None:
        for number in range(2):
            log.append(f"{name}{number}")
            await trio.lowlevel.checkpoint()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(task, "a")
            nursery.start_soon(task, "b")

    hosted(main, Scheduler())
    assert log == ["a0", "a1", "b0", "b1"]


def test_the_short_cut_to_the_next_deadline_agrees_with_the_public_way() -> None:
    scheduler = Scheduler()
    seen: list[tuple[float, float]] = []

    async def main() -> None:
        seen.append((scheduler.next_deadline(), next_deadline()))
        for seconds in (2.5, 0.25):
            with trio.move_on_after(seconds):
                seen.append((scheduler.next_deadline(), next_deadline()))
        with trio.move_on_after(10):
            await trio.sleep(1)
            seen.append((scheduler.next_deadline(), next_deadline()))

    hosted(main, scheduler)
    assert scheduler.next_deadline is next_deadline
    assert seen == [(float("inf"),) * 2, (2.5, 2.5), (0.25, 0.25), (10.0, 10.0)]


def test_everything_is_put_back_when_the_run_ends() -> None:
    saved = switches()

    async def main() -> tuple[object, ...]:
        return switches()

    inside = hosted(main, Scheduler())
    assert inside[0] is True
    assert inside[1] is not saved[1]
    assert switches() == saved


def test_everything_is_put_back_when_the_run_fails() -> None:
    saved = switches()

    async def main() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        hosted(main, Scheduler())
    assert switches() == saved


def test_nothing_is_drawn_from_the_stand_in() -> None:
    """A generator that is never advanced cannot make two runs differ."""

    async def main() -> None:
        state = _run._r.getstate()
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(trio.sleep, 0.001)
        assert _run._r.getstate() == state

    hosted(main, Scheduler())
