"""Spans of real time as an option: ``90s``, ``5m``, ``1h``."""

from __future__ import annotations

import re

import click


class Span(click.ParamType):  # type: ignore[type-arg]  # it takes an argument in newer versions only
    """A span of real time, in seconds."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Returns the seconds that a text such as ``5m`` stands for."""
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)", str(value))
        if match is None:
            self.fail(f"{value!r} needs a unit: 90s, 5m or 1h", param, ctx)
        return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]
