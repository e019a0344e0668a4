"""The catalogue of public failure modes, which scenarios and bugs refer to by id.

Each entry describes code as it was at its source, which may since have been
fixed, or may never have shipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files  # noqa: TID251  (a file of this package)

from attrs import frozen


@frozen(kw_only=True)
class FailureMode:
    """One thing that goes wrong in a public system.

    Attributes:
        id: such as ``DF-2``; the numbers are not contiguous.
        system: where it was seen; ``server-sent events`` for any client or server of those.
        title: what goes wrong, one line.
        wrong: what the person or the next model call then sees.
        right: what a correct journal gives.
        evidence: ``stated`` by the project or a user, ``read`` in the code, or ``inferred``
            from the code: a hypothesis, not a fact.
        seen: public reports, ``owner/name#number``.
    """

    id: str
    system: str
    title: str
    wrong: str
    right: str
    evidence: str
    seen: tuple[str, ...]


@cache
def catalogue() -> dict[str, FailureMode]:
    """Returns every entry by id, in the order of the systems."""
    text = (files("journalsim.scenario") / "catalogue.ndjson").read_text(encoding="utf-8")
    entries = (json.loads(line) for line in text.splitlines())
    return {entry["id"]: FailureMode(**{**entry, "seen": tuple(entry["seen"])}) for entry in entries}


@frozen(kw_only=True)
class Coverage:
    """How much of one system's entries the scenarios cover.

    Attributes:
        system: its name.
        covered: ids that at least one scenario covers.
        missing: the others.
    """

    system: str
    covered: tuple[str, ...]
    missing: tuple[str, ...]


def coverage(covers: Iterable[str]) -> tuple[Coverage, ...]:
    """Returns the coverage per system, given all the ids that scenarios name."""
    named = frozenset(covers)  # membership only
    by_system: dict[str, list[str]] = {}
    for mode in catalogue().values():
        by_system.setdefault(mode.system, []).append(mode.id)
    return tuple(
        Coverage(
            system=system,
            covered=tuple(i for i in ids if i in named),
            missing=tuple(i for i in ids if i not in named),
        )
        for system, ids in by_system.items()
    )
