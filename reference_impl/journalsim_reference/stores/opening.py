"""Chooses the store that a process opens: on the disk of the ports, or on a real folder.

Ports with a disk mean that the scenario tests crashes of the disk, and names a kind of store. A variant of the
reference with a fixed kind of store opens that kind in every scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from journalsim.contract.disk_port import DiskPort
from journalsim.contract.ports import Ports
from journalsim_reference.stores.base import Store
from journalsim_reference.stores.database import Settings
from journalsim_reference.stores.disk_sqlite import DiskSQLiteStore
from journalsim_reference.stores.log import LogStore
from journalsim_reference.stores.memory import Folders
from journalsim_reference.stores.real_disk import RealDisk
from journalsim_reference.stores.sqlite import SQLiteStore

OpenStore: TypeAlias = Callable[[str, Ports], Store]
"""Opens the store of a process: in a folder, or on the disk of the ports."""

_FOLDERS = Folders()  # a server process is a new adapter, and finds the folders of the one before


def as_asked(where: str, ports: Ports) -> Store:
    """Opens SQLite on a real file; if the ports have a disk, opens the scenario's kind of store on it."""
    if ports.disk is None:
        return SQLiteStore(where)
    return LogStore(ports.disk) if ports.engine == "log" else DiskSQLiteStore(ports.disk)


def in_memory(where: str, ports: Ports) -> Store:
    """Opens a store without a disk; a kill leaves all of it."""
    return _FOLDERS.open(where)


def on_disk(open_store: Callable[[DiskPort], Store], where: str, ports: Ports) -> Store:
    """Opens a store of one kind on the disk of the ports, or on a real folder."""
    return open_store(ports.disk or RealDisk(where))


def _sqlite(settings: Settings) -> OpenStore:
    return partial(on_disk, partial(DiskSQLiteStore, settings=settings))


VARIANTS: Mapping[str, tuple[OpenStore, str]] = {
    "memory": (in_memory, "a store in memory"),
    "log": (partial(on_disk, LogStore), "the log store, also if a scenario names another"),
    "wal": (_sqlite(Settings(journal="wal", synchronous="full")), "SQLite, WAL, synchronous=FULL: durable"),
    "delete": (_sqlite(Settings(journal="delete", synchronous="extra")), "SQLite, DELETE, synchronous=EXTRA: durable"),
    "delete-full": (
        _sqlite(Settings(journal="delete", synchronous="full")),
        "SQLite, DELETE, synchronous=FULL: a power cut may take the last commit back",
    ),
    "wal-normal": (
        _sqlite(Settings(journal="wal", synchronous="normal")),
        "SQLite, WAL, synchronous=NORMAL: a power cut takes the last commits",
    ),
    "sqlite-off": (
        _sqlite(Settings(journal="wal", synchronous="off")),
        "SQLite, synchronous=OFF: a power cut leaves anything",
    ),
}
"""Other stores for the reference, each with a description: ``journalsim -a ref:log``."""
