"""Frames the batches of the log store as lines, and finds the whole lines of a file.

A line is ``[length,"checksum",synced,epoch,rows]`` and a line feed, all ASCII, so a file is JSON Lines:

* ``length`` is that of the text of ``rows``;
* ``checksum`` is the CRC-32 of everything after it and of the offset of the line, so a line that is cut, torn or has
  a hole does not count as whole, and neither does a line that was written for another place;
* ``synced`` is the length of the file that was certainly on the disk when the line was written;
* ``epoch`` is its writer's, and never falls: a line that an earlier process left in a
  block which the file system has given back does not count;
* ``rows`` is a batch. An empty one opens an epoch.

A reader does not rely on line feeds, for a torn line has lost its own: after a bad line it looks for the next place
where a whole one begins. Row text cannot look like that, because a quotation mark inside a JSON string has a backslash
before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from json import JSONDecoder
from zlib import crc32

from attrs import frozen

_HEAD = re.compile(rb'\[(\d{1,12}),"([0-9a-f]{8})",(\d{1,12}),(\d{1,12}),')
_TAIL = b"]\n"


@frozen
class Line:
    """A whole line.

    Attributes:
        start: its offset in the file.
        end: the offset behind it.
        synced: the length of the file on the disk when the line was written.
        epoch: epoch of its writer.
        rows: rows as text; none where an epoch was opened.
    """

    start: int
    end: int
    synced: int
    epoch: int
    rows: tuple[str, ...]


def to_line(rows: Sequence[str], start: int, *, epoch: int, synced: int) -> bytes:
    """Encodes a batch as a line that begins at ``start``."""
    body = f"[{','.join(rows)}]"
    return f'[{len(body)},"{_checksum(start, synced, epoch, body)}",{synced},{epoch},{body}]\n'.encode("ascii")


def whole_lines(data: bytes, start: int = 0, epoch: int = 0) -> Iterator[Line]:
    """Yields the whole lines; bytes between two of them belong to no whole line.

    Args:
        data: a part of a file.
        start: its offset in the file.
        epoch: epoch of the line before.
    """
    at = 0
    while (head := _HEAD.search(data, at)) is not None:
        line = _read(data, head, start)
        if line is None or line.epoch < epoch:
            at = head.start() + 1
        else:
            at = line.end - start
            epoch = line.epoch
            yield line


def _read(data: bytes, head: re.Match[bytes], start: int) -> Line | None:
    size, synced, epoch = int(head[1]), int(head[3]), int(head[4])
    end = head.end() + size
    body = data[head.end() : end].decode("latin-1")
    place = start + head.start()
    if data[end : end + len(_TAIL)] != _TAIL or head[2].decode() != _checksum(place, synced, epoch, body):
        return None
    return Line(place, start + end + len(_TAIL), synced, epoch, tuple(_rows(body)))


def _checksum(start: int, synced: int, epoch: int, body: str) -> str:
    return f"{crc32(f'{start},{synced},{epoch},{body}'.encode('latin-1')):08x}"


def _rows(body: str) -> Iterator[str]:
    """Yields the texts of the objects in a list that :func:`to_line` wrote."""
    at, decoder = 1, JSONDecoder()
    while at < len(body) - 1:
        _, end = decoder.raw_decode(body, at)
        yield body[at:end]
        at = end + 1
