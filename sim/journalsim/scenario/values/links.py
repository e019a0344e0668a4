"""What a scenario says about the wire: cursors, faults of links, and what links do to every byte."""

from __future__ import annotations

from typing import Literal, get_args

from attrs import field, frozen

from journalsim.case import CursorForm


@frozen(kw_only=True)
class Cursor:
    """Which cursor a program sends when it attaches.

    Attributes:
        form: ``none`` sends no header; ``equal`` is the last id that the page applied; ``frame`` the id
            of its ``frame``-th event; ``ahead`` lies behind the last one; ``foreign_run`` belongs to nobody,
            ``foreign_session`` to a run of another session if there is one; ``malformed`` is no cursor;
            ``evicted`` is the oldest id that the page had; ``empty`` an empty header; ``mid_part`` lies inside of
            a row that became several frames.
        frame: for ``frame``, which event with an id, from 1.
        axis: instead of both, the name of the sweep axis that says which.
    """

    form: CursorForm = "none"
    frame: int = 0
    axis: str | None = None


@frozen(kw_only=True)
class Spot:
    """A place in the bytes of one connection.

    Attributes:
        after_frames: whole events before it.
        after_bytes: bytes before it, after those events.
        after_lines: lines of the next event before it; 1 is behind its ``id`` line.
        mid_frame: half of the next event before it.
        axis: instead of all these, the name of the sweep axis that says where.
    """

    after_frames: int = 0
    after_bytes: int = 0
    after_lines: int = 0
    mid_frame: bool = False
    axis: str | None = None


LinkFaultKind = Literal["cut", "reset", "end", "half_open"]
LINK_FAULTS: tuple[LinkFaultKind, ...] = get_args(LinkFaultKind)


@frozen(kw_only=True)
class LinkFault:
    """A fault of the way between the server and a client.

    Attributes:
        client: whose way.
        up: it strikes the direction to the server; without, the one to the client.
        kind: ``cut`` breaks it, what was sent before arrives; ``reset`` loses what has not arrived;
            ``end`` ends the answer cleanly; ``half_open`` lets nothing through, without an error.
        spot: where.
        restore_ns: how long nobody can connect again.
        connection: which connection of the client, from 1; 0 means each.
        line: line of the file, from 1; 0 if there is none.
    """

    client: str
    up: bool = False
    kind: LinkFaultKind = "cut"
    spot: Spot = field(factory=Spot)
    restore_ns: int = 0
    connection: int = 1
    line: int = field(default=0, eq=False)


@frozen(kw_only=True)
class LinkShape:
    """What the way between the server and a client does to every byte.

    Attributes:
        client: whose way.
        up: the direction to the server; without, the one to the client.
        latency_ns: time under way, on top of the client's own.
        gather_ns: a proxy holds bytes back for so long; None until the answer ends.
        chunk_bytes: no chunk that arrives crosses a multiple of this.
        slow_ns: how long the reader takes for each byte.
        buffer_bytes: from here on the writer has to wait; 0 for a usual socket's buffer.
        line: line of the file, from 1; 0 if there is none.
    """

    client: str
    up: bool = False
    latency_ns: int = 0
    gather_ns: int | None = 0
    chunk_bytes: int = 0
    slow_ns: int = 0
    buffer_bytes: int = 0
    line: int = field(default=0, eq=False)
