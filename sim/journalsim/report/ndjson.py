"""The report as NDJSON: one JSON object a line, so that a consumer can follow a run as it goes.

``FORMAT`` numbers the layout; keys are added without a new number, and never change
their meaning within one.  Lines come in this order:

=============  ==============================================================================
``run``        ``format``, ``version``, ``adapter``, ``profile``, ``seed``, ``shard``, ``planned``
``scenario``   ``name``, ``path``, ``verdict``, ``exit``, ``cases``, ``failed``, ``points_swept``,
               ``points_total``, ``explored``, ``virtual_ns``, ``promises`` (counts by invariant),
               ``inconclusive``, ``not_claimed``, ``refused``, ``trouble``, ``failures`` and
               ``known`` (ids)
``failure``    ``id``, ``scenario``, ``path``, ``line``, ``invariant``, ``rule``, ``promised``,
               ``found``, ``subject``, ``evidence`` (positions), ``expected``, ``actual``,
               ``case`` (a case file), ``case_text``, ``trace_hash``, ``deviation``, ``also`` (cases),
               ``neighbours`` (``what``, ``holds``, ``case``), ``capabilities``, ``policies``,
               ``history`` (events: ``i``, ``t`` in ns, ``step``, ``actor``, ``kind``, ``run``,
               ``subject``, ``data``)
``wall_time``  ``seconds``; the only line that varies between two runs of one seed
``end``        ``scenarios``, ``cases``, ``failed``, ``causes``, ``verdicts`` (scenarios by verdict),
               ``promises``, ``interrupted``, ``partial``, ``exit``
=============  ==============================================================================

``promises`` and ``rule`` are the names of format 1 for the counts of invariants and for the
statement of one; its word for the verdict *adapter error* is ``adapter trouble``.

The failures of a scenario follow its line.  All lines are ASCII: text of any kind is
escaped as JSON allows, lone surrogates included.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import asdict

from journalsim.case import case_to_data
from journalsim.history import as_json, plain
from journalsim.report.about import About, partial_line
from journalsim.report.words import Word, tallies, word
from journalsim.search.results import CampaignResult, Failure, ScenarioResult

FORMAT = 1
_FORMAT_1: Mapping[Word, str] = {"adapter error": "adapter trouble"}


def run_line(*, about: About, adapter: str, profile: str, seed: int, shard: str = "1/1") -> str:
    """Returns the first line, known before anything has run."""
    return _line(
        "run",
        format=FORMAT,
        version=about.version,
        adapter=adapter,
        profile=profile,
        seed=seed,
        shard=shard,
        planned=about.planned,
    )


def scenario_line(result: ScenarioResult) -> str:
    """Returns the line of one scenario."""
    return _line(
        "scenario",
        name=result.scenario.name,
        path=result.scenario.path,
        verdict=_verdict(result),
        exit=int(result.exit),
        cases=result.cases,
        failed=result.failed,
        points_swept=result.points_swept,
        points_total=result.points_total,
        operations_swept=result.operations_swept,
        operations_total=result.operations_total,
        explored=result.explored,
        virtual_ns=result.virtual_ns,
        promises={name: asdict(tally) for name, tally in sorted(result.tallies.items())},
        inconclusive=result.inconclusive,
        not_claimed=result.not_claimed,
        refused=result.refused,
        trouble=result.trouble,
        failures=[failure.id for failure in result.failures],
        known=[failure.id for failure in result.known],
    )


def failure_line(failure: Failure, about: About) -> str:
    """Returns the line of one cause, with its case and its whole history."""
    broken, scenario, history = failure.violation, failure.scenario, failure.history
    return _line(
        "failure",
        id=failure.id,
        scenario=scenario.name,
        path=scenario.path,
        line=broken.line,
        invariant=broken.invariant,
        rule=about.statements.get(broken.invariant, ""),
        promised=broken.promised,
        found=broken.found,
        subject=broken.subject,
        evidence=broken.evidence,
        expected=broken.expected,
        actual=broken.actual,
        case=case_to_data(failure.case),
        case_text=str(failure.case),
        trace_hash=failure.trace_hash,
        deviation=failure.deviation,
        also=[case_to_data(case) for case in failure.also],
        neighbours=[{"what": n.what, "holds": n.holds, "case": case_to_data(n.case)} for n in failure.neighbours],
        capabilities=asdict(history.capabilities),
        policies=plain(history.policies),
        history=[json.loads(as_json(event)) for event in history.events],
    )


def end_lines(campaign: CampaignResult, about: About) -> Iterator[str]:
    """Yields the wall time and the totals."""
    yield _line("wall_time", seconds=round(campaign.wall_s, 3))
    words = [_verdict(result) for result in campaign.scenarios]
    yield _line(
        "end",
        scenarios=len(campaign.scenarios),
        cases=sum(result.cases for result in campaign.scenarios),
        failed=sum(result.failed for result in campaign.scenarios),
        causes=sum(len(result.failures) for result in campaign.scenarios),
        verdicts={name: words.count(name) for name in sorted(set(words))},
        promises={name: asdict(tally) for name, tally in tallies(campaign).items()},
        interrupted=campaign.interrupted,
        partial=partial_line(campaign, about),
        exit=int(campaign.exit),
    )


def ndjson_lines(campaign: CampaignResult, about: About) -> Iterator[str]:
    """Yields the whole report of a campaign, line by line without line ends."""
    yield run_line(
        about=about, adapter=campaign.adapter, profile=campaign.profile, seed=campaign.seed, shard=campaign.shard
    )
    for result in campaign.scenarios:
        yield scenario_line(result)
        yield from (failure_line(failure, about) for failure in result.failures)
    yield from end_lines(campaign, about)


def _verdict(result: ScenarioResult) -> str:
    name = word(result)
    return _FORMAT_1.get(name, name)


def _line(kind: str, **fields: Any) -> str:
    return json.dumps({"type": kind, **fields}, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
