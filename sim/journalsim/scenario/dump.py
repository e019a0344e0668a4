"""Canonical text of a scenario, and formatting of files that authors wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from journalsim.scenario.loader import load_scenario
from journalsim.scenario.shapes.nodes import List, Mapping, Node, Path, Scalar
from journalsim.scenario.shapes.printer import Printer
from journalsim.scenario.shapes.problems import ScenarioError
from journalsim.scenario.shapes.reading import Reading
from journalsim.scenario.shapes.strict_yaml import Comment, decode, read_comments, read_nodes
from journalsim.scenario.values.scenario import Scenario
from journalsim.scenario.words.grammar import SCENARIO


def dump_scenario(scenario: Scenario) -> str:
    """Returns the canonical text; loading it gives an equal scenario."""
    return Printer().document(SCENARIO.write(scenario))


def checked(scenario: Scenario) -> Scenario:
    """Returns a scenario that was built in Python, if a file could say the same.

    Raises:
        ScenarioError: it breaks a rule of the language; places are those of its canonical text.
    """
    return load_scenario(dump_scenario(scenario).encode(), scenario.path or f"<{scenario.name}>")


def format_text(data: bytes, path: str) -> str:
    """Returns a file in canonical form, with its comments.

    A comment on a line of its own stays above what it stood above, and one at
    the end of a line stays with what it stood behind.

    Args:
        data: the bytes of the file.
        path: the file, for messages.

    Raises:
        ScenarioError: the file has problems, or a comment belongs to a part that the canonical form leaves out.
    """
    scenario = load_scenario(data, path)
    printer = Printer()
    printer.document(SCENARIO.write(scenario))
    reading = Reading(path=path, lines=())
    root = read_nodes(data, reading)
    text = decode(data, reading)
    assert root is not None, "it has just been loaded"
    assert text is not None, "it has just been loaded"
    return _with_comments(read_comments(text), root, printer, reading)


def _with_comments(comments: Sequence[Comment], root: Node, printer: Printer, reading: Reading) -> str:
    parts = list(_parts(root, ()))
    above: dict[int, list[str]] = {}
    behind: dict[int, list[str]] = {}
    for comment in comments:
        line = _target(comment, parts, printer, reading)
        (above if comment.alone else behind).setdefault(line, []).append(comment.text)
    if reading.problems:
        raise ScenarioError(reading.ordered())
    lines: list[str] = []
    for number, printed in enumerate([*printer.lines, ""]):
        indent = printed[: len(printed) - len(printed.lstrip())]
        ends = behind.get(number, [])
        tops = above.get(number, []) + (ends if len(ends) > 1 else [])
        lines += [f"{indent}{text}" for text in tops]
        lines.append(f"{printed}  {ends[0]}" if len(ends) == 1 else printed)
    return "\n".join(lines)


_Part = tuple[tuple[int, int], Path]


def _parts(node: Node, path: Path) -> Iterator[_Part]:
    """Yields where each key and item begins, in the order of the file."""
    if isinstance(node, Mapping):
        for key, value in node.entries:
            yield _start(key), (*path, key.text)
            yield from _parts(value, (*path, key.text))
    elif isinstance(node, List):
        for number, item in enumerate(node.items):
            yield _start(item), (*path, number)
            yield from _parts(item, (*path, number))


def _start(node: Node | Scalar) -> tuple[int, int]:
    return node.at.line, node.at.column


def _target(comment: Comment, parts: Sequence[_Part], printer: Printer, reading: Reading) -> int:
    """Returns the line of the canonical form that a comment goes with."""
    place = (comment.at.line, comment.at.column)
    before = [path for start, path in parts if start < place]
    after = [path for start, path in parts if start > place]
    if not before:
        return 0  # the head of the file
    if comment.alone and not after:
        return len(printer.lines)  # its foot
    path = after[0] if comment.alone else before[-1]
    while path and path not in printer.places:
        path = path[:-1]
    if not path:
        note = "move it to a line that stays"
        reading.error("E016", comment.at, "the canonical form leaves out what this comment is about", note=note)
    return printer.places.get(path, 0)
