"""The layers of the code: a package imports its own layer or a lower one, and no import goes in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = {"journalsim": ROOT / "sim", "journalsim_reference": ROOT / "reference_impl"}
MODULES_AT_LEAST = 250  # a test that finds no modules passes: this one does not
SHAPES_AT_LEAST = 15

LAYERS: Mapping[str, int] = {
    "journalsim.contract": 0,
    "journalsim.case": 0,
    "journalsim.errors": 0,
    "journalsim.history": 0,
    "journalsim.version": 0,
    "journalsim.scenario": 1,
    "journalsim.engine": 2,
    "journalsim.oracle": 3,
    "journalsim.actors": 3,
    "journalsim.hosts": 4,
    "journalsim.search": 5,
    "journalsim.report": 5,
    "journalsim.strategies": 5,
    "journalsim.cli": 6,
    "journalsim.pytest_plugin": 6,
    "journalsim.__main__": 6,
    "journalsim": 6,  # the public names, gathered from all layers
}
"""The room of a module is the folder, or the file, directly below the package; each room has one layer."""

REFERENCE_MAY_IMPORT = ("journalsim.contract",)

OWNERS: Mapping[str, tuple[str, ...]] = {
    "yaml": ("journalsim.scenario.shapes.strict_yaml",),
    "trio": (
        "journalsim.engine",
        "journalsim.hosts",
        "journalsim.search",
        "journalsim_reference",
    ),
    "hypothesis": ("journalsim.strategies",),
    "rich": ("journalsim.report",),
    "click": ("journalsim.cli",),
    "pytest": ("journalsim.pytest_plugin",),
    "apsw": ("journalsim_reference.stores",),
    "starlette": ("journalsim_reference.app", "journalsim_reference.judged_app", "journalsim_reference.__main__"),
    "hypercorn": ("journalsim_reference.__main__",),
    "httpx": ("journalsim.hosts",),
}
"""Third-party packages, and the modules and folders that alone may import each."""


@cache
def modules() -> Mapping[str, Path]:
    """All modules of both packages, by name."""
    found = {}
    for package, source in SOURCES.items():
        for path in sorted((source / package).rglob("*.py")):
            name = ".".join(path.relative_to(source).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


def names_imported(tree: ast.AST) -> set[str]:
    """The dotted names that a syntax tree imports."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute here"
            assert node.module
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@cache
def graph() -> Mapping[str, frozenset[str]]:
    """Which modules each module imports, anywhere in it."""
    known = modules()
    return {
        name: frozenset(names_imported(ast.parse(path.read_text(encoding="utf-8"))) & set(known) - {name})
        for name, path in known.items()
    }


def room(name: str) -> str:
    return ".".join(name.split(".")[:2])


def folder(name: str) -> str:
    """The folder that a module stands in; a file directly below a package is a folder of its own."""
    inside = modules()[name].name == "__init__.py"
    return name if inside or name.count(".") == 1 else name.rpartition(".")[0]


def within(name: str, places: Iterable[str]) -> bool:
    return any(name == place or name.startswith(f"{place}.") for place in places)


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


def test_a_third_party_package_is_imported_only_where_it_belongs() -> None:
    offenders = [
        f"{name} imports {package}"
        for name, path in modules().items()
        for package in sorted({used.split(".")[0] for used in names_imported(ast.parse(path.read_text("utf-8")))})
        if package in OWNERS and not within(name, OWNERS[package])
    ]
    assert not offenders


def test_a_circle_is_found() -> None:
    assert circle({"a": ["b"], "b": ["c"], "c": ["b"]}) == ["b", "c", "b"]
    assert circle({"a": ["b"], "b": ["c"], "c": []}) == []
