"""Scenarios a little smaller or plainer than a given one, by subject, in the order of what hurts a reader most.

First the delays that a search added, then steps, people, script and tools; these are parts
that a failure may not need.  After them settings that go back to their defaults, because a
reader would ask what they are for.  Names of points may shift on the way; a candidate that
does not fail any more for that reason is simply not taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar

from attrs import evolve, fields

from journalsim.case import AtPoint, Delay
from journalsim.scenario.resolve import with_live_anchors
from journalsim.scenario.values.cast import ClientSpec, Limits, StoreSpec, ToolSpec
from journalsim.scenario.values.disk_fault import MEMORY
from journalsim.scenario.values.moves import Step, Travel
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import CallTool, Finish, NewMessage, Ping, StreamPart, Text, Turn

T = TypeVar("T")

Candidates: TypeAlias = Callable[[Scenario], Iterator[Scenario]]
"""From a scenario to smaller ones, the most drastic change first."""


# --- parts that may go -------------------------------------------------------------------------


def fewer_delays(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario without delays, without a part of them, and with shorter ones."""
    delays = scenario.schedule
    for fewer in _without_pieces(delays):
        yield evolve(scenario, schedule=fewer)
    for fewer in _each(delays, _shorter_delay):
        yield evolve(scenario, schedule=fewer)


def _without_pieces(delays: tuple[Delay, ...]) -> Iterator[tuple[Delay, ...]]:
    """Yields nothing at all, then the delays without one half, one quarter, and so on down to one delay."""
    if delays:
        yield ()
    size = len(delays) // 2
    while size:
        for start in range(0, len(delays), size):
            yield delays[:start] + delays[start + size :]
        size //= 2


def _shorter_delay(delay: Delay) -> Iterator[Delay]:
    if delay.turns > 1:
        yield evolve(delay, turns=delay.turns - 1)


def fewer_steps(scenario: Scenario) -> Iterator[Scenario]:
    """Takes out steps that never happen, then one step with those that hang on it, the last first, then repetitions."""
    steps = scenario.steps
    live = tuple(with_live_anchors(steps))
    if live != steps:
        yield evolve(scenario, steps=live)
    for position in reversed(range(1, len(steps))):
        rest = [*steps[:position], *steps[position + 1 :]]
        yield evolve(scenario, steps=tuple(with_live_anchors(rest)))
    for changed in _each(steps, _fewer_times):
        yield evolve(scenario, steps=changed)


def _fewer_times(step: Step) -> Iterator[Step]:
    if step.times > 1:
        yield evolve(step, times=step.times - 1)


