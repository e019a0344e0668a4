"""Writes files for every store."""

from __future__ import annotations

from journalsim.contract.disk_port import DiskFile


def write_all(file: DiskFile, offset: int, data: bytes) -> None:
    """Writes all of ``data``, in several writes if the disk takes only a part.

    Raises:
        OSError: the disk failed; a prefix of ``data`` may have been written.
    """
    while data:
        taken = file.write(offset, data)
        if not taken:
            raise OSError("the disk takes nothing more")
        offset, data = offset + taken, data[taken:]
