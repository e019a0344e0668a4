"""Loading: bytes of a file become a scenario, or all of its problems."""

from __future__ import annotations

from attrs import evolve

from journalsim.scenario.shapes.nodes import Mapping, Node
from journalsim.scenario.shapes.problems import ScenarioError
from journalsim.scenario.shapes.reading import TooManyProblems
from journalsim.scenario.shapes.strict_yaml import read_nodes
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.words.crosschecks import check_axes, check_observers, check_references
from journalsim.scenario.words.grammar import SCENARIO
from journalsim.scenario.words.scenario_reading import ScenarioReading


def load_scenario(data: bytes, path: str, known_invariants: frozenset[str] | None = None) -> Scenario:
    """Returns the scenario that a file holds.

    Args:
        data: the bytes of the file.
        path: the file, for messages.
        known_invariants: ids that ``exercises`` and ``except`` may name; None accepts any.

    Raises:
        ScenarioError: the file has problems; it names all of them.
    """
    reading = ScenarioReading(path=path, lines=(), known_invariants=known_invariants)
    try:
        scenario = _read(read_nodes(data, reading), reading)
    except TooManyProblems:
        scenario = None
    if scenario is None or reading.problems:
        raise ScenarioError(reading.ordered())
    return evolve(scenario, path=path)


def _read(root: Node | None, reading: ScenarioReading) -> Scenario | None:
    if root is None:
        return None
    if isinstance(root, Mapping) and root.get("actors") is None:
        reading.actors["client"] = "client"
    found = SCENARIO.read(root, reading)
    if not isinstance(root, Mapping):
        return None
    check_references(root, reading)
    if not isinstance(found, Scenario):
        return None
    check_observers(found.clients, root, reading)
    check_axes(found, reading)
    return found
