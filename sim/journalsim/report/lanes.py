"""Drawing in lanes: each text starts in the column of its lane, and may run on over silent ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from journalsim.report.escape import clip, columns, pad, wrap

LANE_MIN = 11
CELL_MIN = 8
CELL_MAX = 40
CELL_LINES_MAX = 3
RULE_COLUMNS = 60

WIDE = ""
"""The lane of what concerns everybody: it is drawn across all of them."""

Cells = Mapping[str, str]


def lane_starts(rows: Sequence[Cells], lanes: Sequence[str], width: int) -> dict[str, int]:
    """Returns the first column of each lane.

    A text with another one to its right gets the room that it needs first; after that each
    lane, from the right, gets what its texts lack when they run on to the right edge.
    """
    share = dict.fromkeys(lanes, LANE_MIN)
    need = dict.fromkeys(lanes, 0)
    for cells in rows:
        used = [name for name in lanes if name in cells]
        for name in used[:-1]:
            share[name] = max(share[name], min(columns(cells[name]) + 2, CELL_MAX))
        for name in used[-1:]:
            need[name] = max(need[name], min(columns(cells[name]) + 2, CELL_MAX))
    spare = width - sum(share.values())
    for n, name in reversed(list(enumerate(lanes))):
        lack = need[name] - sum(share[right] for right in lanes[n:])
        extra = max(0, min(spare, lack))
        share[name] += extra
        spare -= extra
    return {name: sum(share[left] for left in lanes[:n]) for n, name in enumerate(lanes)}


def draw(cells: Cells, starts: Mapping[str, int], width: int, guide: str = "|") -> list[str]:
    """Returns one row as lines: each text from its lane's column up to the next lane that is in use."""
    if WIDE in cells:
        return _across(cells[WIDE], width)
    used = [(start, cells[name]) for name, start in starts.items() if name in cells]
    ends = [start for start, _ in used[1:]] + [width + 1]
    blocks = [(start, _cell(text, end - start - 1)) for (start, text), end in zip(used, ends, strict=True)]
    return [_assembled(n, blocks, starts.values(), guide) for n in range(max(len(lines) for _, lines in blocks))]


def _across(text: str, width: int) -> list[str]:
    first, *rest = _cell(text, width - 6)
    rule = "-" * (RULE_COLUMNS - columns(first) - 4)
    return [f"-- {first} {rule}".rstrip(), *(f"   {line}" for line in rest)]


def _cell(text: str, width: int) -> list[str]:
    width = max(width, CELL_MIN)
    lines = wrap(text, width)
    if len(lines) > CELL_LINES_MAX:
        lines = [*lines[: CELL_LINES_MAX - 1], clip(" ".join(lines[CELL_LINES_MAX - 1 :]), width)]
    return lines


def _assembled(n: int, blocks: Sequence[tuple[int, list[str]]], starts: Iterable[int], guide: str) -> str:
    texts = {start: lines[n] for start, lines in blocks if n < len(lines)}
    line = ""
    for start in starts:
        if start == 0 or columns(line) < start:
            line = pad(line, start) + texts.get(start, guide)
    return line
