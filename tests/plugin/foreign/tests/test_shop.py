"""Tests of the shop that use its own packages, one of them with journalsim."""

from pathlib import Path

import sim.journal

import reference_impl
from journalsim import check_adapter, load_scenario

RACE = Path(__file__).parents[1] / "races" / "stopped-answer.race.yaml"


def test_the_shop_greets() -> None:
    assert sim.journal.ChatJournal().greeting == reference_impl.GREETING


def test_its_journal_keeps_what_it_promises() -> None:
    (result,) = check_adapter(sim.journal.make, [load_scenario(RACE.read_bytes(), RACE.name)])
    assert result.cases == 1
