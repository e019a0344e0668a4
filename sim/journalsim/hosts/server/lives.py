"""The processes of a server, one after the other on the same folder: start, crash, shut down."""

from __future__ import annotations

import contextlib
from functools import partial

import trio

from journalsim.contract.adapters import RunnerAdapter
from journalsim.contract.events.server_events import ServerCrashed, ServerShutDown, ServerStarted
from journalsim.engine.entries import Killed
from journalsim.engine.world import World
from journalsim.hosts.cache_sizes import CacheSizes
from journalsim.hosts.machine import Machine
from journalsim.hosts.process import Process, leaves
from journalsim.hosts.process_ports import WorldPorts
from journalsim.hosts.server.relay import Relay
from journalsim.hosts.server.setup import Setup
from journalsim.hosts.server.verbs import Verbs
from journalsim.scenario.values.disk_fault import MEMORY


class Lives:
    """The life of one server.

    Args:
        world: the case's world.
        nursery: where the tasks of its processes live.
        setup: what each process is started with.
        machine: with the disk, if there is one.
        verbs: calls the adapter.
        relay: to its clients.

    Attributes:
        process: the one that is starting or up, if there is one.
        adapter: of the process that is up.
        cache: watches the sizes of the partial cache.
    """

    def __init__(
        self,
        world: World,
        nursery: trio.Nursery,
        setup: Setup,
        machine: Machine,
        verbs: Verbs,
        relay: Relay,
    ) -> None:
        self.process: Process | None = None
        self.adapter: RunnerAdapter | None = None
        self.cache = CacheSizes(world)
        self._hosted: RunnerAdapter | None = None  # also while it is being set up
        self._world = world
        self._nursery = nursery
        self._setup = setup
        self._machine = machine
        self._verbs = verbs
        self._relay = relay

    @property
    def up(self) -> bool:
        """Whether a process answers."""
        return self.process is not None and self.adapter is not None

    async def start(self) -> None:
        """Starts a process on the folder; does nothing if there is one."""
        if self.process is None and await self._set_up():
            self._world.record("server", ServerStarted(incarnation=self._world.number("server")))
            self._relay.server_is_back()

    def crash(self, lose: str = MEMORY) -> None:
        """Kills the process: memory and unfinished work are gone, what the store holds stays, but for ``lose``."""
        if self.process is not None:
            self._relay.runs.questions.clear()
            self._world.record("server", ServerCrashed(lose=None if lose == MEMORY else lose))
            self._kill(self.process, lose)
            self._relay.break_connections()

    async def start_again_unseen(self) -> RunnerAdapter | None:
        """Kills the process and starts another one; neither is an event of the case.

        Returns:
            The new adapter; None if there was no process, or if the new one did not start.
        """
        if self.process is None:
            return None
        self._kill(self.process, MEMORY)
        await self._set_up()
        return self.adapter

    def shut_down(self) -> None:
        """Ends the process in good order."""
        process, adapter = self.process, self.adapter
        if process is not None and adapter is not None:
            process.spawn("server.shutdown", partial(self._shut_down, process, adapter))

    def drop(self) -> None:
        """Lets go of the process of a case that is over: its files are closed, and nothing more is recorded."""
        hosted, self._hosted = self._hosted, None
        self._machine.drop()
        with contextlib.suppress(Exception):
            getattr(hosted, "crash", lambda: None)()

    # --- inside

    async def _set_up(self) -> bool:
        """Starts a process, and returns whether its adapter is set up."""
        self.process = process = Process(self._world, self._nursery)
        try:
            adapter = self._hosted = self._setup.factory()
            set_up = await self._verbs.succeeds("setup", adapter.setup, self._setup.where, self._ports(process))
            if set_up and process.alive:
                self.adapter = adapter
                return True
            if process is self.process and self._machine.failed:
                self._give_up(process)
        except BaseException as error:
            if not all(isinstance(leaf, Killed) for leaf in leaves(error)):
                raise
        return False

    def _ports(self, process: Process) -> WorldPorts:
        setup = self._setup
        return WorldPorts(
            self._world,
            process,
            setup.cast,
            setup.policies,
            setup.limits_ns,
            setup.store_latency_ns,
            self._relay.frame,
            lambda: self.cache.watch(self.adapter),
            self._machine.disk,
            self._machine.engine,
        )

    def _give_up(self, process: Process) -> None:
        """Ends a process that a failing disk did not let start; the next one may find the disk mended."""
        self.process = self._hosted = None
        self._machine.drop()
        process.kill()

    def _kill(self, process: Process, lose: str) -> None:
        adapter = self._hosted
        self.process = self.adapter = self._hosted = None
        self._machine.crash(lose)
        crash = getattr(adapter, "crash", None)
        if crash is not None:
            try:
                crash()
            except Exception as error:
                self._verbs.raised("crash", error)
        process.kill()

    async def _shut_down(self, process: Process, adapter: RunnerAdapter) -> None:
        if await self._verbs.succeeds("shutdown", adapter.shutdown) and process.alive:
            self.process = self.adapter = None
            self._world.record("server", ServerShutDown())
            self._relay.break_connections()
            process.kill()
