"""A program, a link and a server that replays, in a world of their own: the smallest loop that joins the three."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from journalsim.actors.programs.program import Ask, Deliver, Effects, GiveUp, HangUp, Program, Sleep
from journalsim.actors.wire.byte_link import ByteLink, Connection
from journalsim.contract.sse import encode_event

GAP_NS = 10  # between two frames of the server
STEPS_MAX = 2_000
PATIENCE = 4  # so many answers of 204, and the person leaves


def frames_of(count: int) -> list[bytes]:
    """The stream of one run: as many events, with ids from 1."""
    return [encode_event(f"é{number}", id=f"r1:{number}") for number in range(1, count + 1)]


class LittleWorld:
    """Gives every request for the stream the frames after its cursor, and 204 when there are none.

    Attributes:
        view: data of the events that the page applied, in order.
        requests: method and cursor of each request that reached the server.
        reasons: why the program gave up.
    """

    def __init__(self, program: Program, link: ByteLink, frames: Sequence[bytes]) -> None:
        self.view: list[str] = []
        self.requests: list[tuple[str, str | None]] = []
        self.reasons: list[str] = []
        self._program = program
        self._link = link
        self._frames = frames
        self._now_ns = 0
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._arrivals = 0
        self._empty_answers = 0
        self._open: dict[int, Connection] = {}

    def run(self, first: Effects) -> LittleWorld:
        """Lets everything happen that follows from the first request."""
        self._take(first)
        for _ in range(STEPS_MAX):
            if not self._due:
                return self
            self._now_ns, _, step = heapq.heappop(self._due)
            step()
        raise AssertionError("the program never comes to rest")

    def _later(self, at_ns: int, step: Callable[[], None]) -> None:
        self._arrivals += 1
        heapq.heappush(self._due, (max(at_ns, self._now_ns), self._arrivals, step))

    def _take(self, effects: Effects) -> None:
        for effect in effects:
            if isinstance(effect, Ask):
                self._ask(effect)
            elif isinstance(effect, HangUp):
                if effect.connection in self._open:
                    self._open.pop(effect.connection).end("client", self._now_ns)
            elif isinstance(effect, Deliver):
                self.view.append(effect.event.data)
                self._program.applied(effect.event)
            elif isinstance(effect, Sleep):
                self._later(self._now_ns + effect.delay_ns, lambda timer=effect.timer: self._wake(timer))
            else:
                assert isinstance(effect, GiveUp)
                self.reasons.append(effect.reason)

    def _wake(self, timer: int) -> None:
        self._take(self._program.woke(timer))

    def _ask(self, ask: Ask) -> None:
        connection = self._link.connect(self._now_ns)
        if connection is None:
            self._later(self._now_ns, lambda: self._take(self._program.ended(ask.connection, clean=False)))
            return
        self.requests.append((ask.method, ask.cursor))
        self._open[ask.connection] = connection
        after = int(ask.cursor.partition(":")[2]) if ask.cursor else 0
        frames = self._frames[after:]
        if not frames:
            self._later(self._now_ns, lambda: self._nothing_there(ask.connection))
            return
        self._take(self._program.answered(ask.connection, 200))
        self._stream(ask.connection, connection, list(frames))

    def _nothing_there(self, number: int) -> None:
        self._take(self._program.answered(number, 204, ""))
        self._empty_answers += 1
        if self._empty_answers == PATIENCE:
            self._take(self._program.close())

    def _stream(self, number: int, connection: Connection, frames: list[bytes]) -> None:
        if frames:
            connection.write("server", self._now_ns, frames.pop(0))
            self._later(self._now_ns + GAP_NS, lambda: self._stream(number, connection, frames))
        else:
            connection.end("server", self._now_ns)
        self._deliver(number, connection)

    def _deliver(self, number: int, connection: Connection) -> None:
        for signal in connection.advance(self._now_ns):
            if signal.side != "client":
                continue
            if signal.kind == "bytes":
                self._take(self._program.received(number, signal.data))
            else:
                self._open.pop(number, None)
                self._take(self._program.ended(number, clean=signal.kind == "end"))
        due = connection.next_due_ns()
        if due is not None:
            self._later(due, lambda: self._deliver(number, connection))
