"""The report as files: ``report.txt``, ``report.ndjson`` and ``junit.xml`` in one folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from journalsim.errors import UsageError
from journalsim.report.about import About
from journalsim.report.junit import junit_xml
from journalsim.report.ndjson import ndjson_lines
from journalsim.report.text import report_text
from journalsim.search.results import CampaignResult


def _ndjson(campaign: CampaignResult, about: About) -> str:
    return "".join(line + "\n" for line in ndjson_lines(campaign, about))


WRITERS: Mapping[str, Callable[[CampaignResult, About], str]] = {
    "report.txt": report_text,
    "report.ndjson": _ndjson,
    "junit.xml": junit_xml,
}
"""What a report folder holds, by file name."""


def prepare_folder(folder: Path) -> None:
    """Makes sure, before anything runs, that a report can be written into ``folder``.

    Raises:
        UsageError: it cannot; the message says why and what to do.
    """
    with cannot_write(folder, "name another folder with --report"):
        folder.mkdir(parents=True, exist_ok=True)
        for name in WRITERS:
            if (folder / name).is_dir():
                raise IsADirectoryError(f"{name} is a folder there")
        _replace(folder / ".journalsim-probe", "").unlink()


def prepare_file(path: Path) -> None:
    """Makes sure, before anything runs, that one file such as that of ``--junit`` can be written.

    Raises:
        UsageError: it cannot; the message says why and what to do.
    """
    with cannot_write(path, "name another file"):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError("it is a folder")
        _replace(path.with_name(f".{path.name}.probe"), "").unlink()


def write_report(campaign: CampaignResult, folder: Path, about: About) -> tuple[Path, ...]:
    """Writes all files of a report; each appears whole or not at all.

    Args:
        campaign: the results, complete or interrupted; a partial report says so.
        folder: made if it does not exist; older reports in it are replaced.
        about: the circumstances.

    Returns:
        The files.

    Raises:
        UsageError: the folder or a file cannot be written.
    """
    prepare_folder(folder)
    return tuple(write_file(folder / name, writer(campaign, about)) for name, writer in WRITERS.items())


def write_file(path: Path, text: str) -> Path:
    """Writes one file, whole or not at all, as UTF-8 with ``\\n`` line ends.

    Raises:
        UsageError: it cannot be written.
    """
    with cannot_write(path, "free some space or name another place"):
        return _replace(path, text)


def _replace(path: Path, text: str) -> Path:
    # Beside the target, since a rename is atomic within one folder only; with the process id,
    # since two shards may share the folder.
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(text.encode("utf-8", "backslashreplace"))
        unfinished.replace(path)
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()
    return path


@contextmanager
def cannot_write(path: Path, advice: str) -> Iterator[None]:
    """Turns an ``OSError`` of the block into a message that says where, what, and what to do."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path}: cannot write the report: {error.strerror or error}: {advice}") from None
