"""Defines an entry of the zoo, and builds journals with exchanged parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from attrs import frozen

from journalsim_reference.content import Content
from journalsim_reference.runner import ReferenceJournal
from journalsim_reference.server import Server
from journalsim_reference.stores.opening import OpenStore, as_asked
from journalsim_reference.stream import Streams
from journalsim_reference.worker import Worker
from journalsim_reference.writer import Writer


@frozen(kw_only=True)
class Bug:
    """One seeded bug, as a public system had it.

    Attributes:
        name: kebab-case; ``journalsim -a ref:bug-NAME``.
        summary: the wrong behaviour, one sentence.
        failure_mode: id in the catalogue of failure modes; empty if the catalogue has none.
        trips: the invariants that it must violate, and no others.
        build: makes the journal that has it.
    """

    name: str
    summary: str
    failure_mode: str
    trips: tuple[str, ...]
    build: Callable[[], ReferenceJournal]


class BufferedWriter(Writer):
    """Buffers text in memory until its message ends, as the public systems with these bugs do."""

    def holds(self, message_id: str, piece: Content) -> bool:
        return self.partials.fits(message_id, piece)


def with_parts(
    server: type[Server] = Server,
    writer: type[Writer] = Writer,
    worker: type[Worker] = Worker,
    store: OpenStore = as_asked,
    streams: type[Streams] = Streams,
) -> Callable[[], ReferenceJournal]:
    """Returns a builder of the reference journal with some of its parts exchanged."""

    class VariedWriter(writer):  # type: ignore[valid-type,misc]  # the base is an argument
        streams_class: ClassVar[type[Streams]] = streams

    class Varied(server):  # type: ignore[valid-type,misc]  # the base is an argument
        writer_class: ClassVar[type[Writer]] = VariedWriter
        worker_class: ClassVar[type[Worker]] = worker

    return lambda: ReferenceJournal(store, Varied)
