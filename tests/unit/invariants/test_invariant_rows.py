from __future__ import annotations

from story import END, A, C, R, U

from journalsim.contract.items import Item
from journalsim.oracle.facts.row_lines import quoted, row_text, rows_text


def test_rows_are_one_line_each():
    rows = (U("Hi", id="u1"), A("model.turn1", "a", "interrupted", id="m1", cause="stopped", reasoning="hm"))
    assert rows_text(rows) == (
        'u1  user  completed  "Hi"',
        'm1  assistant  interrupted (stopped)  "a"  reasoning "hm"',
    )


def test_tool_rows_name_the_call():
    assert row_text(C("t1")) == "t1  tool_call  completed  search({})"
    assert row_text(R("t1", "aborted", outcome="unknown")) == 't1  tool_result  aborted (unknown)  ""'
    assert row_text(Item(kind="tool_call", name="f", arguments='{"q":1}')) == '-  tool_call  completed  f({"q":1})'


def test_terminals_name_the_run_and_show_a_wording_only_if_there_is_one():
    assert row_text(END("r1", "interrupted", "stopped")) == "r1  marker  interrupted (stopped)"
    assert row_text(Item(kind="marker", id="e9", text="aborted")) == 'e9  marker  completed  "aborted"'
    assert row_text(Item(kind="summary", text="s")) == '-  summary  completed  "s"'


def test_long_texts_are_shortened_in_the_middle():
    text = " ".join(f"w{n}" for n in range(1, 40))
    assert quoted(text).startswith('"w1 w2 ')
    assert " … " in quoted(text)
    assert quoted(text).endswith(' w39"')
    assert len(quoted(text)) < 56


def test_characters_that_a_terminal_would_act_on_are_escaped():
    assert quoted('a"b\\\x1b[31m\n\u2028\ufeff\ud83d') == '"a\\"b\\\\\\x1b[31m\\n\\u2028\\ufeff\\ud83d"'
    assert quoted("é🌍") == '"é🌍"'
    assert row_text(C("t\x07")) == "t\\x07  tool_call  completed  search({})"
