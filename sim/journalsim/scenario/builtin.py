"""The scenarios that ship with journalsim."""

from __future__ import annotations

from pathlib import Path  # noqa: TID251  (names the folder that ships with the package)

from journalsim.scenario.files import find_scenarios, load_file
from journalsim.scenario.values.scenario import Scenario


def builtin_folder() -> Path:
    """Returns the folder of the scenarios that ship with journalsim: in the wheel, or in a checkout."""
    package = Path(__file__).parents[1]
    shipped = package / "_scenarios"
    folder = shipped if shipped.is_dir() else package.parents[1] / "scenarios"
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def builtin_scenarios(known_invariants: frozenset[str] | None = None) -> tuple[Scenario, ...]:
    """Returns all of them, in the order of their files.

    Args:
        known_invariants: ids that they may name; None accepts any.
    """
    return tuple(load_file(path, known_invariants) for path in find_scenarios([builtin_folder()]))
