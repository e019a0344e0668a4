"""Strict YAML: bytes become nodes, and nothing in them becomes an object.

Only this module uses PyYAML.  It takes PyYAML's *events* and builds the tree
itself.  So it bounds depth and aliases, refuses tags and repeated keys, and
spends no more time on hostile input than on a friendly file of the same size.
The events come from libyaml where that is compiled in: a load then takes 1.3 ms
instead of 5.  When libyaml refuses a file, PyYAML's own parser decides, so that
messages do not depend on the machine.  (libyaml allows what YAML 1.2 allows and
PyYAML's parser does not: a tab between words, and a question mark in a bare
text within brackets.)
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TypeAlias

import yaml  # noqa: TID251  (the strict reader)
from attrs import frozen

from journalsim.scenario.shapes.nodes import List, Mapping, Node, Scalar, Span
from journalsim.scenario.shapes.problems import quoted
from journalsim.scenario.shapes.reading import Reading

BYTES_MAX = 1024 * 1024  # a scenario has 15 to 40 lines; a file of this size is surely something else
DEPTH_MAX = 40  # the language needs about 12; combinations of expectations nest
EXPANDED_MAX = 10_000  # nodes that aliases add: a thousand times what a scenario repeats

Loader: TypeAlias = type[yaml.CSafeLoader] | type[yaml.SafeLoader]

_FAST: Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE = re.compile("\r\n|\r|\n")
_FORBIDDEN_IN_TEXT = re.compile("[\ud800-\udfff]")
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#.*")
_VALUE_EVENTS = (yaml.ScalarEvent, yaml.CollectionStartEvent)
_NOWHERE = Span(0, 0)


class _Stop(Exception):
    """The file cannot be read any further; the problem is already reported."""


def decode(data: bytes, reading: Reading) -> str | None:
    """Returns the text of a file, or None after reporting why there is none."""
    if len(data) > BYTES_MAX:
        reading.error("E002", _NOWHERE, f"the file is larger than {BYTES_MAX} bytes")
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig")
        reading.lines = _LINE.split(before)
        at = _Places(before).span(len(before), len(before))
        reading.error("E003", at, f"byte {data[error.start]:#04x} is not UTF-8", note="save the file as UTF-8")
        return None
    reading.lines = _LINE.split(text)
    if wrong := _FORBIDDEN.search(text):
        at = _Places(text).span(wrong.start(), wrong.end())
        name = f"U+{ord(wrong.group()):04X}"
        reading.error(
            "E003", at, f"the character {name} is not allowed in YAML", note=f'write "\\u{name[2:]}" in quotes'
        )
        return None
    return text


def read_nodes(data: bytes, reading: Reading) -> Node | None:
    """Returns the tree of a file.

    Args:
        data: the bytes of the file.
        reading: takes the problems and the lines.

    Returns:
        The root, with every wrong part reported; None when nothing is left to look at.
    """
    text = decode(data, reading)
    return None if text is None else _compose(text, reading)


def _compose(text: str, reading: Reading) -> Node | None:
    found = len(reading.problems)
    error = yaml.MarkedYAMLError()
    for loader in (_FAST, yaml.SafeLoader):
        try:
            return _Composer(text, reading, loader).document()
        except _Stop:
            return None
        except yaml.MarkedYAMLError as problem:
            del reading.problems[found:]
            error = problem
    _report(error, _Places(text), reading)
    return None


def _report(error: yaml.MarkedYAMLError, places: _Places, reading: Reading) -> None:
    """Reports a syntax error."""
    assert error.problem_mark is not None, error
    mark = error.problem_mark.index
    context = f"{error.context}: " if error.context else ""
    note = f"begun on line {places.span(error.context_mark.index, 0).line}" if error.context_mark else ""
    message = f"the YAML cannot be read: {context}{error.problem}"
    reading.error("E005", places.span(mark, mark), message, note=note)


@frozen(kw_only=True)
class Comment:
    """A comment; ``alone`` when nothing else stands on its line."""

    at: Span
    text: str
    alone: bool


def read_comments(text: str) -> list[Comment]:
    """Returns the comments of a file that :func:`read_nodes` accepts."""
    masked = list(text)
    for event in yaml.parse(text, Loader=_FAST):
        if isinstance(event, yaml.ScalarEvent):
            start, end = _range(event)
            if event.style in ("|", ">"):
                start = text.index("\n", start)  # a comment may follow the mark of a block
            masked[start:end] = ["\n" if character == "\n" else "x" for character in text[start:end]]
    found = []
    for number, line in enumerate(_LINE.split("".join(masked)), 1):
        if comment := _COMMENT.search(line):
            at = Span(number, comment.start() + 1)
            found.append(Comment(at=at, text=comment.group().rstrip(), alone=not line[: comment.start()].strip()))
    return found


def _range(event: yaml.Event) -> tuple[int, int]:
    assert event.start_mark is not None, event
    assert event.end_mark is not None, event
    return event.start_mark.index, event.end_mark.index


class _Places:
    """Finds line and column of a character, counting lines as editors do."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in _LINE.finditer(text))]

    def span(self, start: int, end: int) -> Span:
        """Returns the place of ``text[start:end]``, cut at the end of its first line."""
        line = bisect_right(self._starts, start)
        first = self._starts[line - 1]
        after = self._starts[line] if line < len(self._starts) else len(self._text) + 1
        return Span(line, start - first + 1, max(1, min(end, after - 1) - start))


