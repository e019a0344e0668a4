"""The layers of the code, the pure modules, and who may import what: the tables behind ``test_layers.py``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = {"journalsim": ROOT / "sim", "journalsim_reference": ROOT / "reference_impl"}

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

REFERENCE_CORE = ("lifecycle", "events", "content", "state", "batch", "journal", "calls", "projections", "recovery")
REFERENCE_CORE += ("partials", "attach", "frame_log", "frames")
"""The modules of the reference that decide and never wait; the others are the shell around them."""

REFERENCE_MAY_IMPORT = ("journalsim.contract",)

PURE = (
    *(room for room, layer in LAYERS.items() if layer < 2),
    "journalsim.oracle",
    "journalsim.actors",
    *(f"journalsim_reference.{name}" for name in REFERENCE_CORE),
)
"""Modules and folders without clock, randomness, threads and I/O: what they do is a function of their arguments."""

ACTORS_MAY_IMPORT = ("journalsim.engine",)
"""The one thing beside pure modules that the actors import: they are event sources, which the scheduler steps."""

_AUDITED = "journalsim.engine.guards"  # names the sources of nondeterminism, to trap them in an audit

OWNERS: Mapping[str, tuple[str, ...]] = {
    # clocks, randomness, threads, processes and files
    "time": (
        _AUDITED,
        "journalsim.hosts.http_real",
        "journalsim.report",
        "journalsim.search",
        "journalsim_reference.__main__",
        "journalsim_reference.live",
    ),
    "datetime": (),
    "random": (_AUDITED, "journalsim.engine.native_order", "journalsim.engine.schedules", "journalsim.search"),
    "secrets": (_AUDITED,),
    "uuid": (_AUDITED,),
    "threading": (_AUDITED, "journalsim.hosts.http_real", "journalsim.search", "journalsim.cli"),
    "queue": ("journalsim.hosts.http_real",),
    "concurrent": (),
    "multiprocessing": ("journalsim.search",),
    "subprocess": (_AUDITED, "journalsim.search"),
    "signal": (_AUDITED, "journalsim.cli", "journalsim.search", "journalsim_reference.__main__"),
    "socket": (_AUDITED, "journalsim_reference.__main__"),
    "ssl": (),
    "select": (),
    "selectors": (),
    "http": (),
    "urllib.request": (),
    "sqlite3": (),
    "os": (
        _AUDITED,
        "journalsim.actors.disk.mount",  # the words of an error number alone
        "journalsim.cli",
        "journalsim.report",
        "journalsim.scenario.files",
        "journalsim.search",
        "journalsim_reference.bugs.harness",
        "journalsim_reference.stores.real_disk",
    ),
    "pathlib": (
        "journalsim.cli",
        "journalsim.hosts",
        "journalsim.pytest_plugin",
        "journalsim.report",
        "journalsim.scenario.builtin",
        "journalsim.scenario.files",
        "journalsim.scenario.known_failures",
        "journalsim.search",
        "journalsim_reference.__main__",
        "journalsim_reference.stores",
    ),
    "shutil": ("journalsim.search",),
    "tempfile": ("journalsim.search",),
    "importlib": (
        "journalsim",
        "journalsim.cli",
        "journalsim.hosts.loading",
        "journalsim.scenario.catalogue",  # a file of the package
        "journalsim_reference.app",
    ),
    "asyncio": (),
    # third-party packages
    "trio": (
        "journalsim.engine",
        "journalsim.hosts",
        "journalsim.search",
        "journalsim_reference.__main__",
        "journalsim_reference.app",
        "journalsim_reference.bugs",
        "journalsim_reference.live",
        "journalsim_reference.model_calls",
        "journalsim_reference.stream",
        "journalsim_reference.worker",
        "journalsim_reference.writer",
    ),
    "yaml": ("journalsim.scenario.shapes.strict_yaml",),
    "hypothesis": ("journalsim.strategies",),
    "rich": ("journalsim.report",),
    "click": ("journalsim.cli",),
    "pytest": ("journalsim.pytest_plugin",),
    "apsw": ("journalsim_reference.stores",),
    "starlette": ("journalsim_reference.app", "journalsim_reference.judged_app", "journalsim_reference.__main__"),
    "hypercorn": ("journalsim_reference.__main__",),
    "httpx": ("journalsim.hosts",),
}
"""What a module may not import unless it is listed here, or stands in a folder that is.

ruff bans the same names in all modules but those of ``[tool.ruff.lint.per-file-ignores]``: it speaks up in an editor
and names the replacement, and this table is exact.
"""


@cache
def modules() -> Mapping[str, Path]:
    """All modules of both packages, by name."""
    found = {}
    for package, source in SOURCES.items():
        for path in sorted((source / package).rglob("*.py")):
            name = ".".join(path.relative_to(source).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def trees() -> Mapping[str, ast.Module]:
    """The syntax tree of each module."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules().items()}


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
def imports() -> Mapping[str, frozenset[str]]:
    """The dotted names that each module imports, anywhere in it."""
    return {name: frozenset(names_imported(tree)) for name, tree in trees().items()}


@cache
def graph() -> Mapping[str, frozenset[str]]:
    """Which of our modules each module imports, anywhere in it."""
    known = set(modules())
    return {name: names & known - {name} for name, names in imports().items()}


def room(name: str) -> str:
    return ".".join(name.split(".")[:2])


def folder(name: str) -> str:
    """The folder that a module stands in; a file directly below a package is a folder of its own."""
    inside = modules()[name].name == "__init__.py"
    return name if inside or name.count(".") == 1 else name.rpartition(".")[0]


def within(name: str, places: Iterable[str]) -> bool:
    """Whether a name is one of the places or stands below one; a whole package stands for its ``__init__`` alone."""
    return any(name == place or ("." in place and name.startswith(f"{place}.")) for place in places)


def imported(name: str, what: str) -> bool:
    """Whether a module imports a package or module, or anything in it."""
    return any(used == what or used.startswith(f"{what}.") for used in imports()[name])
