"""Bytes become nodes, and hostile bytes become problems."""

from __future__ import annotations

import time

import pytest
import yaml

from journalsim.scenario.shapes import strict_yaml
from journalsim.scenario.shapes.nodes import List, Mapping, Node, Scalar, Span, describe, kind_of, walk
from journalsim.scenario.shapes.problems import Problem
from journalsim.scenario.shapes.reading import PROBLEMS_MAX, Reading, TooManyProblems
from journalsim.scenario.shapes.strict_yaml import BYTES_MAX, Comment, read_comments, read_nodes


def nodes(data: bytes | str) -> tuple[Node | None, list[Problem]]:
    reading = Reading(path="x.race.yaml", lines=())
    root = read_nodes(data.encode() if isinstance(data, str) else data, reading)
    return root, reading.ordered()


def only_problem(data: bytes | str) -> Problem:
    _, problems = nodes(data)
    assert len(problems) == 1, problems
    return problems[0]


def plain(node: Node) -> object:
    """The tree without places."""
    if isinstance(node, List):
        return [plain(item) for item in node.items]
    if isinstance(node, Mapping):
        return {key.text: plain(value) for key, value in node.entries}
    return node.text


def test_every_scalar_stays_text() -> None:
    root, problems = nodes("a: [true, 017, 2024-01-01, 1:30, on, ~, 'x', 0o17]\nb:\n")
    assert isinstance(root, Mapping)
    assert plain(root) == {"a": ["true", "017", "2024-01-01", "1:30", "on", "~", "x", "0o17"], "b": ""}
    assert problems == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("true", "bool"),
        ("false", "bool"),
        ("True", "odd"),
        ("yes", "text"),
        ("on", "text"),
        ("null", "null"),
        ("~", "null"),
        ("", "null"),
        ("NULL", "odd"),
        ("0", "int"),
        ("-7", "int"),
        ("+7", "odd"),
        ("017", "odd"),
        ("0o17", "odd"),
        ("0x1F", "odd"),
        ("0b1", "odd"),
        ("1_000", "odd"),
        ("9" * 15, "int"),
        ("9" * 16, "odd"),
        ("1.5", "float"),
        ("-0.25", "float"),
        (".5", "odd"),
        ("1.", "odd"),
        ("1e3", "odd"),
        (".inf", "odd"),
        (".NaN", "odd"),
        ("1:30", "text"),
        ("2024-01-01", "text"),
        ("300ms", "text"),
    ],
)
def test_plain_scalars_stand_for_little(text: str, kind: str) -> None:
    assert kind_of(text) == kind
    assert Scalar(at=Span(1, 1), text=text, plain=False).kind == "text"


def test_places_count_characters_and_lines_as_editors_do() -> None:
    root, _ = nodes("# é\na: {b: '😀', c: [1]}\r\nd:\n  - \"x\u2028y\"\n  - e: 1\n")
    assert isinstance(root, Mapping)
    spans = {describe(node): node.at for node in walk(root)}
    assert spans['the text "b"'] == Span(2, 5, 1)
    assert spans['the text "😀"'] == Span(2, 8, 3)
    assert root.entries[0][1].at == Span(2, 4, 16)
    assert root.get("d") is not None
    assert [item.at for item in root.get("d").items] == [Span(4, 5, 5), Span(5, 5, 1)]  # type: ignore[union-attr]


def test_texts_of_several_lines_are_underlined_on_their_first() -> None:
    root, _ = nodes("a: one\n  two\nb: |\n  x\n  y\nc: [1,\n  2]\n")
    assert isinstance(root, Mapping)
    assert [value.at for _, value in root.entries] == [Span(1, 4, 3), Span(3, 4, 1), Span(6, 4, 3)]


def test_missing_key_is_not_found() -> None:
    root, _ = nodes("a: 1\n")
    assert isinstance(root, Mapping)
    assert root.get("b") is None
    assert root.span_of("b") == root.at


def test_byte_order_mark_is_skipped() -> None:
    root, problems = nodes(b"\xef\xbb\xbfa: 1\n")
    assert (plain(root), problems) == ({"a": "1"}, [])  # type: ignore[arg-type]


def test_bytes_that_are_not_utf8_are_pointed_at() -> None:
    problem = only_problem(b"a: 1\nb: x\xff\n")
    assert (problem.code, problem.line, problem.column) == ("E003", 2, 5)
    assert problem.message == "byte 0xff is not UTF-8"


def test_utf16_is_refused() -> None:
    assert only_problem("a: 1\n".encode("utf-16")).code == "E003"


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f", "\x9b", "\ufffe"])
def test_invisible_characters_are_refused(character: str) -> None:
    problem = only_problem(f"a: x{character}y\n")
    assert (problem.code, problem.line, problem.column) == ("E003", 1, 5)


@pytest.mark.parametrize("text", ['a: "\\ud83d"', 'a: "\\ud83d\\ude00"', '"\\udfff": 1'])
def test_half_characters_are_refused(text: str) -> None:
    assert only_problem(text).code == "E003"


def test_large_file_is_refused_before_anything_else() -> None:
    begin = time.perf_counter()
    problem = only_problem(b"[" * (10 * BYTES_MAX))
    assert (problem.code, problem.line) == ("E002", 0)
    assert time.perf_counter() - begin < 1


def test_file_of_the_largest_size_is_read() -> None:
    root, problems = nodes(b"a: 1\n#" + b"x" * (BYTES_MAX - 6))
    assert plain(root) == {"a": "1"}  # type: ignore[arg-type]
    assert problems == []


