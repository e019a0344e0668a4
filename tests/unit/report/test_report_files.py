"""Report folders: checked before the run, whole files after it."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_examples import ABOUT, HOSTILE, campaign

from journalsim.errors import UsageError
from journalsim.report.files import prepare_file, prepare_folder, write_file, write_report
from journalsim.report.text import report_text


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_preparing_a_folder_makes_it_and_leaves_it_empty(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    prepare_folder(folder)
    prepare_folder(folder)
    assert names(folder) == []


def test_a_folder_that_cannot_be_made_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"file/x: cannot write the report: Not a directory: name another folder"):
        prepare_folder(tmp_path / "file" / "x")
    with pytest.raises(UsageError, match="File exists"):
        prepare_folder(tmp_path / "file")


def test_a_folder_in_the_place_of_a_report_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").mkdir()
    with pytest.raises(UsageError, match=r"junit\.xml is a folder there"):
        prepare_folder(tmp_path)


def test_preparing_a_file_keeps_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "new" / "junit.xml"
    prepare_file(path)
    assert names(path.parent) == []
    path.write_text("old")
    prepare_file(path)
    assert path.read_text() == "old"
    with pytest.raises(UsageError, match="it is a folder: name another file"):
        prepare_file(tmp_path / "new")


def test_a_report_is_three_files(tmp_path: Path) -> None:
    written = write_report(campaign(), tmp_path / "report", ABOUT)
    assert names(tmp_path / "report") == ["junit.xml", "report.ndjson", "report.txt"]
    assert sorted(path.name for path in written) == names(tmp_path / "report")
    assert (tmp_path / "report" / "report.txt").read_bytes().decode() == report_text(campaign(), ABOUT)
    assert (tmp_path / "report" / "report.ndjson").read_bytes().count(b"\n") == 9


def test_an_interrupted_run_leaves_a_report_that_says_so(tmp_path: Path) -> None:
    write_report(campaign(interrupted=True, scenarios=campaign().scenarios[:2]), tmp_path, ABOUT)
    for path in tmp_path.iterdir():
        assert "partial: stopped by the user after 2 of 5 scenarios" in path.read_text("utf-8")


def test_a_failed_write_leaves_the_old_file_and_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_file(tmp_path / "report.txt", "old")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match=r"report\.txt: cannot write the report: No space left on device: free"):
        write_file(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["report.txt"]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_any_text_can_be_written(tmp_path: Path, text: str) -> None:
    assert write_file(tmp_path / "x", text).read_bytes()
