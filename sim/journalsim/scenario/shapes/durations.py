"""Times with a unit, in nanoseconds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from attrs import frozen

from journalsim.scenario.shapes.nodes import Scalar
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.problems import quoted
from journalsim.scenario.shapes.reading import Bad, Reading
from journalsim.scenario.shapes.shape import ScalarShape

UNITS_NS: Mapping[str, int] = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
"""Units of time, in nanoseconds."""

DURATION_MAX_NS = 10_000 * UNITS_NS["h"]  # over a year: beyond every lease, retry and retention in the catalogue
_DURATION = re.compile(r"(-?)([0-9]{1,15}(?:\.[0-9]{1,9})?)(ns|us|ms|s|m|h)")


@frozen(kw_only=True)
class Duration(ScalarShape[int]):
    """A time with its unit, such as ``300ms`` or ``1.5s``; its value is in nanoseconds."""

    what: str = "a time"
    signed: bool = False

    def read_scalar(self, node: Scalar, reading: Reading) -> int | Bad:
        if node.plain and node.kind in ("int", "float", "odd"):
            number = node.text[:20] if node.kind != "odd" else "150"
            return reading.error("E021", node.at, "a time needs a unit", note=f"write {number}ms or {number}s")
        found = _DURATION.fullmatch(node.text)
        if found is None:
            return reading.error(
                "E022", node.at, f"not a time: {quoted(node.text)}", note="a time is 300ms, 2s, 1.5s, 1m or 1h"
            )
        sign, number, unit = found.groups()
        time_ns = Fraction(number) * UNITS_NS[unit]
        if sign and not self.signed:
            return reading.error("E022", node.at, "a time cannot be negative here")
        if time_ns.denominator != 1:
            return reading.error("E022", node.at, "a time is a whole number of nanoseconds")
        if time_ns > DURATION_MAX_NS:
            return reading.error("E022", node.at, "a time is at most 10000h")
        return -int(time_ns) if sign else int(time_ns)

    def write(self, value: int) -> Data:
        return duration_text(value)

    def schema(self) -> Schema:
        sign = "-?" if self.signed else ""
        return {"type": "string", "pattern": rf"^{sign}[0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h)$", "examples": ["300ms", "2s"]}


def duration_text(time_ns: int) -> str:
    """Returns a time in the largest unit that needs no fraction."""
    unit = next((unit for unit in reversed(tuple(UNITS_NS)) if time_ns and time_ns % UNITS_NS[unit] == 0), "ms")
    return f"{time_ns // UNITS_NS[unit]}{unit}"
