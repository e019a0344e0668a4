"""What a search found, as values that the reports print."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from journalsim.case import Case
from journalsim.errors import Exit, worst
from journalsim.history import History
from journalsim.oracle.invariants.verdict import Status, Verdict, Violation
from journalsim.scenario.values.scenario import Scenario


@frozen(kw_only=True)
class CaseResult:
    """One case, run and judged.

    Attributes:
        case: what was run; ``delays`` holds the schedule that was really taken.
        verdicts: one per invariant, then one per expectation of the scenario.
        history: what happened.
        points: every point that was passed, in order, each once.
        steps: scheduler steps taken.
        virtual_ns: virtual time at the end.
        reached: every placed action really happened.
        trouble: what the adapter did wrong, if it raised, hung or blocked; one sentence.
        met: for each ``sometimes`` of the scenario, whether this case met it.
    """

    case: Case
    verdicts: tuple[Verdict, ...]
    history: History
    points: tuple[str, ...] = ()
    steps: int = 0
    virtual_ns: int = 0
    reached: bool = True
    trouble: str | None = None
    met: tuple[bool, ...] = ()

    @property
    def violations(self) -> tuple[Violation, ...]:
        """All broken promises of this case."""
        return tuple(v for verdict in self.verdicts for v in verdict.violations)


@frozen(kw_only=True)
class Neighbour:
    """A case next to a failing one, and whether it holds."""

    what: str
    case: Case
    holds: bool


@frozen(kw_only=True)
class Failure:
    """One cause: an invariant that broke in one or more cases of a scenario.

    Attributes:
        scenario: the scenario.
        violation: what broke in the smallest case.
        case: the smallest failing case.
        history: its history.
        trace_hash: of that history.
        also: the other failing cases.
        neighbours: cases next to it, with their verdicts.
        deviation: if a fresh run took another way, which event differed; empty when confirmed.
    """

    scenario: Scenario
    violation: Violation
    case: Case
    history: History
    trace_hash: str
    also: tuple[Case, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    deviation: str = ""

    @property
    def id(self) -> str:
        """``scenario@case``, by which ``replay`` and ``show`` find it."""
        return f"{self.scenario.name}@{self.case.id}"


@frozen(kw_only=True)
class Tally:
    """How often an invariant gave each answer over the cases of a scenario."""

    holds: int = 0
    violated: int = 0
    not_exercised: int = 0
    not_claimed: int = 0
    undecided: int = 0

    def add(self, status: Status) -> Tally:
        """Returns the tally with one more answer."""
        name = status.value.replace(" ", "_")
        counts = {f: getattr(self, f) for f in _TALLY_FIELDS}
        counts[name] += 1
        return Tally(**counts)


_TALLY_FIELDS = ("holds", "violated", "not_exercised", "not_claimed", "undecided")


@frozen(kw_only=True)
class ScenarioResult:
    """All cases of one scenario.

    Attributes:
        scenario: what was run.
        cases: cases run.
        failed: cases with a violation.
        points_swept: points (or steps) at which a swept action really happened.
        points_total: points that the sweep asked for.
        operations_swept: where all of them are of a disk, operations at which the action happened before and after.
        operations_total: such operations that the sweep asked for.
        swept: the same by noun, for sweeps over points, cursors, bytes and frames: noun, happened, asked for.
        explored: cases beyond those that the sweep spells out (delays, random schedules).
        tallies: per invariant.
        failures: one per cause, the most telling first.
        known: failures that the file of known failures names; they do not count.
        inconclusive: why a green result would be dishonest, one phrase each.
        not_claimed: why the adapter was not asked at all; empty if it was.
        refused: why the scenario could not be run at all, such as a sweep over its limit; empty if it could.
        trouble: what the adapter did wrong, with the case, one sentence each.
        virtual_ns: virtual time over all cases.
    """

    scenario: Scenario
    cases: int = 0
    failed: int = 0
    points_swept: int = 0
    points_total: int = 0
    operations_swept: int = 0
    operations_total: int = 0
    swept: tuple[tuple[str, int, int], ...] = ()
    explored: int = 0
    tallies: Mapping[str, Tally] = field(factory=dict)
    failures: tuple[Failure, ...] = ()
    known: tuple[Failure, ...] = ()
    inconclusive: tuple[str, ...] = ()
    not_claimed: str = ""
    refused: str = ""
    trouble: tuple[str, ...] = ()
    virtual_ns: int = 0

    @property
    def exit(self) -> Exit:
        """The exit code that this scenario alone would give."""
        codes = [Exit.HELD]
        explained = any(f.violation.invariant == "deterministic" for f in self.failures)
        if not explained and any(f.deviation for f in self.failures):
            codes.append(Exit.NONDETERMINISTIC)  # nothing that was found can be trusted
        if self.failures:
            codes.append(Exit.BROKEN)
        if self.trouble:
            codes.append(Exit.ADAPTER)
        if self.inconclusive:
            codes.append(Exit.INCONCLUSIVE)
        if self.refused:
            codes.append(Exit.USAGE)
        return worst(codes)


@frozen(kw_only=True)
class CampaignResult:
    """All scenarios of one ``run``.

    Attributes:
        adapter: as the user named it.
        profile: ``quick``, ``ci`` or ``deep``.
        seed: of the random strategies.
        shard: ``k/n``.
        scenarios: in the order of the run, whatever ``-j`` was.
        stale: known failures that no longer fail, one sentence each; each is a failure of its own.
        interrupted: the user stopped it before all scenarios were run.
        skipped: scenarios of the shard that were not run: interrupted, or over a limit.
        wall_s: real seconds.
    """

    adapter: str
    profile: str
    seed: int
    shard: str = "1/1"
    scenarios: tuple[ScenarioResult, ...] = ()
    stale: tuple[str, ...] = ()
    interrupted: bool = False
    skipped: int = 0
    wall_s: float = 0.0

    @property
    def exit(self) -> Exit:
        """The exit code of the run."""
        codes = [result.exit for result in self.scenarios]
        if not any(result.cases for result in self.scenarios):
            codes.append(Exit.INCONCLUSIVE)  # every scenario was beyond what the adapter claims, or none was begun
        if self.skipped and not self.interrupted:
            codes.append(Exit.INCONCLUSIVE)
        if self.stale:
            codes.append(Exit.BROKEN)
        if self.interrupted:
            codes.append(Exit.INTERRUPTED)
        return worst(codes)
