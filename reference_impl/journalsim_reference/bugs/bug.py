"""What an entry of the zoo is, and how one is built."""

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
    """One mistake that a public system made, made again.

    Attributes:
        name: kebab-case; ``journalsim -a ref:bug-NAME``.
        summary: what this journal does wrong, one sentence.
        failure_mode: id in the catalogue of failure modes; empty for mistakes of harness authors.
        trips: the invariants that it must break, and no others.
        build: makes the journal that has it.
    """

    name: str
    summary: str
    failure_mode: str
    trips: tuple[str, ...]
    build: Callable[[], ReferenceJournal]


class BufferedWriter(Writer):
    """Keeps text in memory until its message ends, as the systems do in which these mistakes were made."""

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
