"""Known failures of a system under test, in a checked-in file that goes red when it is stale.

The file names what an adapter is known to break, with a reason and a date::

    version: 1
    adapter: python:shop.journal:make
    expected:
      - {invariant: completed-wins, scenario: arrives-while-unwinding, reason: "issue 12", since: 2026-11-27}

An entry without ``scenario`` stands for all of them.  A failure that an entry
names no longer counts; an entry that names no failure any more does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from journalsim.scenario.known_failures import KnownFailure
from journalsim.search.results import Failure, ScenarioResult

FILE_NAME = "expected-failures.yaml"


def covers(entry: KnownFailure, failure: Failure) -> bool:
    """Returns whether an entry names a failure."""
    return entry.invariant == failure.violation.invariant and entry.scenario in ("", failure.scenario.name)


def set_aside(result: ScenarioResult, expected: Sequence[KnownFailure]) -> ScenarioResult:
    """Returns the result with its known failures apart from the others."""
    known = tuple(f for f in result.failures if any(covers(entry, f) for entry in expected))
    if not known:
        return result
    return evolve(result, failures=tuple(f for f in result.failures if f not in known), known=known)


def stale(results: Sequence[ScenarioResult], expected: Sequence[KnownFailure], path: Path) -> tuple[str, ...]:
    """Returns one sentence for each entry that names no failure of a scenario that was run."""
    ran = {result.scenario.name for result in results if result.cases}
    sentences = []
    for entry in expected:
        if any(covers(entry, failure) for result in results for failure in result.known):
            continue
        if entry.scenario in ran or (not entry.scenario and ran):
            what = f"{entry.invariant} in {entry.scenario or 'any scenario'}"
            sentences.append(f"{path}:{entry.line}: {what} is expected to fail and holds: take the entry out")
    return tuple(sentences)
