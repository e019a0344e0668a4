"""Lists all the worlds that a power cut may leave, or draws one by its number.

A world is made of independent choices: which changes of names survived; for each file its length, and for each of its
sectors the moment whose content it has; and at most one sector, in the whole disk, that was being written when the
power failed, and is torn. ``crash_states`` lists all of them, which suits journals of a few short writes;
``drawn_world`` picks one, which suits everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise, product

from journalsim.actors.disk.content import Content, Image, Versions
from journalsim.actors.disk.folder_names import Folder, Names
from journalsim.errors import UsageError

STATES_MAX = 100_000  # some seconds of work; make a journal with more smaller instead of waiting for it


# --- all of them


def crash_states(folder: Folder, *, tears: bool, limit: int = STATES_MAX) -> Iterator[Image]:
    """Yields every distinct world, those with the largest losses first.

    Args:
        folder: the disk now.
        tears: whether one sector may be torn, and a growing file may stop at any byte rather than at sector ends.
        limit: the largest number of worlds.

    Raises:
        UsageError: there are more worlds than ``limit``.
    """
    seen: set[tuple[tuple[str, bytes], ...]] = set()  # membership only
    for survives in folder.survivals():
        for image in _images(folder.with_changes(survives), tears, limit):
            key = tuple(image.items())
            if key not in seen:
                seen.add(key)
                _check(len(seen), limit)
                yield image


def _check(count: int, limit: int) -> None:
    if count > limit:
        raise UsageError(f"the disk has more than {limit} crash states: use fewer or shorter writes, or larger sectors")


def _images(names: Names, tears: bool, limit: int) -> Iterator[Image]:
    listed = sorted(names)
    whole = [_contents(names[name], limit, torn=False, tears=tears) for name in listed]
    for contents in product(*whole):
        yield dict(zip(listed, contents, strict=True))
    if tears:
        for position, name in enumerate(listed):
            torn = _contents(names[name], limit, torn=True, tears=True)
            for contents in product(*whole[:position], torn, *whole[position + 1 :]):
                yield dict(zip(listed, contents, strict=True))


def _contents(content: Content, limit: int, *, torn: bool, tears: bool) -> list[bytes]:
    """Returns every content that a file may have, with exactly one ``torn`` sector or with none."""
    versions = content.versions()
    found: dict[bytes, None] = {}
    for moment in range(len(versions.sizes)):
        whole = {number: [data for _, data in versions.allowed(number, moment)] for number in versions.sectors}
        for choices in _with_one_torn(versions, whole, moment) if torn else [whole]:
            for picks in product(*choices.values()):
                for size in _sizes(versions, moment, every_byte=tears):
                    found[versions.assemble(size, dict(zip(choices, picks, strict=True)))] = None
                _check(len(found), limit)
    return list(found)


def _with_one_torn(
    versions: Versions, whole: Mapping[int, list[bytes]], moment: int
) -> Iterator[Mapping[int, list[bytes]]]:
    for number in whole:
        yield {**whole, number: torn_sectors(versions, number, moment)}


def torn_sectors(versions: Versions, number: int, moment: int) -> list[bytes]:
    """Returns a sector torn at each byte, between each of its contents and the one before."""
    allowed = [content for _, content in versions.allowed(number, moment)]
    torn = []
    for old, new in pairwise(allowed):
        for at in range(1, versions.sector):
            torn += [new[:at] + old[at:], old[:at] + new[at:]]
    return torn


def _sizes(versions: Versions, moment: int, *, every_byte: bool) -> Sequence[int]:
    """Returns the lengths that a file passed through on its way to that of ``moment``."""
    size = versions.sizes[moment]
    before = versions.sizes[moment - 1] if moment else size
    if before >= size:
        return (size,)
    return [at for at in range(before + 1, size + 1) if every_byte or at == size or at % versions.sector == 0]


# --- one of them


class Draw:
    """A pseudo-random sequence of numbers that is a function of its seed (splitmix64)."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, bound: int) -> int:
        """Returns a number from 0 to ``bound`` - 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        mixed = self._state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
        return (mixed ^ (mixed >> 31)) % bound


def drawn_world(folder: Folder, number: int) -> Image:
    """Returns the world of this number, of one of four kinds, from a cut in time to a choice per sector."""
    draw = Draw(number)
    survivals = list(islice(folder.survivals(), 1024))  # ten pending changes in any order; no journal leaves more
    names = folder.with_changes(survivals[draw.below(len(survivals))])
    files = sorted(names.items(), key=lambda entry: entry[1].number)
    orders = sorted(change.order for _, content in files for change in content.changes)
    until = orders[draw.below(len(orders))] if orders else 0
    kind = draw.below(4)
    torn = draw.below(2 * len(files)) if files else 0  # the position of the file with the torn sector, half of the time
    return {
        name: _drawn_content(content, draw, kind, until, torn=position == torn)
        for position, (name, content) in enumerate(files)
    }


def _drawn_content(content: Content, draw: Draw, kind: int, until: int, *, torn: bool) -> bytes:
    versions = content.versions()
    last = len(content.changes)
    if kind == 0:  # all writes up to an instant
        survives = [change.order <= until for change in content.changes]
    elif kind == 1:  # each write by itself
        survives = [bool(draw.below(2)) for _ in content.changes]
    elif kind == 2:  # all writes of the file, or none
        survives = [bool(draw.below(2))] * last
    else:
        survives = []  # each sector by itself
    moments = [moment for moment, survived in enumerate(survives, 1) if survived]
    moment = draw.below(last + 1) if kind == 3 else max(moments, default=0)
    picks = {}
    for number in versions.sectors:
        allowed = versions.allowed(number, moment)
        mine = [data for when, data in allowed if when in moments]
        picks[number] = allowed[draw.below(len(allowed))][1] if kind == 3 else mine[-1] if mine else allowed[0][1]
    if torn and picks:
        number = list(picks)[draw.below(len(picks))]
        picks[number] = _drawn_tear(versions.allowed(number, moment), picks[number], draw)
    return versions.assemble(versions.sizes[moment], picks)


def _drawn_tear(allowed: Sequence[tuple[int, bytes]], content: bytes, draw: Draw) -> bytes:
    if len(allowed) < 2:
        return content
    later = 1 + draw.below(len(allowed) - 1)
    pair = (allowed[later - 1][1], allowed[later][1])
    at, front = draw.below(len(content) + 1), draw.below(2)
    return pair[front][:at] + pair[1 - front][at:]
