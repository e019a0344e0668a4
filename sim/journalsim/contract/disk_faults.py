"""Defines the words for disks in a case: the file system, the losses of a power cut, and the faults before it.

All of it is data, so that a case can hold it. A loss reads ``unsynced``, ``last_tail``, or ``drawn#17`` for the
seventeenth of the worlds that :mod:`journalsim.actors.disk.worlds` draws. A fault names an operation: ``Fault("error",
at="disk.write#7")`` is the seventh write of the case; a fault with ``times`` also hits the following operations of the
same verb.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen
from attrs.validators import ge, in_


@frozen(kw_only=True)
class DiskOptions:
    """The kind of file system; the defaults are a journaling one that guarantees only what it must.

    Attributes:
        sector: size in bytes of the unit in which the disk writes back.
        entries: when a created, renamed or removed name becomes durable without a sync of the folder: ``at_once``;
            or later, and then several such changes survive ``in_order`` (the first few) or in ``any_order``.
        truncates: whether a write after a truncation may survive although the truncation does not
            (``any_order``: freed blocks are used again at once) or not (``in_order``).
        fill: the byte that reads back where a file has grown and its data never reached the disk.
        lying_sync: every sync succeeds and does nothing. No invariant is judged on such a disk.
    """

    sector: int = field(default=512, validator=ge(1))
    entries: Literal["at_once", "in_order", "any_order"] = field(
        default="in_order", validator=in_(("at_once", "in_order", "any_order"))
    )
    truncates: Literal["in_order", "any_order"] = field(default="in_order", validator=in_(("in_order", "any_order")))
    fill: int = field(default=0, validator=in_(range(256)))
    lying_sync: bool = False


# --- losses

LOSSES: Mapping[str, str] = {
    "buffers": "only the buffers of the process: the least that any crash loses",
    "unsynced": "all changes that were not synced, bytes and names",
    "names": "changes of names that no folder sync made durable; all bytes survive",
    "bytes": "bytes that no sync made durable; all names survive: a renamed file is in place, yet empty",
    "last_tail": "the second half of the last write",
    "last_head": "the first half of the last write; its second half survives",
    "last_middle": "the middle sectors of the last write: a hole",
    "last_bytes": "the bytes of the last write; the file has grown by their number",
    "all_but_last": "every unsynced write but the last, which overtook them",
    "other_files": "unsynced changes in every file but the one written last",
    "first": "the first unsynced write, which all later ones overtook",
    "drawn": "the loss of the world with this number; drawn#N, from 1",
}


def _known(_: Any, __: Any, name: str) -> None:
    if name not in LOSSES:
        raise ValueError(f"{name!r} is not a loss: use one of {', '.join(LOSSES)}")


@frozen
class Loss:
    """The changes that a power cut takes.

    Attributes:
        name: a key of :data:`LOSSES`.
        number: the number of a drawn world, from 1; 0 for every other loss.
    """

    name: str = field(default="unsynced", validator=_known)
    number: int = 0

    def __attrs_post_init__(self) -> None:
        if (self.name == "drawn") != (self.number > 0):
            raise ValueError(f"drawn worlds have numbers from 1, other losses have none; got {self.name}#{self.number}")

    def __str__(self) -> str:
        return f"{self.name}#{self.number}" if self.number else self.name

    @classmethod
    def parse(cls, text: str) -> Loss:
        """Returns the loss that :meth:`__str__` wrote.

        Raises:
            ValueError: no such loss exists.
        """
        name, mark, number = text.partition("#")
        if mark and not (number.isascii() and number.isdigit()):
            raise ValueError(f"{text!r} is not a loss: a number goes after the #, as in drawn#17")
        return cls(name, int(number) if mark else 0)


NAMED = tuple(Loss(name) for name in LOSSES if name != "drawn")


# --- faults

CHANGING = ("create", "write", "truncate", "sync", "rename", "unlink", "sync_folder")
"""Operations that change the outcome of a power cut; the others (``open``, ``read``) can fail as well."""

VERBS = ("open", "read", *CHANGING)

FAULTS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "crash": (CHANGING, "the power fails just before the operation, with `loss`"),
    "full": (("create", "write"), "no space is left: ENOSPC; `kept` bytes of a write are written"),
    "error": (
        VERBS,
        "EIO, not done; `kept` bytes of a write are written; a later sync writes nothing that this one failed to write",
    ),
    "short": (("write",), "only `kept` bytes are taken, without an error"),
    "slow": (VERBS, "the operation takes `duration_ns` of virtual time"),
    "volatile": (
        ("create", "rename", "unlink"),
        "the change is certain only after a sync of the folder, whatever the options say",
    ),
    "lie": (("sync", "sync_folder"), "it succeeds and does nothing; no invariant is judged on such a disk"),
}


@frozen
class Fault:
    """One fault of a disk.

    Attributes:
        kind: a key of :data:`FAULTS`.
        at: name of the operation, such as ``disk.sync#3``.
        times: how many operations of that verb in a row; 0 for all from there on, until the disk is healed.
        kept: for a failing or short write, the number of bytes that are written anyway.
        duration_ns: for a slow operation, its virtual duration in nanoseconds.
        loss: for a crash, the changes that it takes.
    """

    kind: str
    at: str
    times: int = field(default=1, kw_only=True)
    kept: int = field(default=0, kw_only=True)
    duration_ns: int = field(default=0, kw_only=True)
    loss: Loss = field(factory=Loss, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.kind not in FAULTS:
            raise ValueError(f"{self.kind!r} is not a fault of a disk: use one of {', '.join(FAULTS)}")
        verbs = FAULTS[self.kind][0]
        if self.verb not in verbs:
            known = ", ".join(verbs)
            raise ValueError(f"{self.kind} does not happen at {self.at!r}: use disk.VERB#N, VERB one of {known}")
        if self.kind == "short" and self.kept < 1:
            raise ValueError(f"a short write takes at least one byte (got kept={self.kept}): nothing taken is an error")

    @property
    def verb(self) -> str:
        """The operation's verb; empty if ``at`` does not name an operation."""
        return self._address[0]

    def hits(self, verb: str, number: int) -> bool:
        """Returns True if the fault applies to this operation."""
        mine, first = self._address
        return verb == mine and first <= number and (not self.times or number < first + self.times)

    @property
    def _address(self) -> tuple[str, int]:
        place, _, number = self.at.partition("#")
        actor, _, verb = place.partition(".")
        good = actor == "disk" and number.isascii() and number.isdigit() and int(number) > 0
        return (verb, int(number)) if good else ("", 0)
