"""The file of known failures that a team checks in beside its adapter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from journalsim.scenario.files import read_bytes
from journalsim.scenario.shapes.composites import Key, ListOf, Record
from journalsim.scenario.shapes.nodes import Node
from journalsim.scenario.shapes.problems import ScenarioError
from journalsim.scenario.shapes.reading import BAD, Reading
from journalsim.scenario.shapes.scalars import Name, Text
from journalsim.scenario.shapes.strict_yaml import read_nodes
from journalsim.scenario.words.grammar import Version
from journalsim.scenario.words.names import SCENARIO_NAME


@frozen(kw_only=True)
class KnownFailure:
    """A promise that an adapter is known to break.

    Attributes:
        invariant: which promise; ``expect`` for expectations of a scenario.
        scenario: in which scenario; any, if it is not given.
        reason: why that is accepted for now.
        since: the date, such as 2026-11-27.
        line: of the file.
    """

    invariant: str
    scenario: str = ""
    reason: str
    since: str
    line: int = field(default=0, eq=False)


@frozen(kw_only=True)
class KnownFailures:
    """The whole file.

    Attributes:
        adapter: about which adapter, as it is named on the command line.
        expected: its known failures.
    """

    adapter: str
    expected: tuple[KnownFailure, ...] = ()


@frozen(kw_only=True)
class _Entry(Record):
    """One entry, with its line."""

    def read(self, node: Node, reading: Reading) -> Any:
        found = super().read(node, reading)
        return evolve(found, line=node.at.line) if isinstance(found, KnownFailure) else found


_ENTRY = _Entry(
    what="a known failure",
    cls=KnownFailure,
    keys={
        "invariant": Key(Name(what="the id of an invariant", pattern="[a-z]+(-[a-z]+)*"), required=True),
        "scenario": Key(SCENARIO_NAME),
        "reason": Key(Text(what="a reason", one_line=True, empty=False), required=True),
        "since": Key(
            Name(what="a date", pattern="[0-9]{4}-[0-9]{2}-[0-9]{2}", form="such as 2026-11-27"), required=True
        ),
    },
)
_FILE = Record(
    what="a file of known failures",
    cls=KnownFailures,
    build=lambda version, **values: KnownFailures(**values),
    keys={
        "version": Key(Version(), required=True, default=None, doc="version of the language: 1"),
        "adapter": Key(Text(what="an adapter", one_line=True, empty=False), required=True),
        "expected": Key(ListOf(of=_ENTRY, what="a list of known failures", min=0)),
    },
)


def load_known_failures(path: Path, known_invariants: frozenset[str]) -> KnownFailures:
    """Returns the known failures that a file holds.

    Args:
        path: the file.
        known_invariants: ids that an entry may name, besides ``expect``.

    Raises:
        ScenarioError: the file has problems; it names all of them.
    """
    reading = Reading(path=path.as_posix(), lines=())
    root = read_nodes(read_bytes(path), reading)
    found = BAD if root is None else _FILE.read(root, reading)
    if isinstance(found, KnownFailures):
        known = [*sorted(known_invariants), "expect"]
        for entry in found.expected:
            if entry.invariant not in known:
                at = evolve(root.at, line=entry.line)  # type: ignore[union-attr]
                reading.error("E107", at, f"unknown invariant {entry.invariant!r}", near=known, word=entry.invariant)
    if reading.problems or not isinstance(found, KnownFailures):
        raise ScenarioError(reading.ordered())
    return found
