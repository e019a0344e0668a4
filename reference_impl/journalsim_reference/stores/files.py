"""What every store does with files."""

from __future__ import annotations

from journalsim.contract.disk_port import DiskFile


def write_all(file: DiskFile, offset: int, data: bytes) -> None:
    """Writes all of it: a disk that takes only a part is asked again.

    Raises:
        OSError: some bytes may have been written all the same.
    """
    while data:
        taken = file.write(offset, data)
        if not taken:
            raise OSError("the disk takes nothing more")
        offset, data = offset + taken, data[taken:]
