"""The mutants that a person has looked at and found to mean the same, each with the reason.

An entry names one change, never a whole line: of the changes that can be made to a
short cut one may be slower and the next one wrong.  The run judges these mutants
like all others, and says so when one of them is killed after all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import yaml
from attrs import frozen
from mutants import Mutant

FILE = Path(__file__).parent / "equivalent.yaml"


@frozen
class Equivalents:
    """What the file lists: module, line before and line after."""

    listed: frozenset[tuple[str, str, str]]

    @classmethod
    def load(cls, mutants: Sequence[Mutant]) -> Equivalents:
        """Reads the file; an entry must fit as many of the mutants as it says, or it is out of date."""
        entries = yaml.safe_load(FILE.read_text(encoding="utf-8")) or []
        made = Counter(_change(m) for m in mutants)
        modules = {m.module for m in mutants}
        listed = {}
        for entry in entries:
            for now in entry["now"]:
                change = (f"journalsim_reference.{entry['module']}", entry["was"], now)
                times = entry.get("times", 1)
                assert entry["why"]
                assert change[0] not in modules or made[change] == times, f"{change} fits {made[change]}, not {times}"
                listed[change] = True
        return cls(frozenset(listed))

    def __contains__(self, mutant: Mutant) -> bool:
        return _change(mutant) in self.listed


def _change(mutant: Mutant) -> tuple[str, str, str]:
    return mutant.module, mutant.was, mutant.now