@pytest.mark.parametrize("text", ["", "# only a comment\n", "\n\n", "\ufeff"])
def test_empty_file_is_a_problem(text: str) -> None:
    assert only_problem(text).code == "E004"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: [1, 2\nb: 3\n", 2, 2),
        ('a: "x\n', 2, 1),
        ("a: b: c\n", 1, 5),
        ("\ta: 1\n", 1, 1),
        ("a: @x\n", 1, 4),
        ("a: 1\n  b: 2\n", 2, 4),
    ],
)
def test_syntax_error_has_a_place(text: str, line: int, column: int) -> None:
    problem = only_problem(text)
    assert (problem.code, problem.line, problem.column) == ("E005", line, column)
    assert problem.message.startswith("the YAML cannot be read: ")


def test_syntax_error_tells_where_the_broken_part_begins() -> None:
    problem = only_problem("# x\na: [1, 2\nb: 3\n")
    assert problem.message == "the YAML cannot be read: while parsing a flow sequence: expected ',' or ']', but got ':'"
    assert problem.note == "begun on line 2"


@pytest.mark.parametrize("deep", ["[" * 100_000, "{a: " * 100_000, "- " * 50_000 + "x", "[" * 41 + "]" * 41])
def test_deep_nesting_is_refused_without_a_deep_stack(deep: str) -> None:
    problem = only_problem(deep)
    assert problem.code == "E006"


def test_forty_levels_are_read() -> None:
    root, problems = nodes("[" * 40 + "]" * 40)
    assert isinstance(root, List)
    assert (root.height, problems) == (40, [])


def test_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    problem = only_problem("\n".join(lines))
    assert (problem.code, problem.line) == ("E007", 4)


def test_alias_stands_for_its_anchor() -> None:
    root, problems = nodes("a: &x {b: 1}\nc: *x\n&k d: *k\n")
    assert plain(root) == {"a": {"b": "1"}, "c": {"b": "1"}, "d": "d"}  # type: ignore[arg-type]
    assert problems == []


def test_alias_cannot_hide_depth() -> None:
    text = "a: &x " + "[" * 30 + "]" * 30 + "\nb: " + "[" * 20 + "*x" + "]" * 20
    assert only_problem(text).code == "E006"


@pytest.mark.parametrize("text", ["a: *x\n", "a: &x [*x]\n"])
def test_alias_without_earlier_anchor_is_a_problem(text: str) -> None:
    assert only_problem(text).code == "E012"


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system", "!!str", "!x", "!"])
def test_tags_are_refused_and_construct_nothing(tag: str) -> None:
    problem = only_problem(f"a: {tag} [ls]\n")
    assert (problem.code, problem.line, problem.column) == ("E008", 1, 4)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a: 1\n---\nb: 2\n", "E009", 2),
        ("a: 1\nb: 2\na: 3\n", "E010", 3),
        ("{a: 1, 'a': 2}", "E010", 1),
        ("a: {<<: {b: 1}}\n", "E011", 1),
        ("? [a]\n: 1\n", "E013", 1),
        ("{{a: 1}: 2}", "E013", 1),
    ],
)
def test_confusing_structure_is_refused(text: str, code: str, line: int) -> None:
    problem = only_problem(text)
    assert (problem.code, problem.line) == (code, line)


def test_quoted_merge_sign_is_an_ordinary_key() -> None:
    root, problems = nodes("'<<': 1\n")
    assert (plain(root), problems) == ({"<<": "1"}, [])  # type: ignore[arg-type]


def test_all_problems_of_a_file_come_at_once() -> None:
    _, problems = nodes("a: !x 1\na: *nope\nb: {<<: 1}\n")
    assert [problem.code for problem in problems] == ["E008", "E010", "E012", "E011"]


def test_reading_ends_after_a_hundred_problems() -> None:
    reading = Reading(path="x", lines=())
    with pytest.raises(TooManyProblems):
        read_nodes(b"a: 1\n" * 1000, reading)
    assert len(reading.problems) == PROBLEMS_MAX + 1
    assert reading.ordered()[-1].code == "E014"


TEXTS = [
    "a: 1\nb: [x, {c: 'd'}]\n",
    "a:\n- b\n-   - c\n    - d: e\n",
    "a: |-\n  x\n  # y\nb: >\n  folded\n  text\n# c\nc: plain\n  text\n",
    "{a: &x [1, 2], b: *x}",
    'a: "\\u2028 \\x41"\n',
    "%YAML 1.1\n---\na: 1\n...\n",
    "a: [1, 2\nb: 3\n",
    "a: b: c\n",
    'a: "\\ud83d"',
    "%FOO\n---\na: 1\n",
    "\ta: 1",
    "'a",
    "[[[[",
]


@pytest.mark.parametrize("text", TEXTS)
def test_both_parsers_of_pyyaml_give_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = nodes(text)
    monkeypatch.setattr(strict_yaml, "_FAST", yaml.SafeLoader)
    assert nodes(text) == fast


def test_comments_are_found_outside_of_texts_only() -> None:
    text = "# head\na: 'x # y'  # one\nb: |  # two\n  # not\n\n# three\nc: d#e\nd: [1,  # four\n  2]\n"
    assert read_comments(text) == [
        Comment(at=Span(1, 1), text="# head", alone=True),
        Comment(at=Span(2, 13), text="# one", alone=False),
        Comment(at=Span(3, 7), text="# two", alone=False),
        Comment(at=Span(6, 1), text="# three", alone=True),
        Comment(at=Span(8, 9), text="# four", alone=False),
    ]
