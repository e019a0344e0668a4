"""What is imported is declared, what is declared is used, and what is optional is imported where it may be missing."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("sim", "reference_impl")
OPTIONAL: Mapping[str, str] = {"httpx": "http", "starlette": "live", "hypercorn": "live", "pytest": "test"}
"""Distributions that the packages import only where they are wanted, and the extra that brings each."""

TOOLS = {"mypy", "ruff", "types-pyyaml", "pytest-cov", "pytest-trio", "pytest-xdist"}
"""Commands, stubs and plugins, which nothing imports by name."""


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def declared() -> Mapping[str, frozenset[str]]:
    """Distributions by extra; those of everybody under the empty name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = {"": project["dependencies"], **project["optional-dependencies"]}
    return {
        extra: frozenset(normalized(re.split(r"[\[<>=!~ ;]", each)[0]) for each in named)
        for extra, named in lists.items()
    }


def names_imported(tree: ast.AST) -> Iterator[str]:
    """The modules that a syntax tree imports, also by a function that takes the name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "importorskip"):
                yield str(node.args[0].value)


@cache
def imported(folder: str) -> Mapping[str, frozenset[str]]:
    """Distributions that the files below a folder import, and the files that do."""
    ours = {"journalsim", "journalsim_reference", "tests", *(path.stem for path in (ROOT / "tests").rglob("*.py"))}
    known = packages_distributions()
    found: dict[str, set[str]] = {}
    for path in (p for p in (ROOT / folder).rglob("*.py") if "foreign" not in p.parts):  # a project of its own
        for name in names_imported(ast.parse(path.read_text(encoding="utf-8"))):
            top = name.split(".")[0]
            if top not in ours and top not in sys.stdlib_module_names:
                found.setdefault(normalized(known.get(top, [top])[0]), set()).add(path.relative_to(ROOT).as_posix())
    return {name: frozenset(files) for name, files in found.items()}


@pytest.mark.parametrize("folder", PACKAGES)
def test_what_a_package_imports_is_declared(folder: str) -> None:
    assert imported(folder)
    missing = {name: files for name, files in imported(folder).items() if name not in declared()[""]}
    assert set(missing) <= set(OPTIONAL), missing
    assert all(name in declared()[OPTIONAL[name]] for name in missing)


def test_what_is_declared_for_everybody_is_imported_by_a_package() -> None:
    used = {name for folder in PACKAGES for name in imported(folder)}
    assert declared()[""] - used == set()


def test_what_the_tests_import_is_declared_in_some_extra() -> None:
    everything = frozenset().union(*declared().values())
    assert {name: files for name, files in imported("tests").items() if name not in everything} == {}


def test_what_an_extra_brings_is_used() -> None:
    used = {name for folder in (*PACKAGES, "tests") for name in imported(folder)} | TOOLS
    assert {extra: named - used for extra, named in declared().items() if named - used} == {}


def test_imports_are_found_in_every_form() -> None:
    tree = ast.parse("import a.b, c\nfrom d.e import f\nimport_module('g')\ndef h():\n    pytest.importorskip('i.j')\n")
    assert sorted(names_imported(tree)) == ["a.b", "c", "d.e", "g", "i.j"]
