"""The layers of the code: a package imports its own layer or a lower one, and no import goes in a circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from layers import (
    ACTORS_MAY_IMPORT,
    LAYERS,
    OWNERS,
    PURE,
    REFERENCE_MAY_IMPORT,
    ROOT,
    folder,
    graph,
    imported,
    modules,
    room,
    trees,
    within,
)

MODULES_AT_LEAST = 250  # a test that finds no modules passes: this one does not
SHAPES_AT_LEAST = 15
OUTSIDE = {"open", "print", "input", "exec", "eval", "__import__"}  # functions by which a pure module would reach out


def circle(edges: Mapping[str, Iterable[str]]) -> list[str]:
    """One circle of a graph, its first node repeated at the end; empty if there is none."""
    done: set[str] = set()

    def visit(node: str, trail: list[str]) -> list[str]:
        if node in trail:
            return [*trail[trail.index(node) :], node]
        if node in done:
            return []
        for other in sorted(edges.get(node, ())):
            if found := visit(other, [*trail, node]):
                return found
        done.add(node)
        return []

    return next((found for node in sorted(edges) if (found := visit(node, []))), [])


def test_every_module_of_journalsim_imports_its_own_layer_or_a_lower_one() -> None:
    assert len(modules()) > MODULES_AT_LEAST
    ours = {name: used for name, used in graph().items() if room(name).split(".")[0] == "journalsim"}
    upwards = [
        f"{name} -> {other}"
        for name, used in ours.items()
        for other in sorted(used)
        if other.split(".")[0] == "journalsim" and other != "journalsim" and LAYERS[room(other)] > LAYERS[room(name)]
    ]
    assert not upwards
    assert set(LAYERS) == {room(name) for name in ours}


def test_folders_import_each_other_without_a_circle() -> None:
    edges: dict[str, set[str]] = {}
    for name, used in graph().items():
        edges.setdefault(folder(name), set()).update(folder(other) for other in used)
    for name, others in edges.items():
        others -= {name, "journalsim"}
    edges.pop("journalsim")
    for name, others in sorted(edges.items()):
        print(name, "->", " ".join(sorted(others)) or "nothing")
    assert circle(edges) == []


def test_files_import_each_other_without_a_circle() -> None:
    edges = {name: used - {"journalsim"} for name, used in graph().items() if name != "journalsim"}
    packages = {name for name, path in modules().items() if path.name == "__init__.py"}
    empty = {name for name in packages if not graph()[name]}  # importing from a package is importing its module
    assert circle({name: used - empty for name, used in edges.items()}) == []


def test_no_module_imports_the_public_names() -> None:
    assert [name for name, used in graph().items() if "journalsim" in used and name != "journalsim"] == []


def test_journalsim_never_imports_the_reference_which_imports_the_contract_alone() -> None:
    for name, used in graph().items():
        if name.split(".")[0] == "journalsim":
            assert not [other for other in used if other.split(".")[0] == "journalsim_reference"], name
        else:
            ours = {other for other in used if other.split(".")[0] == "journalsim"}
            assert not [other for other in ours if not within(other, REFERENCE_MAY_IMPORT)], name


def test_the_library_of_shapes_knows_nothing_of_the_language() -> None:
    library = ("journalsim.scenario.shapes",)
    assert sum(within(name, library) for name in graph()) > SHAPES_AT_LEAST
    outside = [
        f"{name} -> {other}"
        for name, used in graph().items()
        if within(name, library)
        for other in sorted(used)
        if within(other, ("journalsim.scenario",)) and not within(other, library)
    ]
    assert not outside


def test_a_pure_module_imports_pure_modules_and_the_actors_the_engine() -> None:
    pure = [name for name in modules() if within(name, PURE)]
    assert len(pure) > MODULES_AT_LEAST // 2
    for name in pure:
        allowed = (*PURE, *ACTORS_MAY_IMPORT) if room(name) == "journalsim.actors" else PURE
        assert not [other for other in sorted(graph()[name]) if not within(other, allowed)], name


def test_a_pure_module_calls_nothing_that_reaches_out() -> None:
    calls = [
        f"{name}:{node.lineno} calls {node.func.id}"
        for name, tree in trees().items()
        if within(name, PURE)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OUTSIDE
    ]
    assert calls == []


def test_a_module_is_imported_only_where_it_belongs() -> None:
    offenders = [
        f"{name} imports {what}"
        for name in modules()
        for what, places in OWNERS.items()
        if imported(name, what) and not within(name, places)
    ]
    assert offenders == []


def test_every_place_that_may_import_a_module_does() -> None:
    """An entry that nothing uses any more would allow an import that nobody decided on."""
    idle = [
        f"{place}: {what}"
        for what, places in OWNERS.items()
        for place in places
        if not any(imported(name, what) for name in modules() if within(name, [place]))
    ]
    assert idle == []
    assert [name for name in PURE if not any(within(module, [name]) for module in modules())] == []


def test_no_file_imports_a_package_by_the_name_of_its_folder() -> None:
    """``sim.journalsim`` would be a second copy of every module, with classes of its own."""
    files = [path for top in ("sim", "reference_impl", "tests") for path in sorted((ROOT / top).rglob("*.py"))]
    assert len(files) > MODULES_AT_LEAST
    statement = re.compile(r"^\s*(?:import|from)\s+(?:sim|reference_impl)\b", re.MULTILINE)
    ours = [path for path in files if "foreign" not in path.parts]  # a project with packages of that name, for a test
    assert [path for path in ours if statement.search(path.read_text(encoding="utf-8"))] == []


def test_a_circle_is_found() -> None:
    assert circle({"a": ["b"], "b": ["c"], "c": ["b"]}) == ["b", "c", "b"]
    assert circle({"a": ["b"], "b": ["c"], "c": []}) == []
