"""Shapes carry the types of their values, so that mypy finds mistakes in a language.

mypy checks this file: it is among ``files`` in pyproject.toml.  Every mistake in
``mistakes_that_mypy_finds`` has an ignore with its code; an ignore that nothing
needs is an error, so a mistake that mypy no longer finds turns ``mypy`` red.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, assert_type

import pytest
from attrs import fields, frozen

from journalsim.scenario.shapes.derived import Converted, WordOr
from journalsim.scenario.shapes.durations import Duration
from journalsim.scenario.shapes.forms import Forms, Short
from journalsim.scenario.shapes.keys import Entry, Key, Mark
from journalsim.scenario.shapes.lists import ListOf
from journalsim.scenario.shapes.maps import Beside, MapBeside, MapOf
from journalsim.scenario.shapes.nodes import Node
from journalsim.scenario.shapes.one_key import Branch, OneKey
from journalsim.scenario.shapes.plain_data import Quoted
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.record_shapes import Record
from journalsim.scenario.shapes.scalars import Choice, Flag, Name, Number, Text
from journalsim.scenario.shapes.strict_yaml import read_nodes
from journalsim.scenario.shapes.tables import Table


@frozen(kw_only=True)
class Lamp:
    """A lamp."""

    color: Literal["red", "green"] = "red"
    on_ns: int = 0
    room: str | None = None
    tags: tuple[str, ...] = ()


@frozen(kw_only=True)
class Bell:
    """A bell.

    Attributes:
        loud: whether the neighbours hear it.
    """

    loud: bool = False


@frozen(kw_only=True)
class Door:
    """A door between two rooms."""

    of: str
    to: str


COLOR = Choice[Literal["red", "green"]](("red", "green"), "a color")
ROOM = Name(what="a room")
LAMP = Record(
    what="a lamp",
    cls=Lamp,
    keys={
        "kind": Mark(Choice(("lamp",)), "lamp"),
        "color": Key(COLOR, fields(Lamp).color),
        "on": Key(Duration(), fields(Lamp).on_ns),
        "room": Key(ROOM, fields(Lamp).room),
        "tags": Key(ListOf(of=ROOM, what="tags"), fields(Lamp).tags),
    },
)
BELL = Record(what="a bell", cls=Bell, keys={"loud": Key(Flag(), fields(Bell).loud)})
THING = OneKey[Lamp | Bell](what="a thing", words={"lamp": Branch[Lamp](LAMP, Lamp), "bell": Branch[Bell](BELL, Bell)})


def read(text: str) -> tuple[Node, Reading]:
    reading = Reading(path="x", lines=())
    root = read_nodes(text.encode(), reading)
    assert root is not None
    return root, reading


def test_a_value_keeps_its_type_from_the_file_and_back() -> None:
    lamp = LAMP.read(*read("{kind: lamp, color: green, on: 2s, tags: [a]}"))
    assert_type(lamp, Lamp | Bad)
    assert lamp == Lamp(color="green", on_ns=2_000_000_000, tags=("a",))
    assert LAMP.write(lamp) == {"kind": "lamp", "color": "green", "on": "2s", "tags": ["a"]}
    thing = THING.read(*read("bell: {loud: true}"))
    assert_type(thing, Lamp | Bell | Bad)
    assert thing == Bell(loud=True)
    assert THING.write(thing) == {"bell": {"loud": True}}


def test_every_shape_knows_what_it_reads() -> None:
    node, reading = read("x: y")
    assert_type(Text().read(node, reading), str | Bad)
    assert_type(Number(max=1).read(node, reading), int | Bad)
    assert_type(COLOR.read(node, reading), Literal["red", "green"] | Bad)
    assert_type(ListOf(of=LAMP, what="lamps").read(node, reading), tuple[Lamp, ...] | Bad)
    assert_type(MapOf(what="lamps", name=ROOM, of=LAMP).read(node, reading), Mapping[str, Lamp] | Bad)
    beside = MapBeside(word="all", shape=Flag(), others=MapOf(what="lamps", name=ROOM, of=LAMP))
    assert_type(beside.read(node, reading), Beside[bool, Lamp] | Bad)
    assert_type(WordOr(word="off", means=0, other=Duration(), what="a time").read(node, reading), int | Bad)
    assert_type(Table(what="sizes", keys={"a": Entry(Number(max=1))}).read(node, reading), Mapping[str, int] | Bad)
    forms = Forms[Lamp](
        what="a lamp",
        scalar=Short(shape=ROOM, wrap=lambda room: Lamp(room=room), unwrap=lambda lamp: lamp.room),
        mapping=LAMP,
    )
    assert_type(forms.read(node, reading), Lamp | Bad)
    doubled = Converted(written=Number(max=9), convert=lambda n: Lamp(on_ns=2 * n), revert=lambda lamp: lamp.on_ns // 2)
    assert_type(doubled.read(node, reading), Lamp | Bad)
    assert forms.write(Lamp(room="kitchen")) == "kitchen"
    assert doubled.write(Lamp(on_ns=6)) == 3


def test_a_bad_value_is_no_value() -> None:
    node, reading = read("{kind: lamp, color: blue}")
    lamp = LAMP.read(node, reading)
    assert lamp is BAD
    assert [problem.code for problem in reading.problems] == ["E025"]


def test_an_attribute_of_another_class_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="no attribute of Bell: color"):
        Record(what="a bell", cls=Bell, keys={"color": Key(COLOR, fields(Lamp).color)})


def test_an_attribute_without_a_required_key_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="no required key for an attribute of Door: of or to"):
        Record(what="a door", cls=Door, keys={"of": Key(ROOM, fields(Door).of)})
    door = Record(what="a door", cls=Door, given={"to": "hall"}, keys={"of": Key(ROOM, fields(Door).of, required=True)})
    assert door.read(*read("of: kitchen")) == Door(of="kitchen", to="hall")


def test_keys_are_described_by_the_class() -> None:
    assert BELL.schema() == {
        "type": "object",
        "properties": {"loud": {"description": "whether the neighbours hear it.", "type": "boolean"}},
        "additionalProperties": False,
        "description": "A bell.",
    }
    assert Text().write("x") == Quoted("x")


def test_mypy_checks_this_file() -> None:
    root = Path(__file__).parents[3]
    checked = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["files"]
    assert Path(__file__).relative_to(root).as_posix() in checked


def mistakes_that_mypy_finds(node: Node, reading: Reading) -> None:
    """Nothing calls this; mypy reads it."""
    # the value that is written has another type
    LAMP.write(Bell())  # type: ignore[arg-type]
    THING.write("lamp")  # type: ignore[arg-type]
    ListOf(of=Number(max=9), what="numbers").write(("1",))  # type: ignore[arg-type]
    COLOR.write("blue")  # type: ignore[arg-type]
    MapOf(what="lamps", name=ROOM, of=LAMP).write({"a": Bell()})  # type: ignore[dict-item]
    # the value that is read may be bad, and has the attributes of its class
    lamp = LAMP.read(node, reading)
    print(lamp.color)  # type: ignore[union-attr]
    if lamp is not BAD:
        print(lamp.colour)  # type: ignore[attr-defined]
        assert_type(lamp.color, Literal["red", "green"])
    # a key and its attribute
    Key(Duration(), fields(Lamp).off_ns)  # type: ignore[attr-defined]
    Key(Duration(), fields(Lamp).room)  # type: ignore[arg-type]
    Key(Choice[Literal["blue"]](("blue",)), fields(Lamp).color)  # type: ignore[misc]
    Record(what="a lamp", cls=Lamp, keys={"room": Key(Duration(), fields(Lamp).room)})  # type: ignore[arg-type]
    Record(what="a lamp", cls=Lamp, keys={"on": Key(ROOM, fields(Lamp).on_ns)})  # type: ignore[misc]
    # a word that is none of the type, and a shape in the branch of another class
    Choice[Literal["red", "green"]](("red", "blue"))  # type: ignore[arg-type]
    Branch[Lamp](BELL, Bell)  # type: ignore[arg-type]
    OneKey[Lamp](what="a lamp", words={"bell": Branch[Bell](BELL, Bell)})  # type: ignore[dict-item]
    # a short form that makes something else, or takes from something else
    Forms[Lamp](what="a lamp", scalar=Short(shape=ROOM, wrap=lambda _: Bell(), unwrap=lambda lamp: lamp.room))  # type: ignore[arg-type,return-value]
    Forms[Lamp](what="a lamp", scalar=Short(shape=ROOM, wrap=lambda _: Lamp(), unwrap=lambda lamp: lamp.rooms))  # type: ignore[attr-defined]
