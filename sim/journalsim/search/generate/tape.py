"""Scenarios from tapes: a fixed number of small integers, and a scenario for any of them.

Every place on the tape answers one question, and 0 is always the stock answer:
the tape of zeros is one message, one answer, nothing in the way.  A place that
goes to 0 takes one complication out and changes the meaning of no other place,
which is what makes a tape shrink well, whoever shrinks it.  Larger numbers are
rarer answers, so that a tape of evenly random numbers gives a scenario that is
busy but not absurd.

The tape has a head (what holds for the whole scenario), four *exchanges* (a
message of the person and what befalls it, :mod:`journalsim.search.generate.tape_steps`), each with
the *rounds* of the model that answer it (:mod:`journalsim.search.generate.tape_turns`), and a foot
(what the schedule holds back, how people watch and what a power cut takes,
:mod:`journalsim.search.generate.tape_wire`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from attrs import evolve

from journalsim.case import NEVER
from journalsim.contract.capabilities import POLICIES, Capabilities
from journalsim.scenario.values.axes import CASES_MAX, Axis, Sweep
from journalsim.scenario.values.cast import ClientSpec, Limits, ModelSpec
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import MS
from journalsim.search.generate.plan import Hold, Plan
from journalsim.search.generate.slots import VALUES, Slots
from journalsim.search.generate.tape_steps import EXCHANGE_SLOTS, StepWriter
from journalsim.search.generate.tape_turns import ROUND_SLOTS, SLOW_NS, Answer, ScriptWriter
from journalsim.search.generate.tape_wire import (
    DISK_SLOTS,
    WIRE_SLOTS,
    disk_of,
    on_disk,
    store_of,
    wire_of,
    with_cursor,
)

EXCHANGES = 4
ROUNDS = 3  # per exchange: two of them may call tools
HOLDS = 3
HEAD_SLOTS = 24
HOLD_SLOTS = 3
TOOL_LIMITS_NS = (200 * MS, SLOW_NS)  # the second one ties with a slow tool
RUN_LIMITS_NS = (600 * MS, 50 * MS, 110 * MS)
BLOCKS = (
    HEAD_SLOTS,
    *EXCHANGES * (EXCHANGE_SLOTS, *ROUNDS * (ROUND_SLOTS,)),
    *HOLDS * (HOLD_SLOTS,),
    WIRE_SLOTS,
    DISK_SLOTS,
)
"""Lengths of the blocks of a tape, in order."""

TAPE_LENGTH = sum(BLOCKS)
NAME = "generated"

EVERYTHING = Capabilities(
    level="runner",
    stop_modes=("interrupt", "rollback"),
    crash="memory",
    disk=True,
    maintenance=("annotate", "compact", "clear"),
    approvals=True,
    limits=("tool", "run"),
    sub_agents=True,
    policies=tuple(POLICIES),
)
"""What a scenario may ask for when no adapter says otherwise."""


def off_the_wire(claims: Capabilities) -> Capabilities:
    """Returns what an adapter claims but for streams, so that nobody watches over a link that breaks."""
    return evolve(claims, replay="none")


def tape_of(places: Mapping[int, int]) -> tuple[int, ...]:
    """Returns the tape that has these numbers at these places, and zeros elsewhere."""
    return tuple(places.get(place, 0) for place in range(TAPE_LENGTH))


def scenario_from_tape(tape: Sequence[int], claims: Capabilities = EVERYTHING) -> Scenario:
    """Returns the scenario of a tape, its actions placed at points that its script lets one expect.

    Args:
        tape: any integers; missing ones count as 0, and those beyond :data:`TAPE_LENGTH` are not looked at.
        claims: nothing is asked for that is not claimed here.
    """
    return plan_from_tape(tape, claims).placed()


def plan_from_tape(tape: Sequence[int], claims: Capabilities = EVERYTHING) -> Plan:
    """Returns the scenario of a tape, with the shares that place its actions once the points of a run are known.

    Args:
        tape: as for :func:`scenario_from_tape`.
        claims: nothing is asked for that is not claimed here.
    """
    values = tuple(value % VALUES for value in tape[:TAPE_LENGTH])
    every = tuple(_blocks(values))
    blocks, disk = iter(every[:-2]), disk_of(every[-1], claims)
    head = next(blocks)
    exchanges = head.choose(1, 2, 3, 4, odds=170)
    ids: Literal["stable", "none", "per_chunk"] = head.choose("stable", "none", "per_chunk", odds=70)
    script = ScriptWriter(
        equal=head.flag(odds=30),
        approval=head.flag(odds=80) and claims.approvals,
        agent=head.flag(odds=40) and claims.sub_agents,
    )
    wire = wire_of(every[-2], _people(head), claims)
    steps = StepWriter(claims, people=wire.people, equal=head.flag(odds=30))
    limits = _limits(head, claims)
    policies, store_ns = _policies(head, claims), head.choose(0, 5 * MS, 30 * MS, odds=60)
    for number in range(EXCHANGES):
        exchange, rounds = next(blocks), [next(blocks) for _ in range(ROUNDS)]
        if number < exchanges:
            _exchange(exchange, rounds, script, steps)
    if script.hangs:
        steps.end_hanging_runs()
    steps.disasters(head)
    steps.away(wire)
    spots = steps.spots()
    taken = on_disk(with_cursor(steps.steps(), wire.cursor), disk)
    scenario = Scenario(
        name=NAME,
        policies=policies,
        limits=limits,
        model=ModelSpec(ids=ids, turns=tuple(script.turns)),
        tools=script.tools(),
        clients=steps.people,
        store=store_of(disk, store_ns, taken),
        faults=wire.faults,
        steps=taken,
        sweep=Sweep(axes=tuple(Axis(name=spot.axis, values=(NEVER,)) for spot in spots), limit=CASES_MAX),
    )
    return Plan(scenario=scenario, spots=spots, holds=tuple(_holds(blocks)), tape=values)


def _blocks(values: Sequence[int]) -> Iterator[Slots]:
    start = 0
    for length in BLOCKS:
        yield Slots(values[start : start + length], length)
        start += length


def _exchange(exchange: Slots, rounds: Sequence[Slots], script: ScriptWriter, steps: StepWriter) -> None:
    with_tools = exchange.choose(0, 1, 2, odds=110)
    answers: list[Answer] = []
    for number in range(with_tools + 1):
        answers += script.round(rounds[number], tools=number < with_tools)
    if steps.exchange(exchange, len(script.turns), answers):
        script.compaction(slow=exchange.flag(odds=128))


def _people(head: Slots) -> tuple[ClientSpec, ...]:
    second = head.choose("", "watches", "apart", odds=90)
    latency_ns = head.choose(0, 30 * MS, odds=40)
    kind: Literal["browser", "cli"] = head.choose("browser", "cli", odds=30)
    if not second and not latency_ns and kind == "browser":
        return (ClientSpec(name="client"),)
    alice = ClientSpec(name="alice", kind=kind, latency_ns=latency_ns)
    if second == "watches":
        return alice, ClientSpec(name="bob", observes="alice")
    return (alice, ClientSpec(name="bob", session="s2")) if second else (alice,)


def _limits(head: Slots, claims: Capabilities) -> Limits:
    which = head.choose("", "tool", "run", odds=60)
    tool_ns, run_ns = head.choose(*TOOL_LIMITS_NS, odds=100), head.choose(*RUN_LIMITS_NS, odds=170)
    if which not in claims.limits:
        return Limits()
    return Limits(tool_ns=tool_ns) if which == "tool" else Limits(run_ns=run_ns)


def _policies(head: Slots, claims: Capabilities) -> dict[str, str]:
    """Chooses what a busy session does, and at most one other policy."""
    words = [(name, word) for name in POLICIES if name != "busy" for word in POLICIES[name][1:]]
    chosen = [head.choose(("busy", ""), *(("busy", word) for word in POLICIES["busy"][1:]), odds=110)]
    chosen.append(head.choose(("", ""), *words, odds=70))
    return {name: word for name, word in chosen if word and name in claims.policies}


def _holds(blocks: Iterator[Slots]) -> Iterator[Hold]:
    for slots in blocks:
        there, share, turns = slots.flag(odds=90), slots.next(), slots.choose(1, 2, 3, 5, odds=190)
        if there:
            yield Hold(share=share, turns=turns)
