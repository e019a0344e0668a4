"""Canonical text: what is written reads as the same scenario."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from journalsim.case import NEVER, AtStep
from journalsim.scenario.dump import checked, dump_scenario, format_text
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.shapes.plain_data import Quoted
from journalsim.scenario.shapes.printer import WIDTH, Printer, flow, height, scalar
from journalsim.scenario.shapes.problems import ScenarioError
from journalsim.scenario.values.axes import Axis, Sweep
from journalsim.scenario.values.cast import ClientSpec, ModelSpec, ToolSpec
from journalsim.scenario.values.moves import Step, Timing
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.values.speech import CallTool, Finish, ToolReply, Turn


def load(text: str) -> Scenario:
    return load_scenario(text.encode(), "x.race.yaml")


def test_loading_what_was_dumped_gives_the_same_scenario(example: str) -> None:
    scenario = load(example)
    text = dump_scenario(scenario)
    assert load(text) == scenario
    assert dump_scenario(load(text)) == text
    assert max(len(line) for line in text.splitlines()) <= WIDTH


def test_canonical_form_of_the_first_example(first_stop: str) -> None:
    assert (
        dump_scenario(load(first_stop))
        == """\
version: 1
name: first-stop
script:
  model:
    - stream:
        - text: ["Hel", "lo ", "there"]
        - finish: end_turn
steps:
  - client.send: "Hi"
  - client.stop: {at: model.turn1.c2.after}
  - client.reload: {after: stop}
expect:
  finally:
    - journal.contains: {message: model.turn1, state: interrupted, text: "Hello "}
"""
    )


SEND = Step(actor="client", verb="send", label="send", text="Hi")


def built(**values: Any) -> Scenario:
    return Scenario(**{"name": "x", "steps": (SEND,), **values})


TURN = Turn(stream=(CallTool(id="t1", name="s"), Finish(reason="tool_use")))
TEXTS = [
    "",
    " ",
    "one",
    "5",
    "true",
    "yes",
    "- x",
    "a: b",
    "# no comment",
    "\n",
    "x\n",
    "\n\nx",
    " lead\nand more",
    "two\nlines",
    "two\nlines\n",
    "two\nlines\n\n",
    "trailing \nspace",
    "a\n  b\n\nc",
    "tab\there",
    "'single' and \"double\"",
    'say "hi"',
    "back\\slash",
    '"\\"',
    "\u2028\u0085\ufeff\u202e",
    "\r\n",
    "\x85",
    "é漢😀",
    "word " * 60 + "end",
    "word  " * 60 + "end",
    "word " * 60,
    "w" * 300,
    "w" * 300 + " " + "v" * 20 + "\n",
    "%TAG --- ... ",
    "$answer",
    "data: x\nid: 3\n\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_every_text_survives(text: str) -> None:
    scenario = built(why=text, steps=(evolve(SEND, text=text),))
    assert load(dump_scenario(scenario)) == scenario


ARGUMENTS = [
    "{}",
    '{"q": "sse"}',
    '{"q":"sse"}',
    "[1]",
    "{",
    "",
    '{"a": 1e20}',
    '{"a": 1.50}',
    '{"a": 0.1, "b": [true, null, -3]}',
    '{"a": NaN}',
    '{"a": "\\ud83d"}',
    '{"%s": 1}' % ("k" * 200),
    '{"a": ' * 30 + "1" + "}" * 30,
    "[" * 100_000,
    '{"yes": {"017": "0x1F", "": ""}}',
    '{"a": 12345678901234567890}',
    '{"a": 1, "a": 2}',
]


@pytest.mark.parametrize("text", ARGUMENTS)
def test_every_argument_of_a_tool_call_survives(text: str) -> None:
    turn = Turn(stream=(CallTool(id="t1", name="s", args_chunks=(text,)), Finish()))
    scenario = built(model=ModelSpec(turns=(turn,)))
    assert load(dump_scenario(scenario)) == scenario


@pytest.mark.parametrize(
    "values",
    [
        {"tools": (ToolSpec(name="a", replies=(ToolReply(text="x"),)), ToolSpec(name="s", duration_ns=5))},
        {"tools": (ToolSpec(name="s"), ToolSpec(name="a"))},
        {"tools": (ToolSpec(name="s", replies=(ToolReply(kind="hang"), ToolReply(kind="failure", call="t1"))),)},
        {"model": ModelSpec(ids="none", turns=(TURN,)), "clients": (ClientSpec(name="client", kind="cli"),)},
        {"sweep": Sweep(limit=7)},
        {
            "steps": (SEND, Step(actor="client", verb="stop", label="stop", timing=Timing(axis="a"))),
            "sweep": Sweep(axes=(Axis(name="a", values=(NEVER, AtStep(3)), every="step", inside=("tool",)),)),
        },
    ],
)
def test_what_only_python_builds_survives(values: dict[str, Any]) -> None:
    scenario = built(**{"model": ModelSpec(turns=(TURN,)), **values})
    assert load(dump_scenario(scenario)) == scenario
    assert checked(scenario) == scenario


def test_checked_refuses_what_a_file_may_not_say() -> None:
    stop = Step(actor="client", verb="stop", label="stop", timing=Timing(axis="s"))
    with pytest.raises(ScenarioError) as caught:
        checked(built(steps=(SEND, stop)))
    assert str(caught.value).splitlines()[:2] == ['error[E201]: the sweep has no axis "s"', " --> <x>:5:23"]
    with pytest.raises(ScenarioError) as elsewhere:
        checked(built(steps=(), path="made.py"))
    assert "made.py:3:1" in str(elsewhere.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (1.5, "1.5"),
        ("word", "word"),
        ("-1h", "-1h"),
        ("$axis", "$axis"),
        ("store.append#4.before", "store.append#4.before"),
        ("true", '"true"'),
        ("on", '"on"'),
        ("N", '"N"'),
        ("017", '"017"'),
        ("a b", '"a b"'),
        ("", '""'),
        (Quoted("word"), '"word"'),
        (Quoted('{"q":'), "'{\"q\":'"),
        (Quoted('it\'s "x"'), '"it\'s \\"x\\""'),
        (Quoted("\x07\u2028\U000e0001"), '"\\x07\\u2028\\U000e0001"'),
        ([], "[]"),
        ({}, "{}"),
        ({"a": [1, {"b": Quoted("c")}]}, '{a: [1, {b: "c"}]}'),
    ],
)
def test_values_on_one_line(value: Any, text: str) -> None:
    assert flow(value) == text
    if not isinstance(value, dict | list):
        assert scalar(value) == text


def test_heights() -> None:
    values: list[Any] = ["x", [], {"a": 1}, [[]], {"a": [{}]}]
    assert [height(value) for value in values] == [0, 1, 1, 2, 3]


def test_deep_or_long_collections_are_spread() -> None:
    long = [f"item-{n}" for n in range(20)]
    text = Printer().document({"top": {"a": [1, [2]], "b": {"c": long}, "d": [[1, [2, [3]]], "x"], "e": [{}]}})
    assert text.splitlines() == [
        "top:",
        "  a: [1, [2]]",
        "  b:",
        "    c:",
        *(f"      - item-{n}" for n in range(20)),
        "  d:",
        "    - [1, [2, [3]]]",
        "    - x",
        "  e: [{}]",
    ]


def test_long_texts_are_folded_and_lines_kept() -> None:
    scenario = built(summary="word " * 30 + "end", why="one\n  two\n\nthree\n")
    assert dump_scenario(scenario) == (
        "version: 1\nname: x\nsummary: >-\n"
        "  word word word word word word word word word word word word word word word word word word word word word\n"
        "  word word word word word word word word word end\n"
        "why: |\n  one\n    two\n\n  three\n"
        'steps:\n  - client.send: "Hi"\n'
    )


# --- formatting ----------------------------------------------------------------------------------

COMMENTED = """\
# A head of
#   two lines.

