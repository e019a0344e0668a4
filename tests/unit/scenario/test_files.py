"""Finding and reading files, and the file to start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from journalsim.scenario.dump import format_text
from journalsim.scenario.files import find_scenarios, load_file, read_bytes
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.shapes.problems import Problem, ScenarioError
from journalsim.scenario.shapes.strict_yaml import BYTES_MAX
from journalsim.scenario.template import new_scenario


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first_stop: str) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("b/two.race.yaml", "b/one.race.yaml", "a.race.yaml", "b/.hidden/three.race.yaml", "b/notes.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(first_stop)
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder.race.yaml").mkdir()
    return tmp_path


def test_file_is_loaded_with_its_path(folder: Path) -> None:
    scenario = load_file(Path("b/one.race.yaml"))
    assert (scenario.name, scenario.path) == ("first-stop", "b/one.race.yaml")


def only(caught: pytest.ExceptionInfo[ScenarioError]) -> Problem:
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("path", "message", "help"),
    [
        ("b/oen.race.yaml", "there is no such file or folder", 'did you mean "one.race.yaml"?'),
        ("c/one.race.yaml", "there is no such file or folder", ""),
        ("b", "this is a folder, not a scenario", ""),
        ("x" * 300, "the file cannot be read: File name too long", ""),
        ("a.race.yaml/x", "the file cannot be read: Not a directory", ""),
    ],
)
def test_unreadable_file_is_explained(folder: Path, path: str, message: str, help: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_file(Path(path))
    problem = only(caught)
    assert (problem.code, problem.path, problem.message, problem.help) == ("E001", path, message, help)


def test_large_file_is_not_read_whole(folder: Path) -> None:
    Path("large.race.yaml").write_bytes(b"#" * (10 * BYTES_MAX))
    assert len(read_bytes(Path("large.race.yaml"))) == BYTES_MAX + 1
    with pytest.raises(ScenarioError) as caught:
        load_file(Path("large.race.yaml"))
    assert only(caught).code == "E002"


def test_invariants_are_checked_in_files(folder: Path, first_stop: str) -> None:
    path = Path("c.race.yaml")
    path.write_text(first_stop + "  exercises: [nothing]\n")
    with pytest.raises(ScenarioError) as caught:
        load_file(path, frozenset({"something"}))
    assert only(caught).code == "E107"


def test_folders_stand_for_the_scenarios_below_them(folder: Path) -> None:
    found = find_scenarios([Path("b"), Path("b/one.race.yaml"), Path("a.race.yaml"), Path("b/notes.yaml")])
    assert [path.as_posix() for path in found] == ["a.race.yaml", "b/notes.yaml", "b/one.race.yaml", "b/two.race.yaml"]
    assert [path.name for path in find_scenarios([Path(".")])] == ["a.race.yaml", "one.race.yaml", "two.race.yaml"]
    assert find_scenarios([Path("b/.hidden")])[0].name == "three.race.yaml"


def test_every_wrong_path_is_named(folder: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        find_scenarios([Path("empty"), Path("a.race.yml"), Path("b")])
    assert (
        str(caught.value)
        == """\
error[E015]: no *.race.yaml in this folder
 --> empty
  = help: journalsim new scenario writes one
error[E001]: there is no such file or folder
 --> a.race.yml
  = help: did you mean "a.race.yaml"?
2 errors, 0 warnings in 2 files (nothing was run)"""
    )


def test_new_scenario_is_valid_canonical_and_commented() -> None:
    text = new_scenario("my-race")
    assert load_scenario(text.encode(), "x").name == "my-race"
    assert format_text(text.encode(), "x") == text
    assert text.count("# ") == 3


def test_new_scenario_needs_a_good_name() -> None:
    with pytest.raises(ScenarioError) as caught:
        new_scenario("My race")
    assert {problem.code for problem in caught.value.problems} == {"E027"}
