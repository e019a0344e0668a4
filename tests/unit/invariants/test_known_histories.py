"""Every invariant holds in its ok histories, and its bad ones break it and nothing else."""

from __future__ import annotations

import known_changes
import known_crashes
import known_rows
import known_streams
import known_views
import pytest
from known_histories import KNOWN, Known

from journalsim.oracle.invariants.judge import INVARIANTS, check_history
from journalsim.oracle.invariants.verdict import Status

# each adds to KNOWN when it is imported
MODULES = (
    known_rows,
    known_changes,
    known_views,
    known_streams,
    known_crashes,
)


@pytest.mark.parametrize("known", [k for k in KNOWN if not k.breaks], ids=lambda known: known.name)
def test_ok_history_exercises_its_invariant_and_breaks_none(known: Known):
    verdicts = {verdict.invariant: verdict for verdict in check_history(known.history())}
    assert [violation for verdict in verdicts.values() for violation in verdict.violations] == []
    assert verdicts[known.invariant].status is Status.HOLDS
    assert verdicts[known.invariant].exercised > 0


@pytest.mark.parametrize("known", [k for k in KNOWN if k.breaks], ids=lambda known: known.name)
def test_bad_history_breaks_its_invariant_and_nothing_else(known: Known):
    history = known.history()
    broken = {verdict.invariant: verdict for verdict in check_history(history) if verdict.status is Status.VIOLATED}
    assert list(broken) == [known.invariant]
    for violation in broken[known.invariant].violations:
        assert violation.invariant == known.invariant
        assert violation.promised
        assert violation.found
        assert violation.evidence
        assert list(violation.evidence) == sorted(set(violation.evidence))
        assert violation.evidence[-1] < len(history.events)


@pytest.mark.parametrize("invariant", INVARIANTS.values(), ids=lambda invariant: invariant.id)
def test_every_invariant_has_an_ok_and_a_bad_history_and_an_explanation(invariant):
    kinds = {known.breaks for known in KNOWN if known.invariant == invariant.id}
    assert kinds == {True, False}
    text = str(invariant.explain)
    assert len(text) > 200
    assert invariant.explain.meaning in text
    assert invariant.explain.usual_cause in text
    assert all(case in text for case in invariant.explain.cases)
    assert invariant.statement.endswith(".")
    assert invariant.id == invariant.id.lower().replace(" ", "-")


def test_every_known_history_is_about_a_registered_invariant():
    assert {known.invariant for known in KNOWN} == set(INVARIANTS)
