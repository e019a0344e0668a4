"""Files that are generated and shipped are what the code would generate now."""

from __future__ import annotations

import json
from pathlib import Path

from sim.scenario.schema import json_schema

ROOT = Path(__file__).parents[2]


def test_the_shipped_schema_is_the_one_that_the_language_gives() -> None:
    shipped = json.loads((ROOT / "scenarios" / "race.schema.json").read_text(encoding="utf-8"))
    assert shipped == json_schema()


def test_the_public_names_are_sorted_and_all_there() -> None:
    import sim

    assert sim.__all__ == sorted(sim.__all__)
    assert len(sim.__all__) <= 30
    assert all(getattr(sim, name) is not None for name in sim.__all__)
