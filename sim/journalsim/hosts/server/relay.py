"""What goes from a server to its clients: frames, and the answers to their requests."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from journalsim.actors.clients.backend import Answer
from journalsim.actors.clients.client import Client
from journalsim.contract.events.client_events import Outcome
from journalsim.contract.events.server_events import FramePublished, RunEnded
from journalsim.contract.frames import Frame
from journalsim.engine.world import World
from journalsim.hosts.server.known_runs import KnownRuns


class Relay:
    """The clients of one server.

    Args:
        world: the case's world.
        runs: that the server knows.

    Attributes:
        clients: all of them.
        runs: that the server knows.
        silent: the case is over, and what a process publishes reaches nobody.
    """

    def __init__(self, world: World, runs: KnownRuns) -> None:
        self.clients: list[Client] = []
        self.silent = False
        self.runs = runs
        self._world = world
        self._record = partial(world.record, "server")
        self._open: dict[int, Callable[[], None]] = {}

    def frame(self, session: str, frame: Frame) -> None:
        """Records a frame and hands it to every client of its session."""
        if self.silent:
            return
        self._record(FramePublished.of(frame))
        self.runs.hear(frame)
        if frame.kind == "run.ended":
            self._record(RunEnded(run=frame.run_id, state=frame.state, cause=frame.cause))
        for client in self._of(session):
            client.frame(frame)

    def run_began(self, session: str, run: str) -> None:
        """Lets every client of a session hear that a run was accepted."""
        for client in self._of(session):
            client.run_began(run)

    def server_is_back(self) -> None:
        """Lets every client notice that a process is up."""
        for client in self.clients:
            client.server_is_back()

    def once(self, answer: Answer) -> Answer:
        """Returns an answer that is given once: by its caller, or as unknown if the connection breaks before."""
        number = self._world.number("serve")
        self._open[number] = lambda: answer("unknown", None, "the server went away")

        def answer_once(outcome: Outcome, run: str | None, reason: str) -> None:
            if self._open.pop(number, None) is not None:
                answer(outcome, run, reason)

        return answer_once

    def break_connections(self) -> None:
        """Breaks every connection: open requests stay unanswered, and nothing more reaches the clients."""
        lost, self._open = self._open, {}
        for lose in lost.values():
            lose()
        for client in self.clients:
            client.lose_connection()

    def _of(self, session: str) -> list[Client]:
        return [client for client in self.clients if client.session == session]
