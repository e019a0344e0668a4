"""Hypothesis strategies for scenarios, for tests of one's own.

::

    @given(cases())
    def test_my_journal(case):
        run_case(case, "python:my.adapter:make").check()

A strategy draws a tape (:mod:`journalsim.search.generate.tape`) and nothing else: all of it before
the run, none of it inside, and the smallest tape is the plainest scenario, so that
Hypothesis makes a failing scenario plain by its ordinary means.  Its settings and
its database stay the reader's own: nothing here touches them.
"""

from __future__ import annotations

from hypothesis import strategies as st

from journalsim.contract.capabilities import Capabilities
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.checking import Judged, run_case
from journalsim.search.generate.plan import Plan
from journalsim.search.generate.tape import BLOCKS, EVERYTHING, plan_from_tape, scenario_from_tape

__all__ = ["Judged", "cases", "run_case", "scenarios", "tapes"]


def tapes() -> st.SearchStrategy[bytes]:
    """Returns a strategy for whole tapes; all zeros is the smallest.

    A block of the tape is one draw: a hundred times fewer than one a place, and each shrinks to nothing at once.
    """
    blocks = (st.binary(min_size=length, max_size=length) for length in BLOCKS)
    return st.tuples(*blocks).map(b"".join)


def scenarios(claims: Capabilities = EVERYTHING) -> st.SearchStrategy[Scenario]:
    """Returns a strategy for scenarios, every action placed at a point that the script lets one expect.

    Args:
        claims: what the adapter claims; nothing else is asked for.
    """
    return tapes().map(lambda tape: scenario_from_tape(tape, claims))


def cases(claims: Capabilities = EVERYTHING) -> st.SearchStrategy[Plan]:
    """Returns a strategy for scenarios with actions at any point that a run really passes, in any order.

    A case of this kind is run twice, undisturbed to learn its points and then as it is meant.

    Args:
        claims: what the adapter claims; nothing else is asked for.
    """
    return tapes().map(lambda tape: plan_from_tape(tape, claims))
