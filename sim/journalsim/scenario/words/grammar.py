"""The whole language: a scenario as one shape."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, fields, frozen

from journalsim.case import Delay
from journalsim.contract.capabilities import POLICIES
from journalsim.scenario.shapes.keys import Entry, Key, Mark
from journalsim.scenario.shapes.lists import ListOf
from journalsim.scenario.shapes.maps import Beside
from journalsim.scenario.shapes.nodes import Node, Scalar, describe
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.record_shapes import Record
from journalsim.scenario.shapes.scalars import Choice, Number, Text
from journalsim.scenario.shapes.shape import Shape, WordShape
from journalsim.scenario.shapes.tables import Table
from journalsim.scenario.values.axes import Sweep
from journalsim.scenario.values.cast import Limits
from journalsim.scenario.values.disk_fault import DiskFault
from journalsim.scenario.values.expect import Expect
from journalsim.scenario.values.links import LinkFault, LinkShape
from journalsim.scenario.values.moves import Step
from journalsim.scenario.values.scenario import LANGUAGE_VERSION, Scenario
from journalsim.scenario.words.axis_words import SWEEP
from journalsim.scenario.words.cast_words import ACTORS, ActorSpec
from journalsim.scenario.words.casting import Cast, Script, cast_of, declared
from journalsim.scenario.words.disk_words import FaultShape
from journalsim.scenario.words.expect_words import EXPECT
from journalsim.scenario.words.link_words import LINK_FAULT
from journalsim.scenario.words.names import (
    CAPABILITY,
    CATALOGUE_ID,
    COUNT_MAX,
    DURATION,
    LINE,
    SCENARIO_NAME,
    TAG,
    TEXT,
)
from journalsim.scenario.words.script import SCRIPT
from journalsim.scenario.words.step_words import STEP_LIST


class Version(WordShape[int]):
    """The version of the language."""

    what: str = "the version of the language"

    def read_scalar(self, node: Scalar, reading: Reading) -> int | Bad:
        if node.kind == "int" and int(node.text) == LANGUAGE_VERSION:
            return LANGUAGE_VERSION
        note = f"this journalsim reads version {LANGUAGE_VERSION}"
        return reading.error("E028", node.at, f"the version of the language cannot be {describe(node)}", note=note)

    def schema(self) -> Schema:
        return {"const": LANGUAGE_VERSION}


VERSION = Mark(Version(), LANGUAGE_VERSION, doc="version of the language: 1")

# --- schedule ----------------------------------------------------------------------------------

_DELAY = Record(
    what="a delay",
    cls=Delay,
    keys={
        "lane": Key(
            Text(what="a lane", one_line=True, empty=False), fields(Delay).lane, required=True, doc="who is held back"
        ),
        "nth": Key(Number(max=COUNT_MAX), fields(Delay).nth, required=True, doc="at which of its steps, from 0"),
        "turns": Key(Number(min=1, max=COUNT_MAX), fields(Delay).turns, required=True, doc="how many others go first"),
    },
)

# --- the scenario ------------------------------------------------------------------------------

_POLICIES = Table(
    what="policies",
    keys={
        name: Entry(Choice(words, f"the policy {name}"), doc=f"{words[0]} by default")
        for name, words in POLICIES.items()
    },
    code="E106",
)
_LIMITS = Record(
    what="limits",
    cls=Limits,
    keys={
        "tool": Key(DURATION, fields(Limits).tool_ns, doc="one tool call"),
        "run": Key(DURATION, fields(Limits).run_ns, doc="one run, from its acceptance"),
    },
)


@frozen(kw_only=True)
class _File:
    """What a file says; its actors and its script become the cast of the scenario."""

    name: str
    summary: str = ""
    why: str = ""
    tags: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    policies: Mapping[str, str] = field(factory=dict)
    limits: Limits = field(factory=Limits)
    actors: Mapping[str, ActorSpec] = field(factory=dict)
    script: Script = field(factory=Beside)
    faults: tuple[LinkFault | LinkShape | DiskFault, ...] = ()
    steps: tuple[Step, ...]
    sweep: Sweep = field(factory=Sweep)
    schedule: tuple[Delay, ...] = ()
    expect: Expect = field(factory=Expect)


def _scenario(file: _File) -> Scenario:
    cast = cast_of(file.actors, file.script)
    return Scenario(
        name=file.name,
        summary=file.summary,
        why=file.why,
        tags=file.tags,
        covers=file.covers,
        needs=file.needs,
        policies=file.policies,
        limits=file.limits,
        model=cast.model,
        tools=cast.tools,
        clients=cast.clients,
        store=cast.store,
        faults=file.faults,
        steps=file.steps,
        sweep=file.sweep,
        schedule=file.schedule,
        expect=file.expect,
    )


def _file(scenario: Scenario) -> _File:
    cast = Cast(model=scenario.model, tools=scenario.tools, clients=scenario.clients, store=scenario.store)
    actors, script = declared(cast)
    return _File(
        name=scenario.name,
        summary=scenario.summary,
        why=scenario.why,
        tags=scenario.tags,
        covers=scenario.covers,
        needs=scenario.needs,
        policies=scenario.policies,
        limits=scenario.limits,
        actors=actors,
        script=script,
        faults=scenario.faults,
        steps=scenario.steps,
        sweep=scenario.sweep,
        schedule=scenario.schedule,
        expect=scenario.expect,
    )


_F = fields(_File)
_FILE = Record(
    what="a scenario",
    cls=_File,
    described=Scenario,
    keys={
        "version": VERSION,
        "name": Key(SCENARIO_NAME, _F.name, required=True),
        "summary": Key(LINE, _F.summary),
        "why": Key(TEXT, _F.why),
        "tags": Key(ListOf(of=TAG, what="a list of tags"), _F.tags),
        "covers": Key(ListOf(of=CATALOGUE_ID, what="a list of catalogue entries"), _F.covers),
        "needs": Key(ListOf(of=CAPABILITY, what="a list of capabilities"), _F.needs),
        "policies": Key(_POLICIES, _F.policies),
        "limits": Key(_LIMITS, _F.limits),
        "actors": Key(ACTORS, _F.actors, doc="who takes part; a model, a client and the server always do"),
        "script": Key(SCRIPT, _F.script, doc="what the model says and the tools answer"),
        "faults": Key(ListOf(of=FaultShape(link=LINK_FAULT), what="a list of faults"), _F.faults),
        "steps": Key(STEP_LIST, _F.steps, required=True, code="E210"),
        "sweep": Key(SWEEP, _F.sweep),
        "schedule": Key(ListOf(of=_DELAY, what="a list of delays"), _F.schedule),
        "expect": Key(EXPECT, _F.expect),
    },
)


class ScenarioShape(Shape[Scenario]):
    """A scenario file."""

    def read(self, node: Node, reading: Reading) -> Scenario | Bad:
        file = _FILE.read(node, reading)
        return BAD if isinstance(file, Bad) else _scenario(file)

    def write(self, value: Scenario) -> dict[str, Data]:
        return _FILE.write(_file(value))

    def schema(self) -> Schema:
        return _FILE.schema()


SCENARIO = ScenarioShape()
