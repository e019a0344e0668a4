"""The npm clients themselves, on the bytes and answers that our copies of their ways are judged by.

These tests install packages and run Node, so they are part of the campaign and
are skipped where Node or the registry is out of reach.
"""

from __future__ import annotations

import base64
import json
import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from stream_driver import Answer, drive

from journalsim.actors.programs.dialects import FetchEventSourceDecoder
from journalsim.actors.programs.profiles import program_for
from journalsim.contract.sse import Decoder
from tests.npm_packages import Node

sys.path.insert(0, str(Path(__file__).parents[1] / "properties"))
from sse_rules import cut_up, hostile_wire

pytestmark = pytest.mark.campaign

HERE = Path(__file__).parent
PACKAGES = ("eventsource@4.1.1", "eventsource-parser@3.1.1", "@microsoft/fetch-event-source@2.0.1")
STREAMS = 20_000
JS_EXACT_MAX = 2**53  # beyond this, JavaScript's numbers are no longer exact

NAMED = b"event: named\ndata: x\n\n"
RETRY = b"retry: 1\n\n"  # so that nobody waits for a second


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs a script of this folder with the packages, and returns what it prints."""
    node = Node(tmp_path_factory.mktemp("npm"), *PACKAGES)
    return lambda script, given: node.run(HERE / script, given=json.dumps(given))


def base64_of(chunks: list[bytes] | tuple[bytes, ...]) -> list[str]:
    return [base64.b64encode(chunk).decode() for chunk in chunks]


@pytest.fixture(scope="module")
def read(node: Any) -> list[tuple[bytes, Any]]:
    """Twenty thousand hostile streams, and what the npm decoders made of each."""
    chance = random.Random(7)
    wires = [hostile_wire(chance) for _ in range(STREAMS)]
    streams = [base64_of(cut_up(chance, wire)) for wire in wires]
    return list(zip(wires, node("sse_decoders.mjs", {"streams": streams}), strict=True))


def test_eventsource_parser_reads_every_stream_as_the_standard_says(read: list[tuple[bytes, Any]]) -> None:
    """But for one thing: a CR at the end of a chunk may count for it only when a further line has ended."""
    total = 0
    for wire, answer in read:
        events = [[event.type, event.data, event.id] for event in Decoder().feed(wire)]
        theirs = answer["eventsourceParser"]["events"]
        waits = re.search(rb"\r[^\r\n]*\Z", wire)
        assert theirs == events or (waits and theirs == events[:-1]), wire
        total += len(events)
    assert total > STREAMS // 2


def test_fetch_event_source_reads_every_stream_as_its_copy_does(read: list[tuple[bytes, Any]]) -> None:
    """Its events, the empty ones too; every id in the order in which it is taken; the reconnection time."""
    total = 0
    for wire, answer in read:
        ids: list[str] = []
        decoder = FetchEventSourceDecoder(ids.append)
        events = [[event.type, event.data, event.last_event_id] for event in decoder.feed(wire)]
        theirs = answer["fetchEventSource"]
        assert theirs["events"] == events, wire
        assert theirs["ids"] == ids, wire
        if abs(theirs["retry"] or 0) < JS_EXACT_MAX:
            assert theirs["retry"] == decoder.retry_ms, wire
        total += len(events)
    assert total > STREAMS


SCRIPTS: dict[str, list[Answer]] = {
    "clean end": [Answer(chunks=(RETRY, b"id: 1\ndata: a\n\n"))],
    "two clean ends": [Answer(chunks=(RETRY, b"id: 1\ndata: a\n\n")), Answer(chunks=(b"data: b\n\n",))],
    "reset after an event": [Answer(chunks=(RETRY, b"id: 1\ndata: a\n\n"), then="reset")],
    "reset within an event": [Answer(chunks=(RETRY, b"id: 1\ndata: a\n\nid: 2\nda"), then="reset")],
    "reset within an id line": [Answer(chunks=(RETRY, b"id: 1\ndata: a\n\nid: 2"), then="reset")],
    "clean end within an event": [Answer(chunks=(RETRY, b"id: 1\ndata: a\n\nid: 2\ndata: b\n"))],
    "an id that stays": [Answer(chunks=(RETRY, b"id: 9\ndata: a\n\ndata: b\n\n"), then="reset")],
    "an empty id": [Answer(chunks=(RETRY, b"id: 9\ndata: a\n\nid:\ndata: b\n\n"), then="reset")],
    "heartbeats": [Answer(chunks=(RETRY, b": hb\n", NAMED, b": hb\n"), then="reset")],
    "heartbeats with a blank line": [Answer(chunks=(RETRY, b": hb\n\n", NAMED), then="reset")],
    "204 after a break": [Answer(chunks=(RETRY, b"id: 1\ndata: a\n\n"), then="reset"), Answer(status=204, type="")],
    "404 with the right type": [Answer(chunks=(RETRY,), then="reset"), Answer(status=404, chunks=(b"data: no\n\n",))],
    "wrong type": [Answer(chunks=(RETRY,), then="reset"), Answer(type="text/html", chunks=(b"data: no\n\n",))],
    "hidden and shown": [Answer(chunks=(RETRY, b"id: 1\ndata: a\n\n"), then="hide-show")],
    "hidden within an event": [Answer(chunks=(RETRY, b"id: 1\ndata: a\n\nid: 2\n"), then="hide-show")],
}

ID_ALONE = [Answer(chunks=(RETRY, b"id: 1\ndata: a\n\n", b"id: 5\n\n"), then="reset")]


def given_to(client: str, answers: list[Answer]) -> dict[str, Any]:
    told = [{"status": a.status, "type": a.type, "chunks": base64_of(a.chunks), "then": a.then} for a in answers]
    return {"client": client, "answers": told}


@pytest.fixture(scope="module")
def behaved(node: Any) -> dict[tuple[str, str], Any]:
    """What the real clients did with each script."""
    keys = [(client, name) for client in ("eventsource", "fetch-event-source") for name in SCRIPTS]
    given = [given_to(client, SCRIPTS[name]) for client, name in keys]
    return dict(zip(keys, node("sse_clients.mjs", {"scripts": given}), strict=True))


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("client", ["eventsource", "fetch-event-source"])
def test_a_real_client_asks_and_reads_as_its_profile_does(
    client: str, name: str, behaved: dict[tuple[str, str], Any]
) -> None:
    """Requests with method and cursor, events in order, and whether it gives up by itself."""
    program = program_for("browser" if client == "eventsource" else client)
    first = program.attach() if client == "eventsource" else program.send("k")
    expected = drive(program, first, SCRIPTS[name])
    real = behaved[client, name]
    assert [tuple(request) for request in real["requests"]] == expected.requests
    assert [tuple(event) for event in real["events"]] == expected.events
    assert real["settled"] == bool(expected.reasons)


def test_npm_eventsource_departs_from_the_standard_in_a_block_that_holds_an_id_alone(node: Any) -> None:
    """Its parser reports ids with events only, so such a block does not move its cursor; browsers take it."""
    (real,) = node("sse_clients.mjs", {"scripts": [given_to("eventsource", ID_ALONE)]})
    program = program_for("browser")
    assert drive(program, program.attach(), ID_ALONE).requests == [("GET", None), ("GET", "5")]
    assert real["requests"] == [["GET", None], ["GET", "1"]]
