"""The report for GitHub Actions: annotations in the log, and a summary page in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from journalsim.report.about import About, again, partial_line
from journalsim.report.escape import elide, visible
from journalsim.report.files import cannot_write
from journalsim.report.text import campaign_header, failure_text
from journalsim.report.words import count, totals, word
from journalsim.search.results import CampaignResult, Failure, ScenarioResult

ANNOTATIONS_MAX = 10  # GitHub shows ten errors and ten warnings a step, and drops the rest in silence
SUMMARY_BYTES_MAX = 900_000  # GitHub refuses a step summary above 1 MiB
SENTENCE_MAX = 500
CELL_MAX = 200

_MARKS = {"ok": "✅", "not claimed": "⬜", "inconclusive": "❔"}
_BACKTICKS = re.compile("`+")


def annotation_lines(campaign: CampaignResult, about: About) -> str:
    """Returns workflow commands, one a line: an error for each cause and adapter error, a warning if inconclusive."""
    errors = [line for result in campaign.scenarios for line in _errors(result, about)]
    warnings = [
        _command("warning", result, 1, f"inconclusive: {result.scenario.name}", elide(reason, SENTENCE_MAX))
        for result in campaign.scenarios
        for reason in result.inconclusive
    ]
    lines = [*_capped("error", errors), *_capped("warning", warnings)]
    return "".join(line + "\n" for line in lines)


def markdown(campaign: CampaignResult, about: About, bytes_max: int = SUMMARY_BYTES_MAX) -> str:
    """Returns the summary page; failures that do not fit any more are counted instead."""
    page = "\n".join(_overview(campaign, about)) + "\n"
    failures = [failure for result in campaign.scenarios for failure in result.failures]
    for number, failure in enumerate(failures):
        section = _section(failure, about)
        if len((page + section).encode("utf-8")) > bytes_max:
            return page + f"\n{count(len(failures) - number, 'further cause')} in the report files.\n"
        page += section
    return page


def append_summary(campaign: CampaignResult, about: About, path: Path) -> None:
    """Appends the summary page to the file that GitHub names in ``GITHUB_STEP_SUMMARY``.

    Raises:
        UsageError: the file cannot be written.
    """
    with cannot_write(path, "check GITHUB_STEP_SUMMARY"), path.open("ab") as file:
        file.write(markdown(campaign, about).encode("utf-8", "backslashreplace"))


def _errors(result: ScenarioResult, about: About) -> Iterator[str]:
    for failure in result.failures:
        broken = failure.violation
        title = f"{broken.invariant}: {result.scenario.name}"
        message = "\n".join(
            [
                f"promised: {elide(broken.promised, SENTENCE_MAX)}",
                f"found: {elide(broken.found, SENTENCE_MAX)}",
                f"replay: journalsim replay {visible(failure.id)}{again(about)}",
            ]
        )
        yield _command("error", result, broken.line or 1, title, message)
    for sentence in result.trouble:
        yield _command("error", result, 1, f"adapter error: {result.scenario.name}", elide(sentence, SENTENCE_MAX))


def _command(level: str, result: ScenarioResult, line: int, title: str, message: str) -> str:
    path = result.scenario.path
    place = f"file={_property(visible(path))},line={line}," if path else ""
    return f"::{level} {place}title={_property(elide(title, 200))}::{_data(message)}"


def _capped(level: str, lines: list[str]) -> list[str]:
    if len(lines) <= ANNOTATIONS_MAX:
        return lines
    shown = lines[: ANNOTATIONS_MAX - 1]
    return [*shown, f"::{level} title=journalsim::and {len(lines) - len(shown)} more, see the summary of the job"]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _overview(campaign: CampaignResult, about: About) -> Iterator[str]:
    yield f"### {_inline(campaign_header(campaign, about))}"
    yield ""
    partial = partial_line(campaign, about)
    if partial:
        yield f"**{partial}**"
        yield ""
    yield f"{totals(campaign)}, exit {int(campaign.exit)}"
    yield ""
    yield "| scenario | verdict | cases | points | why |"
    yield "|---|---|---:|---:|---|"
    yield from (_table_row(result) for result in campaign.scenarios)


def _table_row(result: ScenarioResult) -> str:
    name = word(result)
    points = f"{result.points_swept}/{result.points_total}" if result.points_total else ""
    reasons = [failure.violation.invariant for failure in result.failures]
    reasons += [*result.trouble, *result.inconclusive, result.not_claimed]
    why = "; ".join(_inline(reason) for reason in reasons if reason)
    return f"| {_inline(result.scenario.name)} | {_MARKS.get(name, '❌')} {name} | {result.cases} | {points} | {why} |"


def _inline(text: str) -> str:
    """Returns text that Markdown and HTML leave alone, as one table cell may hold it."""
    text = _html(elide(text, CELL_MAX))
    return re.sub(r"([\\`*_\[\]|~#@!$])", r"\\\1", text)


def _section(failure: Failure, about: About) -> str:
    body = failure_text(failure, about)
    longest = max((len(run) for run in _BACKTICKS.findall(body)), default=0)
    fence = "`" * max(3, longest + 1)
    title = _html(elide(f"{failure.violation.invariant}: {failure.id}", CELL_MAX))
    return f"\n<details open><summary>{title}</summary>\n\n{fence}text\n{body}\n{fence}\n\n</details>\n"


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
