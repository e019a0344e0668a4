"""Packages of the npm registry for tests that run Node; they are skipped where Node or the registry is out of reach."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest


class Node:
    """Runs scripts beside installed packages.

    Args:
        folder: an empty one, for the packages.
        packages: names with versions.
    """

    def __init__(self, folder: Path, *packages: str) -> None:
        if shutil.which("node") is None or shutil.which("npm") is None:
            pytest.skip("node and npm are not installed")
        self._folder = folder
        (folder / "package.json").write_text("{}", encoding="utf-8")
        install = ["npm", "install", "--no-audit", "--no-fund", "--fetch-retries=0", *packages]
        installed = subprocess.run(install, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        if installed.returncode:
            pytest.skip(f"npm could not install {' '.join(packages)}: {installed.stderr.strip().splitlines()[:1]}")

    def run(self, script: Path, *arguments: str, given: str | None = None, timeout_s: float = 300) -> Any:
        """Returns what a script prints, which is JSON; ``given`` is its standard input."""
        done = subprocess.run(
            ["node", str(script), *arguments],
            cwd=self._folder,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_s,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
