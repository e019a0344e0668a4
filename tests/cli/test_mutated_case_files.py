"""Case files with something in them changed: a clear error or a run, and never a crash of journalsim."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Command

FEW, MANY = 150, 3000
ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**30, 1.5, "", "x", "\x1b[31m", "\ud800", "ref", "never", "point", "a" * 5000),
    *([], [[]], {}, {"format": 1}, [1, 2, 3], ["point", "x", 0], ["cursor", "frame", 0], "python:code:interact"),
)
LINES = ("\n", "  - x\n", "steps:\n", "\t", "{", "version: 2\n", "- client.stop: {at: step:9999999}\n", "\x00")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in JSON data."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def mutated(data: dict[str, Any], chance: random.Random) -> bytes:
    """A case file with one thing changed, as bytes."""
    data = copy.deepcopy(data)
    kind = chance.randrange(10)
    if kind == 0:
        raw = bytearray(json.dumps(data).encode())
        raw[chance.randrange(len(raw))] = chance.randrange(256)
        return bytes(raw)
    if kind == 1:
        raw = json.dumps(data).encode()
        return raw[: chance.randrange(len(raw))]
    if kind <= 4:
        text = data["scenario"]
        at = chance.randrange(len(text))
        data["scenario"] = text[:at] + chance.choice(LINES) + text[at + chance.randrange(3) :]
        return json.dumps(data).encode()
    *above, last = chance.choice([place for place in places(data) if place])
    holder: Any = data
    for key in above:
        holder = holder[key]
    if kind == 5:
        del holder[last]
    elif kind == 6 and isinstance(holder, dict):
        holder["surplus"] = chance.choice(ODD)
    elif kind == 7 and isinstance(holder[last], str) and holder[last]:
        word = holder[last]
        holder[last] = word[:-1] + chance.choice("0f-.@ \x00")
    else:
        holder[last] = chance.choice(ODD)
    return json.dumps(data).encode()


def tried(journalsim: Command, here: Path, count: int, seed: int) -> Counter[int]:
    """Replays, shows and pins mutated files of two cases; returns how often each exit code came."""
    journalsim("run", "first-stop", "stop-vs-completion", "-a", "ref:bug-stop-keeps-no-partial")
    saved = sorted((here / ".journalsim" / "failures").iterdir())
    originals = [json.loads(path.read_text()) for path in saved]
    chance, codes = random.Random(seed), Counter[int]()
    for number in range(count):
        (here / "case.json").write_bytes(mutated(chance.choice(originals), chance))
        command = ("replay", "replay", "show", "pin")[number % 4]
        done = journalsim(command, "case.json", *(["--whole"] if command == "pin" else []))
        codes[done.code] += 1
        assert done.code in (0, 1, 2, 3, 6), (number, done)
        assert done.code != 2 or done.err.startswith("error"), (number, done)
        printed = (done.out + done.err).replace("\n", "").replace("\t", "")  # a tab moves no cursor back
        assert printed.isprintable(), (number, done)
    return codes


def test_a_mutated_case_file_is_an_error_or_a_run(journalsim: Command, here: Path) -> None:
    codes = tried(journalsim, here, FEW, seed=1)
    assert codes[2] > FEW // 4
    assert codes[0] + codes[1] + codes[3] > 0


@pytest.mark.campaign
def test_three_thousand_mutated_case_files_never_end_in_a_bug_of_journalsim(journalsim: Command, here: Path) -> None:
    codes = tried(journalsim, here, MANY, seed=2)
    print(dict(codes))
    assert sum(codes.values()) == MANY
