"""The judges themselves: what they say about the reference in very many generated cases, which must be nothing."""

from __future__ import annotations

import pytest

from journalsim.report.about import About
from journalsim.report.explored import explored_failure
from journalsim.search.exploration import Search, explore
from journalsim.version import __version__

SHARES = {"ref:memory": 180_000, "ref": 20_000}  # on a file a case takes half as long again
WITHIN_S = {"ref:memory": 600.0, "ref": 100.0}  # below twelve minutes together, on two cores
ENOUGH = 0.2  # of each share: a slow machine runs fewer cases, and says how many


@pytest.mark.alarms
@pytest.mark.parametrize("adapter", list(SHARES))
def test_no_promise_is_said_to_be_broken_that_is_not(adapter: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A violation here is a finding: the reference, a judge or the harness is wrong."""
    found = explore(Search(adapter=adapter, seed=2026, cases=SHARES[adapter], for_s=WITHIN_S[adapter], jobs=2))
    with capsys.disabled():
        print(f"\n{adapter}: {found.book.cases} generated cases, {found.book.failed} red, {found.wall_s:.0f} s")
    about = About(version=__version__)
    assert not found.failures, "\n\n".join(explored_failure(failure, about) for failure in found.failures)
    assert not found.book.trouble
    assert found.book.cases >= ENOUGH * SHARES[adapter], "the machine is too slow for this to say much"
