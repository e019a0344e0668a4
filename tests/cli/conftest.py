"""The command line in this process, in an empty folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import ROOT, Command, Done, Write

from journalsim.cli import main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


@pytest.fixture
def journalsim(here: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command line."""

    def command(*arguments: str | Path) -> Done:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Done(code=ended.value.code, out=printed.out, err=printed.err)

    return command


ONE = """\
version: 1
name: {name}
{more}script:
  model:
    - stream: [{{text: ["Hel", "lo ", "there"]}}, {{finish: end_turn}}]
steps:
  - client.send: "Hi"
  - client.stop: {{at: model.turn1.c2.after}}
  - client.reload: {{after: stop}}
"""


@pytest.fixture
def scenario(here: Path) -> Write:
    """Writes a small scenario and returns its file; ``more`` are further keys, ``also`` goes at the end."""

    def write(name: str = "one", more: str = "", also: str = "") -> Path:
        path = here / f"{name}.race.yaml"
        path.write_text(ONE.format(name=name, more=more) + also, encoding="utf-8")
        return path

    return write
