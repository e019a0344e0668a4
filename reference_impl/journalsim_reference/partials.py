"""Buffers text of open messages that is not in the journal yet, within a bound.

A stream brings hundreds of chunks, and a completed message needs none of them as rows. With the policy of syncing at
barriers only, chunks wait here until their message completes or is interrupted. They leave *after* the row that holds
them is committed, never before: a write that is cancelled or fails finds them still in place.

Memory is bounded twice. A chunk that does not fit makes its message spill: the whole buffer goes into a
``message.delta`` row, and the bound costs a write, never text. The caller calls :meth:`Partials.fits` first and spills
when it returns False.

The buffers belong to the journal's server, not to the worker that fills them: an unwinding worker cannot take them
along, so the stored text of a stopped message does not depend on the speed of any cleanup.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attrs import define

from journalsim_reference.content import NOTHING, Content

MESSAGES_MAX = 16
"""A run has one open message at a time, and one for each sub-agent. Beyond that, each piece of text costs a row.

The bound is small so that scenarios reach it: a bound that no test reaches is untested.
"""

BYTES_MAX = 32 * 1024
"""About eight thousand tokens, more than one answer has: spilling stays rare, and 32 KiB is little memory."""


@define
class _Buffer:
    run_id: str
    content: Content
    size: int


class Partials:
    """Buffers of open messages.

    Args:
        messages_max: the largest number of messages with a buffer.
        bytes_max: the largest number of bytes in all buffers together.
    """

    def __init__(self, messages_max: int = MESSAGES_MAX, bytes_max: int = BYTES_MAX) -> None:
        self.messages_max = messages_max
        self.bytes_max = bytes_max
        self.bytes = 0
        self._buffers: dict[str, _Buffer] = {}

    def __len__(self) -> int:
        return len(self._buffers)

    def fits(self, message_id: str, piece: Content) -> bool:
        """Returns True if ``piece`` may be added within both bounds."""
        if message_id not in self._buffers and len(self._buffers) >= self.messages_max:
            return False
        return self.bytes + piece.size <= self.bytes_max

    def add(self, run_id: str, message_id: str, piece: Content) -> None:
        """Adds a piece that :meth:`fits`."""
        buffer = self._buffers.setdefault(message_id, _Buffer(run_id, NOTHING, 0))
        buffer.content = buffer.content.plus(piece)
        buffer.size += piece.size
        self.bytes += piece.size

    def content(self, message_id: str) -> Content:
        """Returns the buffered content of a message; empty content if there is no buffer."""
        buffer = self._buffers.get(message_id)
        return NOTHING if buffer is None else buffer.content

    def of_run(self, run_id: str) -> Mapping[str, Content]:
        """Returns a copy of the buffered content of each open message of a run."""
        buffers = self._buffers.items()
        return MappingProxyType({key: buffer.content for key, buffer in buffers if buffer.run_id == run_id})

    def evict(self, message_id: str) -> None:
        """Forgets a message whose row is committed."""
        buffer = self._buffers.pop(message_id, None)
        if buffer is not None:
            self.bytes -= buffer.size

    def clear(self, run_id: str) -> None:
        """Forgets all messages of a run whose terminal is committed."""
        for message_id in self.of_run(run_id):
            self.evict(message_id)
