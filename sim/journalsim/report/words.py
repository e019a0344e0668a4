"""The words that every format of a report shares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from journalsim.errors import Exit
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.results import CampaignResult, Failure, ScenarioResult, Tally

Word = Literal["ok", "not run", "known", "failed", "nondeterministic", "inconclusive", "not claimed", "adapter error"]

_WORDS: dict[Exit, Word] = {
    Exit.NONDETERMINISTIC: "nondeterministic",
    Exit.BROKEN: "failed",
    Exit.ADAPTER: "adapter error",
    Exit.INCONCLUSIVE: "inconclusive",
    Exit.USAGE: "not run",
}
_UNITS = ((3600, "h"), (60, "min"))
_PRECISIONS = ((1_000_000, 3), (1_000, 6))
_SECOND = 1_000_000_000


def word(result: ScenarioResult) -> Word:
    """Returns the verdict on one scenario; of several that apply, the one that decides the exit code."""
    if result.exit in _WORDS:
        return _WORDS[result.exit]
    return "not claimed" if result.not_claimed else "known" if result.known else "ok"


def count(number: int, noun: str) -> str:
    """Returns ``1 case``, ``2 cases``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def swept(result: ScenarioResult) -> str:
    """Returns ``40/40 points``; where they are those of a disk, ``20/20 disk operations``; empty without a sweep.

    A sweep may be over cursors, bytes and frames too.
    """
    if result.operations_total:
        return f"{result.operations_swept}/{result.operations_total} disk operations"
    nouns = result.swept or (("points", result.points_swept, result.points_total),)
    return ", ".join(f"{done}/{total} {noun}" for noun, done, total in nouns if total)


def duration(time_ns: int) -> str:
    """Returns a length of time to two or three digits: ``780 ms``, ``3.2 s``, ``14 min``."""
    if time_ns < _SECOND:
        return f"{time_ns // 1_000_000} ms"
    for seconds, unit in _UNITS:
        if time_ns >= seconds * _SECOND:
            return f"{time_ns // (seconds * _SECOND)} {unit}"
    tenths = time_ns * 10 // _SECOND
    return f"{tenths // 10}.{tenths % 10} s"


def clock_digits(times_ns: Iterable[int]) -> int:
    """Returns how many decimals of a second tell these times apart: 3, 6 or 9."""
    times = list(times_ns)
    return next((digits for unit, digits in _PRECISIONS if all(time % unit == 0 for time in times)), 9)


def clock(time_ns: int, digits: int) -> str:
    """Returns an instant in seconds, cut after ``digits`` decimals."""
    whole, rest = divmod(time_ns, _SECOND)
    return f"{whole}.{rest:09d}"[: len(str(whole)) + 1 + digits] + " s"


def location(scenario: Scenario, line: int = 0) -> str:
    """Returns ``path:line`` as far as they are known; a scenario without a file is named instead."""
    if not scenario.path:
        return f"scenario {scenario.name}"
    return f"{scenario.path}:{line}" if line else scenario.path


def tallies(campaign: CampaignResult) -> dict[str, Tally]:
    """Returns the answers of every invariant over all scenarios, sorted by id."""
    sums: dict[str, Tally] = {}
    for result in campaign.scenarios:
        for name, tally in result.tallies.items():
            sums[name] = _plus(sums.get(name, Tally()), tally)
    return dict(sorted(sums.items()))


def totals(campaign: CampaignResult) -> str:
    """Returns how many scenarios and cases were run, and how many ended in which way."""
    results = campaign.scenarios
    cases = sum(result.cases for result in results)
    words = [word(result) for result in results]
    parts = [f"{words.count(name)} {name}" + _causes(results, name) for name in _ORDER if name in words]
    ran = f"{count(len(results), 'scenario')}, {count(cases, 'case')}"
    return f"{ran}: {', '.join(parts)}" if parts else ran


def causes(failures: int, cases: int) -> str:
    """Returns ``9 cases, 1 cause``."""
    return f"{count(cases, 'case')}, {count(failures, 'cause')}"


def failing_cases(failure: Failure) -> int:
    """Returns how many cases this cause failed."""
    return 1 + len(failure.also)


def adapter_help(spec: str) -> str:
    """Returns how to read the contract of the adapters of this kind, as one line; empty if it has no page of its own.

    Args:
        spec: what the user typed after ``-a``.
    """
    behind_http = spec.partition(":")[0] in ("asgi", "http", "https")
    return "the requests that a system behind HTTP answers: journalsim explain http" if behind_http else ""


_ORDER: tuple[Word, ...] = (
    "ok",
    "known",
    "failed",
    "nondeterministic",
    "adapter error",
    "inconclusive",
    "not claimed",
    "not run",
)


def _causes(results: tuple[ScenarioResult, ...], name: Word) -> str:
    failed = [result for result in results if word(result) == name and result.failures]
    if not failed:
        return ""
    return f" ({causes(sum(len(r.failures) for r in failed), sum(r.failed for r in failed))})"


def _plus(a: Tally, b: Tally) -> Tally:
    return Tally(
        holds=a.holds + b.holds,
        violated=a.violated + b.violated,
        not_exercised=a.not_exercised + b.not_exercised,
        not_claimed=a.not_claimed + b.not_claimed,
        undecided=a.undecided + b.undecided,
    )
