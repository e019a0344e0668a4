"""Simulates the link between one client and the server, down to the byte.

A link hands out connections; a connection is two :class:`~journalsim.actors.wire.byte_pipe.BytePipe`, ``down`` to the
client and ``up`` to the server. A break of one pipe breaks the other: the far side receives an error, after the
latency of that direction. A ``half_open`` fault is the exception, and stays with its own direction, so that a server
may go on writing to a client that is long gone, or a client may wait for ever for a server that was restarted.

Like a pipe, a link has no clock: the time is an argument, and after every call ``next_due_ns`` returns the time of the
next ``advance``.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from journalsim.actors.wire.byte_pipe import BytePipe, Fault, Shape

Side = Literal["server", "client"]


@frozen
class Signal:
    """Something that one side of a connection receives; see :class:`journalsim.actors.wire.byte_pipe.Arrival`."""

    side: Side
    kind: Literal["bytes", "end", "error", "writable"]
    data: bytes = b""


class Connection:
    """One connection, made by :meth:`ByteLink.connect`.

    Attributes:
        number: number in the order of connecting, from 1.
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
        """True once nothing can happen on the connection any more."""
        return all(pipe.over for pipe in self._pipes.values())

    def writable(self, side: Side) -> bool:
        """Returns True if ``side`` may write now."""
        return self._pipes[side].writable

    def write(self, side: Side, now_ns: int, frame: bytes) -> None:
        """Writes one frame from ``side``.

        Raises:
            ValueError: the pipe is full; the writer has to wait for ``writable``.
        """
        self._spread(side, now_ns, self._pipes[side].write(now_ns, frame))

    def end(self, side: Side, now_ns: int) -> None:
        """Ends the stream of ``side`` in good order; a client that does so hangs up and reads no more."""
        self._pipes[side].finish(now_ns)
        if side == "client":
            self._pipes["server"].abandon(unnoticed=self._pipes["client"].dead)

    def die(self, side: Side, now_ns: int) -> None:
        """Kills the process of ``side``: the other side receives an error, and bytes under way are lost."""
        self._pipes[side].fail(now_ns, lose=True)
        self._pipes[_other(side)].abandon(unnoticed=self._pipes[side].dead)

    def pause(self, side: Side) -> None:
        """Stops the reading of ``side``; the bytes for it fill the pipe."""
        self._pipes[_other(side)].paused = True

    def go_on(self, side: Side) -> None:
        """Resumes the reading of ``side``."""
        self._pipes[_other(side)].paused = False

    def next_due_ns(self) -> int | None:
        """Returns the time of the next event, nanoseconds; None if there is none."""
        dues = [pipe.next_due_ns() for pipe in self._pipes.values()]
        return min((due for due in dues if due is not None), default=None)

    def advance(self, now_ns: int) -> tuple[Signal, ...]:
        """Returns the signals of each side that are due by now: first those that go down, then those that go up."""
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
    """The link between one client and the server.

    Attributes:
        down: the shape of the direction to the client.
        up: the shape of the direction to the server.
        faults: the faults, each for one connection or for all.
        closed_until_ns: the time before which no connection succeeds, nanoseconds.
        connections: the connections that are not over, in order.
    """

    def __init__(self, *, down: Shape | None = None, up: Shape | None = None, faults: tuple[Fault, ...] = ()) -> None:
        self.down = down or Shape()
        self.up = up or Shape()
        self.faults = faults
        self.closed_until_ns = 0
        self.connections: list[Connection] = []
        self._made = 0

    def connect(self, now_ns: int) -> Connection | None:
        """Returns a new connection; None if the link is down, which a client sees as an error."""
        if now_ns < self.closed_until_ns:
            return None
        self._made += 1
        connection = Connection(self, self._made, now_ns)
        self.connections = [*(open_ for open_ in self.connections if not open_.over), connection]
        return connection

    def server_dies(self, now_ns: int, *, down_ns: int = 0) -> None:
        """Kills the server under every open connection; for ``down_ns`` nanoseconds no connection succeeds."""
        self.closed_until_ns = max(self.closed_until_ns, now_ns + down_ns)
        for connection in self.connections:
            connection.die("server", now_ns)


def _other(side: Side) -> Side:
    return "client" if side == "server" else "server"
