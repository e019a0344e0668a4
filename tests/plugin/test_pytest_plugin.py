"""The pytest plugin, as a stranger's project meets it."""

from __future__ import annotations

import re
import shutil
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

RACE = """\
version: 1
name: first-stop
tags: [core]
script:
  model:
    - stream: [{text: ["Hel", "lo ", "there"]}, {finish: end_turn}]
steps:
  - client.send: "Hi"
  - client.stop: {at: model.turn1.c2.after}
"""

ADAPTER = """\
from journalsim.contract.capabilities import Capabilities


class Chat:
    capabilities = Capabilities(level="store", partials=True)

    def open(self, where):
        self.rows = []

    def close(self):
        pass

    def append(self, session_id, run_id, item):
        self.rows.append(item)

    def partial(self, session_id, run_id, item):
        pass  # forgets what Stop should keep

    def read(self, session_id):
        return self.rows


def make():
    return Chat()
"""


def write(pytester: pytest.Pytester, **files: str) -> None:
    for name, text in files.items():
        (pytester.path / name.replace("__", ".")).write_text(text, encoding="utf-8")


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments)


def test_a_folder_with_a_scenario_and_an_adapter_is_judged_by_pytest_alone(pytester: pytest.Pytester) -> None:
    write(pytester, first__race__yaml=RACE, chat__py=ADAPTER)
    write(pytester, pytest__ini="[pytest]\njournalsim_adapter = python:chat:make\n")
    result = run(pytester)
    assert result.ret == 1
    text = result.stdout.str()
    assert "FAILED  partial-is-prefix" in text
    assert "journalsim replay first-stop@" in text
    assert "Traceback" not in text


def test_the_reference_passes_and_tags_select(pytester: pytest.Pytester) -> None:
    write(pytester, first__race__yaml=RACE, second__race__yaml=RACE.replace("first-stop", "other").replace("core", "x"))
    result = run(pytester, "-m", "core", "-v")
    result.assert_outcomes(passed=1, deselected=1)
    assert "first.race.yaml::first-stop PASSED" in result.stdout.str()


def test_a_typo_is_a_collection_error_with_line_column_and_caret(pytester: pytest.Pytester) -> None:
    write(pytester, first__race__yaml=RACE.replace("client.stop", "client.sotp"))
    result = run(pytester)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    text = result.stdout.str()
    assert "first.race.yaml:9:12" in text
    assert "^^^^" in text
    assert 'did you mean "stop"?' in text
    assert "Traceback" not in text


def test_a_scenario_beyond_the_adapter_is_skipped_with_the_reason(pytester: pytest.Pytester) -> None:
    needy = RACE.replace("tags: [core]", "needs: [crash]")
    write(pytester, first__race__yaml=needy, chat__py=ADAPTER)
    result = run(pytester, "--journalsim-adapter", "python:chat:make", "-rs")
    result.assert_outcomes(skipped=1)
    assert "does not declare crash" in result.stdout.str()


def test_junit_xml_names_the_scenario(pytester: pytest.Pytester) -> None:
    write(pytester, first__race__yaml=RACE, chat__py=ADAPTER)
    run(pytester, "--journalsim-adapter", "python:chat:make", "--junitxml", "out.xml")
    (case,) = ET.parse(pytester.path / "out.xml").getroot().iter("testcase")
    assert case.get("name") == "first-stop"
    failure = case.find("failure")
    assert failure is not None
    assert "partial-is-prefix" in (failure.text or "")


def test_it_is_safe_under_xdist(pytester: pytest.Pytester) -> None:
    for number in range(4):
        write(pytester, **{f"r{number}__race__yaml": RACE.replace("first-stop", f"race-{number}")})
    run(pytester, "-n", "2").assert_outcomes(passed=4)


def test_a_foreign_suite_runs_as_if_the_plugin_were_not_there(pytester: pytest.Pytester) -> None:
    write(
        pytester,
        test_foreign__py="import sys\n\n"
        "def test_nothing_of_journalsim_is_loaded():\n"
        "    loaded = [name for name in sys.modules if name.split('.')[0] == 'journalsim']\n"
        "    assert set(loaded) <= {'journalsim', 'journalsim.pytest_plugin', 'journalsim.version'}\n\n"
        "def test_fails():\n    assert 1 == 2\n",
    )
    with_plugin = run(pytester)
    without = run(pytester, "-p", "no:journalsim")
    assert _stable(with_plugin) == _stable(without)
    with_plugin.assert_outcomes(passed=1, failed=1)


def _stable(result: pytest.RunResult) -> str:
    text = re.sub(r"in \d+\.\d+s", "in …", result.stdout.str())
    return re.sub(r"journalsim-[\d.]+(, )?", "", text)


def test_replaying_what_pytest_saved_reproduces_it(pytester: pytest.Pytester) -> None:
    write(pytester, first__race__yaml=RACE, chat__py=ADAPTER)
    run(pytester, "--journalsim-adapter", "python:chat:make")
    (saved,) = Path(pytester.path, ".journalsim", "failures").glob("*.json")
    result = pytester.run(sys.executable, "-m", "journalsim", "replay", saved.stem, "-a", "python:chat:make")
    assert result.ret == 1
    assert "REPRODUCED" in result.stdout.str()
    shutil.rmtree(pytester.path / ".journalsim")
