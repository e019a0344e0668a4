"""What goes wrong with a disk, as values."""

from __future__ import annotations

from attrs import field, frozen

MEMORY = "memory"  # what every crash loses


@frozen(kw_only=True)
class DiskFault:
    """A fault of one operation of the simulated disk.

    Attributes:
        at: the operation, such as ``disk.sync#3``.
        kind: what goes wrong there: a key of :data:`journalsim.contract.disk_faults.FAULTS` but ``crash``.
        times: how many operations of that kind in a row; 0 for all from there on.
        kept: of a write, how many bytes are written all the same.
        duration_ns: of a slow operation, how long it takes.
        line: line of the file, from 1; 0 if there is none.
    """

    at: str
    kind: str
    times: int = 1
    kept: int = 0
    duration_ns: int = 0
    line: int = field(default=0, eq=False)
