"""What becomes of a failing case: replay, show, pin, list."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Command, Write

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
        ("{", "cannot be read as a saved case"),
        ("[]", "not a saved case"),
        ("{}", "not a saved case: 'format'"),
        ('{"format": 99}', "format 99 is not 1: run the scenario again"),
        ("\xff", "cannot be read as a saved case"),
    ],
)
def test_a_file_that_is_no_saved_case_is_exit_2(journalsim: Command, here: Path, text: str, says: str) -> None:
    (here / "case.json").write_bytes(text.encode("latin-1"))
    for command in ("replay", "show", "pin"):
        done = journalsim(command, "case.json")
        assert (done.code, done.out) == (2, "")
        assert says in done.err
        assert len(done.err.splitlines()) == 1


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
    edited(here, failed, case={**case, "axes": {"stop": ["point", "model.turn1.c1.after", 0]}})
    done = journalsim("replay", failed)
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: first-stop has no axis $stop, of which the case speaks\n"
    edited(here, failed, case={**case, "axes": {"stop": ["nowhere", "", 0]}})
    assert "not a case: ['nowhere', '', 0] is no placement" in journalsim("replay", failed).err


def test_nothing_is_pinned_that_no_longer_fails(journalsim: Command, here: Path, failed: str) -> None:
    done = journalsim("pin", failed, "-a", "ref", "-o", "pinned.race.yaml")
    assert (done.code, done.out) == (3, "")
    assert not (here / "pinned.race.yaml").exists()
