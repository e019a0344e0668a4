"""Mappings that become a dict: their keys are known, and the values behind them have one type."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from journalsim.scenario.shapes.keyed import Keyed
from journalsim.scenario.shapes.shape import T


@frozen(kw_only=True)
class Table(Keyed[Mapping[str, T], T]):
    """A mapping that becomes a dict, by key."""

    def built(self, parts: Mapping[str, T]) -> Mapping[str, T]:
        return parts

    def part(self, value: Mapping[str, T], name: str) -> T | None:
        return value.get(name)
