"""Failing cases on disk: what a replay line needs, in one file.

A file holds the scenario as canonical YAML, the case, the adapter and what was
found, so that it replays wherever it is copied to, whatever became of the
scenario file since.  It is data and nothing else: reading one runs no code, and
the adapter that it names is run only when the user names it, too
(:func:`adapter_for`), or when it is a variant of the reference.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any, TypeAlias

from attrs import field, frozen
from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError

from journalsim.case import Case, case_from_data, case_to_data
from journalsim.errors import UsageError
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.results import Failure

SAVED_FORMAT = 1
FOLDER = Path(".journalsim") / "failures"
FILE_MAX = 8_000_000  # bytes; the largest scenario that the language takes is a tenth of that

CauseInFile: TypeAlias = tuple[str, int]
"""An invariant, and for an expectation its number among those of the scenario; -1 otherwise."""


# --- the file ------------------------------------------------------------------------------------


def _matches(pattern: str, what: str) -> Any:
    """Returns an attrs validator for texts of one form."""

    def check(record: object, attribute: object, value: str) -> None:
        if re.fullmatch(pattern, value) is None:
            raise ValueError(f"expected {what}, found {_short(value)}")

    return check


@frozen(kw_only=True)
class CaseFile:
    """A case file, checked.

    Attributes:
        format: :data:`SAVED_FORMAT`.
        id: ``scenario@case``.
        adapter: under which it failed, as the user named it.
        scenario: as canonical YAML.
        path: the file of the scenario, for messages; empty if there was none.
        case: what to run.
        causes: what it violated.
        trace_hash: of its history.
    """

    format: int
    id: str = field(validator=_matches(r"[a-z0-9][a-z0-9_-]*@[0-9a-f]{6}", "the id of a case, as first-stop@e122f8"))
    adapter: str = field(validator=_matches(r"[ -~]{1,300}", "the name of an adapter, such as ref"))
    scenario: str
    path: str = field(validator=_matches(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{0,500}", "the path of a file"))
    case: Case
    causes: tuple[CauseInFile, ...]
    trace_hash: str = field(validator=_matches(r"[0-9a-f]{16}", "16 hexadecimal digits"))

    def __attrs_post_init__(self) -> None:
        expected = f"{self.case.scenario}@{self.case.id}"
        if self.id != expected:
            raise ValueError(f"the id is {self.id}, and the case in the file is {_short(expected)}")
        if not self.causes:
            raise ValueError("causes is empty, and a saved case violates something")
        for invariant, _ in self.causes:
            if re.fullmatch(r"[a-z][a-z0-9-]{0,60}", invariant) is None:
                raise ValueError(f"expected the id of an invariant in causes, found {_short(invariant)}")


def _whole_number(value: Any, _: type) -> int:
    if type(value) is not int:
        raise ValueError(f"expected a whole number, found {_short(value)}")
    return value


def _text(value: Any, _: type) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected text, found {_short(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"expected text, found half of a character in {_short(value)}") from None
    return value


def _cause(value: Any, _: type) -> CauseInFile:
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and type(value[1]) is int:
        return value[0], value[1]
    raise ValueError(f"expected [invariant, number], found {_short(value)}")


def _causes(value: Any, _: type) -> tuple[CauseInFile, ...]:
    if not isinstance(value, list):
        raise ValueError(f"expected a list of causes, found {_short(value)}")
    return tuple(_cause(item, tuple) for item in value)


def _case(value: Any, _: type) -> Case:
    if not isinstance(value, dict):
        raise ValueError(f"expected a case, found {_short(value)}")
    return case_from_data(value)


def _short(value: Any) -> str:
    return ascii(value)[:60]


_CODEC = Converter(forbid_extra_keys=True)
_CODEC.register_structure_hook(str, _text)
_CODEC.register_structure_hook(int, _whole_number)
_CODEC.register_structure_hook(Case, _case)
_CODEC.register_structure_hook_func(lambda kind: kind == tuple[CauseInFile, ...], _causes)


def _sentence(error: BaseException, _: type | None) -> str:
    """Returns what is wrong with one place, in words."""
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return str(error)


def read_case_file(path: Path) -> CaseFile:
    """Returns what a case file holds, after checking everything in it.

    Raises:
        UsageError: it cannot be read, or is no case file of this format.
    """
    try:
        if path.stat().st_size > FILE_MAX:
            raise UsageError(f"{path}: not a saved case: larger than {FILE_MAX // 1_000_000} MB")
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not a saved case: not JSON: {_one_line(error)}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{path}: not a saved case: expected a JSON object, found {_short(data)}")
    if data.get("format") != SAVED_FORMAT:
        found = _short(data.get("format"))
        raise UsageError(f"{path}: format {found} is not {SAVED_FORMAT}: run the scenario again to save it anew")
    try:
        return _CODEC.structure(data, CaseFile)
    except (BaseValidationError, ValueError) as error:
        wrong = transform_error(error, path="", format_exception=_sentence)
        raise UsageError(f"{path}: not a saved case: {_one_line(wrong[0])}") from None


def _one_line(what: object) -> str:
    text = str(what).replace(" @ .", ", at ").replace(" @ ", "")[:200]
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


# --- saving and finding ---------------------------------------------------------------------------


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
    """Writes a failing case and returns its file; the same case again is the same file, with all its causes.

    Raises:
        UsageError: the folder cannot be written.
    """
    path = folder / f"{failure.id}.json"
    causes = [_cause_of(failure)]
    previous = _previous(path)
    if previous is not None and previous.trace_hash == failure.trace_hash:
        causes = [*previous.causes, *(cause for cause in causes if cause not in previous.causes)]
    data: dict[str, Any] = {
        "format": SAVED_FORMAT,
        "id": failure.id,
        "adapter": adapter,
        "scenario": dump_scenario(failure.scenario),
        "path": failure.scenario.path,
        "case": case_to_data(failure.case),
        "causes": causes,
        "trace_hash": failure.trace_hash,
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise UsageError(f"cannot save the failing case in {folder}: {error.strerror}") from None
    return path


def _previous(path: Path) -> CaseFile | None:
    """Returns what a file of the same name holds; None if there is none, or it is damaged."""
    try:
        return read_case_file(path) if path.exists() else None
    except UsageError:
        return None


def load_saved(name: str, folder: Path = FOLDER) -> Saved:
    """Returns a saved case by file, by id, or by the end of its id.

    Raises:
        UsageError: there is none, there are several, or the file is no case file.
        ScenarioError: the scenario in the file is wrong.
    """
    path = Path(name) if name.endswith(".json") or "/" in name else _find(name, folder)
    if not path.is_file():
        raise UsageError(f"no saved case {path}")
    found = read_case_file(path)
    scenario = load_scenario(found.scenario.encode(), found.path or str(path))
    if scenario.name != found.case.scenario:
        raise UsageError(f"{path}: not a saved case: it is of {found.case.scenario}, the scenario is {scenario.name}")
    lines = [expectation.line for expectation in scenario.expect.finally_]
    if not all(-1 <= number < len(lines) for _, number in found.causes):
        raise UsageError(f"{path}: not a saved case: causes name an expectation that the scenario does not have")
    return Saved(
        id=found.id,
        adapter=found.adapter,
        scenario=scenario,
        case=found.case,
        causes=tuple((invariant, 0 if number < 0 else lines[number]) for invariant, number in found.causes),
        trace_hash=found.trace_hash,
        path=path,
    )


def adapter_for(saved: Saved, given: str | None) -> str:
    """Returns the adapter to run a saved case against: the one given, or that of the file if it is the reference.

    A file that came from somewhere must not decide which code runs here.

    Raises:
        UsageError: the file names another adapter, and the user does not.
    """
    if given is not None:
        return given
    if saved.adapter == "ref" or saved.adapter.startswith("ref:"):
        return saved.adapter
    raise UsageError(
        f"{saved.path} failed under {saved.adapter}; a case file never starts code by itself: "
        f"name the adapter again with -a {shlex.quote(saved.adapter)}"
    )


def list_saved(folder: Path = FOLDER) -> list[str]:
    """Returns the ids of all saved cases."""
    return sorted(path.stem for path in folder.glob("*.json")) if folder.is_dir() else []


def _cause_of(failure: Failure) -> CauseInFile:
    """Names an expectation by its number: the scenario is saved in canonical form, on other lines."""
    lines = [expectation.line for expectation in failure.scenario.expect.finally_]
    line = failure.violation.line
    return failure.violation.invariant, lines.index(line) if line in lines else -1


def _find(name: str, folder: Path) -> Path:
    known = list_saved(folder)
    found = [known_id for known_id in known if name in (known_id, known_id.rpartition("@")[2])]
    if len(found) == 1:
        return folder / f"{found[0]}.json"
    if found:
        raise UsageError(f"{name!r} is not unique: {', '.join(found)}")
    hint = f"; saved are: {', '.join(known[:8])}" if known else "; a failing `journalsim run` saves its cases there"
    raise UsageError(f"no saved case {name!r} in {folder}{hint}")
