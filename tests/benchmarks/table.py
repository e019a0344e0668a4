"""Rows with a target, and the file that keeps them."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import trio
from attrs import frozen

REPORT = Path(__file__).parents[2] / "reports" / "benchmarks.md"
HEADER = """# Benchmarks

Measured on one small machine by the scripts in `tests/benchmarks/`, which write this file with `--write`.
Compare figures of one table only: each ratio is against a yardstick in the same process.
"""


@frozen(kw_only=True)
class Row:
    """One figure.

    Attributes:
        what: what was measured.
        target: what it is to be, in words; empty for a figure without a target.
        got: what it is.
        verdict: met or not, and by how much.
    """

    what: str
    target: str = ""
    got: str
    verdict: str = ""


def at_least(what: str, got: float, target: float, unit: str = "x") -> Row:
    """Returns a row whose figure is to be ``target`` or more."""
    verdict = f"met, {got / target:.2f} of it" if got >= target else f"NOT met: {got / target:.2f} of it"
    return Row(what=what, target=f">= {number(target)}{unit}", got=f"{number(got)}{unit}", verdict=verdict)


def at_most(what: str, got: float, target: float, unit: str = "") -> Row:
    """Returns a row whose figure is to be ``target`` or less."""
    verdict = f"met, {got / target:.2f} of it" if got <= target else f"NOT met: {got / target:.2f} times it"
    return Row(what=what, target=f"<= {number(target)}{unit}", got=f"{number(got)}{unit}", verdict=verdict)


def number(value: float) -> str:
    """Returns a figure with three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cpu_seconds(work: Callable[[], object]) -> float:
    """Returns the processor time of a piece of work: what others do on the machine does not show."""
    start = time.process_time()
    work()
    return time.process_time() - start


def show(rows: Sequence[Row]) -> str:
    """Returns rows as a Markdown table whose columns line up."""
    cells = [("what", "target", "got", "verdict"), *((row.what, row.target, row.got, row.verdict) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(4)]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |" for line in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def machine(*packages: str) -> str:
    """Returns what the figures were measured on."""
    versions = [f"Python {platform.python_version()}", f"trio {trio.__version__}"]
    for package in packages:
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{package} absent")
    return f"{', '.join(versions)}; {_processor()}, {sys.platform}."


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    found = re.search(r"model name\s*: (.+)", text)
    return found[1] if found else platform.processor() or "processor unknown"


def write_section(name: str, text: str, path: Path = REPORT) -> None:
    """Puts ``text`` between the marks of section ``name``, and leaves other sections alone."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    section = f"{begin}\n{text.strip()}\n{end}"
    old = path.read_text(encoding="utf-8") if path.exists() else HEADER
    if begin in old and end in old:
        new = old[: old.index(begin)] + section + old[old.index(end) + len(end) :]
    else:
        new = f"{old.rstrip()}\n\n{section}\n"
    path.write_text(new, encoding="utf-8")
