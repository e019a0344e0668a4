"""Modules and files that documents, help texts, docstrings and messages name are there."""

from __future__ import annotations

import ast
import re
from functools import cache

from layers import ROOT, modules, trees

TEXTS = [
    *(ROOT / name for name in ("README.md", "scenarios/README.md", ".ci/run", "pyproject.toml")),
    *sorted((ROOT / ".github").iterdir()),
    *sorted(path for path in (ROOT / "tests").rglob("*") if path.suffix in (".py", ".md", ".mjs")),
    *modules().values(),
]
SHOWN = re.compile(r"(?<![\w./-])journalsim(?:_reference)?(?:\.[A-Za-z]\w*)+")
PATH = re.compile(r"(?<![\w/.-])(?:sim|reference_impl)/(?:\w[\w/*-]*(?:\.\w+)?)")

FOLDER = re.compile(r"-m (?:sim|reference_impl)\b|(?<![\w.:/])(?:sim|reference_impl)\.(?!journalsim)[a-z]")


def test_dotted_names_are_names_of_modules_or_of_things_in_them() -> None:
    wrong, seen = [], 0
    for path in TEXTS:
        for name in SHOWN.findall(path.read_text(encoding="utf-8")):
            seen += 1
            if not _is_there(name):
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert seen > 1000
    assert wrong == []


def test_paths_lead_to_files() -> None:
    wrong, seen = [], 0
    for path in TEXTS:
        for name in PATH.findall(path.read_text(encoding="utf-8")):
            seen += 1
            if not any(ROOT.glob(name)):
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert seen > 30
    assert wrong == []


def test_no_module_is_named_after_its_folder() -> None:
    """The packages are journalsim and journalsim_reference; only the foreign project of the tests has others."""
    texts = [path for path in TEXTS if "plugin" not in path.parts]
    found = {path.relative_to(ROOT).as_posix(): FOLDER.findall(path.read_text(encoding="utf-8")) for path in texts}
    assert {path: names for path, names in found.items() if names} == {}


def _is_there(name: str) -> bool:
    module, rest = name, ""
    while module not in modules():
        module, _, first = module.rpartition(".")
        rest = first
        if not module:
            return False
    return not rest or rest in _names(module)


@cache
def _names(module: str) -> set[str]:
    """Returns the names at the top of a module."""
    found = set()
    for node in ast.walk(trees()[module]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return found
