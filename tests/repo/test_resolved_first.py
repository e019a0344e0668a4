"""A case is read once, by ``resolve``; whatever runs it sees a scenario in which every action has its place."""

from __future__ import annotations

import ast
from pathlib import Path

SIM = Path(__file__).parents[2] / "sim" / "journalsim"
RUNS_A_CASE = ("engine", "actors", "hosts", "oracle")
OF_A_PLACED_ACTION = {"AtPoint", "AtStep", "AtTime", "Delay", "Moment", "Never"}


def test_what_runs_a_case_knows_moments_and_no_axes() -> None:
    known = {path.name: names for room in RUNS_A_CASE for path in (SIM / room).rglob("*.py") if (names := taken(path))}
    assert {path: names - OF_A_PLACED_ACTION for path, names in known.items() if names - OF_A_PLACED_ACTION} == {}
    assert "world.py" in known
    assert "director.py" in known


def taken(path: Path) -> set[str]:
    """Returns what a module imports of the values of a case."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {
        alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "journalsim.case"
        for alias in node.names
    }
