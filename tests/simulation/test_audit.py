"""An audit names every hidden source that code under test uses, wherever it lies, and nothing of the harness."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from journalsim.engine.guards import audit
from journalsim.engine.hosting import host
from journalsim.hosts.loading import load_adapter
from journalsim.scenario.builtin import builtin_folder
from journalsim.scenario.files import load_file
from journalsim.search.execute import Executor, workspace

USES = """
import socket, time, uuid

def clock(): return time.time()
def identity(): return uuid.uuid4()
def pair():
    for end in socket.socketpair():
        end.close()
"""


def planted(path: Path) -> ModuleType:
    """Returns a module at this path that uses a clock, an id and a socket."""
    path.parent.mkdir(parents=True)
    path.write_text(USES, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("planted", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("folder", ["shop", "trio", "journalsim/engine", "journalsim/search", "shop/engine"])
def test_code_under_test_is_named_with_its_line_in_a_folder_of_any_name(tmp_path: Path, folder: str) -> None:
    module = planted(tmp_path / folder / "store.py")
    with audit() as found:
        module.clock()
        module.identity()
        module.pair()
    short = f"{Path(folder).name}/store.py"
    ours = [one for one in found if short in one]
    assert ours == [
        f"time.time called at {short}:4",
        f"uuid.uuid4 called at {short}:5",
        f"socket.__init__ called at {short}:7",
    ]


def test_a_run_of_the_reference_uses_no_hidden_source() -> None:
    scenario = load_file(next(builtin_folder().rglob("server-dies-in-mid-answer.race.yaml")))
    with workspace() as folder, audit() as found:
        executor = Executor(scenario, load_adapter("ref"), folder)
        host(lambda it: executor.baseline(it))
    assert found == {}
