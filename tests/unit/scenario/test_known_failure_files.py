"""The file of known failures, and the scenarios that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from journalsim.scenario.builtin import builtin_folder, builtin_scenarios
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.known_failures import KnownFailure, load_known_failures
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.shapes.problems import ScenarioError

KNOWN = frozenset({"completed-wins"})
HEAD = "version: 1\nadapter: python:shop:make\n"
ENTRY = '  - {invariant: completed-wins, scenario: a-race, reason: "issue 12", since: 2026-11-27}\n'


def load(tmp_path: Path, text: str) -> tuple[KnownFailure, ...]:
    path = tmp_path / "expected-failures.yaml"
    path.write_text(text, encoding="utf-8")
    return load_known_failures(path, KNOWN).expected


def test_entries_are_read_with_their_lines(tmp_path: Path) -> None:
    (entry,) = load(tmp_path, HEAD + "expected:\n" + ENTRY)
    assert (entry.invariant, entry.scenario, entry.since, entry.line) == ("completed-wins", "a-race", "2026-11-27", 4)


def test_a_file_without_entries_is_fine(tmp_path: Path) -> None:
    assert load(tmp_path, HEAD + "expected: []\n") == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "E0"),
        (HEAD + "expected:\n" + ENTRY.replace("since: 2026-11-27", "since: today"), "not a date"),
        (HEAD + "expected:\n" + ENTRY.replace(', reason: "issue 12"', ""), 'needs the key "reason"'),
        (HEAD + "expected:\n" + ENTRY.replace("completed-wins", "completed-win"), "unknown invariant 'completed-win'"),
        (HEAD + "expectd: []\n", 'did you mean "expected"'),
    ],
)
def test_a_wrong_file_is_one_clear_message(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path, text)
    assert says in str(caught.value)


def test_the_scenarios_that_ship_are_found_from_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = builtin_folder()
    monkeypatch.chdir(tmp_path)
    assert builtin_folder().resolve() == here.resolve() or builtin_folder().is_dir()
    assert "first-stop" in {scenario.name for scenario in builtin_scenarios()}


def test_a_store_with_a_latency_survives_the_way_to_yaml_and_back() -> None:
    text = b"""
version: 1
name: slow-store
actors: {alice: {is: client}, store: {is: store, latency: 5ms}}
script: {model: [{stream: [{text: [a]}, {finish: end_turn}]}]}
steps: [{alice.send: Hi}]
"""
    scenario = load_scenario(text, "slow.race.yaml")
    assert scenario.store.latency_ns == 5_000_000
    assert load_scenario(dump_scenario(scenario).encode(), "again.race.yaml") == scenario
    wrong = text.replace(b"store: {is: store", b"disk: {is: store")
    with pytest.raises(ScenarioError, match="the store, and only the store, is called store"):
        load_scenario(wrong, "slow.race.yaml")
