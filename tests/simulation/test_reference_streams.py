"""Readers come, break off, come back and read the history while a run goes on, in every order of a small run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import trio

from journalsim.contract.stream_port import StreamRequest
from journalsim.engine.entries import Entry, Strategy
from journalsim.engine.hosting import Host, host
from journalsim.engine.schedules import KeyedDelays, Uniform

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "reference"))
from reference_fakes import FakePorts, finish, text
from stream_fakes import Page

from journalsim_reference.server import Server
from journalsim_reference.stores.memory import Folder, MemoryStore

ENDLESS_NS = 60_000_000_000
POLICIES = (
    {"sync": "every_event", "reattach": "suffix"},
    {"sync": "barriers", "reattach": "suffix"},
    {"sync": "every_event", "reattach": "whole_turn"},
    {"sync": "barriers", "reattach": "whole_turn"},
)


class Deviations(Strategy):
    """First come, first served, but for some choices that take another than the first."""

    def __init__(self, at: Sequence[int] = (), by: int = 1) -> None:
        self.choices = 0
        self._at = at
        self._by = by

    def pick(self, ready: list[Entry]) -> int:
        self.choices += 1
        return min(self._by, len(ready) - 1) if self.choices in self._at else 0


class Story:
    """One run of five pieces, a person who may stop it, and readers.

    Args:
        policies: of the journal.
        stopped: whether somebody presses Stop.
        rows_max: how many entries the journal keeps for its readers.
    """

    def __init__(self, policies: dict[str, str], *, stopped: bool, rows_max: int = 256) -> None:
        self._policies = policies
        self._stopped = stopped
        self._rows_max = rows_max
        self.pages: list[Page] = []
        self.journal: dict[str, str] = {}
        self.state = ""

    async def play(self, it: Host, strategy: Strategy) -> None:
        """Plays it in the order of a strategy."""
        scheduler = it.next_case()
        scheduler.reset(strategy)
        async with trio.open_nursery() as nursery:
            ports = FakePorts(nursery, [[*map(text, ("A", "b", "c", "d")), finish()]], **self._policies)
            self._server = server = Server(MemoryStore(Folder()), ports)
            server.writer.streams.rows_max = self._rows_max
            await server.start("s1", "Hi", "k1")
            for breaks in ((), (1,), (2, 3), (4, 1, 1)):
                nursery.start_soon(self._read, Page(cursor="run1:1"), breaks, name="reader")
            nursery.start_soon(self._look_and_read, name="looker")
            if self._stopped:
                nursery.start_soon(server.stop, "s1", "run1", name="person")
            await scheduler.wait_quiet(ENDLESS_NS)
            items = [item for item in server.read("s1") if item.kind == "assistant"]
            self.journal = {item.id or "": item.text for item in items}
            self.state = server.status("s1")["state"]
            scheduler.finish()
            nursery.cancel_scope.cancel()

    async def _look_and_read(self) -> None:
        """A page that shows the history first."""
        await trio.lowlevel.checkpoint()
        items = [item for item in self._server.read("s1") if item.kind == "assistant"]
        cursor = self._server.cursor("s1")
        await trio.lowlevel.checkpoint()
        await self._read(Page(texts={item.id or "": item.text for item in items}, cursor=cursor), ())

    async def _read(self, page: Page, breaks: Sequence[int]) -> None:
        self.pages.append(page)
        for pieces in (*breaks, None):
            answer = self._server.attach(StreamRequest(session_id="s1", cursor=page.cursor))
            if answer.body is None:
                break
            page.connect()
            taken = 0
            async for data in answer.body:
                page.feed(data)
                taken += 1
                await trio.lowlevel.checkpoint()  # the wire: others go on meanwhile
                if taken == pieces:
                    break
            await answer.body.aclose()  # type: ignore[attr-defined]

    def check(self) -> None:
        """Every page shows what the journal holds, and knows that the run is over."""
        assert len(self.pages) == 5
        for page in self.pages:
            assert page.view[0] == self.journal
            assert page.holes == []
            assert page.ended in ({"run1": self.state}, {})
            assert page.ended or page.controls() == []  # it had read the end in the history


@pytest.mark.parametrize("policies", POLICIES, ids=lambda policies: "-".join(policies.values()))
@pytest.mark.parametrize("stopped", [False, True], ids=["completes", "is stopped"])
def test_replay_then_live_is_the_same_in_every_order_with_two_deviations(
    policies: dict[str, str], stopped: bool
) -> None:
    """Every choice of the first-in-first-out order, and every pair of the first two dozen, goes another way once."""

    async def search(it: Host) -> int:
        first = Deviations()
        await Story(policies, stopped=stopped).play(it, first)
        singles = [((at,), by) for at in range(1, first.choices + 1) for by in (1, 2, 4)]
        pairs = [((one, two), 2) for one in range(1, 25) for two in range(one + 1, 25)]
        for at, by in singles + pairs:
            story = Story(policies, stopped=stopped)
            await story.play(it, Deviations(at, by))
            story.check()
        return len(singles)

    assert host(search) > 100


@pytest.mark.parametrize("policies", POLICIES, ids=lambda policies: "-".join(policies.values()))
def test_replay_then_live_is_the_same_in_random_orders(policies: dict[str, str]) -> None:
    """Orders that are far from first in, first out, with and without a Stop."""

    async def search(it: Host) -> set[str]:
        ends = set()
        for seed in range(80):
            for strategy in (Uniform(seed), KeyedDelays(seed, 0.3)):
                story = Story(policies, stopped=seed % 2 == 0)
                await story.play(it, strategy)
                story.check()
                ends |= {state or "" for page in story.pages for state in page.ended.values()}
        return ends

    assert host(search) == {"completed", "interrupted"}


def test_a_reader_who_misses_something_is_told_so_in_every_order() -> None:
    """With room for three entries readers fall behind; none is left with a hole that it does not know of."""

    async def search(it: Host) -> set[str]:
        said: set[str] = set()
        for seed in range(300):
            story = Story({"sync": "every_event"}, stopped=False, rows_max=3)
            await story.play(it, Uniform(seed))
            for page in story.pages:
                controls = page.controls()
                gap = any(control.startswith("gap") for control in controls)
                assert gap or page.view[0] == story.journal
                assert page.holes == []
                said |= {control.split(" ")[-1] for control in controls if control.startswith("end")}
        return said

    assert host(search) >= {"run_terminal", "slow_consumer", "gap"}
