"""The page for those who write an invariant: its code runs, and its vocabulary is complete."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from attrs import fields_dict
from document_blocks import ROOT, blocks, document

from journalsim.contract.events.server_events import RunEnded
from journalsim.errors import Exit
from journalsim.history import History
from journalsim.hosts.loading import adapter_from, load_adapter
from journalsim.oracle.facts import records
from journalsim.oracle.facts.facts import Facts
from journalsim.oracle.invariants import invariant, judge, verdict
from journalsim.oracle.invariants.judge import INVARIANTS, check_history
from journalsim.oracle.invariants.verdict import Status, Verdict
from journalsim.scenario.loader import load_scenario
from journalsim.search.results import ScenarioResult
from journalsim.search.scenario_run import run_scenario

PAGE = ".github/writing-an-invariant.md"
NEW = "results-verbatim"
LOOP, INVARIANT, REGISTERED, HISTORIES, BUG, SCENARIO = (block.text for block in blocks(PAGE))

sys.path.insert(0, str(ROOT / "tests" / "histories"))


def module(name: str, text: str) -> ModuleType:
    """The module that a file of this name and text would be."""
    made = ModuleType(name)
    exec(compile(text, name, "exec"), vars(made))
    return made


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The invariant of the page is one of all, until the test is over."""
    made = module("verbatim", INVARIANT)
    monkeypatch.setitem(INVARIANTS, NEW, made.RESULTS_VERBATIM)  # type: ignore[arg-type]  # a mapping to its readers


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The histories of the page, which are not added to those of the project."""
    histories = importlib.import_module("known_histories")
    monkeypatch.setattr(histories, "KNOWN", [])
    module("known_results", HISTORIES)
    found: list[Any] = histories.KNOWN
    return found


def judged(history: History) -> dict[str, Verdict]:
    return {found.invariant: found for found in check_history(history)}


def ran(adapter: Any) -> ScenarioResult:
    return run_scenario(load_scenario(SCENARIO.encode(), PAGE, frozenset(INVARIANTS)), adapter)


# --- the worked example ------------------------------------------------------------------------


@pytest.mark.usefixtures("registered")
def test_the_histories_of_the_page_exercise_its_invariant_and_break_nothing_else(known: list[Any]) -> None:
    ok, bad = known
    assert (ok.breaks, bad.breaks, ok.invariant, bad.invariant) == (False, True, NEW, NEW)
    held, broken = judged(ok.history()), judged(bad.history())
    assert (held[NEW].status, held[NEW].exercised) == (Status.HOLDS, 1)
    assert [name for name, found in held.items() if found.status is Status.VIOLATED] == []
    assert [name for name, found in broken.items() if found.status is Status.VIOLATED] == [NEW]
    (violation,) = broken[NEW].violations
    assert (violation.promised, violation.found) == (
        'tool call t1 returned "3 hits"',
        'the journal holds "3" as its result',
    )
    assert violation.evidence[-1] < len(bad.history().events)


@pytest.mark.usefixtures("registered")
def test_the_scenario_of_the_page_holds_on_the_reference_and_its_bug_trips_the_invariant_alone() -> None:
    bug = module("results", BUG).RESULT_CUT
    held, broken = ran(load_adapter("ref")), ran(adapter_from(bug.build))
    assert held.exit is Exit.HELD
    assert held.tallies[NEW].holds == 1
    assert broken.exit is Exit.BROKEN
    assert tuple(failure.violation.invariant for failure in broken.failures) == bug.trips == (NEW,)


def test_without_the_capability_the_invariant_of_the_page_is_not_claimed(registered: None, known: list[Any]) -> None:
    from attrs import evolve

    history = known[1].history()
    plain = evolve(history, capabilities=evolve(history.capabilities, tools=False))
    assert judged(plain)[NEW].status is Status.NOT_CLAIMED


def test_the_invariant_of_the_page_is_explained_like_any_other() -> None:
    made = module("verbatim", INVARIANT).RESULTS_VERBATIM
    assert made.statement.endswith(".")
    assert len(str(made.explain)) > 200
    assert NEW not in INVARIANTS  # else the page needs another example


def test_the_line_that_registers_it_is_one_of_the_judge() -> None:
    before = REGISTERED.replace(", RESULTS_VERBATIM", "").strip()
    assert before in (ROOT / str(judge.__file__)).read_text(encoding="utf-8")


def test_the_loop_over_events_runs(known: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    exec(LOOP, {"facts": Facts(known[0].history()), "RunEnded": RunEnded})
    assert re.fullmatch(r"\d+ r1 completed\n", capsys.readouterr().out)


# --- the vocabulary ----------------------------------------------------------------------------


def section(heading: str) -> str:
    return document(PAGE).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def words(text: str) -> Iterator[str]:
    """The names in code style, without their arguments."""
    return (word.partition("(")[0] for word in re.findall("`([^`]*)`", text))


def cells(heading: str) -> list[tuple[str, str]]:
    """The two cells of each row of the tables below a heading."""
    return re.findall(r"^\| (`.*?) \| (.*) \|$", section(heading), re.MULTILINE)


def public(cls: type) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")}


def test_every_fact_is_described_once() -> None:
    named = [name for first, _ in cells("Facts") for name in words(first)]
    assert sorted(named) == sorted(public(Facts))


RECORDS = ("Run", "Stop", "ModelMessage", "UserMessage", "ToolUse", "Applied")


def test_every_record_is_described() -> None:
    assert [name for first, _ in cells("Records") for name in words(first)] == list(RECORDS)
    ours = {name for name, found in vars(records).items() if getattr(found, "__module__", "") == records.__name__}
    assert ours == set(RECORDS)


@pytest.mark.parametrize("name", RECORDS)
def test_every_field_of_a_record_is_described(name: str) -> None:
    cls = getattr(records, name)
    (described,) = [second for first, second in cells("Records") if first == f"`{name}`"]
    assert public(cls) <= set(words(described))
    assert set(fields_dict(cls)) <= public(cls)


def test_every_name_of_findings_and_verdicts_is_there() -> None:
    named = {name for first, _ in cells("Findings and verdicts") for name in words(first)}
    assert {name for name in named if not hasattr(invariant, name) and not hasattr(verdict, name)} == set()
    rows = {next(words(first)): set(words(second)) for first, second in cells("Findings and verdicts")}
    for cls in (verdict.Violation, invariant.Invariant, invariant.Explanation):
        assert set(fields_dict(cls)) - {"line"} <= rows[cls.__name__], cls  # lines are for expectations of scenarios


def test_every_helper_of_the_page_is_there() -> None:
    helpers = section("Records").partition("Helpers in `journalsim.oracle.facts`:")[2]
    for name in re.findall(r"`([a-z_]+\.[a-z_]+)\(", helpers):
        where, _, helper = name.partition(".")
        assert hasattr(importlib.import_module(f"journalsim.oracle.facts.{where}"), helper), name
    assert callable(importlib.import_module("journalsim.oracle.invariants.lattice").grade_of_message)
