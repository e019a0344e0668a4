"""The server under test as clients and the harness see it.

It hosts one process of the system at a time, and is put together from parts, by subject: the processes
(:mod:`.lives`), the runs that it knows (:mod:`.known_runs`), requests about runs (:mod:`.requests`), readers of
streams (:mod:`.readers`), the relay of frames and answers to clients (:mod:`.relay`), looks at its journal
(:mod:`.looking`), maintenance (:mod:`.maintenance`), and the verbs of the adapter (:mod:`.verbs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import trio

from journalsim.actors.clients.backend import Answer, ShowHistory
from journalsim.actors.clients.client import Client
from journalsim.actors.wire.exchange import Exchange
from journalsim.contract.items import Item
from journalsim.engine.world import World
from journalsim.hosts.machine import Machine
from journalsim.hosts.process import Process
from journalsim.hosts.server.answering import Requests
from journalsim.hosts.server.known_runs import KnownRuns
from journalsim.hosts.server.lives import Lives
from journalsim.hosts.server.looking import Looking
from journalsim.hosts.server.maintenance import Maintenance
from journalsim.hosts.server.readers import Readers
from journalsim.hosts.server.relay import Relay
from journalsim.hosts.server.setup import Setup
from journalsim.hosts.server.verbs import Verbs
from journalsim.scenario.values.moves import Step


class Server:
    """One server, through all its crashes and restarts.

    Args:
        world: the case's world.
        nursery: where its tasks live.
        setup: what each of its processes is started with.
        machine: with the disk, if there is one.
    """

    def __init__(self, world: World, nursery: trio.Nursery, setup: Setup, machine: Machine) -> None:
        self.machine = machine
        self._nursery = nursery
        self._runs = KnownRuns()
        self._relay = relay = Relay(world, self._runs)
        verbs = Verbs(world)
        self._lives = lives = Lives(world, nursery, setup, machine, verbs, relay)
        self._requests = Requests(world, lives, verbs, relay)
        self._readers = Readers(world, lives, verbs, self._runs, self._requests)
        self._looking = Looking(world, lives, verbs)
        self._maintenance = Maintenance(world, lives, verbs, self._looking)

    # --- the process

    @property
    def process(self) -> Process | None:
        """The process that is starting or up."""
        return self._lives.process

    @property
    def up(self) -> bool:
        """Whether a process answers."""
        return self._lives.up

    async def start_process(self) -> None:
        """Starts a process on the folder; does nothing if there is one."""
        await self._lives.start()

    async def repeat_recovery(self, sessions: Iterable[str]) -> None:
        """Kills the process at rest, starts it again, and records the history of each session then.

        Nobody watches any more: what the new process publishes reaches nobody, and the kill is no event of the case.
        """
        if self._lives.process is not None:
            self._relay.silent = True
            await self._looking.recovered(sessions)

    def drop(self) -> None:
        """Lets go of the process of a case that is over."""
        self._lives.drop()

    def take(self, step: Step) -> None:
        """Does a step of the author's: crash, restart, shutdown or maintenance."""
        if step.verb == "crash":
            self._lives.crash(step.lose)
        elif step.verb == "restart":
            self._nursery.start_soon(self._lives.start, name="server.restart")
        elif step.verb == "shutdown":
            self._lives.shut_down()
        else:
            self._maintenance.take(step)

    # --- runs and clients

    @property
    def clients(self) -> list[Client]:
        """Everybody who is connected to this server."""
        return self._relay.clients

    @clients.setter
    def clients(self, clients: list[Client]) -> None:
        self._relay.clients = clients

    @property
    def accepted(self) -> Mapping[str, str]:
        """The session of each run that was accepted, in order."""
        return self._runs.accepted

    @property
    def active(self) -> list[str]:
        """Runs that were accepted and whose end was not announced, oldest first."""
        return self._runs.active

    def running(self, session: str) -> bool:
        """Whether a run of the session has not ended."""
        return self._runs.running(session)

    @property
    def waits_for_people(self) -> list[str]:
        """What a person could still answer, as phrases; nothing while no process is up."""
        questions = self._runs.questions if self._lives.process is not None else ()
        return [f"an answer about {call}" for call in questions]

    # --- requests of clients

    def start(self, session: str, text: str, key: str, answer: Answer) -> None:
        """A client's message has arrived."""
        self._requests.start(session, text, key, answer)

    def stop(self, session: str, run: str, step: Step, answer: Answer) -> None:
        """A client's stop has arrived."""
        self._requests.stop(session, run, step, answer)

    def answer(self, session: str, run: str, step: Step, answer: Answer) -> None:
        """A client's approval or denial has arrived."""
        self._requests.answer(session, run, step, answer)

    def read(self, session: str, reason: str, answer: Callable[[tuple[Item, ...]], None]) -> None:
        """A client's request for the history has arrived."""
        self._looking.serve(session, reason, lambda items, _: answer(items), with_cursor=False)

    def read_with_cursor(self, session: str, reason: str, answer: ShowHistory) -> None:
        """A page's request for the history and for the cursor behind it has arrived."""
        self._looking.serve(session, reason, answer, with_cursor=True)

    def open_stream(self, exchange: Exchange) -> None:
        """A client's request for a stream has arrived, perhaps with a message to submit first."""
        self._readers.open_stream(exchange)

    def disconnected(self, session: str, client: str) -> None:
        """The server notices that a client is gone."""
        self._readers.disconnected(session, client)

    # --- looks of the harness

    async def read_items(self, session: str, reason: str) -> tuple[Item, ...] | None:
        """Records and returns the history of a session; None if no process answers, or if the adapter raised."""
        return await self._looking.read_items(session, reason)

    async def look(self, session: str) -> None:
        """Records what the model would be given next, if the adapter can say."""
        await self._looking.context(session)

    async def take_statistics(self) -> None:
        """Records the sizes of the partial cache, if the adapter can say."""
        await self._looking.statistics(quiet=not self._runs.active)
