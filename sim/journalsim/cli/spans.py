"""Spans of real time as an option: ``90s``, ``5m``, ``1h``.

Every option that takes a span is of this type.  Spans of virtual time stand in scenario files,
which have shorter units and a reader of their own.
"""

from __future__ import annotations

import re

import click

_SECONDS = {"s": 1, "m": 60, "h": 3600}


class Span(click.ParamType):  # type: ignore[type-arg]  # it takes an argument in newer versions only
    """A span of real time, in seconds."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Returns the seconds that a text such as ``5m`` stands for."""
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smh])", str(value))
        if match is None:
            self.fail(f"{value!r} needs a unit: 90s, 5m or 1h", param, ctx)
        return float(match[1]) * _SECONDS[match[2]]
