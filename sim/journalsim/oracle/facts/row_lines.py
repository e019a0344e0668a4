"""Journal rows and texts as short lines."""

from __future__ import annotations

from collections.abc import Iterable

from journalsim.contract.items import Item

TEXT_MAX = 48  # characters of a text in a line; a row must fit on a terminal line


def quoted(text: str) -> str:
    """Returns ``text`` in double quotes: shortened in the middle if it is long, unprintable characters escaped."""
    if len(text) > TEXT_MAX:
        half = TEXT_MAX // 2
        text = f"{text[:half].rstrip()} … {text[-half:].lstrip()}"
    return '"' + "".join(_visible(character) for character in text) + '"'


def row_text(item: Item) -> str:
    """Returns one journal row as a line: id, kind, state, text."""
    return "  ".join(part for part in (_name(item), item.kind, _state(item), _content(item)) if part)


def rows_text(items: Iterable[Item]) -> tuple[str, ...]:
    """Returns journal rows as lines."""
    return tuple(row_text(item) for item in items)


def _visible(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()


def _plain(text: str) -> str:
    return quoted(text)[1:-1].replace('\\"', '"')


def _name(item: Item) -> str:
    if item.kind in ("tool_call", "tool_result"):
        return _plain(item.call_id or item.id or "-")
    if item.kind == "marker":
        return _plain(item.run_id or item.id or "-")
    return _plain(item.id or "-")


def _state(item: Item) -> str:
    detail = item.cause or item.outcome
    return f"{item.state} ({detail})" if detail else item.state


def _content(item: Item) -> str:
    if item.kind == "tool_call":
        return _plain(f"{item.name}({item.arguments})")
    if item.kind == "marker" and not item.text:
        return ""
    return quoted(item.text) + (f"  reasoning {quoted(item.reasoning)}" if item.reasoning else "")
