"""Which scenarios can see a mutant at all: those that execute the statement that was changed.

A scenario that never comes to a statement runs the same whatever stands there.
What is executed when a module is imported, such as a table, a default or a class,
is for every scenario to judge.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from judging import run_scenario_once

from journalsim.scenario.values.scenario import Scenario

Lines = Mapping[str, frozenset[int]]
"""The lines that a scenario executes, by the name of the file in journalsim_reference."""


def lines_of(scenarios: Sequence[Scenario], folder: Path) -> dict[str, Lines]:
    """Returns what each scenario executes on the unchanged reference, measured in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as pipe:
            json.dump(_measured(scenarios, folder), pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return {name: {file: frozenset(lines) for file, lines in files.items()} for name, files in json.loads(text).items()}


def _measured(scenarios: Sequence[Scenario], folder: Path) -> dict[str, dict[str, list[int]]]:
    seen: dict[str, dict[int, bool]] = {}
    ours = {str(path): path.name for path in folder.glob("*.py")}

    def on_line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            seen.setdefault(ours[frame.f_code.co_filename], {})[frame.f_lineno] = True
        return on_line

    def on_call(frame: FrameType, event: str, argument: Any) -> Any:
        return on_line if frame.f_code.co_filename in ours else None

    result: dict[str, dict[str, list[int]]] = {}
    for scenario in scenarios:
        seen.clear()
        sys.settrace(on_call)
        try:
            failed = run_scenario_once(scenario)
        finally:
            sys.settrace(None)
        assert not failed, f"the reference itself fails {scenario.name}"
        assert seen, f"{scenario.name} came to no line of {folder}"
        result[scenario.name] = {file: sorted(lines) for file, lines in seen.items()}
    return result


def statement(source: str, line: int) -> range | None:
    """Returns the lines of the innermost statement at a line; None if it is executed when the module is imported.

    Of a statement with a body only the head counts.
    """
    found: tuple[ast.stmt, bool] | None = None

    def visit(node: ast.AST, inside: bool) -> None:
        nonlocal found
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt) and child.lineno <= line <= (child.end_lineno or child.lineno):
                found = child, inside
            visit(child, inside or isinstance(child, ast.FunctionDef))

    visit(ast.parse(source), False)
    return _head(found[0]) if found is not None and found[1] else None


def _head(node: ast.stmt) -> range:
    body = getattr(node, "body", None)
    last = body[0].lineno - 1 if isinstance(body, list) else node.end_lineno or node.lineno
    return range(node.lineno, max(last, node.lineno) + 1)
