"""Hypothesis strategies for generated cases and scenarios, for tests of one's own journal.

::

    from hypothesis import given, settings

    from journalsim import run_case
    from journalsim.strategies import Plan, cases
    from shop.journal import make

    @given(case=cases())
    @settings(deadline=None)
    def test_every_invariant_holds(case: Plan) -> None:
        run_case(case, make).check()

A strategy draws everything before the run and nothing inside it.  What it draws is a tape
(:mod:`journalsim.search.generate.tape`), and the smallest tape is the plainest scenario, so
Hypothesis shrinks a failing one by its ordinary means.  Settings, profiles and the example
database stay the reader's own.  This is the one module that imports Hypothesis.
"""

from __future__ import annotations

from hypothesis import strategies as st

from journalsim.contract.capabilities import Capabilities
from journalsim.scenario.values.scenario import Scenario
from journalsim.search.generate.plan import Plan
from journalsim.search.generate.tape import BLOCKS, EVERYTHING, plan_from_tape, scenario_from_tape

__all__ = ["Plan", "cases", "scenarios"]


def cases(claims: Capabilities = EVERYTHING) -> st.SearchStrategy[Plan]:
    """Returns a strategy for cases: a generated scenario, and how far into its run each action happens.

    An action (a Stop, a crash, a reload) lands at any point that the run really passes, in any
    order.  :func:`journalsim.run_case` therefore runs such a case twice: without the actions,
    to learn its points, and then as it is meant.  It takes what the adapter does not claim out of
    the scenario, so ``cases()`` fits every adapter.

    Args:
        claims: only scenarios that an adapter with these capabilities can be asked for; by default
            every kind of scenario but those over links that break.

    Returns:
        A strategy whose values print as the call that makes them again.

    Example:
        ``@given(case=cases())`` over a test that takes ``case: Plan``.
    """
    return _tapes().map(lambda tape: plan_from_tape(tape, claims))


def scenarios(claims: Capabilities = EVERYTHING) -> st.SearchStrategy[Scenario]:
    """Returns a strategy for scenarios without axes, every action at a point that the script lets one expect.

    The values are what :func:`journalsim.load_scenario` gives, so they can be printed with
    :func:`journalsim.dump_scenario` and kept.  A run of one is a single run, but its actions reach
    fewer points than those of :func:`cases`: none inside the journal's own work.

    Args:
        claims: what the adapter claims. :func:`journalsim.run_case` refuses a scenario that asks for
            more; ``scenarios(MyAdapter.capabilities)`` never does.

    Returns:
        A strategy for scenarios.

    Example:
        ``@given(scenario=scenarios(MyAdapter.capabilities))`` over a test that takes ``scenario: Scenario``.
    """
    return _tapes().map(lambda tape: scenario_from_tape(tape, claims))


def _tapes() -> st.SearchStrategy[bytes]:
    """Returns a strategy for whole tapes; all zeros is the smallest.

    A block of the tape is one draw: a hundred times fewer than one a place, and each shrinks to nothing at once.
    """
    blocks = (st.binary(min_size=length, max_size=length) for length in BLOCKS)
    return st.tuples(*blocks).map(b"".join)
