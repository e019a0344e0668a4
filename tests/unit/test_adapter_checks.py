"""What an adapter returns is held against the protocol."""

from __future__ import annotations

from typing import Any

import pytest

from journalsim.contract.items import Item
from journalsim.errors import AdapterError
from journalsim.hosts.checks import checked_items


def test_items_are_returned_as_they_are() -> None:
    items = [Item(kind="user", text="Hi"), Item(kind="assistant", text="Hello")]
    assert checked_items("read", items) == tuple(items)


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (None, "read returned NoneType, expected a sequence of Item"),
        ("Hi", "read returned str, expected a sequence of Item"),
        ([{"kind": "user"}], "read returned dict at position 0, expected an Item"),
        ([Item(kind="user", text=7)], "an Item with text 7, expected text at position 0"),  # type: ignore[arg-type]
        ([Item(kind="robot")], "an Item with kind 'robot' at position 0"),  # type: ignore[arg-type]
    ],
)
def test_anything_else_is_named_with_its_verb_and_position(returned: Any, says: str) -> None:
    with pytest.raises(AdapterError, match=says):
        checked_items("read", returned)
