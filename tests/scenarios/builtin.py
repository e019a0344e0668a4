"""The scenarios that ship with journalsim, as tests see them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from journalsim.oracle.invariants.judge import INVARIANTS
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.values.scenario import Scenario

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "scenarios").rglob("*.race.yaml"))


@cache
def load(path: Path) -> Scenario:
    """Returns the scenario of a file, which calls itself by its path from the top of the repository."""
    return load_scenario(path.read_bytes(), path.relative_to(ROOT).as_posix(), frozenset(INVARIANTS))


@cache
def everything() -> tuple[Scenario, ...]:
    """Returns all of them, in the order in which ``journalsim run`` takes them."""
    return tuple(load(path) for path in FILES)
