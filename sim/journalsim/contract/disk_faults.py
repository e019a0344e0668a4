"""The words for disks in a case: which file system, what a power cut takes, what goes wrong before.

All of it is data, so that a case can hold it.  A loss reads ``unsynced``,
``last_tail``, or ``drawn#17`` for the seventeenth of the worlds that
:mod:`journalsim.actors.disk.worlds` draws.  A fault is addressed to an operation:
``Fault("error", at="disk.write#7")`` is the seventh write of the case; one that lasts
hits the following operations of the same verb too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import field, frozen
from attrs.validators import ge, in_


@frozen(kw_only=True)
class DiskOptions:
    """Which file system this is; the defaults are a journaling one that promises no more than it must.

    Attributes:
        sector: bytes that are written back together.
        entries: when a created, renamed or removed name is certain without a sync of the folder: ``at_once``;
            or not, and then several such changes survive ``in_order`` (the first few) or in ``any_order``.
        truncates: whether what is written after a file was cut may survive although the cut does not
            (``any_order``: freed blocks are used again at once) or not (``in_order``).
        fill: the byte that is found where a file has grown and its data never came.
        lying_sync: every sync says yes and does nothing.  No promise of a journal is judged on such a disk.
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
    "buffers": "nothing but the buffers of the process: what a kill loses, and no power cut less",
    "unsynced": "whatever was not synced, bytes and names",
    "names": "changes of names that no folder sync made certain; all bytes survive",
    "bytes": "bytes that no sync made certain; all names survive: renamed in place, yet empty",
    "last_tail": "the second half of the last write",
    "last_head": "the first half of the last write, whose second half is there",
    "last_middle": "the middle sectors of the last write: a hole",
    "last_bytes": "the bytes of the last write, while the file has already grown by them",
    "all_but_last": "every unsynced write but the last: it overtook them",
    "other_files": "what was unsynced in every file but the one written last",
    "first": "the first unsynced write, which all later ones overtook",
    "drawn": "whatever the world of this number loses; drawn#N, from 1",
}


def _known(_: Any, __: Any, name: str) -> None:
    if name not in LOSSES:
        raise ValueError(f"{name!r} is not a loss: use one of {', '.join(LOSSES)}")


@frozen
class Loss:
    """What a power cut takes.

    Attributes:
        name: a key of :data:`LOSSES`.
        number: which of the drawn worlds; 0 for every other loss.
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
            ValueError: there is no such loss.
        """
        name, mark, number = text.partition("#")
        if mark and not (number.isascii() and number.isdigit()):
            raise ValueError(f"{text!r} is not a loss: a number goes after the #, as in drawn#17")
        return cls(name, int(number) if mark else 0)


NAMED = tuple(Loss(name) for name in LOSSES if name != "drawn")


# --- faults

CHANGING = ("create", "write", "truncate", "sync", "rename", "unlink", "sync_folder")
"""Operations that change what a power cut leaves; the others (``open``, ``read``) can fail all the same."""

VERBS = ("open", "read", *CHANGING)

FAULTS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "crash": (CHANGING, "the power fails just before it, with `loss`"),
    "full": (("create", "write"), "no space is left: ENOSPC; `kept` bytes of a write are written"),
    "error": (
        VERBS,
        "EIO, and it was not done; `kept` bytes of a write are written; what a sync did not write, no sync will",
    ),
    "short": (("write",), "only `kept` bytes are taken, without an error"),
    "slow": (VERBS, "it takes `duration_ns` of virtual time"),
    "volatile": (
        ("create", "rename", "unlink"),
        "the change is certain only after a sync of the folder, whatever the options say",
    ),
    "lie": (("sync", "sync_folder"), "it says yes and does nothing; no promise is judged on such a disk"),
}


@frozen
class Fault:
    """One fault.

    Attributes:
        kind: a key of :data:`FAULTS`.
        at: name of the operation, such as ``disk.sync#3``.
        times: how many operations of that verb in a row; 0 for all from there on, until the disk is healed.
        kept: of a write, how many bytes are written all the same.
        duration_ns: of a slow operation.
        loss: of a crash.
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
        """Returns whether this is an operation that the fault is addressed to."""
        mine, first = self._address
        return verb == mine and first <= number and (not self.times or number < first + self.times)

    @property
    def _address(self) -> tuple[str, int]:
        place, _, number = self.at.partition("#")
        actor, _, verb = place.partition(".")
        good = actor == "disk" and number.isascii() and number.isdigit() and int(number) > 0
        return (verb, int(number)) if good else ("", 0)
