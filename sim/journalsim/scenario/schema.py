"""The JSON Schema of scenario files, for editors: completion, hovers and first checks."""

from __future__ import annotations

from journalsim.scenario.shapes.plain_data import Schema
from journalsim.scenario.words.conditions import CONDITION
from journalsim.scenario.words.grammar import SCENARIO


def json_schema() -> Schema:
    """Returns the language as a JSON Schema, draft-07.

    It accepts every file that the loader accepts; what one key says about
    another, such as labels and axes, only the loader checks.
    """
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "journalsim scenario",
        **SCENARIO.schema(),
        "definitions": {"expectation": CONDITION.schema()},
    }
