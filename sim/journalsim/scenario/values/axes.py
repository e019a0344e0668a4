"""The axes of a sweep: where the swept actions are placed."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from journalsim.case import Placement

CASES_MAX = 20_000  # a sweep beyond this takes longer than anybody waits for one file


@frozen(kw_only=True)
class Axis:
    """One dimension of a sweep.

    Attributes:
        name: steps refer to it as ``$name``.
        values: fixed placements, in order, or what a crash loses.
        every: besides, one value for every ``point`` or scheduler ``step`` of the baseline run, for every
            ``cursor`` that the attaching page had in it, or for every ``byte`` or ``frame`` of the connection.
        inside: for ``every``, keep only names that start with one of these; empty keeps all.
        since: for ``every`` point, the first one, of those that the baseline run passes.
        until: for ``every`` point, the last one.
    """

    name: str
    values: tuple[Placement, ...] = ()
    every: Literal["", "point", "step", "cursor", "byte", "frame"] = ""
    inside: tuple[str, ...] = ()
    since: str = ""
    until: str = ""


@frozen(kw_only=True)
class Sweep:
    """The cases of a scenario: every combination of its axes.

    Attributes:
        axes: in the order of the file.
        limit: an upper bound on the number of cases; more than that is an error.
    """

    axes: tuple[Axis, ...] = ()
    limit: int = 1000
