"""What adopters import: the names, that they are documented, when they cost something, and that they are typed."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import journalsim
from journalsim import strategies

NAMES = [
    "INVARIANTS",
    "Capabilities",
    "Case",
    "Completion",
    "Event",
    "Frame",
    "History",
    "Item",
    "ModelError",
    "ModelEvent",
    "ModelRequest",
    "OutcomeUnknown",
    "Ports",
    "RunBusy",
    "RunnerAdapter",
    "Scenario",
    "Statistics",
    "Status",
    "StoreAdapter",
    "ToolCall",
    "ToolError",
    "Verdict",
    "Violation",
    "__version__",
    "check_adapter",
    "check_history",
    "dump_scenario",
    "load_scenario",
    "run_case",
]
"""Changing this list is changing what others build on."""

NOT_CALLABLE = ("Event", "INVARIANTS", "ModelEvent", "__version__")

ADOPTER = '''\
"""A journal, and every way to judge it from Python, as an outside author writes it."""

from collections.abc import Sequence

from hypothesis import given, settings

from journalsim import Capabilities, Item, Scenario, StoreAdapter, Violation, check_adapter, dump_scenario, run_case
from journalsim.strategies import Plan, cases, scenarios


class Journal:
    capabilities = Capabilities(level="store")

    def __init__(self) -> None:
        self.rows: list[tuple[str, Item]] = []

    def open(self, where: str) -> None:
        pass

    def close(self) -> None:
        pass

    def append(self, session_id: str, run_id: str, item: Item) -> None:
        self.rows.append((session_id, item))

    def read(self, session_id: str) -> Sequence[Item]:
        return [item for session, item in self.rows if session == session_id]


def make() -> StoreAdapter:
    return Journal()


@given(case=cases())
@settings(deadline=None)
def test_every_invariant_holds(case: Plan) -> None:
    run_case(case, make).check()


@given(scenario=scenarios(Journal.capabilities))
def test_every_invariant_holds_in_scenarios(scenario: Scenario) -> None:
    broken: tuple[Violation, ...] = run_case(scenario, "python:shop:make").violations
    assert not broken, dump_scenario(scenario)


def test_the_built_in_scenarios() -> None:
    assert all(result.cases for result in check_adapter(make))
'''


def test_the_public_names_are_these_few() -> None:
    assert journalsim.__all__ == NAMES
    assert len(NAMES) <= 30
    assert set(NAMES) == {*journalsim._WHERE, "__version__"}
    assert all(getattr(journalsim, name) is not None for name in NAMES)
    assert strategies.__all__ == ["Plan", "cases", "scenarios"]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_CALLABLE])
def test_a_public_name_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(journalsim, name))


@pytest.mark.parametrize("function", [journalsim.run_case, journalsim.check_adapter, strategies.cases])
def test_what_adopters_call_documents_its_arguments_and_its_result(function: object) -> None:
    text = inspect.getdoc(function) or ""
    assert "Args:" in text
    assert "Returns:" in text
    assert all(f"    {name}: " in text for name in inspect.signature(function).parameters)  # type: ignore[arg-type]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'run_cases'"):
        getattr(journalsim, "run_cases")  # noqa: B009  (a name that does not exist, for the lookup alone)


@pytest.mark.parametrize(
    ("statement", "loaded"),
    [
        ("import journalsim", []),
        ("from journalsim import Case, Scenario, load_scenario", []),
        ("from journalsim import run_case", ["trio"]),
        ("from journalsim.strategies import cases", ["trio", "hypothesis"]),
    ],
)
def test_a_name_costs_what_it_needs(statement: str, loaded: list[str]) -> None:
    program = (
        f"import sys; {statement}; print([n for n in ('trio', 'hypothesis', 'click', 'rich') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == (str(loaded), "")


def test_the_file_of_an_adopter_is_typed_strictly_and_its_mistakes_are_found(tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(ADOPTER)
    assert checked(tmp_path) == ["Success: no issues found in 1 source file"]
    wrong = ADOPTER.replace("import Capabilities,", "import Capability,").replace(
        "run_case(case, make)", "run_case(case, 3)"
    )
    (tmp_path / "test_shop.py").write_text(wrong)
    said = checked(tmp_path)
    assert [line for line in said if 'has no attribute "Capability"' in line]
    assert [line for line in said if 'Argument 2 to "run_case" has incompatible type "int"' in line]


def checked(folder: Path) -> list[str]:
    """What mypy says about the file, in a project that has no settings of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", "test_shop.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()
