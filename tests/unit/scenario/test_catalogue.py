"""The catalogue of failure modes."""

from __future__ import annotations

from journalsim.scenario.catalogue import catalogue, coverage


def test_every_entry_says_what_is_wrong_and_what_is_right() -> None:
    entries = catalogue()
    assert len(entries) == 198
    assert all(mode.title and mode.wrong and mode.right for mode in entries.values())
    assert {mode.evidence for mode in entries.values()} == {"stated", "read", "inferred"}
    assert all("#" in report for mode in entries.values() for report in mode.seen)


def test_coverage_counts_each_entry_once_per_system() -> None:
    rows = {row.system: row for row in coverage(["DF-2", "DF-2", "GO-1", "XX-1"])}
    assert rows["DeerFlow"].covered == ("DF-2",)
    assert "DF-1" in rows["DeerFlow"].missing
    assert rows["goose"].covered == ("GO-1",)
    assert sum(len(row.covered) + len(row.missing) for row in rows.values()) == 198
