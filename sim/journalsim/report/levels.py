"""How far an adapter gets, as levels that build on each other."""

from __future__ import annotations

from collections.abc import Mapping

from journalsim.search.results import Tally

LEVELS: Mapping[str, tuple[str, ...]] = {
    "L0 append and read": (
        "honest-provenance",
        "no-clobber",
        "no-duplicate-message",
        "no-empty-message",
        "no-lost-completed-message",
        "one-request-one-effect",
        "ordered-history",
        "prompt-first",
        "retry-is-atomic",
        "stable-identity",
        "store-equals-context",
    ),
    "L1 stop": (
        "bounded-partials",
        "completed-wins",
        "disconnect-is-not-stop",
        "executed-tool-recorded",
        "fenced-writer",
        "one-terminal-per-run",
        "paired-tool-calls",
        "partial-is-prefix",
        "stop-ends-run",
    ),
}
"""Which promises each level is made of."""


def level_lines(sums: Mapping[str, Tally]) -> list[str]:
    """Returns one line a level: held, broken and by what, or not asked."""
    lines = []
    for level, promises in LEVELS.items():
        known = {name: sums[name] for name in promises if name in sums}
        broken = [name for name, tally in known.items() if tally.violated]
        held = sum(bool(tally.holds) for tally in known.values())
        if broken:
            verdict = f"broken: {', '.join(broken)}"
        else:
            verdict = f"held, {held} of {len(promises)} promises put to the test" if held else "not asked"
        lines.append(f"{level}: {verdict}")
    return lines
