"""What stands at the top level, and what no tracked file may hold."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOP = {"LICENSE", "README.md", "pyproject.toml", "reference_impl", "reports", "scenarios", "sim", "tests"}


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.split("\0") if name]


def test_the_top_level_holds_only_what_the_design_names() -> None:
    top = {name.split("/")[0] for name in tracked()}
    assert {name for name in top if not name.startswith(".")} <= TOP


def test_no_module_is_longer_than_it_can_be_read() -> None:
    names = [name for name in tracked() if name.startswith(("sim/", "reference_impl/")) and name.endswith(".py")]
    assert len(names) > 250
    lines = {name: len((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in names}
    assert not {name: count for name, count in lines.items() if count > 500}


def test_private_names_of_trio_are_used_in_one_module_alone() -> None:
    users = [
        name
        for name in tracked()
        if name.startswith(("sim/", "reference_impl/"))
        and name.endswith(".py")
        and "trio._core" in (ROOT / name).read_text(encoding="utf-8")
    ]
    assert users == ["sim/journalsim/engine/native_order.py"]


def test_processes_are_begun_and_signals_are_handled_in_one_module_of_the_search() -> None:
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in tracked() if name.startswith("sim/")}
    begin = {
        name
        for name, text in texts.items()
        if re.search(r"^(?:import|from) (?:multiprocessing|concurrent)\b", text, re.M)
    }
    handle = {name for name, text in texts.items() if "signal.signal(" in text}
    assert begin == {"sim/journalsim/search/workers.py"}
    assert handle - begin == {"sim/journalsim/cli/__init__.py", "sim/journalsim/engine/guards.py"}
