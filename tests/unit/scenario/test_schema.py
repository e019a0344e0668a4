"""The JSON Schema says the same as the loader, as far as a schema can."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from journalsim.case import NEVER
from journalsim.scenario.dump import dump_scenario
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.schema import json_schema
from journalsim.scenario.shapes.problems import ScenarioError

SCHEMA = json_schema()
VALIDATOR = Draft7Validator(SCHEMA)


def test_schema_is_draft_07_and_pure_json() -> None:
    Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    assert json_schema() == SCHEMA


def test_schema_accepts_every_example(example: str) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(example))] == []
    canonical = dump_scenario(load_scenario(example.encode(), "x"))
    assert [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(canonical))] == []


def test_schema_accepts_a_step_that_never_happens() -> None:
    data = {"version": 1, "name": "x", "steps": [{"client.send": "Hi"}, {"client.stop": {"at": "never"}}]}
    assert VALIDATOR.is_valid(data)
    assert load_scenario(json.dumps(data).encode(), "x").steps[1].timing.at == NEVER


def test_schema_describes_what_authors_write() -> None:
    properties = SCHEMA["properties"]
    assert properties["why"]["description"] == "what the race is about, for a reader who does not know the system."
    send = properties["steps"]["items"]["patternProperties"]
    (shape,) = [value for key, value in send.items() if key.endswith(r"\.send$")]
    arguments = shape["anyOf"][1]["properties"]
    assert "description" in arguments["after"]
    assert all("description" in value or "$ref" in value for value in arguments.values())


def mappings(data: Any) -> Iterator[dict[str, Any]]:
    """Every mapping of the data whose keys are words of the language."""
    if isinstance(data, dict):
        yield data
        for key, value in data.items():
            if key not in ("args", "set"):
                yield from mappings(value)
    elif isinstance(data, list):
        for item in data:
            yield from mappings(item)


def test_schema_and_loader_refuse_unknown_keys_everywhere(everything: str) -> None:
    whole = yaml.safe_load(everything)
    count = sum(1 for _ in mappings(whole))
    for number in range(count):
        data = copy.deepcopy(whole)
        list(mappings(data))[number]["no such key"] = 1
        assert not VALIDATOR.is_valid(data), number
        with pytest.raises(ScenarioError):
            load_scenario(json.dumps(data).encode(), "x")
    assert count > 100


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"name": "Bad Name"},
        {"steps": [{"client.sotp": {}}]},
        {"steps": [{"server.send": "x"}]},
        {"steps": [{"client.stop": {"at": "turn1"}}]},
        {"steps": [{"client.stop": {"at": "nowhere"}}]},
        {"actors": {"store": {"is": "store", "disk": "yes"}}},
        {"steps": [{"client.stop": {"at": "5ms", "after": "x"}}]},
        {"steps": [{"client.send": {"text": "x", "late": 5}}]},
        {"policies": {"busy": "often"}},
        {"sweep": {"limit": 0}},
        {"sweep": {"a": []}},
        {"expect": {"finally": [{"journal.contains": {}}]}},
        {"expect": {"except": [{"reason": "x"}]}},
        {"actors": {"a": {"is": "client", "duration": "1s"}}},
    ],
)
def test_schema_refuses_what_the_loader_refuses(change: dict[str, Any]) -> None:
    data = {"version": 1, "name": "x", "steps": [{"client.send": "Hi"}], **change}
    assert not VALIDATOR.is_valid(data)
    with pytest.raises(ScenarioError):
        load_scenario(json.dumps(data).encode(), "x")


@pytest.mark.parametrize("key", ["version", "name", "steps"])
def test_schema_requires_what_the_loader_requires(key: str) -> None:
    data = {"version": 1, "name": "x", "steps": [{"client.send": "Hi"}]}
    assert VALIDATOR.is_valid(data)
    del data[key]
    assert not VALIDATOR.is_valid(data)
