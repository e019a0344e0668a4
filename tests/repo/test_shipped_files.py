"""Files that are generated and shipped are what the code would generate now."""

from __future__ import annotations

import json
from pathlib import Path

from journalsim.scenario.schema import json_schema

ROOT = Path(__file__).parents[2]


def test_the_shipped_schema_is_the_one_that_the_language_gives() -> None:
    shipped = json.loads((ROOT / "scenarios" / "race.schema.json").read_text(encoding="utf-8"))
    assert shipped == json_schema()


def test_scenarios_and_bugs_name_entries_that_the_catalogue_has() -> None:
    from journalsim.cli.selection import select
    from journalsim.hosts.loading import zoo
    from journalsim.scenario.catalogue import catalogue

    named = {covers for scenario in select(()) for covers in scenario.covers}
    named |= {bug.failure_mode for bug in zoo() if bug.failure_mode}
    assert named <= set(catalogue())
