"""The report as plain text, complete without colour: what a terminal and ``report.txt`` show.

Two runs of one seed give the same text, apart from the one line that begins with
``wall time``.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from attrs import fields_dict

from journalsim.case import Case
from journalsim.oracle.invariants.verdict import GRADES, Grade
from journalsim.report.about import About, again, partial_line
from journalsim.report.diff import journal_diff
from journalsim.report.escape import columns, elide, inert, pad, visible, wrap
from journalsim.report.spacetime import table
from journalsim.report.words import adapter_help, count, duration, failing_cases, location, swept, tallies, totals, word
from journalsim.search.results import CampaignResult, Failure, ScenarioResult, Tally

WIDTH = 100
SENTENCE_MAX = 600  # columns; a longer sentence holds some text that belongs in ``journalsim show``
NEIGHBOURS_MAX = 6
SHORT_CASE = 200
NAME_WIDTH = 30
ADAPTER_ERROR = "adapter error"
SKIPPED = "skipped: capability not declared"
LABEL_WIDTH = len("  invariant: ")
NAME_MAX = 120  # beyond the names that the language allows
PATH_MAX = 250


REAL_TIME = " (real time, not bit-exact)"


def header(*, version: str, seed: int, profile: str, adapter: str, shard: str = "1/1") -> str:
    """Returns the first line of a report."""
    named = elide(adapter, PATH_MAX) + (REAL_TIME if adapter.startswith(("http://", "https://")) else "")
    return inert(f"journalsim {version}  seed {seed}  profile {profile}  adapter {named}  shard {visible(shard)}")


def campaign_header(campaign: CampaignResult, about: About) -> str:
    """Returns the first line of the report of a campaign."""
    return header(
        version=about.version,
        seed=campaign.seed,
        profile=campaign.profile,
        adapter=campaign.adapter,
        shard=campaign.shard,
    )


def scenario_lines(result: ScenarioResult) -> str:
    """Returns one line about a scenario: name, cases, points, verdict, virtual time."""
    points = swept(result)
    virtual = f"{duration(result.virtual_ns)} virtual" if result.cases else ""
    line = (
        f"{pad(elide(result.scenario.name, NAME_MAX), NAME_WIDTH)}  {count(result.cases, 'case'):>11}  {points:>16}"
        f"  {pad(_verdict(result), 18)}  {virtual}"
    )
    return inert(line.rstrip())


def failure_text(failure: Failure, about: About) -> str:
    """Returns everything about one cause that a person needs: claim, evidence, how to run it again."""
    lines = [_title(failure), *_claim(failure, about)]
    lines += _history(failure)
    lines += _journal(failure)
    lines += _neighbourhood(failure)
    lines += ["", *_again(failure, about)]
    return inert("\n".join(line.rstrip() for line in lines))


def summary(campaign: CampaignResult, about: About) -> str:
    """Returns the end of a report: invariants, reasons, the wall time, and the counts with the exit code."""
    lines = invariant_table(tallies(campaign))
    explored = sum(result.explored for result in campaign.scenarios)
    if explored:
        lines += ["", f"{count(explored, 'case')} beyond what the sweeps spell out"]
    for title, reasons in _reasons(campaign):
        lines += ["", title, *reasons]
    partial = partial_line(campaign, about)
    lines += ["", partial] if partial else [""]
    where = f"  report: {visible(about.report)}" if about.report else ""
    stopped = ", stopped by the user" if campaign.interrupted else ""
    last = f"{totals(campaign)}{stopped}{where}  exit {int(campaign.exit)}"
    lines += [f"wall time {campaign.wall_s:.2f} s", last]
    return inert("\n".join(lines))


def report_text(campaign: CampaignResult, about: About) -> str:
    """Returns the whole report, as ``report.txt`` holds it."""
    partial = partial_line(campaign, about)
    parts = [campaign_header(campaign, about), *([partial] if partial else []), ""]
    parts += [scenario_lines(result) for result in campaign.scenarios]
    for result in campaign.scenarios:
        parts += ["\n" + failure_text(failure, about) for failure in result.failures]
    return "\n".join([*parts, "", summary(campaign, about)]) + "\n"


def _verdict(result: ScenarioResult) -> str:
    name = word(result)
    if not result.failures:
        return name
    return f"{name.upper()} {result.failed} ({count(len(result.failures), 'cause')})"


# --- one failure -------------------------------------------------------------------------------


def _title(failure: Failure) -> str:
    left = f"FAILED  {elide(failure.violation.invariant, NAME_MAX)}"
    where = elide(location(failure.scenario, failure.violation.line), PATH_MAX)
    return pad(left, max(WIDTH - columns(where), columns(left) + 2)) + where


def _claim(failure: Failure, about: About) -> list[str]:
    broken = failure.violation
    statement = about.statements.get(broken.invariant, "")
    lines = _field("invariant", statement) if statement else []
    lines += _field("promised", broken.promised) + _field("found", broken.found)
    if broken.grade:
        lines += _field("reached", _reached(broken.grade))
    lines += _field("scenario", _titled(failure))
    failing = failing_cases(failure)
    which = f"     (1 of {failing} failing)" if failing > 1 else "     (the only one failing)"
    lines += _field("case", elide(str(failure.case), SHORT_CASE) + which)
    if failure.deviation:
        lines += _field("differs", f"not repeatable, a fresh run took another way: {failure.deviation}")
    return lines


def _reached(grade: Grade) -> str:
    """Returns the stages from the model to a screen, the last one that was reached in capitals."""
    return " < ".join(line.upper() if line == grade else line for line in GRADES if line)


def _titled(failure: Failure) -> str:
    scenario = failure.scenario
    return f"{scenario.name}: {scenario.summary}" if scenario.summary else scenario.name


def _field(name: str, text: str) -> list[str]:
    first, *rest = wrap(elide(text, SENTENCE_MAX), WIDTH - LABEL_WIDTH)
    return [f"  {name + ':'}".ljust(LABEL_WIDTH) + first, *(" " * LABEL_WIDTH + line for line in rest)]


def _history(failure: Failure) -> list[str]:
    clients = [client.name for client in failure.scenario.clients]
    rows = table(failure.history, failure.violation.evidence, clients, WIDTH - 2)
    return ["", "  history (> decides, * leads to it)", *_indented(rows)]


def _journal(failure: Failure) -> list[str]:
    broken = failure.violation
    lines = journal_diff(broken.expected, broken.actual, WIDTH - 8)
    return ["", "  journal (- expected, + actual)", *_indented(lines, 4)] if lines else []


def _neighbourhood(failure: Failure) -> list[str]:
    lines = [
        f"    {elide(near.what, WIDTH - 16)} → {'holds' if near.holds else 'fails'}"
        for near in failure.neighbours[:NEIGHBOURS_MAX]
    ]
    lines = ["", "  next to it", *lines] if lines else []
    if failure.also:
        text = f"also failing: {count(len(failure.also), 'case')}{_alike((failure.case, *failure.also))}"
        lines += ["", *_indented(wrap(elide(text, SENTENCE_MAX), WIDTH - 2))]
    return lines


def _alike(cases: Sequence[Case]) -> str:
    """Returns what the axes of all failing cases have in common: ``, all stop=model.turn2.*``."""
    shared = []
    for name, value in cases[0].axes:
        values = [str(case.axis(name)) for case in cases]
        stem = _stem(values)
        if stem:
            shared.append(f"{name}={value if len(set(values)) == 1 else stem}")
    return f", all {', '.join(shared)}" if shared else ""


def _stem(values: Sequence[str]) -> str:
    """Returns the leading words that all dotted names share, with ``.*``; nothing if they share none."""
    if len(set(values)) == 1:
        return values[0]
    words = []
    for column in zip(*(value.split(".") for value in values), strict=False):
        if len(set(column)) > 1:
            break
        words.append(column[0])
    return ".".join([*words, "*"]) if words else ""


def _again(failure: Failure, about: About) -> list[str]:
    name = shlex.quote(elide(failure.id, NAME_MAX))
    target = shlex.quote(f"{elide(failure.scenario.name, NAME_MAX)}-{failure.case.id}.race.yaml")
    option, saved = again(about), visible(about.saved)
    if option:  # the commands of an outside adapter are long: each part on a line, and still one command to paste
        lines = [
            f"  replay:    journalsim replay {name}{option}",
            f"  keep it:   journalsim pin {name}{option} \\",
            f"                 -o {target}",
            f"  saved in:  {saved}",
        ]
    else:
        lines = [
            f"  replay:    journalsim replay {name}     (saved in {saved})",
            f"  keep it:   journalsim pin {name} -o {target}",
        ]
    if not failure.deviation:
        events = count(len(failure.history.events), "event")
        lines.append(f"  trace:     {failure.trace_hash}, {events}; a replay shows the same")
    return lines


def _indented(lines: Sequence[str], by: int = 2) -> list[str]:
    return [" " * by + line for line in lines]


# --- the summary -------------------------------------------------------------------------------


def invariant_table(sums: dict[str, Tally]) -> list[str]:
    """Returns one line for each invariant, with how often it got each answer."""
    if not sums:
        return ["no invariant was checked"]
    names = [name.replace("_", " ") for name in fields_dict(Tally)]
    invariants = [elide(name, NAME_MAX) for name in sums]
    width = max(len("invariant"), *map(columns, invariants))
    lines = [pad("invariant", width) + "".join(f"  {name}" for name in names)]
    for invariant, tally in zip(invariants, sums.values(), strict=True):
        numbers = [getattr(tally, field) for field in fields_dict(Tally)]
        cells = [f"  {number or '-':>{len(name)}}" for number, name in zip(numbers, names, strict=True)]
        lines.append(pad(invariant, width) + "".join(cells))
    return lines


def _reasons(campaign: CampaignResult) -> list[tuple[str, list[str]]]:
    known = [(f.scenario.name, f"{f.violation.invariant} in {f.case}") for r in campaign.scenarios for f in r.known]
    groups = [
        ("known failures, which do not count", known),
        ("known failures that are stale", [("stale", text) for text in campaign.stale]),
        ("not run", [(r.scenario.name, r.refused) for r in campaign.scenarios if r.refused]),
        ("inconclusive", [(r.scenario.name, text) for r in campaign.scenarios for text in r.inconclusive]),
        (ADAPTER_ERROR, [(r.scenario.name, text) for r in campaign.scenarios for text in r.trouble]),
        (SKIPPED, [(r.scenario.name, r.not_claimed) for r in campaign.scenarios if r.not_claimed]),
    ]
    found = {title: [line for pair in pairs for line in _reason(*pair)] for title, pairs in groups if pairs}
    if ADAPTER_ERROR in found:
        found[ADAPTER_ERROR] += help_lines(campaign.adapter)
    return list(found.items())


def help_lines(spec: str) -> list[str]:
    """Returns the line that stands below the errors of an adapter, if its kind has a contract to read."""
    text = adapter_help(spec)
    return [f"  = help: {text}"] if text else []


def _reason(name: str, text: str) -> list[str]:
    first, *rest = wrap(elide(f"{name}: {text}", SENTENCE_MAX), WIDTH - 2)
    return [f"  {first}", *(f"    {line}" for line in rest)]
