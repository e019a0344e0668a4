"""The map of the rooms in ``.github/CONTRIBUTING.md`` is the tree as it is."""

from __future__ import annotations

import re

from layers import LAYERS, REFERENCE_CORE, ROOT, folder, modules

TEXT = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    """The part of the page below a heading."""
    return TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def named(text: str) -> set[str]:
    """The words in code style."""
    return set(re.findall("`([^`]*)`", text))


def test_every_room_stands_in_the_map_with_its_layer() -> None:
    rows = re.findall(r"^\| ([0-9]) \| `(\w+)` \|", section("A map of the rooms"), re.MULTILINE)
    rooms = {f"journalsim.{name}": int(layer) for layer, name in rows}
    assert rooms == {room: layer for room, layer in LAYERS.items() if room != "journalsim"}
    assert len(rows) == len(rooms)


def test_every_folder_of_a_room_is_named_in_its_row() -> None:
    rows = dict(re.findall(r"^\| [0-9] \| `(\w+)` \| (.*) \|$", section("A map of the rooms"), re.MULTILINE))
    inside = {tuple(folder(name).split(".")[1:3]) for name in modules() if folder(name).count(".") == 2}
    inside = {(room, name) for room, name in inside if room in rows}
    assert len(inside) > 10
    assert sorted((room, name) for room, name in inside if name not in named(rows[room])) == []


def test_every_module_of_the_reference_is_in_its_table() -> None:
    table = section("A map of the rooms").partition("The reference journal, in")[2]
    names = {name.split(".")[1] for name in modules() if name.startswith("journalsim_reference.")}
    words = named(table)
    assert sorted(names - words) == []
    core = next(line for line in table.splitlines() if line.startswith("| core:"))
    assert named(core) == set(REFERENCE_CORE)


def test_every_folder_of_tests_is_named() -> None:
    cells = " ".join(re.findall(r"^\| (`.*?) \|", section("Where things are tested"), re.MULTILINE))
    folders = {path.parent.name for path in (ROOT / "tests").glob("[a-z]*/*") if path.is_file()}
    assert named(cells) == folders
    units = next(line for line in section("Where things are tested").splitlines() if line.startswith("| `unit`"))
    assert {path.parent.name for path in (ROOT / "tests" / "unit").glob("*/*.py")} <= named(units)


def test_every_file_that_the_page_names_is_there() -> None:
    paths = {word for word in named(TEXT) if re.fullmatch(r"[\w.]+(/[\w.]+)+", word)}
    assert len(paths) > 10
    assert sorted(path for path in paths if not (ROOT / path).exists() and path != "bugs/__init__.py") == []
