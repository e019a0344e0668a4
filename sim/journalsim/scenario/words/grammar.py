"""The whole language: a scenario as one shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from journalsim.case import Delay
from journalsim.contract.capabilities import POLICIES
from journalsim.scenario.shapes.composites import Key, ListOf, Record
from journalsim.scenario.shapes.nodes import Node, Scalar, describe
from journalsim.scenario.shapes.reading import Bad, Reading
from journalsim.scenario.shapes.scalars import Choice, Number, ScalarShape, Schema, Text
from journalsim.scenario.values.cast import Limits
from journalsim.scenario.values.expect import Exemption, Expect
from journalsim.scenario.values.scenario import LANGUAGE_VERSION, Scenario
from journalsim.scenario.words.axis_words import SWEEP
from journalsim.scenario.words.cast_words import ACTORS, declared, taken
from journalsim.scenario.words.conditions import CONDITIONS
from journalsim.scenario.words.disk_words import FaultShape
from journalsim.scenario.words.link_words import LINK_FAULT
from journalsim.scenario.words.names import (
    CAPABILITY,
    CATALOGUE_ID,
    COUNT_MAX,
    DURATION,
    INVARIANT,
    LINE,
    SCENARIO_NAME,
    TAG,
    TEXT,
)
from journalsim.scenario.words.script import SCRIPT
from journalsim.scenario.words.step_words import STEP_LIST


@frozen
class Version(ScalarShape):
    """The version of the language."""

    what: str = "the version of the language"

    def read_scalar(self, node: Scalar, reading: Reading) -> Any:
        if node.kind == "int" and int(node.text) == LANGUAGE_VERSION:
            return LANGUAGE_VERSION
        note = f"this journalsim reads version {LANGUAGE_VERSION}"
        return reading.error("E028", node.at, f"the version of the language cannot be {describe(node)}", note=note)

    def schema(self) -> Schema:
        return {"const": LANGUAGE_VERSION}


# --- expect ------------------------------------------------------------------------------------


@frozen(kw_only=True)
class ExemptionShape(Record):
    """An invariant that is not checked, and why."""

    def wrong(self, node: Node, reading: Reading) -> Bad:
        help = "write {invariant: …, reason: …}"
        return reading.error("E030", node.at, "an exemption needs a reason", help=help)


_EXEMPTION = ExemptionShape(
    what="an exemption",
    cls=Exemption,
    build=lambda reason, invariant="", id="": Exemption(invariant=invariant or id, reason=reason),
    keys={
        "invariant": Key(INVARIANT, default=None, doc="the invariant that is not checked"),
        "id": Key(INVARIANT, default=None, doc="the same as invariant"),
        "reason": Key(Text(what="a reason", one_line=True, empty=False), required=True, doc="why it is not asked for"),
    },
    exclusive=(("invariant", "id"),),
    one_of=("invariant", "id"),
)
_EXPECT = Record(
    what="expect",
    cls=Expect,
    keys={
        "finally": Key(CONDITIONS, "finally_"),
        "sometimes": Key(CONDITIONS),
        "exercises": Key(ListOf(of=INVARIANT, what="a list of invariants")),
        "except": Key(ListOf(of=_EXEMPTION, what="a list of exemptions"), "exempt"),
    },
    nullable=True,
)

# --- schedule ----------------------------------------------------------------------------------

_DELAY = Record(
    what="a delay",
    cls=Delay,
    keys={
        "lane": Key(Text(what="a lane", one_line=True, empty=False), required=True, doc="who is held back"),
        "nth": Key(Number(max=COUNT_MAX), required=True, doc="at which of its steps, from 0"),
        "turns": Key(Number(min=1, max=COUNT_MAX), required=True, doc="how many others go first"),
    },
)

# --- the scenario ------------------------------------------------------------------------------

_POLICIES = Record(
    what="policies",
    keys={
        name: Key(Choice(words, f"the policy {name}"), doc=f"{words[0]} by default") for name, words in POLICIES.items()
    },
    code="E106",
)


_LIMITS = Record(
    what="limits",
    cls=Limits,
    keys={
        "tool": Key(DURATION, "tool_ns", doc="one tool call"),
        "run": Key(DURATION, "run_ns", doc="one run, from its acceptance"),
    },
)


def _build(actors: Mapping[str, Any] = {}, script: Mapping[str, Any] = {}, **values: Any) -> Scenario:
    del values["version"]
    return Scenario(**declared(actors, script), **values)


def _take(scenario: Scenario) -> Mapping[str, Any]:
    actors, script = taken(scenario.model, scenario.tools, scenario.clients, scenario.store)
    rest = {name: getattr(scenario, name) for name in SCENARIO.keys if hasattr(scenario, name)}
    return {**rest, "version": LANGUAGE_VERSION, "actors": actors, "script": script}


SCENARIO = Record(
    what="a scenario",
    cls=Scenario,
    build=_build,
    take=_take,
    keys={
        "version": Key(Version(), required=True, doc="version of the language: 1"),
        "name": Key(SCENARIO_NAME, required=True),
        "summary": Key(LINE),
        "why": Key(TEXT),
        "tags": Key(ListOf(of=TAG, what="a list of tags")),
        "covers": Key(ListOf(of=CATALOGUE_ID, what="a list of catalogue entries")),
        "needs": Key(ListOf(of=CAPABILITY, what="a list of capabilities")),
        "policies": Key(_POLICIES),
        "limits": Key(_LIMITS),
        "actors": Key(ACTORS, default={}, doc="who takes part; a model, a client and the server always do"),
        "script": Key(SCRIPT, default={}, doc="what the model says and the tools answer"),
        "faults": Key(ListOf(of=FaultShape(other=LINK_FAULT), what="a list of faults")),
        "steps": Key(STEP_LIST, required=True, code="E210"),
        "sweep": Key(SWEEP),
        "schedule": Key(ListOf(of=_DELAY, what="a list of delays")),
        "expect": Key(_EXPECT),
    },
)
"""A scenario file."""
