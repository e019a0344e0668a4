"""What becomes of a failing case: replay, show, pin, list."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Command, Write

from journalsim.case import case_from_data

BUG = "ref:bug-stop-keeps-no-partial"


@pytest.fixture
def failed(journalsim: Command, here: Path) -> str:
    """The id of a case that failed and was saved."""
    journalsim("run", "first-stop", "-a", BUG)
    (path,) = (here / ".journalsim" / "failures").iterdir()
    return path.stem


def edited(here: Path, failed: str, **changes: object) -> Path:
    path = here / ".journalsim" / "failures" / f"{failed}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return path


def test_a_saved_case_takes_the_same_trace_again(journalsim: Command, failed: str) -> None:
    done = journalsim("replay", failed)
    assert done.code == 1
    assert done.lines[0] == f"journalsim 0.1.0  {failed}  adapter {BUG}"
    found, saved = (line for line in done.lines[2].removeprefix("trace  ").removesuffix(")").split("  (saved: "))
    assert found == saved
    assert done.lines[-1] == "REPRODUCED: the same trace, event for event"


@pytest.mark.parametrize(
    "cut", [lambda name: name.rpartition("@")[2], lambda name: f".journalsim/failures/{name}.json"]
)
def test_the_end_of_an_id_and_a_file_name_a_case_too(
    journalsim: Command, failed: str, cut: Callable[[str], str]
) -> None:
    assert "REPRODUCED" in journalsim("replay", cut(failed)).out


def test_a_case_is_fixed_when_another_adapter_holds_it(journalsim: Command, failed: str) -> None:
    done = journalsim("replay", failed, "-a", "ref")
    assert done.code == 0
    assert done.lines[-1] == "FIXED: partial-is-prefix, expect holds in this case"


def test_a_case_that_fails_on_another_trace_says_so(journalsim: Command, here: Path, failed: str) -> None:
    edited(here, failed, trace_hash="0" * 16)
    done = journalsim("replay", failed)
    assert done.code == 1
    assert done.lines[-1].startswith("STILL VIOLATED, on another trace")


def test_a_case_that_breaks_another_promise_has_changed(journalsim: Command, failed: str) -> None:
    done = journalsim("replay", failed, "-a", "ref:bug-no-abort-marker")
    assert done.code == 1
    assert done.lines[-1].startswith("CHANGED: ")
    assert "one-terminal-per-run" in done.lines[-1]


def test_a_case_whose_point_no_longer_comes_is_not_taken_for_fixed(
    journalsim: Command, here: Path, scenario: Write
) -> None:
    journalsim("run", scenario(), "-a", BUG)
    (path,) = (here / ".journalsim" / "failures").iterdir()
    text = json.loads(path.read_text())["scenario"]
    edited(here, path.stem, scenario=text.replace("model.turn1.c2.after", "store.append#99.after"))
    done = journalsim("replay", path.stem)
    assert done.code == 3
    assert "at a point that was never reached" in done.out


def test_replay_alone_lists_the_saved_cases(journalsim: Command, failed: str) -> None:
    assert journalsim("replay").lines == [failed, "journalsim replay ID runs one of these again"]
    assert journalsim("list", "failures").lines == [f"{failed}  journalsim replay {failed}"]


def test_replay_alone_says_how_to_get_one_when_there_is_none(journalsim: Command) -> None:
    assert journalsim("replay").lines == [
        "no saved failing cases in .journalsim/failures; a failing `journalsim run` saves its cases there"
    ]


def test_an_unknown_id_is_exit_2_and_lists_what_there_is(journalsim: Command, failed: str) -> None:
    done = journalsim("replay", "first-stop@000000")
    assert (done.code, done.out) == (2, "")
    assert done.err == (f"error: no saved case 'first-stop@000000' in .journalsim/failures; saved are: {failed}\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not a saved case: not JSON: "),
        ("[]", "not a saved case"),
        ("{}", "format None is not 1: run the scenario again"),
        ('{"format": 99}', "format 99 is not 1: run the scenario again"),
        ("\xff", "not a saved case: not JSON: "),
    ],
)
def test_a_file_that_is_no_saved_case_is_exit_2(journalsim: Command, here: Path, text: str, says: str) -> None:
    (here / "case.json").write_bytes(text.encode("latin-1"))
    for command in ("replay", "show", "pin"):
        done = journalsim(command, "case.json")
        assert (done.code, done.out) == (2, "")
        assert says in done.err
        assert len(done.err.splitlines()) == 1


NO_AXES = {"format": 1, "scenario": "x", "axes": [], "actions": [], "delays": []}
WRONG = {
    "id of another case": ({"id": "first-stop@000000"}, "the id is first-stop@000000, and the case in the file is"),
    "id that is none": ({"id": "x"}, "expected the id of a case, as first-stop@e122f8, found 'x'"),
    "id that moves the cursor": (
        {"id": "\x1b[2J"},
        "expected the id of a case, as first-stop@e122f8, found '\\x1b[2J'",
    ),
    "trace hash that is none": ({"trace_hash": "\x1b]0;x\x07"}, "expected 16 hexadecimal digits"),
    "adapter that breaks lines": ({"adapter": "ref\nrm"}, "expected the name of an adapter"),
    "path that breaks lines": ({"path": "a\r\nb"}, "expected the path of a file"),
    "half of a character": ({"scenario": "\ud800"}, "found half of a character"),
    "number for a text": ({"scenario": 5}, "expected text, found 5"),
    "no causes": ({"causes": []}, "causes is empty"),
    "cause that is none": ({"causes": [["x"]]}, "expected [invariant, number], found ['x']"),
    "cause of a strange name": ({"causes": [["\x1b", -1]]}, "expected the id of an invariant in causes"),
    "cause that no line has": ({"causes": [["expect", 77]]}, "an expectation that the scenario does not have"),
    "axes as a list": (
        {"case": NO_AXES},
        "expected axes as an object, found []",
    ),
    "case that is none": ({"case": 3}, "expected a case, found 3"),
    "key that nobody knows": ({"more": 1}, "more"),
}


@pytest.mark.parametrize(("changes", "says"), WRONG.values(), ids=WRONG)
def test_whatever_is_wrong_in_a_case_file_is_said_in_one_line(
    journalsim: Command, here: Path, failed: str, changes: dict[str, object], says: str
) -> None:
    path = edited(here, failed, **changes)
    for command in ("replay", "show", "pin"):
        done = journalsim(command, path)
        assert (done.code, done.out) == (2, "")
        assert says in done.err
        assert len(done.err.splitlines()) == 1
        assert done.err.rstrip("\n").isprintable()


@pytest.mark.parametrize("key", ["id", "adapter", "scenario", "path", "case", "causes", "trace_hash"])
def test_a_case_file_lacks_nothing(journalsim: Command, here: Path, failed: str, key: str) -> None:
    path = here / ".journalsim" / "failures" / f"{failed}.json"
    data = json.loads(path.read_text())
    del data[key]
    path.write_text(json.dumps(data))
    done = journalsim("replay", path)
    assert done.code == 2
    assert f"not a saved case: {key} is missing" in done.err


def test_a_damaged_case_file_is_written_anew_by_the_next_failure(journalsim: Command, here: Path, failed: str) -> None:
    path = here / ".journalsim" / "failures" / f"{failed}.json"
    path.write_text("{")
    journalsim("run", "first-stop", "-a", BUG)
    assert "REPRODUCED" in journalsim("replay", failed).out


OUTSIDE = ("python:code:interact", "asgi:antigravity:app", "http://127.0.0.1:1", "exec:touch ran", "reference:x")


@pytest.mark.parametrize("adapter", OUTSIDE)
@pytest.mark.parametrize("command", ["replay", "show", "pin"])
def test_a_case_file_starts_no_code(
    journalsim: Command, here: Path, failed: str, monkeypatch: pytest.MonkeyPatch, adapter: str, command: str
) -> None:
    """The adapter that a file names runs only if the user names it, too."""

    def load(spec: str) -> None:
        raise AssertionError(f"loaded {spec}")

    monkeypatch.setattr("journalsim.hosts.loading.load_adapter", load)
    path = edited(here, failed, adapter=adapter)
    done = journalsim(command, path)
    assert (done.code, done.out) == (2, "")
    assert "a case file never starts code by itself: name the adapter again with -a " in done.err
    assert len(done.err.splitlines()) == 1


def test_an_outside_adapter_that_is_named_again_is_run(journalsim: Command, here: Path, failed: str) -> None:
    path = edited(here, failed, adapter="python:tests.adapters.little_agent:make")
    done = journalsim("replay", path, "-a", "python:tests.adapters.little_agent:make")
    assert "adapter python:tests.adapters.little_agent:make" in done.out


def test_a_saved_case_that_is_missing_is_exit_2(journalsim: Command) -> None:
    done = journalsim("replay", "elsewhere/case.json")
    assert (done.code, done.err) == (2, "error: no saved case elsewhere/case.json\n")


def test_show_marks_the_evidence_of_a_saved_case(journalsim: Command, failed: str) -> None:
    done = journalsim("show", failed)
    assert done.code == 0
    assert done.lines[0].startswith("first-stop: as written  ")
    assert any(line.startswith("> ") for line in done.lines)


def test_show_takes_a_scenario_by_name_or_file(journalsim: Command, here: Path) -> None:
    by_name = journalsim("show", "first-stop")
    journalsim("new", "scenario", "-o", "my.race.yaml")
    assert "STOP run1" in by_name.out
    assert journalsim("show", "my.race.yaml").lines[0].startswith("my-race: stop=never  ")


def test_show_lists_points_in_the_order_of_the_run(journalsim: Command) -> None:
    lines = journalsim("show", "first-stop", "--points").lines
    wanted = ["client.send#1.before", "model.turn1.c1.after", "model.turn1.c2.after", "client.stop#1.before"]
    assert [line for line in lines if line in wanted] == wanted


def test_show_prints_the_trace_as_json(journalsim: Command) -> None:
    events = [json.loads(line) for line in journalsim("show", "first-stop", "--trace").lines]
    assert [event["i"] for event in events] == list(range(len(events)))


def test_show_wants_one_scenario(journalsim: Command, here: Path, scenario: Write) -> None:
    scenario("one")
    scenario("two")
    done = journalsim("show", ".")
    assert (done.code, done.err) == (2, "error: . holds 2 scenarios: name one\n")


def test_a_pinned_case_fails_alike(journalsim: Command, here: Path, failed: str) -> None:
    done = journalsim("pin", failed, "-o", "pinned.race.yaml")
    assert done.code == 0
    assert journalsim("check", "pinned.race.yaml").code == 0
    again = journalsim("run", "pinned.race.yaml", "-a", BUG)
    assert again.code == 1
    assert "FAILED  partial-is-prefix" in again.out or "FAILED  expect" in again.out
    assert journalsim("pin", failed, "-o", "pinned.race.yaml").err == (
        "error: pinned.race.yaml exists; choose another file\n"
    )


def test_a_case_that_does_not_repeat_is_pinned_too(journalsim: Command, here: Path) -> None:
    journalsim("explore", "-a", "ref:bug-ids-from-entropy", "--cases", "12")
    (path,) = (here / ".journalsim" / "failures").iterdir()
    assert journalsim("pin", path.stem, "-o", "pinned.race.yaml").code == 0
    assert "FAILED  deterministic" in journalsim("run", "pinned.race.yaml", "-a", "ref:bug-ids-from-entropy").out


def test_a_pinned_case_keeps_the_words_of_its_author(journalsim: Command, failed: str) -> None:
    assert 'text: ["Hel", "lo "]' in journalsim("pin", failed).out


def test_a_case_that_is_pinned_whole_takes_the_same_trace(journalsim: Command, here: Path, scenario: Write) -> None:
    """Also with a step that the case leaves out, and what would have followed it."""
    more = "  - client.stop: {at: $again, as: again}\n  - client.reload: {after: again, as: look}\n"
    journalsim("run", scenario(also=f"{more}sweep:\n  again: [never]\n"), "-a", BUG)
    (path,) = (here / ".journalsim" / "failures").iterdir()
    pinned = journalsim("pin", path.stem, "--whole", "-o", "pinned.race.yaml")
    assert pinned.code == 0
    assert "client.stop: {at: never, as: again}" in (here / "pinned.race.yaml").read_text()
    saved = json.loads(path.read_text())["trace_hash"]
    again = journalsim("run", "pinned.race.yaml", "-a", BUG)
    assert f" {saved}, " in again.out
    small = journalsim("pin", path.stem)
    assert "never" not in small.out


def test_a_saved_case_that_places_an_action_where_it_cannot_stand_is_exit_2(
    journalsim: Command, here: Path, failed: str
) -> None:
    case = json.loads((here / ".journalsim" / "failures" / f"{failed}.json").read_text())["case"]
    elsewhere = {**case, "axes": {"stop": ["point", "model.turn1.c1.after", 0]}}
    path = edited(here, failed, case=elsewhere, id=f"first-stop@{case_from_data(elsewhere).id}")
    done = journalsim("replay", path)
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: first-stop has no axis $stop, of which the case speaks\n"
    edited(here, failed, case={**case, "axes": {"stop": ["nowhere", "", 0]}})
    assert "not a case: ['nowhere', '', 0] is no placement" in journalsim("replay", failed).err


def test_nothing_is_pinned_that_no_longer_fails(journalsim: Command, here: Path, failed: str) -> None:
    done = journalsim("pin", failed, "-a", "ref", "-o", "pinned.race.yaml")
    assert (done.code, done.out) == (3, "")
    assert not (here / "pinned.race.yaml").exists()
