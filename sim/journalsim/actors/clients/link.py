"""Carries requests from a client to the server, and frames and answers back.

A request is delayed, dropped or duplicated as its step scripts. Frames of one client stay in order under every
schedule, because they travel on one connection; requests do not, because each has a connection of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from journalsim.contract.events.stream_events import RequestDelivered, RequestLost
from journalsim.engine.world import World
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.moves import Travel


class Link:
    """The connection of one client."""

    def __init__(self, world: World, spec: ClientSpec) -> None:
        self._world = world
        self._spec = spec
        self._frames: deque[Callable[[], None]] = deque()

    def request(self, verb: str, key: str, travel: Travel, deliver: Callable[[], None]) -> None:
        """Sends a request to the server; ``deliver`` is called once, never, or twice."""
        if travel.lost:
            self._world.record(self._spec.name, RequestLost(verb=verb, key=key))
            return
        delays_ns = [self._spec.latency_ns + travel.late_ns]
        if travel.doubled:
            delays_ns.append(delays_ns[0] + travel.double_after_ns)
        for copy, delay_ns in enumerate(delays_ns, start=1):
            self._later(delay_ns, f"request.{self._spec.name}", self._delivery(verb, key, copy, deliver))

    def answer(self, arrive: Callable[[], None]) -> None:
        """Sends the answer of a request back to the client."""
        self._later(self._spec.latency_ns, f"answer.{self._spec.name}", arrive)

    def frame(self, arrive: Callable[[], None]) -> None:
        """Sends a frame to the client, behind every frame that was sent before."""
        self._frames.append(arrive)
        self._later(self._spec.latency_ns, f"link.{self._spec.name}", self._next_frame)

    def _next_frame(self) -> None:
        self._frames.popleft()()

    def _delivery(self, verb: str, key: str, copy: int, deliver: Callable[[], None]) -> Callable[[], None]:
        world, name = self._world, self._spec.name

        def step() -> None:
            point = f"request.{name}#{world.number(f'request.{name}')}"
            world.passed(f"{point}.before")
            world.record(name, RequestDelivered(verb=verb, key=key, copy=copy))
            deliver()
            world.passed(f"{point}.after")

        return step

    def _later(self, delay_ns: int, lane: str, step: Callable[[], None]) -> None:
        if delay_ns:
            self._world.scheduler.after(delay_ns, lane, step)
        else:
            self._world.scheduler.soon(lane, step)
