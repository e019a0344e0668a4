"""Which cursor a program sends when it attaches: a word, ``frame 3``, or ``$axis`` of the sweep."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args

from attrs import frozen

from journalsim.case import AtCursor, CursorForm
from journalsim.scenario.shapes.nodes import Scalar, describe
from journalsim.scenario.shapes.plain_data import Data, Schema
from journalsim.scenario.shapes.reading import BAD, Bad, Reading
from journalsim.scenario.shapes.scalars import dollar_name
from journalsim.scenario.shapes.shape import ScalarShape
from journalsim.scenario.values.links import Cursor
from journalsim.scenario.words.names import COUNT_MAX

FORMS: Mapping[str, CursorForm] = {form.replace("_", " "): form for form in get_args(CursorForm)}
_FRAME = re.compile(r"frame ([1-9][0-9]{0,5})")
_PATTERN = f"^({'|'.join(word for word in FORMS if word != 'frame')}|frame [1-9][0-9]*|\\$[a-z][a-z0-9_-]*)$"


@frozen(kw_only=True)
class CursorShape(ScalarShape[Cursor]):
    """A cursor; ``axis`` allows ``$name`` of an axis, as in steps."""

    what: str = "a cursor"
    axis: bool = True

    def read_scalar(self, node: Scalar, reading: Reading) -> Cursor | Bad:
        axis = dollar_name(node.text) if self.axis else None
        if axis is not None:
            reading.refer("axis", axis, node.at)
            return Cursor(axis=axis)
        found = _FRAME.fullmatch(node.text)
        if found is not None and int(found[1]) <= COUNT_MAX:
            return Cursor(form="frame", frame=int(found[1]))
        if node.text in FORMS and node.text != "frame":
            return Cursor(form=FORMS[node.text])
        words = [word if word != "frame" else "frame 1" for word in FORMS]
        message = f"expected {self.what}, found {describe(node)}"
        return reading.error("E025", node.at, message, note=f"cursors: {', '.join(words)}", near=words, word=node.text)

    def write(self, value: Cursor) -> Data:
        if value.axis is not None:
            return f"${value.axis}"
        return f"frame {value.frame}" if value.form == "frame" else value.form.replace("_", " ")

    def schema(self) -> Schema:
        return {"type": "string", "pattern": _PATTERN}


CURSOR = CursorShape()
_FIXED = CursorShape(axis=False)


class CursorPlace(ScalarShape[AtCursor]):
    """A cursor as a value of an axis."""

    what: str = "a cursor"

    def read_scalar(self, node: Scalar, reading: Reading) -> AtCursor | Bad:
        found = _FIXED.read(node, reading)
        return BAD if isinstance(found, Bad) else place_of(found)

    def write(self, value: AtCursor) -> Data:
        return _FIXED.write(cursor_of(value))

    def schema(self) -> Schema:
        return _FIXED.schema()


def place_of(cursor: Cursor) -> AtCursor:
    """Returns a cursor as the value of an axis."""
    return AtCursor(cursor.form, cursor.frame)


def cursor_of(place: AtCursor) -> Cursor:
    """Returns the cursor that a value of an axis stands for."""
    return Cursor(form=place.form, frame=place.number)


def is_cursor(node: object) -> bool:
    """Returns whether a value of an axis is meant as a cursor."""
    return isinstance(node, Scalar) and (node.text in FORMS or node.text.startswith("frame "))
