"""A seeded bug in the bytes of a stream."""

from __future__ import annotations

from collections.abc import Iterator

from journalsim_reference.attach import Decision
from journalsim_reference.bugs.bug import Bug, with_parts
from journalsim_reference.frame_log import Entry, FrameLog
from journalsim_reference.stream import Streams

READ_BYTES = 3
"""The number of bytes per read of the relay: so few that a character of four bytes is always cut."""


class _DecodesEachRead(Streams):
    """Relays its own stream as text, and decodes each read on its own."""

    def events_of(self, log: FrameLog, decision: Decision, entry: Entry) -> Iterator[bytes]:
        data = b"".join(super().events_of(log, decision, entry))
        reads = (data[start : start + READ_BYTES] for start in range(0, len(data), READ_BYTES))
        yield "".join(read.decode("utf-8", "replace") for read in reads).encode()


STREAM_BYTES = (
    Bug(
        name="each-read-is-decoded-alone",
        summary="A relay decodes each read on its own, and a character that is cut in two becomes two others.",
        failure_mode="",
        trips=("legal-wire", "replay-equals-live"),
        build=with_parts(streams=_DecodesEachRead),
    ),
)
