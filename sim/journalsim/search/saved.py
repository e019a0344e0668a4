"""Failing cases on disk: what a replay line needs, in one file.

A file holds the scenario as canonical YAML, the case, the adapter and what was
found, so that it replays wherever it is copied to, whatever became of the
scenario file since.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from journalsim.case import Case, case_from_data, case_to_data
from journalsim.errors import UsageError
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.results import Failure

SAVED_FORMAT = 1
FOLDER = Path(".journalsim") / "failures"


@frozen(kw_only=True)
class Saved:
    """A failing case as it was saved.

    Attributes:
        id: ``scenario@case``.
        adapter: under which it failed, as the user named it.
        scenario: as it was then.
        case: what to run.
        causes: what it broke: id of the invariant and, for an expectation, its line.
        trace_hash: of its history.
        path: the file.
    """

    id: str
    adapter: str
    scenario: Scenario
    case: Case
    causes: tuple[tuple[str, int], ...]
    trace_hash: str
    path: Path

    @property
    def broke(self) -> tuple[str, ...]:
        """Ids of the invariants that it broke."""
        return tuple(dict.fromkeys(invariant for invariant, _ in self.causes))


def save_failure(failure: Failure, adapter: str, folder: Path = FOLDER) -> Path:
    """Writes a failing case and returns its file; the same case again is the same file.

    Raises:
        UsageError: the folder cannot be written.
    """
    data: dict[str, Any] = {
        "format": SAVED_FORMAT,
        "id": failure.id,
        "adapter": adapter,
        "scenario": dump_scenario(failure.scenario),
        "path": failure.scenario.path,
        "case": case_to_data(failure.case),
        "causes": [_cause(failure)],
        "trace_hash": failure.trace_hash,
    }
    path = folder / f"{failure.id}.json"
    previous = _read(path) if path.exists() else {}
    if previous.get("trace_hash") == failure.trace_hash:
        data["causes"] = previous["causes"] + [cause for cause in data["causes"] if cause not in previous["causes"]]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise UsageError(f"cannot save the failing case in {folder}: {error.strerror}") from None
    return path


def load_saved(name: str, folder: Path = FOLDER) -> Saved:
    """Returns a saved case by file, by id, or by the end of its id.

    Raises:
        UsageError: there is none, there are several, or the file is not one of ours.
    """
    path = Path(name) if name.endswith(".json") or "/" in name else _find(name, folder)
    if not path.is_file():
        raise UsageError(f"no saved case {path}")
    data = _read(path)
    try:
        if data["format"] != SAVED_FORMAT:
            raise UsageError(f"{path}: format {data['format']} is not {SAVED_FORMAT}: run the scenario again")
        scenario = load_scenario(data["scenario"].encode(), data["path"] or str(path))
        lines = [expectation.line for expectation in scenario.expect.finally_]
        return Saved(
            id=data["id"],
            adapter=data["adapter"],
            scenario=scenario,
            case=case_from_data(data["case"]),
            causes=tuple((str(invariant), 0 if n < 0 else lines[n]) for invariant, n in data["causes"]),
            trace_hash=data["trace_hash"],
            path=path,
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: not a saved case: {error}") from None


def list_saved(folder: Path = FOLDER) -> list[str]:
    """Returns the ids of all saved cases."""
    return sorted(path.stem for path in folder.glob("*.json")) if folder.is_dir() else []


def _cause(failure: Failure) -> list[Any]:
    """Names an expectation by its number: the scenario is saved in canonical form, on other lines."""
    lines = [expectation.line for expectation in failure.scenario.expect.finally_]
    line = failure.violation.line
    return [failure.violation.invariant, lines.index(line) if line in lines else -1]


def _find(name: str, folder: Path) -> Path:
    known = list_saved(folder)
    found = [known_id for known_id in known if name in (known_id, known_id.rpartition("@")[2])]
    if len(found) == 1:
        return folder / f"{found[0]}.json"
    if found:
        raise UsageError(f"{name!r} is not unique: {', '.join(found)}")
    hint = f"; saved are: {', '.join(known[:8])}" if known else "; a failing `journalsim run` saves its cases there"
    raise UsageError(f"no saved case {name!r} in {folder}{hint}")


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as a saved case: {error}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{path}: not a saved case")
    return data
