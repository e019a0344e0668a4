"""Real processes on real files, killed: the companion of the simulated crashes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

COMPANION = Path(__file__).with_name("kills.py")
MODES = {
    "sqlite": "wal",
    "sqlite-delete-extra": "delete",
    "sqlite-truncate-full": "truncate",
    "sqlite-persist-full": "persist",
    "sqlite-wal-full": "wal",
    "sqlite-wal-normal": "wal",
    "log": "-",
}
LINE = re.compile(
    r"not simulated: (?P<store>[a-z-]+): journal mode (?P<journal>[a-z-]+), \d+ places, (?P<kills>\d+) kills "
    r"\((?P<in_recovery>\d+) in recovery\), (?P<rows>\d+) acknowledged rows looked for, "
    r"invariants held (?P<held>\d+) times, lost: (?P<lost>.+)"
)


def companion(*arguments: str) -> tuple[int, list[dict[str, str]]]:
    """Runs the companion in a process without threads, for it forks; prints what it prints."""
    done = subprocess.run([sys.executable, str(COMPANION), *arguments], capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    assert not done.stderr
    return done.returncode, [found.groupdict() for found in map(LINE.fullmatch, done.stdout.splitlines()) if found]


def test_no_kill_of_a_real_process_loses_anything() -> None:
    status, tallies = companion("--kills", "30")
    assert {tally["store"]: tally["journal"] for tally in tallies} == MODES
    assert {tally["lost"] for tally in tallies} == {"nothing"}
    assert sum(int(tally["kills"]) for tally in tallies) >= 200
    assert all(int(tally["held"]) > 100 and int(tally["rows"]) > 100 for tally in tallies)
    assert sum(int(tally["in_recovery"]) for tally in tallies) >= 20
    assert status == 0


@pytest.mark.campaign
def test_no_kill_of_two_thousand_loses_anything() -> None:
    status, tallies = companion("--kills", "290", "--seed", "7")
    assert {tally["lost"] for tally in tallies} == {"nothing"}
    assert sum(int(tally["kills"]) for tally in tallies) >= 2000
    assert status == 0


def test_a_store_that_acknowledges_before_it_writes_is_caught_within_a_few_kills() -> None:
    status, [tally] = companion("--store", "broken", "--kills", "10", "--until-lost")
    assert status == 1
    assert "an acknowledged row is lost" in tally["lost"]
    assert int(tally["kills"]) <= 10
