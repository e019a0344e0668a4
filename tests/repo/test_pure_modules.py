"""Pure modules stay pure: ruff says so as soon as one of them imports a clock, randomness, threads or the network."""

from __future__ import annotations

import configparser
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path

import pytest
from layers import OWNERS, PURE, REFERENCE_CORE, ROOT, SOURCES, modules, within

PYPROJECT = ROOT / "pyproject.toml"
TRIED = {
    "a judge": "journalsim.oracle.invariants.messages",
    "a scenario module": "journalsim.scenario.values.scenario",
    "an actor": "journalsim.actors.page.page",
    "a disk": "journalsim.actors.disk.simulated",
    "the contract": "journalsim.contract.sse",
    "a case": "journalsim.case",
    **{f"the reference's {name}": f"journalsim_reference.{name}" for name in REFERENCE_CORE},
}
COPIES = {"sim", "reference_impl"}
"""Names under which the two packages could be imported a second time."""


def banned() -> Mapping[str, str]:
    """Returns the names that ruff bans, each with what it says."""
    lint = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    return {name: entry["msg"] for name, entry in lint["flake8-tidy-imports"]["banned-api"].items()}


def findings(folder: Path) -> set[tuple[str, str]]:
    """Returns what ruff finds below a folder: paths and messages."""
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--select", "TID251", "--output-format", "json"]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return {
        (Path(found["filename"]).relative_to(folder).as_posix(), found["message"]) for found in json.loads(done.stdout)
    }


def test_an_import_of_a_clock_or_the_like_in_a_pure_module_is_an_error_with_the_replacement(tmp_path: Path) -> None:
    """Each banned name is added to each module that is tried, in a tree of its own below a copy of our settings."""
    expected = set()
    for name, says in banned().items():
        (tmp_path / name).mkdir()
        shutil.copy(PYPROJECT, tmp_path / name)
        for module in TRIED.values():
            path = modules()[module].relative_to(ROOT)
            copy = tmp_path / name / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = modules()[module].read_text(encoding="utf-8")
            future = "from __future__ import annotations\n"
            assert future in text
            copy.write_text(text.replace(future, f"{future}\nimport {name}\n", 1), encoding="utf-8")
            expected.add((f"{name}/{path.as_posix()}", f"`{name}` is banned: {says}"))
    assert len(expected) > 500
    assert findings(tmp_path) == expected


@pytest.mark.parametrize("top", [source.name for source in SOURCES.values()])
def test_the_modules_as_they_are_import_nothing_that_is_banned(top: str) -> None:
    assert findings(ROOT / top) == set()


def test_ruff_bans_what_the_table_of_owners_lists() -> None:
    assert set(banned()) == {*OWNERS, *COPIES}


def test_ruff_spares_no_pure_module_and_nothing_that_does_not_need_it() -> None:
    spared = {pattern: names for pattern in _spared() if (names := _matching([pattern])) and pattern != "tests/**"}
    assert [pattern for pattern in _spared() if pattern not in spared] == ["tests/**"]
    for pattern, names in spared.items():
        assert not [name for name in names if within(name, PURE)], pattern
        needed = [name for name in names if any(within(name, places) for places in OWNERS.values())]
        assert needed, pattern
        assert "*" in pattern or needed == names, pattern


def test_coverage_measures_every_pure_module_but_the_actors() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / ".github" / "coverage-pure.ini")
    omitted = settings["run"]["omit"].split()
    assert [pattern for pattern in omitted if not _matching([pattern])] == []
    assert [name for name in _matching(omitted) if within(name, PURE) and not within(name, ["journalsim.actors"])] == []
    assert {ROOT / source for source in settings["run"]["source"].split()} == {
        folder / package for package, folder in SOURCES.items()
    }


def _spared() -> list[str]:
    ignores = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]["per-file-ignores"]
    return [pattern for pattern, codes in ignores.items() if "TID251" in codes]


def _matching(patterns: Iterable[str]) -> list[str]:
    """Returns the modules whose files match a pattern, which may hold one set of braces."""
    plain = [one for pattern in patterns for one in _braces(pattern)]
    return [
        name
        for name, path in modules().items()
        if any(fnmatch(path.relative_to(ROOT).as_posix(), pattern) for pattern in plain)
    ]


def _braces(pattern: str) -> list[str]:
    before, brace, rest = pattern.partition("{")
    if not brace:
        return [pattern]
    words, _, after = rest.partition("}")
    return [f"{before}{word}{after}" for word in words.split(",")]
