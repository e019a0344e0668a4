"""Every documented code is produced, and every produced code is documented."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import journalsim.scenario
from journalsim.scenario.codes import CODES
from journalsim.scenario.dump import format_text
from journalsim.scenario.files import find_scenarios, load_file
from journalsim.scenario.loader import load_scenario
from journalsim.scenario.shapes.problems import ScenarioError

HEAD = "version: 1\nname: x\n"
TAIL = "steps: [{client.send: Hi}]\n"
END = "{finish: end_turn}"

EXAMPLES: dict[str, str] = {
    "E002": "#" * 1_100_000,
    "E003": "a: \x07",
    "E004": "",
    "E005": "a: [",
    "E006": "[" * 50,
    "E007": "a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\nb: [" + "*a, " * 1_000 + "*a]",
    "E008": "a: !!python/name:os.system 1",
    "E009": HEAD + TAIL + "---\na: 1\n",
    "E010": HEAD + "name: y\n" + TAIL,
    "E011": HEAD + "<<: {a: 1}\n" + TAIL,
    "E012": "a: *b",
    "E013": "? [a]\n: 1",
    "E014": "a: 1\n" * 200,
    "E020": HEAD + "tags: x\n" + TAIL,
    "E021": HEAD + "steps: [{clock.jump: {by: 5}}]\n",
    "E022": HEAD + "steps: [{clock.jump: {by: soon}}]\n",
    "E023": HEAD + "steps: [{client.stop: {times: 0}}]\n",
    "E024": HEAD + "why: 5\n" + TAIL,
    "E025": HEAD + "policies: {busy: x}\n" + TAIL,
    "E026": HEAD + "steps: [{client.stop: {at: now}}]\n",
    "E027": "version: 1\nname: X\n" + TAIL,
    "E028": "version: 2\nname: x\n" + TAIL,
    "E029": HEAD + "tags: []\n" + TAIL,
    "E030": "version: 1\n" + TAIL,
    "E031": HEAD + "steps: [{client.send: Hi}, {client.stop: {at: 5ms, after: send}}]\n",
    "E032": HEAD + "steps: [" + "{client.stop: }, " * 1_000 + "{client.stop: }]\n",
    "E101": HEAD + "tag: [x]\n" + TAIL,
    "E102": HEAD + "steps: [{alice.send: Hi}]\n",
    "E103": HEAD + "steps: [{client.sned: Hi}]\n",
    "E104": HEAD + TAIL + "expect: {finally: [{journal.has: x}]}\n",
    "E105": HEAD + "needs: [magic]\n" + TAIL,
    "E106": HEAD + "policies: {magic: x}\n" + TAIL,
    "E107": HEAD + TAIL + "expect: {exercises: [magic]}\n",
    "E108": HEAD + "steps: [{send: Hi}]\n",
    "E201": HEAD + "steps: [{client.stop: {at: $x}}]\n",
    "E202": HEAD + TAIL + "sweep: {x: [never]}\n",
    "E203": HEAD + "steps: [{client.stop: {after: x}}]\n",
    "E204": HEAD + TAIL + "expect: {finally: [{kind: user, text: $x}]}\n",
    "E205": HEAD + TAIL + f"script: {{model: [{{stream: [{'{tool_call: {id: t, name: s}}, ' * 2}{END}]}}]}}\n",
    "E206": HEAD + TAIL + "expect: {finally: [{call: t}]}\n",
    "E207": HEAD + "actors: {a: {is: client, observes: a}}\nsteps: [{a.send: Hi}]\n",
    "E208": HEAD + "steps: [{client.stop: {at: $x}}]\nsweep: {x: [never, 1ms], limit: 1}\n",
    "E209": HEAD + TAIL + "expect: {finally: [{message: model.turn1}]}\n",
    "E210": HEAD + "steps: []\n",
    "E211": HEAD + TAIL + "script: {model: [{stream: [{text: a}]}]}\n",
    "E212": HEAD + "steps: [{client.stop: {as: a}}, {client.stop: {as: a}}]\n",
    "E213": HEAD + "steps: [{client.stop: {at: $x}}]\nsweep: {x: {every: byte}}\n",
}


def codes_of(error: ScenarioError) -> set[str]:
    return {problem.code for problem in error.problems}


@pytest.mark.parametrize("code", EXAMPLES)
def test_example_has_its_code_and_a_place(code: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(EXAMPLES[code].encode(), "x", frozenset())
    assert code in codes_of(caught.value)
    for problem in caught.value.problems:
        assert problem.path == "x"
        assert problem.message
        assert problem.code in ("E002", "E004", "E014") or problem.source_line


def test_codes_of_files_and_formatting(tmp_path: Path) -> None:
    found: set[str] = set()
    with pytest.raises(ScenarioError) as missing:
        load_file(tmp_path / "none")
    with pytest.raises(ScenarioError) as empty:
        find_scenarios([tmp_path])
    with pytest.raises(ScenarioError) as comment:
        format_text(f"{HEAD}# x\nactors: {{model: {{is: llm}}}}\n{TAIL}".encode(), "x")
    for error in (missing, empty, comment):
        found |= codes_of(error.value)
    assert found == {"E001", "E015", "E016"}
    assert found | set(EXAMPLES) == set(CODES)


def test_the_table_is_sorted_and_says_each_meaning_once() -> None:
    assert list(CODES) == sorted(CODES)
    assert len(set(CODES.values())) == len(CODES)


def test_no_module_makes_up_a_code() -> None:
    (folder,) = journalsim.scenario.__path__
    used = set()
    for path in Path(folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and node.value[:1] == "E"
                and node.value[1:].isdigit()
            ):
                used.add(node.value)
    assert used == set(CODES)
