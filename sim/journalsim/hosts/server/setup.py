"""What every process of a server is started with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from journalsim.contract.adapters import RunnerAdapter
from journalsim.hosts.process_ports import Cast


@frozen(kw_only=True)
class Setup:
    """A server's system under test and surroundings, the same through all crashes and restarts.

    Attributes:
        factory: makes a fresh adapter, one per process.
        where: the folder that outlives crashes.
        cast: the scripted model and tools.
        policies: options of the scenario.
        limits_ns: time limits of the scenario by name, nanoseconds.
        store_latency_ns: how long each operation of the store takes, nanoseconds.
    """

    factory: Callable[[], RunnerAdapter]
    where: str
    cast: Cast
    policies: Mapping[str, str]
    limits_ns: Mapping[str, int]
    store_latency_ns: int
