"""A scenario a little plainer: the same script and steps, with one setting back at its default.

:func:`journalsim.search.shrink.simpler` takes parts out; what is left may still carry
settings that the failure does not need, and a reader would ask what they are for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar

from attrs import evolve, fields

from journalsim.case import Case
from journalsim.scenario.resolve import concrete
from journalsim.scenario.values.cast import ClientSpec, Limits, StoreSpec, ToolSpec
from journalsim.scenario.values.disk_fault import MEMORY
from journalsim.scenario.values.moves import Step, Travel
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import CallTool, Finish, NewMessage, Ping, StreamPart, Text, Turn

T = TypeVar("T")

_KEPT: dict[type, tuple[str, ...]] = {
    Text: ("chunks", "words", "label"),
    CallTool: ("id", "name"),
    Ping: (),
    Finish: ("reason",),
    NewMessage: (),
    Turn: ("stream", "when"),
    ClientSpec: ("name", "observes", "session"),
    ToolSpec: ("name", "replies"),
}
"""What makes a value the one that it is; every other attribute may go back to its default."""


def plainer(scenario: Scenario) -> Iterator[Scenario]:
    """Yields scenarios with one setting less."""
    yield from _without_first_message(scenario)
    for policy in scenario.policies:
        yield evolve(scenario, policies={name: word for name, word in scenario.policies.items() if name != policy})
    if scenario.model.ids != "stable":
        yield evolve(scenario, model=evolve(scenario.model, ids="stable"))
    if scenario.store != StoreSpec():
        yield evolve(scenario, store=StoreSpec())
    if scenario.limits != Limits():
        yield evolve(scenario, limits=Limits())
    for number in range(len(scenario.faults)):
        yield evolve(scenario, faults=scenario.faults[:number] + scenario.faults[number + 1 :])
    for steps in _each(scenario.steps, _plainer_step):
        yield evolve(scenario, steps=steps)
    for clients in _each(scenario.clients, _with_defaults):
        yield evolve(scenario, clients=clients)
    for number in range(1, len(scenario.model.turns)):
        yield _without_turns(scenario, number, number)
    for turns in _each(scenario.model.turns, _plainer_turn):
        yield evolve(scenario, model=evolve(scenario.model, turns=turns))
    for tools in _each(scenario.tools, _plainer_tool):
        yield evolve(scenario, tools=tools)


def _without_first_message(scenario: Scenario) -> Iterator[Scenario]:
    """Takes out the first message together with the turns that answered it, however many those are."""
    first, *rest = scenario.steps
    if first.verb == "send" and any(step.verb == "send" for step in rest):
        shorter = concrete(evolve(scenario, steps=tuple(rest)), Case(scenario=scenario.name, delays=scenario.schedule))
        for last in range(1, len(scenario.model.turns)):
            yield _without_turns(shorter, 1, last)


def _without_turns(scenario: Scenario, first: int, last: int) -> Scenario:
    """Takes out some turns; what is said of later ones goes with them to their new numbers."""

    def renumbered(name: str) -> str:
        found = re.match(r"model\.turn(\d+)(.*)", name)
        later = found is not None and int(found[1]) > last
        return f"model.turn{int(found[1]) - 1 - last + first}{found[2]}" if found and later else name

    def moved(step: Step) -> Step:
        at = step.timing.at
        timing = evolve(step.timing, at=evolve(at, name=renumbered(at.name))) if at is not None else step.timing
        return evolve(step, timing=timing, message=renumbered(step.message) if step.message else None)

    turns = scenario.model.turns
    model = evolve(scenario.model, turns=turns[: first - 1] + turns[last:])
    return evolve(scenario, model=model, steps=tuple(moved(step) for step in scenario.steps))


def _each(values: tuple[T, ...], variants: Any) -> Iterator[tuple[T, ...]]:
    """Yields the values with one of them exchanged for one of its variants."""
    for position, value in enumerate(values):
        for variant in variants(value):
            yield (*values[:position], variant, *values[position + 1 :])


def _with_defaults(value: Any) -> Iterator[Any]:
    """Yields the value with all that may be default at its default, then with one attribute at a time."""
    kept = _KEPT.get(type(value))
    if kept is None:
        return
    settings = {a.name: a.default for a in fields(type(value)) if a.name not in kept}
    changed = {name: default for name, default in settings.items() if getattr(value, name) != default}
    if len(changed) > 1:
        yield evolve(value, **changed)
    for name, default in changed.items():
        yield evolve(value, **{name: default})


def _plainer_step(step: Step) -> Iterator[Step]:
    if step.travel != Travel():
        yield evolve(step, travel=Travel())
    if step.mode != "interrupt":
        yield evolve(step, mode="interrupt")
    if step.lose != MEMORY:
        yield evolve(step, lose=MEMORY)
    if step.cursor is not None:
        yield evolve(step, cursor=None)
    if step.timing.delay_ns:
        yield evolve(step, timing=evolve(step.timing, delay_ns=0))


def _plainer_turn(turn: Turn) -> Iterator[Turn]:
    yield from _with_defaults(turn)
    for stream in _each(turn.stream, _with_defaults):
        yield evolve(turn, stream=stream)
    for stream in _each(turn.stream, _plain_words):
        yield evolve(turn, stream=stream)


def _plain_words(part: StreamPart) -> Iterator[StreamPart]:
    if isinstance(part, Text) and part.chunks:
        yield evolve(part, chunks=(), words=len(part.chunks))


def _plainer_tool(tool: ToolSpec) -> Iterator[ToolSpec]:
    for position in range(len(tool.replies)):
        yield evolve(tool, replies=tool.replies[:position] + tool.replies[position + 1 :])
    yield from _with_defaults(tool)
