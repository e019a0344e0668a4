"""The report as JUnit XML, in the dialect that Jenkins, GitLab and GitHub actions read.

One test suite, one test case per scenario.  A violated invariant is a ``failure`` (one
per cause), an inconclusive scenario is a ``failure`` of type ``inconclusive`` (a green one
would be a lie), an adapter error is an ``error``, and a scenario that needs a capability
which the adapter does not declare is ``skipped``.  There are no ``time`` attributes, since
the time of a case is virtual; real seconds stand in the property ``wall time``, the only
line that varies between runs.  Characters that XML 1.0 forbids are not printable, so they
have become escapes before they get here.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from xml.etree import ElementTree as ET

from journalsim.report.about import About, partial_line
from journalsim.report.escape import elide, visible
from journalsim.report.text import failure_text
from journalsim.report.words import totals, word
from journalsim.search.results import CampaignResult, Failure, ScenarioResult

MESSAGE_MAX = 300  # columns; the body of the failure says the rest


def junit_xml(campaign: CampaignResult, about: About) -> str:
    """Returns the whole file as text, to be written as UTF-8."""
    suite = ET.Element("testsuite", _counts(campaign))
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(campaign, about):
        if value:
            ET.SubElement(properties, "property", name=name, value=visible(value))
    suite.extend(_testcase(result, about) for result in campaign.scenarios)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _properties(campaign: CampaignResult, about: About) -> list[tuple[str, str]]:
    return [
        ("version", about.version),
        ("adapter", campaign.adapter),
        ("profile", campaign.profile),
        ("seed", str(campaign.seed)),
        ("shard", campaign.shard),
        ("totals", totals(campaign)),
        ("partial", partial_line(campaign, about)),
        ("exit", str(int(campaign.exit))),
        ("wall time", f"{campaign.wall_s:.2f} s"),
    ]


def _counts(campaign: CampaignResult) -> dict[str, str]:
    failures = [bool(r.failures or r.inconclusive) for r in campaign.scenarios]
    errors = [bool(r.trouble) and not failed for r, failed in zip(campaign.scenarios, failures, strict=True)]
    skipped = [word(r) == "not claimed" for r in campaign.scenarios]
    return {
        "name": "journalsim",
        "tests": str(len(campaign.scenarios)),
        "failures": str(sum(failures)),
        "errors": str(sum(errors)),
        "skipped": str(sum(skipped)),
    }


def _testcase(result: ScenarioResult, about: About) -> ET.Element:
    scenario = result.scenario
    folder = ".".join(PurePosixPath(scenario.path).parent.parts) if scenario.path else ""
    case = ET.Element("testcase", name=visible(scenario.name), classname=visible(folder or "journalsim"))
    if scenario.path:
        case.set("file", visible(scenario.path))
        case.set("line", str(next((f.violation.line for f in result.failures if f.violation.line), 1)))
    for failure in result.failures:
        _add(case, "failure", _failure_type(failure), _message(failure), failure_text(failure, about))
    for reason in result.inconclusive:
        _add(case, "failure", "inconclusive", reason)
    for sentence in result.trouble:
        _add(case, "error", "adapter", sentence)
    if result.refused:
        _add(case, "error", "scenario", result.refused)
    if word(result) == "not claimed":
        _add(case, "skipped", "not claimed", result.not_claimed)
    return case


def _failure_type(failure: Failure) -> str:
    return "nondeterministic" if failure.deviation else failure.violation.invariant


def _message(failure: Failure) -> str:
    return elide(f"{failure.violation.invariant}: {failure.violation.found}", MESSAGE_MAX)


def _add(case: ET.Element, tag: str, kind: str, message: str, body: str = "") -> None:
    element = ET.SubElement(case, tag, type=visible(kind), message=visible(message))
    element.text = "\n" + body + "\n" if body else visible(message)
