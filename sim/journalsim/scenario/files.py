"""Finding scenario files and reading them."""

from __future__ import annotations

import os  # noqa: TID251  (this module is the one that reads scenario files)
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path  # noqa: TID251  (as above)

from journalsim.scenario.loader import load_scenario
from journalsim.scenario.shapes.near_words import did_you_mean
from journalsim.scenario.shapes.problems import Problem, ScenarioError
from journalsim.scenario.shapes.strict_yaml import BYTES_MAX
from journalsim.scenario.values.scenario import Scenario

SUFFIX = ".race.yaml"


def load_file(path: Path, known_invariants: frozenset[str] | None = None) -> Scenario:
    """Returns the scenario of a file.

    Args:
        path: the file.
        known_invariants: ids that ``exercises`` and ``except`` may name; None accepts any.

    Raises:
        ScenarioError: the file cannot be read, or has problems.
    """
    return load_scenario(read_bytes(path), path.as_posix(), known_invariants)


def read_bytes(path: Path) -> bytes:
    """Returns the bytes of a file, of one that is too large only the beginning.

    Raises:
        ScenarioError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(BYTES_MAX + 1)
    except FileNotFoundError:
        problem = _missing(path)
    except IsADirectoryError:
        problem = _problem("E001", path, "this is a folder, not a scenario")
    except OSError as error:
        problem = _problem("E001", path, f"the file cannot be read: {error.strerror}")
    raise ScenarioError([problem])


def find_scenarios(paths: Iterable[Path]) -> list[Path]:
    """Returns the scenario files that the paths stand for, sorted, each once.

    A folder stands for every ``*.race.yaml`` below it; a file stands for itself, whatever its name.

    Raises:
        ScenarioError: a path does not exist, or a folder holds no scenarios; all such paths are named.
    """
    found: set[Path] = set()
    problems: list[Problem] = []
    for path in paths:
        below = _below(path) if os.path.isdir(path) else [path]
        if not os.path.exists(path):
            problems.append(_missing(path))
        elif not below:
            problems.append(
                _problem("E015", path, f"no *{SUFFIX} in this folder", "journalsim new scenario writes one")
            )
        found.update(below)
    if problems:
        raise ScenarioError(problems)
    return sorted(found)


def _below(folder: Path) -> list[Path]:
    """Returns the scenarios below a folder, but not those in hidden folders, where failures are stored."""
    files = [path for path in folder.rglob(f"*{SUFFIX}") if path.is_file()]
    return [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts)]


def _missing(path: Path) -> Problem:
    siblings: list[str] = []
    with suppress(OSError):
        siblings = os.listdir(path.parent)
    return _problem("E001", path, "there is no such file or folder", did_you_mean(path.name, siblings))


def _problem(code: str, path: Path, message: str, help: str = "") -> Problem:
    return Problem(code=code, message=message, path=path.as_posix(), help=help)
