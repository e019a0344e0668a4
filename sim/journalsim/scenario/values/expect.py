"""What a scenario expects of the end of its cases, beyond the invariants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen


@frozen(kw_only=True)
class Expectation:
    """A condition on the end of a case.

    Attributes:
        name: a key of :data:`journalsim.scenario.words.conditions.EXPECTATIONS`, such as ``journal.contains``,
            or one of ``exactly_one_of``, ``any_of``, ``all_of``, ``none_of``.
        arguments: its arguments, checked.
        parts: for the four combining words, the conditions that they combine.
        line: line of the file, from 1; 0 if there is none.
    """

    name: str
    arguments: Mapping[str, Any] = field(factory=dict)
    parts: tuple[Expectation, ...] = ()
    line: int = field(default=0, eq=False)


@frozen(kw_only=True)
class Exemption:
    """An invariant that this scenario does not ask for, and why."""

    invariant: str
    reason: str


@frozen(kw_only=True)
class Expect:
    """What a scenario promises beyond the invariants.

    Attributes:
        finally_: holds at the end of every case that the sweep spells out.
        sometimes: holds at the end of at least one of them; otherwise the scenario is inconclusive.
        exercises: invariants that must be exercised in at least one case, or it is inconclusive.
        exempt: invariants that are not checked here.
    """

    finally_: tuple[Expectation, ...] = ()
    sometimes: tuple[Expectation, ...] = ()
    exercises: tuple[str, ...] = ()
    exempt: tuple[Exemption, ...] = ()
