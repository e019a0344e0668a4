"""Actors and the script: what models and tools do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from journalsim.scenario.shapes.problems import Problem
from journalsim.scenario.values.cast import ClientSpec, ModelSpec, ToolSpec
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import (
    Break,
    CallFilter,
    CallTool,
    Finish,
    NewMessage,
    Ping,
    RenameMessage,
    SilentEnd,
    Stall,
    Text,
    ToolReply,
    Turn,
    Wait,
)

Load = Callable[[str], Scenario]
Problems = Callable[[str], list[Problem]]
Codes = Callable[[str], list[str]]
MS = 1_000_000


def turn(load: Load, part: str) -> object:
    return load(f"script: {{model: [{{stream: [{part}, {{finish: end_turn}}]}}]}}\n").model.turns[0].stream[0]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("text: Hi", Text(chunks=("Hi",))),
        ("text: ''", Text(chunks=("",))),
        ("text: [a, b]", Text(chunks=("a", "b"))),
        ("text: {chunks: [a], every: 5ms, label: l}", Text(chunks=("a",), every_ns=5 * MS, label="l")),
        ("text: {words: 3}", Text(words=3)),
        ("text: {words: 3, bytes: 90}", Text(words=3, bytes=90)),
        ("reasoning: hm", Text(chunks=("hm",), reasoning=True)),
        ("reasoning: {words: 2}", Text(words=2, reasoning=True)),
        ("tool_call: {id: t1, name: s}", CallTool(id="t1", name="s")),
        ("tool_call: {id: t1, name: s, args: '{}'}", CallTool(id="t1", name="s")),
        (
            "tool_call: {id: t1, name: s, args: {q: é, n: 1}}",
            CallTool(id="t1", name="s", args_chunks=('{"q": "é", "n": 1}',)),
        ),
        ("tool_call: {id: t1, name: s, args: x}", CallTool(id="t1", name="s", args_chunks=("x",))),
        ("tool_call: {id: t1, name: s, args_chunks: [x, y]}", CallTool(id="t1", name="s", args_chunks=("x", "y"))),
        ("tool_call: {id: t1, name: s, args_chunks: []}", CallTool(id="t1", name="s", args_chunks=())),
        ("message: next", NewMessage()),
        ("message: {id: m2}", NewMessage(id="m2")),
        ("rename: m3", RenameMessage(id="m3")),
        ("wait: 30ms", Wait(for_ns=30 * MS)),
        ("ping: 3", Ping(times=3)),
        ("ping: {times: 2, every: 1s}", Ping(times=2, every_ns=1000 * MS)),
    ],
)
def test_parts_of_a_stream(load: Load, text: str, part: object) -> None:
    assert turn(load, f"{{{text}}}") == part


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("finish: tool_use", Finish(reason="tool_use")),
        ("finish: {times: 2, after: 1ms}", Finish(times=2, after_ns=MS)),
        ("error: overloaded", Break()),
        ("error: {kind: limit, message: slow}", Break(kind="limit", message="slow")),
        ("end: silent", SilentEnd()),
        ("stall: forever", Stall()),
    ],
)
def test_ends_of_a_stream(load: Load, text: str, part: object) -> None:
    assert load(f"script: {{model: [{{stream: [{{{text}}}]}}]}}\n").model.turns[0].stream == (part,)


def test_turn_says_which_call_it_answers(load: Load) -> None:
    text = "script: {model: [{wait: 1ms, when: {user: Go on, attempt: 2, purpose: turn}, stream: [{end: silent}]}]}\n"
    when = CallFilter(user="Go on", attempt=2)
    assert load(text).model.turns == (Turn(stream=(SilentEnd(),), wait_ns=MS, when=when),)


@pytest.mark.parametrize(
    ("text", "mode", "time_ns"),
    [("cancel", "cancel", 0), ("complete", "complete", 0), ("{complete: 20ms}", "complete", 20 * MS)],
)
def test_what_follows_an_early_close(load: Load, text: str, mode: str, time_ns: int) -> None:
    (found,) = load(f"script: {{model: [{{after_close: {text}, stream: [{{end: silent}}]}}]}}\n").model.turns
    assert (found.after_close, found.complete_after_ns) == (mode, time_ns)


@pytest.mark.parametrize(
    ("part", "codes_"),
    [
        ("{text: []}", ["E029 []"]),
        ("{text: {every: 1ms}}", ["E030 {every: 1ms}"]),
        ("{text: {words: 2, chunks: [a]}}", ["E031 chunks"]),
        ("{text: {chunks: [a], bytes: 2}}", ["E031 bytes"]),
        ("{text: {bytes: 2}}", ["E030 {bytes: 2}"]),
        ("{text: {words: 0}}", ["E023 0"]),
        ("{text: {word: 2}}", ["E030 {word: 2}", "E101 word"]),
        ("{txt: a}", ["E101 txt"]),
        ("{text: a, ping: 1}", ["E031 ping"]),
        ("{}", ["E029 {}"]),
        ("text", ["E020 text"]),
        ("{message: nxt}", ["E025 nxt"]),
        ("{message: [a]}", ["E020 [a]"]),
        ("{rename: {id: a}}", ["E020 {id: a}"]),
        ("{wait: 30}", ["E021 30"]),
        ("{tool_call: {id: t 1, name: S}}", ["E027 t 1", "E027 S"]),
        ("{tool_call: {id: t1, name: s, args: [1]}}", ["E020 [1]"]),
        ("{tool_call: {id: t1, name: s, args: {a: 017}}}", ["E024 017"]),
        ("{tool_call: {id: t1, name: s, args: {}, args_chunks: []}}", ["E031 args_chunks"]),
        ("{stall: 5s}, {text: a}", ["E025 5s", "E211 {text: a}"]),
    ],
)
def test_wrong_parts_are_refused(codes: Codes, part: str, codes_: list[str]) -> None:
    found = codes(f"script: {{model: [{{stream: [{part}, {{finish: end_turn}}]}}]}}\n")
    assert [code for code in found if code != "E211 {finish: end_turn}"] == codes_


def test_turn_without_an_end_says_how_to_end_it(problems: Problems) -> None:
    (problem,) = problems("script: {model: [{stream: [{text: a}, {ping: 1}]}]}\n")
    assert (problem.code, problem.message) == ("E211", "the turn has no end")
    assert problem.help == "add - finish: end_turn, or end: silent, stall: forever or error: overloaded"


def test_nothing_follows_the_end(problems: Problems) -> None:
    (problem,) = problems("script: {model: [{stream: [{finish: end_turn}, {finish: end_turn}]}]}\n")
    assert (problem.code, problem.help) == ("E211", "finish: {times: 2} reports the end twice")
    (other,) = problems("script: {model: [{stream: [{stall: forever}, {text: a}]}]}\n")
    assert (other.code, other.help) == ("E211", "")


def test_turn_is_a_mapping_with_a_stream(codes: Codes) -> None:
    assert codes("script: {model: [{wait: 1ms}, [a], {stream: []}]}\n") == ["E030 {wait: 1ms}", "E020 [a]", "E029 []"]


CALL = "script:\n  model: [{stream: [{tool_call: {id: t1, name: s}}, {finish: tool_use}]}]\n"


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("result: 3 hits", ToolReply(text="3 hits")),
        ("result: {for: t1, duration: 1ms}", ToolReply(call="t1", duration_ns=MS)),
        ("failure: no", ToolReply(kind="failure", text="no")),
        ("failure: {for: t1, text: no}", ToolReply(kind="failure", call="t1", text="no")),
        ("hang: t1", ToolReply(kind="hang", call="t1")),
        ("hang: {for: t1}", ToolReply(kind="hang", call="t1")),
        ("hang: {}", ToolReply(kind="hang")),
    ],
)
def test_replies_of_tools(load: Load, text: str, reply: ToolReply) -> None:
    assert load(f"{CALL}  s: [{{{text}}}]\n").tools == (ToolSpec(name="s", replies=(reply,)),)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{resul: a}", ["E101 resul"]),
        ("{result: [a]}", ["E020 [a]"]),
        ("{hang: {text: a}}", ["E101 text"]),
        ("a", ["E020 a"]),
    ],
)
def test_wrong_replies_are_refused(codes: Codes, text: str, found: list[str]) -> None:
    assert codes(f"{CALL}  s: [{text}]\n") == found


def test_actors_that_nobody_declares_are_there(load: Load) -> None:
    scenario = load("")
    assert scenario.model == ModelSpec()
    assert scenario.clients == (ClientSpec(name="client"),)
    assert scenario.tools == ()
    assert load("actors: {model: {is: llm, ids: none}}\n").clients == (ClientSpec(name="client"),)


def test_declared_client_replaces_the_default(load: Load, codes: Codes) -> None:
    scenario = load(
        "actors: {ann: {is: client, kind: cli, latency: 5ms, retry: 2s, session: s9}}\nsteps: [{ann.send: Hi}]\n"
    )
    ann = ClientSpec(name="ann", kind="cli", latency_ns=5 * MS, retry_ns=2000 * MS, session="s9")
    assert scenario.clients == (ann,)
    assert codes("actors: {ann: {is: client}}\n") == ["E102 client"]


def test_observer_takes_the_session_of_the_watched(load: Load) -> None:
    scenario = load(
        "actors:\n  a: {is: client, observes: b}\n  b: {is: client, observes: c}\n  c: {is: client, session: s7}\n"
        "steps: [{c.send: Hi}]\n"
    )
    assert [client.session for client in scenario.clients] == ["s7", "s7", "s7"]


def test_declared_tools_come_before_scripted_ones(load: Load) -> None:
    scenario = load(f"actors: {{z: {{is: tool, duration: 4ms}}}}\n{CALL}  s: [{{result: a}}]\n")
    assert scenario.tools == (
        ToolSpec(name="z", duration_ns=4 * MS),
        ToolSpec(name="s", replies=(ToolReply(text="a"),)),
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ann: {is: clint}", ["E025 clint", "E102 client"]),
        ("ann: {kind: cli}", ["E030 {kind: cli}", "E102 client"]),
        ("ann: client", ["E020 client", "E102 client"]),
        ("ann: {is: [a]}", ["E025 [a]", "E102 client"]),
        ("Ann: {is: tool}", ["E027 Ann"]),
        ("server: {is: tool}", ["E027 server"]),
        ("gpt: {is: llm}", ["E027 gpt"]),
        ("model: {is: tool}", ["E027 model"]),
        ("ann: {is: tool, observes: bob}", ["E101 observes"]),
        ("client: {is: client, observes: client, session: s1}", ["E031 session"]),
    ],
)
def test_wrong_actors_are_refused(codes: Codes, text: str, found: list[str]) -> None:
    if found[-1] == "E102 client":
        found = found[:-1]
        text += ", client: {is: client}"
    assert codes(f"actors: {{{text}}}\n") == found
