"""The layers of the code, as imports: the same layer or down, and never in a circle."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# first match wins; a module may import modules of its own layer or of a lower one
LAYERS = (
    ("journalsim.adapters.protocol", 0),
    ("journalsim.errors", 0),
    ("journalsim.history", 0),
    ("journalsim.case", 0),
    ("journalsim.version", 0),
    ("journalsim.sse", 0),
    ("journalsim.adapters.disk_protocol", 0),
    ("journalsim.actors.disk_faults", 0),  # the words for disks, which a case holds
    ("journalsim.adapters.stream_protocol", 0),
    ("journalsim.scenario", 1),
    ("journalsim.invariants", 1),
    ("journalsim.engine", 2),
    ("journalsim.actors", 3),
    ("journalsim.adapters", 3),
    ("journalsim.search", 4),
    ("journalsim.report", 4),
    ("journalsim.cli", 5),
    ("journalsim.__main__", 5),
    ("journalsim.pytest_plugin", 5),
    ("sim", 5),
)

# third-party packages, and who alone may import them
OWNERS = {
    "yaml": ("journalsim.scenario",),
    "trio": ("journalsim.engine", "journalsim.adapters", "journalsim.search", "reference_impl"),
    "hypothesis": ("journalsim.search.explore",),
    "rich": ("journalsim.report",),
    "jinja2": ("journalsim.report",),
    "click": ("journalsim.cli",),
    "pytest": ("journalsim.pytest_plugin",),
    "apsw": ("journalsim_reference.stores",),
    "starlette": ("journalsim_reference.app", "journalsim_reference.judged_app", "journalsim_reference.__main__"),
    "hypercorn": ("journalsim_reference.__main__",),
    "asyncio": ("journalsim.adapters.asyncio_host", "journalsim.adapters.contrib"),
}


def modules() -> dict[str, Path]:
    found = {}
    for package in ("sim", "reference_impl"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


def imports(path: Path, *, at_top: bool = False) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if at_top else list(ast.walk(tree))
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def layer(name: str) -> int:
    return next(number for prefix, number in LAYERS if name == prefix or name.startswith(f"{prefix}."))


@pytest.mark.parametrize("name", [name for name in modules() if name.startswith("sim")])
def test_a_module_of_sim_imports_its_own_layer_or_a_lower_one(name: str) -> None:
    known = modules()
    used = {used for used in imports(known[name]) if used in known and used.startswith("sim") and used != "sim"}
    if name == "sim":
        return  # the public names are listed there, whatever their layer
    upwards = sorted(other for other in used if layer(other) > layer(name))
    assert not upwards


def test_modules_never_import_the_public_names_of_sim() -> None:
    offenders = [name for name, path in modules().items() if name != "sim" and "sim" in imports(path)]
    assert not offenders


def test_sim_never_imports_the_reference() -> None:
    offenders = [
        name
        for name, path in modules().items()
        if name.startswith("sim") and any(used.split(".")[0] == "reference_impl" for used in imports(path))
    ]
    assert not offenders


def test_the_reference_imports_nothing_of_sim_but_the_protocol() -> None:
    allowed = {
        "journalsim.adapters.protocol",
        "journalsim.adapters.disk_protocol",
        "journalsim.adapters.stream_protocol",
        "journalsim.sse",
    }
    offenders = {
        name: sorted(used for used in imports(path) if used.split(".")[0] == "sim" and not _is_part(used, allowed))
        for name, path in modules().items()
        if name.startswith("reference_impl")
    }
    assert not {name: used for name, used in offenders.items() if used}


def _is_part(used: str, allowed: set[str]) -> bool:
    return used in allowed or any(used.startswith(f"{module}.") for module in allowed)


@pytest.mark.parametrize("package", sorted(OWNERS))
def test_a_package_is_imported_only_where_it_belongs(package: str) -> None:
    offenders = [
        name
        for name, path in modules().items()
        if any(used.split(".")[0] == package for used in imports(path))
        and not any(name == owner or name.startswith(f"{owner}.") for owner in OWNERS[package])
    ]
    assert not offenders


def test_imports_at_module_level_make_no_circle() -> None:
    known = modules()
    graph = {name: {u for u in imports(path, at_top=True) if u in known and u != name} for name, path in known.items()}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join([*trail[trail.index(name) :], name])
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*trail, name))
            done.add(name)

    for name in known:
        visit(name, ())
    assert len(done) == len(known)
