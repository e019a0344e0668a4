"""Computes the folder after each named loss: one world out of the many that are possible.

A loss is named by the changes that it takes; all other changes that the operating system had received survive. See
:data:`journalsim.contract.disk_faults.LOSSES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from journalsim.actors.disk.content import Change, Content, Image
from journalsim.actors.disk.folder_names import Folder
from journalsim.contract.disk_faults import Loss


def after_loss(folder: Folder, loss: Loss) -> Image:
    """Returns the folder after a named loss."""
    survives = [loss.name not in ("unsynced", "names")] * len(folder.pending)
    names = folder.with_changes(survives)
    contents = names.values()
    first = min((c for c in contents if c.changes), key=lambda content: content.changes[0].order, default=None)
    last = max((c for c in contents if c.changes), key=lambda content: content.changes[-1].order, default=None)
    rule = _RULES[loss.name]
    return {name: rule(names[name], first, last) for name in sorted(names)}


# --- one file after each loss; ``first`` and ``last`` are the files of the first and of the last unsynced write


def _synced(content: Content, *_: object) -> bytes:
    return bytes(content.base)


def _newest(content: Content, *_: object) -> bytes:
    return bytes(content.view)


def _last_tail(content: Content, _: object, last: Content | None) -> bytes:
    return _torn(content, keep_head=True) if content is last else _newest(content)


def _last_head(content: Content, _: object, last: Content | None) -> bytes:
    return _torn(content, keep_head=False) if content is last else _newest(content)


def _last_middle(content: Content, _: object, last: Content | None) -> bytes:
    return _without(content, content.changes[-1], spared=1) if content is last else _newest(content)


def _last_bytes(content: Content, _: object, last: Content | None) -> bytes:
    return _without(content, content.changes[-1]) if content is last else _newest(content)


def _all_but_last(content: Content, _: object, last: Content | None) -> bytes:
    if content is not last:
        return _synced(content)
    versions, moment = content.versions(), len(content.changes)
    touched = _sectors(content.changes[-1], versions.sector)
    picks = {number: versions.allowed(number, moment)[-1 if number in touched else 0][1] for number in versions.sectors}
    return versions.assemble(versions.sizes[-1], picks)


def _other_files(content: Content, _: object, last: Content | None) -> bytes:
    return _newest(content) if content is last else _synced(content)


def _first(content: Content, first: Content | None, _: object) -> bytes:
    return _without(content, content.changes[0]) if content is first else _newest(content)


_RULES: Mapping[str, Callable[[Content, Content | None, Content | None], bytes]] = {
    "buffers": _newest,
    "unsynced": _synced,
    "names": _newest,
    "bytes": _synced,
    "last_tail": _last_tail,
    "last_head": _last_head,
    "last_middle": _last_middle,
    "last_bytes": _last_bytes,
    "all_but_last": _all_but_last,
    "other_files": _other_files,
    "first": _first,
}


def _sectors(change: Change, sector: int) -> range:
    size = len(change.data or b"")
    return range(change.offset // sector, -(-(change.offset + size) // sector)) if size else range(0)


def _without(content: Content, change: Change, spared: int = 0) -> bytes:
    """Returns a file without the sectors of a write, except ``spared`` ones at either end."""
    versions, moment = content.versions(), len(content.changes)
    touched = _sectors(change, versions.sector)
    when = content.changes.index(change)
    picks = versions.newest(moment)
    old = versions.newest(moment, until=when)
    for number in touched[spared : len(touched) - spared]:
        picks[number] = old[number]
    return versions.assemble(versions.sizes[-1], picks)


def _torn(content: Content, *, keep_head: bool) -> bytes:
    """Returns a file with half of its last write; the tear may lie inside a sector."""
    change = content.changes[-1]
    if not change.data:
        return _newest(content)
    versions, moment = content.versions(), len(content.changes)
    cut, end = change.offset + len(change.data) // 2, change.offset + len(change.data)
    picks, old = versions.newest(moment), versions.newest(moment, until=moment - 1)
    for number in _sectors(change, versions.sector):
        at = min(max(cut - number * versions.sector, 0), versions.sector)
        new, before = picks[number], old[number]
        picks[number] = new[:at] + before[at:] if keep_head else before[:at] + new[at:]
    size = versions.sizes[-1]
    if keep_head and size == end:
        size = max(cut, min(versions.sizes[-2], size))
    return versions.assemble(size, picks)
