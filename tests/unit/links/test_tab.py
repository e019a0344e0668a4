"""What follows from the state of a page: whether its person would reload it, and whether it begins to watch."""

from __future__ import annotations

from typing import get_args

import pytest

from journalsim.actors.clients.tab import Tab
from journalsim.actors.page.page_states import Event
from journalsim.actors.programs.profiles import program_for
from journalsim.actors.programs.program import Reason
from journalsim.actors.wire.ways import Watch
from journalsim.contract.frames import Frame
from journalsim.contract.stream_port import Control
from journalsim.scenario.values.cast import ClientSpec

OVER = Frame("run.ended", "r1", state="completed")


def tab(*events: Event, kind: str = "browser", run: str | None = None, ended: bool = False) -> Tab:
    """A tab without a world around it; ``run`` is the one that its page knows."""
    spec = ClientSpec(name="alice", kind=kind)
    made = Tab(world=None, spec=spec, session="s1", backend=None, link=None, log=None)
    made.page.run = run
    if ended:
        made.page.frame(OVER, None)
    for event in events:
        made.states.take(event)
    if made.states.state("program") != "none":
        made.watch = Watch(program_for(kind))
    return made


def gave_up(reason: Reason, **more: object) -> Tab:
    made = tab("starts", "is cut off" if reason == "closed" else "gives up", **more)
    assert made.watch is not None
    made.watch.gave_up = reason
    return made


@pytest.mark.parametrize("reason", get_args(Reason))
@pytest.mark.parametrize("ended", [False, True])
def test_page_whose_program_gave_up_looks_broken_if_it_cannot_learn_how_its_run_ended(
    reason: Reason, ended: bool
) -> None:
    looks_broken = gave_up(reason, run="r1", ended=ended).looks_broken
    assert looks_broken == (reason in ("broken", "refused", "closed") or (reason == "ended" and not ended))


def test_page_that_was_cut_off_looks_whole_once_its_history_displays_the_end() -> None:
    made = gave_up("closed", run="r1", ended=True)
    made.states.take("displays")
    assert not made.looks_broken
    made.page.run = "r2"
    assert made.looks_broken


def test_page_whose_stream_ended_before_it_heard_of_a_run_looks_whole() -> None:
    assert not gave_up("ended").looks_broken
    watching = gave_up("ended")
    watching.watched_run = "r1"
    assert watching.looks_broken


def test_page_that_waits_for_something_looks_broken_once_nothing_can_happen_any_more() -> None:
    assert not tab().looks_broken
    assert not tab("starts").looks_broken
    assert tab("opens").looks_broken
    assert tab("starts", "opens").looks_broken
    assert not tab("starts", "reads").looks_broken
    posted = tab("starts")
    posted.unseen.post("k1", leaves=False)
    assert posted.looks_broken
    posted.unseen.answer("k1")
    assert not posted.looks_broken


def test_page_that_lacks_something_looks_broken_in_every_state() -> None:
    for made in (tab(), tab("starts"), gave_up("finished")):
        made.page.control(Control(kind="stream.gap"), None)
        assert made.looks_broken


@pytest.mark.parametrize(
    ("made", "begins"),
    [
        (tab(), True),
        (tab("leaves"), False),
        (tab("starts", run="r1"), False),
        (tab("starts", run="r1", ended=True), True),
        (tab("starts"), True),
        (tab("starts", kind="poller", run="r1"), True),
        (gave_up("broken", run="r1"), True),
    ],
)
def test_page_begins_to_watch_a_run_unless_it_watches_an_earlier_one_or_its_person_is_away(
    made: Tab, begins: bool
) -> None:
    assert made.begins_to_watch("r2") == begins
    made.watched_run = "r2"
    assert not made.begins_to_watch("r2")


def test_page_whose_own_message_is_answered_by_the_stream_begins_no_other() -> None:
    made = tab("starts", kind="cli")
    made.posts["k1"] = object()
    assert not made.begins_to_watch("r1")
    made.states.take("gives up")
    assert made.begins_to_watch("r1")


@pytest.mark.parametrize(("made", "connected"), [(tab(), True), (tab("opens"), False)])
def test_person_notices_whether_the_page_looks_broken(made: Tab, connected: bool) -> None:
    made.states.take("looks whole" if not connected else "looks broken")
    made.notice()
    assert made.states.connected == connected
