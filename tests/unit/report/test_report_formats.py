"""NDJSON and JUnit XML: machines read back what was written."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve
from report_examples import ABOUT, HOSTILE, Recorder, assert_snapshot, campaign, failure, scenario, violation

from journalsim.case import case_from_data
from journalsim.history import as_json
from journalsim.report.about import About
from journalsim.report.escape import visible
from journalsim.report.junit import junit_xml
from journalsim.report.ndjson import failure_line, ndjson_lines, run_line
from journalsim.search.results import CampaignResult, ScenarioResult


def read_back(results: CampaignResult, about: About = ABOUT) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ndjson_lines(results, about)]


def parsed(results: CampaignResult, about: About = ABOUT) -> ET.Element:
    suite = ET.fromstring(junit_xml(results, about).encode("utf-8")).find("testsuite")
    assert suite is not None
    return suite


def test_lines_come_in_the_documented_order() -> None:
    kinds = [record["type"] for record in read_back(campaign())]
    assert kinds == ["run", "scenario", "failure", *["scenario"] * 4, "wall_time", "end"]


def test_the_first_line_carries_the_format_number() -> None:
    record = json.loads(run_line(about=ABOUT, adapter="ref", profile="ci", seed=7))
    assert record == {
        "type": "run",
        "format": 1,
        "version": "0.3.0",
        "adapter": "ref",
        "profile": "ci",
        "seed": 7,
        "shard": "1/1",
        "planned": 5,
    }


def test_a_failure_line_carries_case_and_history() -> None:
    broken = failure()
    record = json.loads(failure_line(broken, ABOUT))
    assert case_from_data(record["case"]) == broken.case
    assert tuple(case_from_data(case) for case in record["also"]) == broken.also
    assert record["history"] == [json.loads(as_json(event)) for event in broken.history.events]
    assert record["evidence"] == list(broken.violation.evidence)
    assert record["rule"] == ABOUT.statements["no-lost-completed-message"]
    assert [near["holds"] for near in record["neighbours"]] == [True, False]


def test_the_end_line_counts() -> None:
    end = read_back(campaign(interrupted=True))[-1]
    assert end["cases"] == 378
    assert end["failed"] == 4
    assert end["causes"] == 1
    assert end["verdicts"] == {"adapter trouble": 1, "failed": 1, "inconclusive": 1, "not claimed": 1, "ok": 1}
    assert end["promises"]["no-lost-completed-message"]["not_exercised"] == 1
    assert end["partial"] == "partial: stopped by the user after 5 of 5 scenarios"
    assert end["exit"] == 130


def test_only_the_wall_time_line_of_ndjson_differs_between_runs() -> None:
    pairs = zip(read_back(campaign(wall_s=1.0)), read_back(campaign(wall_s=2.0)), strict=True)
    assert [a["type"] for a, b in pairs if a != b] == ["wall_time"]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_ndjson_keeps_hostile_text_exactly(text: str) -> None:
    log = Recorder()
    log.add(1, "model", "model.chunk", "r1", "model.turn1", text=text)
    line = failure_line(failure(violation=violation(found=text), history=log.history()), ABOUT)
    assert line.isascii()
    assert "\n" not in line
    record = json.loads(line)
    assert record["found"] == text
    assert record["history"][0]["data"]["text"] == text


def test_junit_holds_one_case_per_scenario() -> None:
    assert_snapshot("junit.xml", junit_xml(campaign(), ABOUT))
    suite = parsed(campaign())
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "5", "failures": "2", "errors": "1", "skipped": "1"}
    kinds = {case.get("name"): [(child.tag, child.get("type")) for child in case] for case in suite.iter("testcase")}
    assert kinds == {
        "stop-vs-completion": [("failure", "no-lost-completed-message")],
        "first-stop": [],
        "crash-mid-tool": [("failure", "inconclusive")],
        "two-runs": [("skipped", "not claimed")],
        "late-completion": [("error", "adapter")],
    }


def test_junit_points_at_the_line_of_the_broken_expectation() -> None:
    case = parsed(campaign()).find("testcase")
    assert case is not None
    assert {name: case.get(name) for name in ("classname", "file", "line")} == {
        "classname": "scenarios",
        "file": "scenarios/stop_vs_completion.race.yaml",
        "line": "61",
    }


def test_junit_names_nondeterminism_and_scenarios_without_file() -> None:
    result = ScenarioResult(scenario=evolve(scenario(), path=""), failures=(failure(deviation="event 3"),))
    case = parsed(campaign(scenarios=(result,))).find("testcase")
    assert case is not None
    assert case.get("classname") == "journalsim"
    assert case.get("file") is None
    assert [child.get("type") for child in case] == ["nondeterministic"]


def test_junit_says_when_it_is_partial() -> None:
    names = [p.get("name") for p in parsed(campaign(interrupted=True)).iter("property")]
    assert "partial" in names
    assert "partial" not in [p.get("name") for p in parsed(campaign()).iter("property")]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_junit_survives_hostile_text(text: str) -> None:
    broken = failure(scenario=evolve(scenario(summary=text), name=text, path=text), violation=violation(found=text))
    result = ScenarioResult(
        scenario=broken.scenario, failures=(broken,), inconclusive=(text,), trouble=(text,), not_claimed=text
    )
    case = parsed(campaign(adapter=text, scenarios=(result,))).find("testcase")
    assert case is not None
    assert case.get("name") == visible(text)
    assert [child.tag for child in case] == ["failure", "failure", "error"]
