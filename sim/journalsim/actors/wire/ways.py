"""Steps the connections of one client, and schedules the moment of their next event.

Status and headers of an answer travel beside the bytes, at their pace and before them.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from journalsim.actors.programs.program import Ask, Effects, Program, Reason
from journalsim.actors.wire.byte_link import ByteLink, Signal
from journalsim.actors.wire.exchange import Exchange
from journalsim.contract.events.event_record import EventRecord
from journalsim.contract.events.stream_events import LinkBroke, StreamOver
from journalsim.engine.entries import Entry
from journalsim.engine.world import World


@define(eq=False)
class Way:
    """A connection as its client knows it.

    Attributes:
        ask: the program's request.
        exchange: the request and its answer on the wire.
        head: arrival time, status and content type of the answer.
        timer: the scheduled next step of the connection.
        faults: the number of the connection's faults that are in the history.
    """

    ask: Ask
    exchange: Exchange
    head: tuple[int, int, str] | None = None
    timer: Entry | None = None
    timer_ns: int = 0
    faults: int = 0


@define(eq=False)
class Watch:
    """One program, from the moment that its page is opened until it is closed.

    Attributes:
        program: the program.
        ways: its connections by the number that the program gave them.
        forced: cursors to send instead of the program's own, for the next requests.
        gave_up: why the program will not reconnect by itself.
    """

    program: Program
    ways: dict[int, Way] = field(factory=dict)
    forced: list[str | None] = field(factory=list)
    gave_up: Reason | None = None


class Ways:
    """Steps the connections of one client.

    Args:
        world: the case's world.
        name: name of the client.
        link: the link between the client and the server.
        take: carries out the effects of a program.
    """

    def __init__(self, world: World, name: str, link: ByteLink, take: Callable[[Watch, Effects], None]) -> None:
        self._world = world
        self._name = name
        self._link = link
        self._take = take

    def hang_up(self, watch: Watch, number: int) -> None:
        """Ends a connection that the program leaves."""
        way = watch.ways.get(number)
        if way is not None:
            way.exchange.connection.end("client", self._world.now_ns())
            self.pump(watch, number)

    def answered(self, watch: Watch, number: int, status: int, content_type: str) -> None:
        """Takes status and headers that the server has sent."""
        way = watch.ways.get(number)
        if way is None:
            return  # the program has left; no reader remains
        if not way.exchange.connection.faults:
            way.head = (self._world.now_ns() + self._link.down.latency_ns, status, content_type)
        self.pump(watch, number)

    def pump(self, watch: Watch, number: int) -> None:
        """Schedules the next step of this connection, when something is due on it."""
        way = watch.ways.get(number)
        if way is None:
            return
        self._note_faults(way)
        dues = [way.head[0]] if way.head else []
        due = way.exchange.connection.next_due_ns()
        dues += [due] if due is not None else []
        if not dues:
            return
        due_ns = max(min(dues), self._world.now_ns())
        if way.timer is not None:
            if way.timer_ns <= due_ns:
                return
            way.timer.cancel()
        way.timer_ns = due_ns
        step = lambda: self._arrive(watch, number, way)  # noqa: E731 - another name would add nothing
        way.timer = self._world.scheduler.after(due_ns - self._world.now_ns(), f"link.{self._name}", step)

    def _note_faults(self, way: Way) -> None:
        faults = way.exchange.connection.faults
        for fault in faults[way.faults :]:
            self._record(LinkBroke(fault=fault.kind, direction=fault.direction, connection=way.exchange.number))
        way.faults = len(faults)

    def _arrive(self, watch: Watch, number: int, way: Way) -> None:
        way.timer = None
        now_ns = self._world.now_ns()
        if way.head is not None and way.head[0] <= now_ns:
            _, status, content_type = way.head
            way.head = None
            self._take(watch, watch.program.answered(number, status, content_type))
        for signal in way.exchange.connection.advance(now_ns):
            self._learn(watch, number, way, signal)
        self.pump(watch, number)
        if way.exchange.connection.over and way.head is None:
            watch.ways.pop(number, None)

    def _learn(self, watch: Watch, number: int, way: Way, signal: Signal) -> None:
        if signal.side == "server":
            what = "writable" if signal.kind == "writable" else "gone"
            if way.exchange.server is not None:
                way.exchange.server(what)
            way.exchange.gone = way.exchange.gone or what == "gone"
        elif signal.kind == "bytes":
            point = f"link.{self._name}#{self._world.number(f'link.{self._name}')}"
            self._world.passed(f"{point}.before")
            self._take(watch, watch.program.received(number, signal.data))
            self._world.passed(f"{point}.after")
        elif signal.kind != "writable":
            self._record(StreamOver(connection=way.exchange.number, clean=signal.kind == "end"))
            self._take(watch, watch.program.ended(number, clean=signal.kind == "end"))

    def _record(self, data: EventRecord) -> None:
        self._world.record(self._name, data)