def fewer_clients(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario without one of the people who do nothing and whom nobody watches."""
    if len(scenario.clients) == 1:
        return
    needed = {step.actor for step in scenario.steps} | {client.observes for client in scenario.clients}
    for client in reversed(scenario.clients):
        if client.name not in needed:
            yield evolve(scenario, clients=tuple(c for c in scenario.clients if c is not client))


def shorter_script(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario without its last turn, or with one turn that says less or says it at once."""
    turns = scenario.model.turns
    if len(turns) > 1:
        yield _with_turns(scenario, turns[:-1])  # only the last: the others give their numbers to points
    for changed in _each(turns, _shorter_turn):
        yield _with_turns(scenario, changed)


def _shorter_turn(turn: Turn) -> Iterator[Turn]:
    stream = turn.stream
    for position in range(len(stream) - 1):  # never the ending
        yield evolve(turn, stream=stream[:position] + stream[position + 1 :])
    for changed in _each(stream, _shorter_text):
        yield evolve(turn, stream=changed)
    if turn.wait_ns:
        yield evolve(turn, wait_ns=0)


def _shorter_text(text: StreamPart) -> Iterator[StreamPart]:
    if not isinstance(text, Text):
        return
    if text.words > 1:
        yield evolve(text, words=1)
        yield evolve(text, words=text.words - 1)
    if len(text.chunks) > 1:
        yield evolve(text, chunks=text.chunks[:1])
        yield evolve(text, chunks=text.chunks[:-1])


def only_called_tools(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario without the tools that the model does not call."""
    called = {call.name for call in scenario.calls()}
    if any(tool.name not in called for tool in scenario.tools):
        yield evolve(scenario, tools=tuple(tool for tool in scenario.tools if tool.name in called))


def without_first_message(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario without its first message and the turns that answered it, however many those are."""
    first, *rest = scenario.steps
    if first.verb == "send" and any(step.verb == "send" for step in rest):
        shorter = evolve(scenario, steps=tuple(with_live_anchors(rest)))
        for last in range(1, len(scenario.model.turns)):
            yield _without_turns(shorter, 1, last)


def without_a_turn(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario without one of its turns, the last one aside."""
    for number in range(1, len(scenario.model.turns)):
        yield _without_turns(scenario, number, number)


def _without_turns(scenario: Scenario, first: int, last: int) -> Scenario:
    """Takes out some turns; what is said of later ones goes with them to their new numbers."""

    def renumbered(name: str) -> str:
        found = re.match(r"model\.turn(\d+)(.*)", name)
        later = found is not None and int(found[1]) > last
        return f"model.turn{int(found[1]) - 1 - last + first}{found[2]}" if found and later else name

    def moved(step: Step) -> Step:
        at = step.timing.at
        timing = evolve(step.timing, at=AtPoint(renumbered(at.name))) if isinstance(at, AtPoint) else step.timing
        return evolve(step, timing=timing, message=renumbered(step.message) if step.message else None)

    turns = scenario.model.turns
    shorter = _with_turns(scenario, turns[: first - 1] + turns[last:])
    return evolve(shorter, steps=tuple(moved(step) for step in scenario.steps))


def _with_turns(scenario: Scenario, turns: tuple[Turn, ...]) -> Scenario:
    return evolve(scenario, model=evolve(scenario.model, turns=turns))


def fewer_faults(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario without one of its faults."""
    for number in range(len(scenario.faults)):
        yield evolve(scenario, faults=scenario.faults[:number] + scenario.faults[number + 1 :])


# --- settings that may go back to their defaults ------------------------------------------------

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


def fewer_policies(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario without policies, and without each one."""
    if scenario.policies:
        yield evolve(scenario, policies={})
    for policy in scenario.policies:
        yield evolve(scenario, policies={name: word for name, word in scenario.policies.items() if name != policy})


def plain_circumstances(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario with plain ids, the plain store, or no limits."""
    if scenario.model.ids != "stable":
        yield evolve(scenario, model=evolve(scenario.model, ids="stable"))
    if scenario.store != StoreSpec():
        yield evolve(scenario, store=StoreSpec())
    if scenario.limits != Limits():
        yield evolve(scenario, limits=Limits())


def plainer_steps(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario with one setting less in one step."""
    for steps in _each(scenario.steps, _plainer_step):
        yield evolve(scenario, steps=steps)


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


def plainer_clients(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario with one of the people at default settings."""
    for clients in _each(scenario.clients, _with_defaults):
        yield evolve(scenario, clients=clients)


def plainer_script(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario with one setting less in what the model says."""
    for turns in _each(scenario.model.turns, _plainer_turn):
        yield _with_turns(scenario, turns)


def _plainer_turn(turn: Turn) -> Iterator[Turn]:
    yield from _with_defaults(turn)
    for stream in _each(turn.stream, _with_defaults):
        yield evolve(turn, stream=stream)


def generated_words(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario with generated words in place of one text."""

    def plain(part: StreamPart) -> Iterator[StreamPart]:
        if isinstance(part, Text) and part.chunks:
            yield evolve(part, chunks=(), words=len(part.chunks))

    def plainer(turn: Turn) -> Iterator[Turn]:
        for stream in _each(turn.stream, plain):
            yield evolve(turn, stream=stream)

    for turns in _each(scenario.model.turns, plainer):
        yield _with_turns(scenario, turns)


def plainer_tools(scenario: Scenario) -> Iterator[Scenario]:
    """Yields the scenario with one reply or one setting less in one tool."""
    for tools in _each(scenario.tools, _plainer_tool):
        yield evolve(scenario, tools=tools)


def _plainer_tool(tool: ToolSpec) -> Iterator[ToolSpec]:
    for position in range(len(tool.replies)):
        yield evolve(tool, replies=tool.replies[:position] + tool.replies[position + 1 :])
    yield from _with_defaults(tool)


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


def _each(values: tuple[T, ...], variants: Callable[[T], Iterator[T]]) -> Iterator[tuple[T, ...]]:
    """Yields the values with one of them exchanged for one of its variants."""
    for position, value in enumerate(values):
        for variant in variants(value):
            yield (*values[:position], variant, *values[position + 1 :])


CANDIDATES: tuple[Candidates, ...] = (
    fewer_delays,
    fewer_steps,
    fewer_clients,
    shorter_script,
    only_called_tools,
    without_first_message,
    fewer_policies,
    plain_circumstances,
    fewer_faults,
    plainer_steps,
    plainer_clients,
    without_a_turn,
    plainer_script,
    plainer_tools,
)
"""Everything that may be changed, in the order in which it is tried."""

OF_GENERATED: tuple[Candidates, ...] = (*CANDIDATES, generated_words)
"""The same for a generated scenario, in which no text is anybody's words."""
