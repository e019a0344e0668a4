"""The way between one client and the server, down to the byte.

A link hands out connections; a connection is two :class:`~journalsim.actors.wire.byte_pipe.BytePipe`,
``down`` to the client and ``up`` to the server.  What breaks one of them breaks the
other: the far side learns of it as an error, after the latency of that direction.
A ``half_open`` fault is the exception, and stays with its own direction, so that a
server may go on writing to a client that is long gone, or a client may wait for
ever for a server that was restarted.

Like a pipe, a link has no clock: the time is an argument, and after every call
``next_due_ns`` says when ``advance`` is to be called next.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from journalsim.actors.wire.byte_pipe import BytePipe, Fault, Shape

Side = Literal["server", "client"]


@frozen
class Signal:
    """Something that one side of a connection learns; see :class:`journalsim.actors.wire.byte_pipe.Arrival`."""

    side: Side
    kind: Literal["bytes", "end", "error", "writable"]
    data: bytes = b""


class Connection:
    """One connection, made by :meth:`ByteLink.connect`.

    Attributes:
        number: from 1, in the order of connecting.
        faults: the faults that have happened to it, in order.
    """

    def __init__(self, link: ByteLink, number: int, now_ns: int) -> None:
        self.number = number
        self.faults: list[Fault] = []
        self._link = link
        mine = [fault for fault in link.faults if fault.connection in (0, number)]
        self._pipes: dict[Side, BytePipe] = {
            "server": BytePipe(link.down, tuple(fault for fault in mine if fault.direction == "down")),
            "client": BytePipe(link.up, tuple(fault for fault in mine if fault.direction == "up")),
        }
        for side, pipe in self._pipes.items():
            self._spread(side, now_ns, pipe.strike(now_ns))

    @property
    def over(self) -> bool:
        """Whether nothing can happen on it any more."""
        return all(pipe.over for pipe in self._pipes.values())

    def writable(self, side: Side) -> bool:
        """Returns whether ``side`` may write now."""
        return self._pipes[side].writable

    def write(self, side: Side, now_ns: int, frame: bytes) -> None:
        """``side`` writes one frame.

        Raises:
            ValueError: its pipe is full; it has to wait for ``writable``.
        """
        self._spread(side, now_ns, self._pipes[side].write(now_ns, frame))

    def end(self, side: Side, now_ns: int) -> None:
        """``side`` ends its stream in good order; a client that does so hangs up and reads no more."""
        self._pipes[side].finish(now_ns)
        if side == "client":
            self._pipes["server"].abandon(unnoticed=self._pipes["client"].dead)

    def die(self, side: Side, now_ns: int) -> None:
        """The process of ``side`` dies: the other side gets an error, and what was under way is lost."""
        self._pipes[side].fail(now_ns, lose=True)
        self._pipes[_other(side)].abandon(unnoticed=self._pipes[side].dead)

    def pause(self, side: Side) -> None:
        """``side`` stops reading; what comes for it fills the pipe."""
        self._pipes[_other(side)].paused = True

    def go_on(self, side: Side) -> None:
        """``side`` reads again."""
        self._pipes[_other(side)].paused = False

    def next_due_ns(self) -> int | None:
        """Returns when something is due next; None if nothing is."""
        dues = [pipe.next_due_ns() for pipe in self._pipes.values()]
        return min((due for due in dues if due is not None), default=None)

    def advance(self, now_ns: int) -> tuple[Signal, ...]:
        """Returns what each side has learned by now: first what goes down, then what goes up."""
        return tuple(
            Signal(side if arrival.kind == "writable" else _other(side), arrival.kind, arrival.data)
            for side, pipe in self._pipes.items()
            for arrival in pipe.advance(now_ns)
        )

    def _spread(self, side: Side, now_ns: int, faults: tuple[Fault, ...]) -> None:
        for fault in faults:
            self.faults.append(fault)
            self._link.closed_until_ns = max(self._link.closed_until_ns, now_ns + fault.lasts_ns)
            if fault.kind != "half_open":
                self._pipes[_other(side)].fail(now_ns)


class ByteLink:
    """The way between one client and the server.

    Attributes:
        down: what the direction to the client does to every stream.
        up: what the direction to the server does.
        faults: what happens to which connection.
        closed_until_ns: before this time nobody can connect.
        connections: those on which something may still happen, in order.
    """

    def __init__(self, *, down: Shape | None = None, up: Shape | None = None, faults: tuple[Fault, ...] = ()) -> None:
        self.down = down or Shape()
        self.up = up or Shape()
        self.faults = faults
        self.closed_until_ns = 0
        self.connections: list[Connection] = []
        self._made = 0

    def connect(self, now_ns: int) -> Connection | None:
        """Returns a new connection; None if the link is down, which a client takes for an error."""
        if now_ns < self.closed_until_ns:
            return None
        self._made += 1
        connection = Connection(self, self._made, now_ns)
        self.connections = [*(open_ for open_ in self.connections if not open_.over), connection]
        return connection

    def server_dies(self, now_ns: int, *, down_ns: int = 0) -> None:
        """The server goes away under every open connection, and for ``down_ns`` nobody can connect."""
        self.closed_until_ns = max(self.closed_until_ns, now_ns + down_ns)
        for connection in self.connections:
            connection.die("server", now_ns)


def _other(side: Side) -> Side:
    return "client" if side == "server" else "server"
