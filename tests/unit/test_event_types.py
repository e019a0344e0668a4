"""A field of an event that is renamed or misspelled is a type error, where it is written and where it is read.

mypy checks this file: it is among ``files`` in pyproject.toml.  Every mistake in
``mistakes_that_mypy_finds`` has an ignore with its code; an ignore that nothing
needs is an error, so a mistake that mypy no longer finds turns ``mypy`` red.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_type

import pytest

from journalsim.contract.events.client_events import ClientApplied, ViewAfter
from journalsim.contract.events.server_events import RunEnded, StopAnswered
from journalsim.engine.world import World
from journalsim.history import Event, EventOf, History, is_kind
from journalsim.oracle.facts.facts import Facts


def what_mypy_knows(world: World, history: History, facts: Facts, event: Event) -> None:
    assert_type(world.record("server", RunEnded(run="r1", state="completed", cause=None)), EventOf[RunEnded])
    assert_type(history.of(RunEnded), Iterator[EventOf[RunEnded]])
    assert_type([end.data.cause for end in facts.of(RunEnded)], list[str | None])
    assert_type([end.data.answer for end in facts.of(StopAnswered)], list[str])
    assert_type(event.run, str | None)
    if is_kind(event, ClientApplied):
        assert_type(event.data.run, str)
        assert_type(event.data.view, ViewAfter | None)


def mistakes_that_mypy_finds(world: World, facts: Facts, event: Event) -> None:
    world.record("server", RunEnded(run="r1", state="completed", why=None))  # type: ignore[call-arg]
    world.record("server", RunEnded(run="r1", state="completed"))  # type: ignore[call-arg]
    world.record("server", RunEnded(run="r1", state=3, cause=None))  # type: ignore[arg-type]
    world.record("server", "run.ended")  # type: ignore[type-var]
    [end.data.why for end in facts.of(RunEnded)]  # type: ignore[attr-defined]
    facts.of("run.ended")  # type: ignore[arg-type]
    assert event.data.cause  # type: ignore[attr-defined]
    next(iter(facts.of(RunEnded))).data.cause = "stopped"  # type: ignore[misc]


def test_a_misspelled_field_is_an_error_when_it_runs_too() -> None:
    with pytest.raises(TypeError, match="why"):
        RunEnded(run="r1", state="completed", why=None)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="cause"):
        RunEnded(run="r1", state="completed")  # type: ignore[call-arg]
