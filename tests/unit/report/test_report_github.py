"""Annotations and the summary page of GitHub Actions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from attrs import evolve
from report_examples import ABOUT, HOSTILE, assert_snapshot, campaign, failure, scenario, violation

from journalsim.errors import UsageError
from journalsim.report.github import ANNOTATIONS_MAX, annotation_lines, append_summary, markdown
from journalsim.search.results import ScenarioResult


def test_annotations_stand_on_the_broken_line() -> None:
    assert_snapshot("annotations.txt", annotation_lines(campaign(), ABOUT))


def test_more_annotations_than_github_shows_are_counted() -> None:
    result = ScenarioResult(
        scenario=scenario(), failures=(failure(),) * 30, inconclusive=tuple(f"reason {n}" for n in range(10))
    )
    lines = annotation_lines(campaign(scenarios=(result,)), ABOUT).splitlines()
    errors = [line for line in lines if line.startswith("::error ")]
    assert len(errors) == ANNOTATIONS_MAX
    assert errors[-1] == "::error title=journalsim::and 21 more, see the summary of the job"
    assert len([line for line in lines if line.startswith("::warning ")]) == 10


def test_a_scenario_without_file_is_annotated_without_place() -> None:
    result = ScenarioResult(scenario=evolve(scenario(), path=""), inconclusive=("100% unsure: a, b",))
    lines = annotation_lines(campaign(scenarios=(result,)), ABOUT)
    assert lines == "::warning title=inconclusive%3A stop-vs-completion::100%25 unsure: a, b\n"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_cannot_forge_an_annotation(text: str) -> None:
    broken = failure(scenario=evolve(scenario(), name=text, path=text), violation=violation(promised=text, found=text))
    result = ScenarioResult(scenario=broken.scenario, failures=(broken,), trouble=(text,), inconclusive=(text,))
    lines = annotation_lines(campaign(scenarios=(result,)), ABOUT).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error", "::warning"]
    for line in lines:
        assert re.match(r"::\w+ file=[^,:]*,line=\d+,title=[^,:]*::", line)


def test_the_summary_page_has_a_table_and_each_cause() -> None:
    assert_snapshot("summary.md", markdown(campaign(interrupted=True), ABOUT))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_cannot_leave_its_place_in_the_summary(text: str) -> None:
    broken = failure(scenario=evolve(scenario(), name=text), violation=violation(found=text))
    result = ScenarioResult(scenario=broken.scenario, failures=(broken,), trouble=(text,), inconclusive=(text,))
    page = markdown(campaign(adapter=text, scenarios=(result,)), ABOUT)
    row = next(line for line in page.splitlines() if line.startswith("| ") and "verdict" not in line)
    assert len(re.findall(r"(?<!\\)\|", row)) == 6
    outside = re.sub(r"(?ms)^(`{3,})text$.*?^\1$", "", page)
    assert re.findall(r"<[^>]*>", outside) == ["<details open>", "<summary>", "</summary>", "</details>"]


def test_failures_beyond_the_size_limit_are_counted() -> None:
    result = ScenarioResult(scenario=scenario(), failures=(failure(),) * 5)
    whole = markdown(campaign(scenarios=(result,)), ABOUT)
    page = markdown(campaign(scenarios=(result,)), ABOUT, bytes_max=len(whole.encode()) - 1)
    assert page.endswith("\n1 further cause in the report files.\n")
    assert whole.count("<details") == 5
    assert page.count("<details") == 4


def test_the_summary_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    append_summary(campaign(), ABOUT, path)
    assert path.read_text("utf-8") == "before\n" + markdown(campaign(), ABOUT)
    with pytest.raises(UsageError, match="check GITHUB_STEP_SUMMARY"):
        append_summary(campaign(), ABOUT, tmp_path)