name: x   # the name
version: 1
# about the script
script:
  # about the model
  model:  # trailing
    - stream: [{text: "a"},   # first
         # inner
         {finish: end_turn}]   # second
steps:
- client.send: "Hi # no comment"
# above stop
- client.stop: {at:   $s} # why
sweep: {s: [never]}
why: |   # header
  # not a comment
  foo
# foot
"""

FORMATTED = """\
# A head of
#   two lines.
version: 1
name: x  # the name
why: |  # header
  # not a comment
  foo
# about the script
script:
  # about the model
  model:  # trailing
    # inner
    # first
    # second
    - stream: [{text: "a"}, {finish: end_turn}]
steps:
  - client.send: "Hi # no comment"
  # above stop
  - client.stop: {at: $s}  # why
sweep:
  s: [never]
# foot
"""


def test_formatting_keeps_every_comment_where_it_belongs() -> None:
    assert format_text(COMMENTED.encode(), "x") == FORMATTED
    assert load(FORMATTED) == load(COMMENTED)


def test_formatting_twice_changes_nothing() -> None:
    assert format_text(FORMATTED.encode(), "x") == FORMATTED


def test_formatting_without_comments_is_the_canonical_form(example: str) -> None:
    assert format_text(example.encode(), "x") == dump_scenario(load(example))


def test_comment_on_what_is_left_out_is_not_lost_silently() -> None:
    text = "version: 1\nname: x\n# the usual model\nactors: {model: {is: llm}}\nsteps: [{client.send: Hi}]\n"
    with pytest.raises(ScenarioError) as caught:
        format_text(text.encode(), "x")
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.column) == ("E016", 3, 1)
    assert problem.note == "move it to a line that stays"


def test_formatting_refuses_a_wrong_file() -> None:
    with pytest.raises(ScenarioError):
        format_text(b"version: 1\n", "x")


def test_formatting_reads_through_aliases(problems: Callable[[str], Any]) -> None:
    text = (
        "version: 1\nname: x\nscript: {model: [&t {stream: [{text: a}, {end: silent}]}, *t]}  # twice\n"
        "steps: [{client.send: Hi}]\n"
    )
    formatted = format_text(text.encode(), "x")
    assert load(formatted) == load(text)
    assert formatted.count("# twice") == 1
