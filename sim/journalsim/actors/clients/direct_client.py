"""A client to which the server hands each frame itself, without a wire in between."""

from __future__ import annotations

from journalsim.actors.clients.backend import Backend
from journalsim.actors.clients.client import Client
from journalsim.contract.events.client_events import (
    ClientApplied,
    ClientAttached,
    ClientDetached,
    ClientDisconnected,
    ClientReloaded,
)
from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.engine.world import World
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.moves import Step, Travel


class DirectClient(Client):
    """One client whose frames arrive whole, in order, and each once."""

    def __init__(self, world: World, spec: ClientSpec, session: str, backend: Backend) -> None:
        super().__init__(world, spec, session, backend)
        self._attached = True
        self._connected = True

    # --- what the person does

    def _reload(self, step: Step) -> None:
        self._attached = self._connected = True
        self._read("reload", step.travel)

    def detach(self, step: Step) -> None:
        """The program stops watching, and the server notices after the latency of the link."""
        if self._attached:
            self._attached = False
            self._log.record(ClientDetached())
            self._link.request("detach", "", step.travel, lambda: self._backend.disconnected(self.session, self.name))

    def attach(self, step: Step) -> None:
        """The program watches again: it displays the frames from now on."""
        if not self._attached:
            self._attached = True
            self._log.record(ClientAttached())

    def hide(self, step: Step) -> None:
        """Does nothing: only a program on the wire notices."""

    def show(self, step: Step) -> None:
        """Does nothing: only a program on the wire notices."""

    def switch(self, step: Step) -> None:
        """Does nothing: this client has one session."""

    # --- the server comes and goes

    @property
    def connected(self) -> bool:
        """Returns False from the loss of the connection until the program reattaches."""
        return self._connected

    def lose_connection(self) -> None:
        """Breaks the connection: nothing more arrives until the program reattaches."""
        if self._connected:
            self._connected = False
            if self._attached:
                self._log.record(ClientDisconnected())

    def server_is_back(self) -> None:
        """Reattaches after the retry time, if the program does so by itself."""
        if not self._connected and self._spec.kind != "cli":
            self._world.scheduler.after(self._spec.retry_ns, f"person.{self.name}", self.reattach)

    def reattach(self) -> None:
        """Connects again and displays the history."""
        if self._connected:
            return
        self._connected = True
        if self._attached:
            self._log.record(ClientAttached())
            self._read("reattach", Travel())

    # --- what reaches the client

    def run_began(self, run: str) -> None:
        """Does nothing: the frames of the run come by themselves."""

    def frame(self, frame: Frame) -> None:
        """Sends the frame to the client, which applies it when it arrives."""
        if self._attached and self._connected:
            self._link.frame(lambda: self._apply(frame))

    def _apply(self, frame: Frame) -> None:
        if self._attached:
            self._learn(frame)
            with self._log.act("apply"):
                self._log.record(ClientApplied.of(frame, frame.event_id))

    def _read(self, reason: str, travel: Travel) -> None:
        self._link.request("read", "", travel, lambda: self._backend.read(self.session, reason, self._reloaded))

    def _reloaded(self, items: tuple[Item, ...]) -> None:
        self._link.answer(lambda: self._log.record(ClientReloaded(items=items)))
