"""Which journal mode keeps which promise on which disk, by crashing at every operation.

Run: python tests/simulation/disk_table.py [--appends 2]
"""

from __future__ import annotations

import argparse

from attrs import Factory, frozen
from disk_crashes import LOSSES, Found, Plan, explore, log, sqlite

from journalsim.contract.disk_faults import DiskOptions, Loss

JOURNALING = DiskOptions()
AT_ONCE = DiskOptions(entries="at_once")
WITHOUT_JOURNAL = DiskOptions(entries="any_order", truncates="any_order", fill=0xA5)
LYING = DiskOptions(lying_sync=True)

DISKS = {
    "folder sync needed": JOURNALING,
    "names certain at once": AT_ONCE,
    "no order at all": WITHOUT_JOURNAL,
    "lying sync": LYING,
}

DRAWN = tuple(Loss("drawn", number) for number in range(1, 49))


@frozen
class Row:
    """One line of the table.

    Attributes:
        store: ``sqlite`` or ``jsonl``.
        journal: SQLite's journal mode.
        synchronous: SQLite's setting.
        disk: a key of :data:`DISKS`.
        promise: what is expected: ``durable``, ``ordered`` or ``none``.
        losses: what the power cuts take.
        every: of how many worlds one has its recovery crashed too.
    """

    store: str
    journal: str
    synchronous: str
    disk: str
    promise: str
    losses: tuple[Loss, ...] = Factory(lambda: LOSSES)
    every: int = 61

    def __str__(self) -> str:
        words = [self.store, self.journal, self.synchronous, self.disk.replace(" ", "-")]
        return "-".join(word for word in words if word)

    def explore(self, appends: int = 2, every: int = 0, draws: int = 0) -> Found:
        """Crashes the store of this row everywhere."""
        more = tuple(Loss("drawn", number) for number in range(1, draws + 1))
        plan = Plan(
            open_store=sqlite(self.journal, self.synchronous) if self.store == "sqlite" else log,
            options=DISKS[self.disk],
            appends=appends,
            losses=tuple(dict.fromkeys(self.losses + more)),
            every=every or self.every,
        )
        return explore(plan)


def _rows(disk: str, promises: str, **more: object) -> list[Row]:
    """Reads ``journal synchronous promise``, a line each."""
    return [Row("sqlite", *line.split()[:2], disk, line.split()[2], **more) for line in promises.strip().splitlines()]  # type: ignore[arg-type]


MODES = [
    *_rows(
        "folder sync needed",
        """
        delete   extra  durable
        delete   full   ordered
        delete   off    none
        truncate extra  durable
        truncate full   durable
        truncate off    none
        persist  extra  durable
        persist  full   durable
        persist  off    none
        wal      extra  durable
        wal      full   durable
        wal      normal ordered
        wal      off    none
        """,
    ),
    # damage from the moment at which the rollback journal itself was being written: in few worlds, so many are drawn
    *_rows(
        "names certain at once",
        """
        delete   normal none
        truncate normal none
        persist  normal none
        """,
        losses=DRAWN,
        every=10_000,
    ),
]
"""Every mode, on a journaling file system."""

OTHERS = [
    Row("jsonl", "", "", "folder sync needed", "durable"),
    *_rows(
        "names certain at once",
        """
        delete   full   durable
        """,
    ),
    *_rows(
        "no order at all",
        """
        delete   extra  durable
        truncate full   durable
        wal      full   durable
        wal      normal ordered
        truncate normal none
        """,
    ),
    Row("jsonl", "", "", "no order at all", "durable"),
    *_rows(
        "lying sync",
        """
        delete   full   none
        wal      full   none
        """,
    ),
    Row("jsonl", "", "", "lying sync", "none"),
]
"""Some modes on other disks."""


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--appends", type=int, default=2)
    appends = parser.parse_args().appends
    print("| store | journal | synchronous | disk | operations, syncs | worlds | after a crash | after two | promise |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in MODES + OTHERS:
        found = row.explore(appends)
        print(
            f"| {row.store} | {row.journal or '-'} | {row.synchronous or '-'} | {row.disk} | "
            f"{found.operations}, {found.syncs} | {found.worlds} | {counts(found.once)} | {counts(found.twice)} | "
            f"{found.promise}{'' if found.promise == row.promise else f', EXPECTED {row.promise}'} |"
        )


def counts(verdicts: dict[str, int]) -> str:
    """Returns verdicts as ``12 ok, 3 lost``."""
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items(), reverse=True))


if __name__ == "__main__":
    main()
