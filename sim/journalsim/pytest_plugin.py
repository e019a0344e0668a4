"""The pytest plugin: every ``*.race.yaml`` below the test paths is a test.

Nothing of journalsim is imported, and nothing at all is patched, before the
first such file is collected, so a suite without scenarios runs as if the plugin
were not there.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from journalsim.scenario.values.scenario import Scenario
    from journalsim.search.results import ScenarioResult


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options; each has an ini setting of the same meaning."""
    group = parser.getgroup("journalsim", "race scenarios of journalsim")
    group.addoption(
        "--journalsim-adapter", metavar="ADAPTER", help="the journal to judge: ref, python:pkg.mod:factory …"
    )
    group.addoption("--journalsim-profile", choices=("quick", "ci", "deep"), help="how deep to search")
    group.addoption("--journalsim-seed", type=int, metavar="N", help="seed of the exploration in ci and deep")
    parser.addini("journalsim_adapter", "the journal to judge", default="ref")
    parser.addini("journalsim_profile", "how deep to search: quick, ci or deep", default="quick")
    parser.addini("journalsim_seed", "seed of the exploration", default="0")
    parser.addini("race_files", "which files are scenarios", type="args", default=["*.race.yaml"])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collects a scenario file."""
    if any(fnmatch.fnmatch(file_path.name, pattern) for pattern in parent.config.getini("race_files")):
        return RaceFile.from_parent(parent, path=file_path)
    return None


class RaceFile(pytest.File):
    """One scenario file; its problems are collection errors, with line, column and caret."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yields the file's one test."""
        from journalsim.errors import UsageError
        from journalsim.oracle.invariants.judge import INVARIANTS
        from journalsim.scenario.files import read_bytes
        from journalsim.scenario.loader import load_scenario

        shown = _shown(self.path, self.config)
        try:
            data = read_bytes(self.path)
            scenario = load_scenario(data, shown, known_invariants=frozenset(INVARIANTS))
        except UsageError as error:
            raise self.CollectError(str(error)) from None
        yield RaceItem.from_parent(self, name=scenario.name, scenario=scenario)


class RaceFailure(Exception):
    """A scenario did not hold; carries what the report needs."""

    def __init__(self, result: ScenarioResult, adapter: str) -> None:
        super().__init__(result.scenario.name)
        self.result = result
        self.adapter = adapter


class RaceItem(pytest.Item):
    """One scenario, all its cases."""

    def __init__(self, *, scenario: Scenario, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.scenario = scenario
        for tag in scenario.tags:
            self.config.addinivalue_line("markers", f"{tag}: tag of race scenarios")
            self.add_marker(tag)

    def runtest(self) -> None:
        """Runs the scenario against the chosen adapter."""
        from journalsim.hosts.loading import load_adapter
        from journalsim.search.saved import save_failure
        from journalsim.search.scenario_run import run_scenario

        adapter = str(_setting(self.config, "adapter"))
        result = run_scenario(
            self.scenario,
            load_adapter(adapter),
            profile=str(_setting(self.config, "profile")),
            seed=int(_setting(self.config, "seed")),
        )
        for failure in result.failures:
            save_failure(failure, adapter)
        self.user_properties += [("cases", result.cases), ("points", f"{result.points_swept}/{result.points_total}")]
        if result.not_claimed:
            pytest.skip(result.not_claimed)
        if result.failures or result.trouble or result.inconclusive or result.refused:
            raise RaceFailure(result, adapter)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Returns our own text for a scenario that did not hold, and a traceback for anything else."""
        from journalsim.errors import SimError

        if isinstance(excinfo.value, RaceFailure):
            return _text(excinfo.value)
        if isinstance(excinfo.value, SimError):
            return f"error: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Returns where the scenario stands: its first step."""
        line = min((step.line for step in self.scenario.steps), default=1)
        return self.path, max(line - 1, 0), f"race {self.name}"


def _text(failure: RaceFailure) -> str:
    from journalsim.oracle.invariants.judge import INVARIANTS
    from journalsim.report.about import About
    from journalsim.report.text import failure_text, help_lines, scenario_lines
    from journalsim.version import __version__

    result = failure.result
    statements = {name: invariant.statement for name, invariant in INVARIANTS.items()}
    about = About(version=__version__, statements=statements, adapter=failure.adapter)
    lines = [scenario_lines(result)]
    lines += ["\n" + failure_text(one, about) for one in result.failures]
    lines += [f"not run: {result.refused}"] if result.refused else []
    lines += [f"adapter error: {what}" for what in result.trouble]
    lines += help_lines(failure.adapter) if result.trouble else []
    lines += [f"inconclusive: {what}" for what in result.inconclusive]
    return "\n".join(lines)


def _setting(config: pytest.Config, name: str) -> Any:
    chosen = config.getoption(f"--journalsim-{name}")
    return config.getini(f"journalsim_{name}") if chosen is None else chosen


def _shown(path: Path, config: pytest.Config) -> str:
    """Returns the path as the user would type it, where that is possible."""
    root = config.invocation_params.dir
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
