"""The documents do not rot: their examples run, their pastes are what is printed, their tables are complete."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from document_blocks import ROOT, Block, blocks, document, examples
from jsonschema import Draft7Validator

from journalsim.cli import COMMANDS
from journalsim.contract.adapters import PROTOCOL_VERSION
from journalsim.contract.capabilities import POLICIES
from journalsim.contract.events.harness_events import StepSkipped
from journalsim.engine.hosting import host
from journalsim.errors import Exit
from journalsim.hosts.loading import load_adapter
from journalsim.oracle.invariants.judge import INVARIANTS
from journalsim.report.about import About
from journalsim.report.ndjson import FORMAT as NDJSON_FORMAT
from journalsim.report.text import failure_text, scenario_lines
from journalsim.scenario.codes import CODES
from journalsim.scenario.known_failures import load_known_failures
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.schema import json_schema
from journalsim.scenario.shapes.problems import ScenarioError
from journalsim.scenario.values.scenario import LANGUAGE_VERSION, Scenario
from journalsim.scenario.words.conditions import COMBINATORS, EXPECTATIONS
from journalsim.scenario.words.step_arguments import STEPS
from journalsim.scenario.words.turn_words import PART
from journalsim.search.execute import Executor, workspace
from journalsim.search.saved import SAVED_FORMAT
from journalsim.search.scenario_run import run_scenario

TEACHES = "scenarios/README.md"
DOCUMENTS = ("README.md", TEACHES, "reports/README.md")
FOR_CONTRIBUTORS = (".github/CONTRIBUTING.md", ".github/writing-an-invariant.md", "tests/mutation/README.md")
EXAMPLES = [
    pytest.param(block, text, id=block.id)
    for name in DOCUMENTS
    for block, text in examples(name)
    if "expected:" not in block.text  # a file of known failures
]


def built_in(name: str) -> Scenario:
    path = next(ROOT.glob(f"scenarios/**/{name}.race.yaml"))
    return load_scenario(path.read_bytes(), path.relative_to(ROOT).as_posix())


def pasted(beginning: str) -> str:
    """The one block of the README that begins like this."""
    (found,) = [block.text for block in blocks(TEACHES) if block.text.startswith(beginning)]
    return found


@pytest.mark.parametrize(("block", "text"), EXAMPLES)
def test_an_example_is_held_by_the_reference(block: Block, text: str) -> None:
    scenario = load_scenario(text.encode(), block.id, frozenset(INVARIANTS))
    result = run_scenario(scenario, load_adapter("ref"))
    assert result.exit is Exit.HELD, [
        *(f"{f.violation.promised} / {f.violation.found}" for f in result.failures),
        *result.inconclusive,
        *result.trouble,
    ]
    if result.not_claimed:
        pytest.skip(result.not_claimed)
    assert result.cases > 0
    assert result.points_swept == result.points_total


@pytest.mark.parametrize(("block", "text"), EXAMPLES)
def test_an_example_fits_the_schema_that_editors_use(block: Block, text: str) -> None:
    assert [error.message for error in Draft7Validator(json_schema()).iter_errors(yaml.safe_load(text))] == []


# --- Python that is shown ----------------------------------------------------------------------

ADOPTED = {
    "the reference": "from journalsim_reference.adapter import make as made\ndef make(): return made('memory')\n",
    "a journal that loses rows": "from tests.adapters.broken import Forgets as make\n",
}
QUICK = """\
from hypothesis import HealthCheck, Phase, settings
settings.register_profile("quick", max_examples=25, derandomize=True, phases=[Phase.generate])
settings.load_profile("quick")
"""


def adopted(folder: Path, whose: str) -> tuple[int, str]:
    """Runs the README's test of an adopter in a project of its own, and returns the exit code and the output."""
    (text,) = [block.text for block in blocks("README.md") if block.language == "python"]
    (folder / "shop").mkdir()
    (folder / "shop" / "journal.py").write_text(ADOPTED[whose])
    (folder / "conftest.py").write_text(QUICK)
    (folder / "test_shop.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--rootdir", "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([".", str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_the_test_of_an_adopter_passes_for_a_journal_that_keeps_its_promises(tmp_path: Path) -> None:
    code, out = adopted(tmp_path, "the reference")
    assert code == 0, out
    assert "1 passed" in out


def test_the_test_of_an_adopter_shows_what_breaks_and_a_scenario_for_it(tmp_path: Path) -> None:
    code, out = adopted(tmp_path, "a journal that loses rows")
    assert code == 1, out
    assert "  promised: " in out
    assert "with this scenario:" in out
    assert "name: generated" in out


def test_the_test_of_an_adopter_takes_ten_lines() -> None:
    (text,) = [block.text for block in blocks("README.md") if block.language == "python"]
    assert len(text.splitlines()) <= 10


def test_there_are_examples_to_run() -> None:
    assert len(EXAMPLES) > 15


def test_every_step_of_an_example_really_happens_in_some_case() -> None:
    """A step that is taken in no case would teach something that does nothing."""
    idle = []
    for block, text in examples(TEACHES):
        scenario = load_scenario(text.encode(), block.id)
        with workspace() as folder:
            executor = Executor(scenario, load_adapter("ref"), folder)
            ran = host(lambda it, e=executor: e.baseline(it))  # type: ignore[misc]
        skipped = [event.data.label for event in ran.history.of(StepSkipped)]
        idle += [f"{block.id}: {label}" for label in skipped if not scenario.sweep.axes]
    assert idle == []


# --- what is printed ---------------------------------------------------------------------------


def test_the_failure_that_is_read_aloud_is_the_one_that_is_printed() -> None:
    adapter = load_adapter("ref:bug-stop-keeps-no-partial")
    failure = run_scenario(built_in("first-stop"), adapter).failures[0]
    about = About(version="", statements={name: invariant.statement for name, invariant in INVARIANTS.items()})
    assert without_numbers(pasted("FAILED")) == without_numbers(failure_text(failure, about))


def without_numbers(text: str) -> str:
    """The text without ids, counts and the width of columns, which vary with the journal's inner steps."""
    return " ".join(re.sub(r"\b[0-9a-f]{6,16}\b|[0-9]+", "0", text).split())


def test_the_line_of_a_scenario_is_the_one_that_is_printed() -> None:
    (text,) = (text for _, text in examples(TEACHES) if "name: stop-anywhere\n" in text and "never" not in text)
    result = run_scenario(load_scenario(text.encode(), ""), load_adapter("ref"))
    assert pasted("stop-anywhere ") == scenario_lines(result) + "\n"


def test_the_error_message_is_the_one_that_is_printed() -> None:
    first = next(block for block in blocks(TEACHES) if block.language == "yaml")
    with pytest.raises(ScenarioError) as caught:
        load_scenario(first.text.replace("client.stop", "client.sotp").encode(), "first-stop.race.yaml")
    assert pasted("error[E103]") == f"{caught.value}\n"


def test_the_points_are_the_ones_that_are_listed() -> None:
    scenario = built_in("first-stop")
    with workspace() as folder:
        executor = Executor(scenario, load_adapter("ref"), folder)
        ran = host(lambda it: executor.baseline(it))
    command, *shown = pasted("$ journalsim show").splitlines()
    assert command == "$ journalsim show first-stop --points | grep model"
    assert shown == [point for point in ran.points if "model" in point]


# --- what is complete --------------------------------------------------------------------------


def section(heading: str) -> str:
    """The part of the README below a heading."""
    return document(TEACHES).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def first_cells(heading: str) -> list[str]:
    """The words in code style of the first cells of the tables below a heading."""
    rows = re.findall(r"^\| (.*?) \|", section(heading), re.MULTILINE)
    return [word for row in rows for word in re.findall("`([^`]*)`", row)]


def test_the_table_of_error_codes_is_complete_and_in_order() -> None:
    rows = re.findall(r"^\| (E[0-9]{3}) \| (.*) \|$", section("Error codes"), re.MULTILINE)
    assert rows == list(CODES.items())


def test_every_policy_is_explained_with_its_words_in_order() -> None:
    text = section("Policies, needs, covers and tags")
    rows = dict(re.findall(r"^\| `(\w+)` \| .*?: (`.*`) \|$", text, re.MULTILINE))
    assert {name: tuple(re.findall(r"`(\w+)`", words)) for name, words in rows.items()} == POLICIES


@pytest.mark.parametrize(("kind", "verb"), [(kind, verb) for kind in STEPS for verb in STEPS[kind]])
def test_every_verb_is_explained_with_all_its_arguments(kind: str, verb: str) -> None:
    actor = "alice" if kind == "client" else kind
    (row,) = re.findall(rf"^\| `{actor}\.{verb}:.*$", document(TEACHES), re.MULTILINE)
    shared = {"at", "after", "delay", "within", "as"}
    if "travels as a request" in row:
        shared |= {"late", "lost", "doubled"}
    assert {key for key in STEPS[kind][verb].keys if f"`{key}`" not in row} <= shared


def test_everything_that_a_stream_can_hold_is_explained() -> None:
    cells = first_cells("What the model says")
    assert {word for word in PART.words if not any(cell.split(":")[0] == word for cell in cells)} == set()


def test_the_readme_names_every_command_and_exit_code() -> None:
    text = document("README.md").partition("## Commands")[2].partition("## How it works")[0]
    assert [name for name in COMMANDS if not re.search(rf"`{name}[ `]", text)] == []
    assert [int(code) for code in re.findall("[0-9]+", text.partition("| exit |")[2].splitlines()[0])] == list(Exit)


def test_the_readme_states_the_numbers_of_all_formats() -> None:
    numbers = f"scenario language {LANGUAGE_VERSION}, adapter protocol {PROTOCOL_VERSION}, case files {SAVED_FORMAT}"
    assert f"{numbers}, NDJSON {NDJSON_FORMAT}." in document("README.md")


def test_the_example_of_known_failures_is_one(tmp_path: Path) -> None:
    (text,) = [block.text for block in blocks("README.md") if "expected:" in block.text]
    (tmp_path / "expected-failures.yaml").write_text(text)
    known = load_known_failures(tmp_path / "expected-failures.yaml", frozenset(INVARIANTS))
    assert known.adapter == "python:shop.journal:make"


def test_every_condition_is_explained() -> None:
    assert {*EXPECTATIONS, *COMBINATORS} - set(first_cells("What to expect")) == set()


# --- what is linked ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*DOCUMENTS, *FOR_CONTRIBUTORS])
def test_every_link_leads_somewhere(name: str) -> None:
    targets = re.findall(r"\]\(([^)]+)\)", re.sub(r"```.*?```", "", document(name), flags=re.DOTALL))
    broken = [target for target in targets if "://" not in target and not _leads(name, re.sub(r"\s+", "", target))]
    assert broken == []


def test_the_documents_for_contributors_are_linked_from_the_readme() -> None:
    linked = re.findall(r"\]\(([^)#]+)", document("README.md"))
    assert {".github/CONTRIBUTING.md", ".github/events.md"} <= set(linked)
    assert "](writing-an-invariant.md)" in document(".github/CONTRIBUTING.md")


def _leads(name: str, target: str) -> bool:
    path, _, anchor = target.partition("#")
    file = (ROOT / name).parent / path if path else ROOT / name
    return file.exists() and (not anchor or anchor in _anchors(file))


def _anchors(file: Path) -> list[str]:
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
