"""The file of known failures that a team checks in beside its adapter."""

from __future__ import annotations

from pathlib import Path  # noqa: TID251  (the name of the file to read)

from attrs import evolve, field, fields, frozen

from journalsim.scenario.files import read_bytes
from journalsim.scenario.shapes.keys import Key
from journalsim.scenario.shapes.lists import ListOf
from journalsim.scenario.shapes.nodes import Node
from journalsim.scenario.shapes.problems import ScenarioError
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.record_shapes import Record
from journalsim.scenario.shapes.scalars import Name, Text
from journalsim.scenario.shapes.strict_yaml import read_nodes
from journalsim.scenario.words.grammar import VERSION
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


class _Entry(Record[KnownFailure]):
    """One entry, with its line."""

    def read(self, node: Node, reading: Reading) -> KnownFailure | Bad:
        found = super().read(node, reading)
        return BAD if isinstance(found, Bad) else evolve(found, line=node.at.line)


_FAILURE = fields(KnownFailure)
_ENTRY = _Entry(
    what="a known failure",
    cls=KnownFailure,
    keys={
        "invariant": Key(
            Name(what="the id of an invariant", pattern="[a-z]+(-[a-z]+)*"), _FAILURE.invariant, required=True
        ),
        "scenario": Key(SCENARIO_NAME, _FAILURE.scenario),
        "reason": Key(Text(what="a reason", one_line=True, empty=False), _FAILURE.reason, required=True),
        "since": Key(
            Name(what="a date", pattern="[0-9]{4}-[0-9]{2}-[0-9]{2}", form="such as 2026-11-27"),
            _FAILURE.since,
            required=True,
        ),
    },
)
_FILE = Record(
    what="a file of known failures",
    cls=KnownFailures,
    keys={
        "version": VERSION,
        "adapter": Key(
            Text(what="an adapter", one_line=True, empty=False), fields(KnownFailures).adapter, required=True
        ),
        "expected": Key(ListOf(of=_ENTRY, what="a list of known failures", min=0), fields(KnownFailures).expected),
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
