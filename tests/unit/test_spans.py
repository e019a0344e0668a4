"""Spans of real time on the command line: one type for every option that takes one."""

from __future__ import annotations

import importlib

import click
import pytest

from journalsim.cli import COMMANDS
from journalsim.cli.spans import Span


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90.0), ("5m", 300.0), ("1h", 3600.0), ("1.5h", 5400.0), ("0.25s", 0.25), ("0s", 0.0)]
)
def test_a_span_is_a_number_with_a_unit(text: str, seconds: float) -> None:
    assert Span().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "90", "s", "-5s", "5 m", "5ms", "1h30m", "1e3s", "1.s", "٣s", "5S"])
def test_anything_else_is_refused_with_examples(text: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        Span().convert(text, None, None)
    assert caught.value.message == f"{text!r} needs a unit: 90s, 5m or 1h"


def test_seconds_in_hand_stay_as_they_are() -> None:
    assert Span().convert(2.5, None, None) == 2.5


def test_every_option_that_takes_a_span_is_of_this_type() -> None:
    found = {}
    for name, (module, _) in COMMANDS.items():
        command: click.Command = getattr(importlib.import_module(f"journalsim.cli.{module}"), f"{name}_command")
        found |= {f"{name} {p.opts[0]}": type(p.type) for p in command.params if p.metavar == "TIME"}
    assert found == {"run --time-budget": Span, "explore --for": Span}