class _Composer:
    """Builds nodes from the events of one file."""

    def __init__(self, text: str, reading: Reading, loader: Loader) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=loader)
        self._places = _Places(text)
        self._reading = reading
        self._anchors: dict[str, Node | None] = {}
        self._expanded = 0

    def document(self) -> Node | None:
        next(self._events)
        if isinstance(next(self._events), yaml.StreamEndEvent):
            self._reading.error(
                "E004", _NOWHERE, "the file is empty", help="journalsim new scenario writes one to start from"
            )
            return None
        root = self._node(next(self._events), 1)
        next(self._events)
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._reading.error(
                "E009", self._span(after), "a second document begins here", note="put it in its own file"
            )
        return root

    def _span(self, event: yaml.Event) -> Span:
        return self._places.span(*_range(event))

    def _node(self, event: yaml.Event, depth: int) -> Node:
        at = self._span(event)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(str(event.anchor), at, depth)
        assert isinstance(event, _VALUE_EVENTS), event
        if event.tag is not None:
            self._reading.error(
                "E008", at, f"the tag {quoted(event.tag)} is not used in scenarios", note="leave it out"
            )
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        node = self._new(event, at, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _new(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, at: Span, depth: int) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            if wrong := _FORBIDDEN_IN_TEXT.search(event.value):
                name = f"U+{ord(wrong.group()):04X}"
                self._reading.error(
                    "E003", at, f"half of a character, {name}, cannot be text", note="write the whole character"
                )
            return Scalar(at=at, text=event.value, plain=not event.style)
        self._bound_depth(depth, at)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(at, depth)
        return self._mapping(at, depth)

    def _bound_depth(self, depth: int, at: Span) -> None:
        if depth > DEPTH_MAX:
            self._reading.error("E006", at, f"nested more than {DEPTH_MAX} levels deep")
            raise _Stop

    def _alias(self, anchor: str, at: Span, depth: int) -> Node:
        node = self._anchors.get(anchor)
        if node is None:
            self._reading.error("E012", at, f"no earlier anchor &{anchor[:20]}", word=anchor, near=self._anchors)
            return Scalar(at=at, text="")
        self._expanded += node.size
        if self._expanded > EXPANDED_MAX:
            self._reading.error(
                "E007", at, f"aliases repeat more than {EXPANDED_MAX} values", note="write it out, shorter"
            )
            raise _Stop
        self._bound_depth(depth + node.height - 1, at)
        return node

    def _list(self, at: Span, depth: int) -> List:
        items: list[Node] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, depth + 1))
        return List(
            at=self._whole(at, event),
            items=tuple(items),
            size=1 + sum(item.size for item in items),
            height=1 + max((item.height for item in items), default=0),
        )

    def _mapping(self, at: Span, depth: int) -> Mapping:
        entries: dict[str, tuple[Scalar, Node]] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            value = self._node(next(self._events), depth + 1)
            if self._good_key(key, entries):
                assert isinstance(key, Scalar)
                missing = isinstance(value, Scalar) and value.plain and not value.text
                entries[key.text] = (key, Scalar(at=key.at, text="") if missing else value)
        size = 1 + sum(1 + value.size for _, value in entries.values())
        height = 1 + max((value.height for _, value in entries.values()), default=0)
        first = next(iter(entries.values()), None)
        at = first[0].at if first and first[0].at.column == at.column else self._whole(at, event)
        return Mapping(at=at, entries=tuple(entries.values()), size=size, height=height)

    def _whole(self, at: Span, end: yaml.Event) -> Span:
        """Returns the span of a bracketed collection on one line; otherwise its first character."""
        first, after = _range(end)
        if first == after:
            return at
        start = at.column - 1 + self._places._starts[at.line - 1]
        return self._places.span(start, after)

    def _good_key(self, key: Node, entries: dict[str, tuple[Scalar, Node]]) -> bool:
        if not isinstance(key, Scalar):
            self._reading.error("E013", key.at, "a key is a word, not a list or a mapping")
            return False
        if key.plain and key.text == "<<":
            self._reading.error("E011", key.at, "merge keys are not used in scenarios", note="write the keys out")
            return False
        if key.text in entries:
            first = entries[key.text][0].at
            self._reading.error(
                "E010", key.at, f"the key {quoted(key.text)} is given twice", note=f"first on line {first.line}"
            )
            return False
        return True
