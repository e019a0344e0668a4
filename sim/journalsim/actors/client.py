"""Simulates a person and their client program.

The client knows only what it received: a run's id arrives with the answer to its send or with the first frame. A Stop
names a run, so the client latches a Stop that is pressed before the id is known, and sends it once the id arrives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from attrs import define, field

from journalsim.actors.link import Link
from journalsim.contract.events.client_events import (
    ClientAnswered,
    ClientApplied,
    ClientAttached,
    ClientDetached,
    ClientDisconnected,
    ClientReloaded,
    ClientSent,
    ClientTold,
    StopPressed,
    ViewAfter,
)
from journalsim.contract.events.event_record import EventRecord
from journalsim.contract.frames import Frame
from journalsim.contract.items import Item
from journalsim.engine.world import World
from journalsim.scenario.values.cast import ClientSpec
from journalsim.scenario.values.moves import Step, Travel


@define
class Sent:
    """One message that the person sent.

    Attributes:
        key: idempotency key.
        text: the words.
        label: label of the step.
        run: the run's id, once the client received it.
        latched: stop steps that wait for the run's id.
        refused: True if the server refused the message.
    """

    key: str
    text: str
    label: str
    run: str | None = None
    latched: list[Step] = field(factory=list)
    refused: bool = False


Outcome = Literal["ok", "failed", "unknown"]
Answer = Callable[[Outcome, str | None, str], None]


class Backend(Protocol):
    """The server as a client sees it; ``answer`` is called once, or never if the request is lost with the server."""

    def start(self, session: str, text: str, key: str, answer: Answer) -> None: ...

    def stop(self, session: str, run: str, step: Step, answer: Answer) -> None: ...

    def answer(self, session: str, run: str, step: Step, answer: Answer) -> None: ...

    def read(self, session: str, reason: str, answer: Callable[[tuple[Item, ...]], None]) -> None: ...

    def disconnected(self, session: str, client: str) -> None: ...


class Client:
    """One client; every method is a step of the scheduler or of the scenario."""

    def __init__(self, world: World, spec: ClientSpec, session: str, backend: Backend) -> None:
        self.name = spec.name
        self.session = session
        self.attached = True
        self.connected = True
        self._spec = spec
        self._world = world
        self._link = Link(world, spec)
        self._backend = backend
        self._sent: list[Sent] = []
        self._seen_run: str | None = None
        self._asked: dict[str, str] = {}

    # --- what the person does

    def send(self, step: Step, key: str) -> None:
        """Sends a message."""
        sent = Sent(key=key, text=step.text, label=step.label)
        self._sent.append(sent)
        self._submit(sent, step)

    def resubmit(self, step: Step) -> None:
        """Sends the same request again, under the same key, as a retrying browser does."""
        sent = self._find(step.of)
        if sent is not None:
            for _ in range(step.times):
                self._submit(sent, step)

    def stop(self, step: Step) -> None:
        """Presses Stop ``step.times`` times."""
        for _ in range(step.times):
            self._press_stop(step)

    def approve(self, step: Step) -> None:
        """Approves a tool call."""
        self._answer(step)

    def deny(self, step: Step) -> None:
        """Denies a tool call."""
        self._answer(step)

    def reload(self, step: Step) -> None:
        """Reloads the page ``step.times`` times; each reload displays the journal of that moment."""
        for _ in range(step.times):
            self._reload(step)

    def _reload(self, step: Step) -> None:
        point = self._before("reload")
        self.attached = self.connected = True
        self._link.request("read", "", step.travel, lambda: self._backend.read(self.session, "reload", self._reloaded))
        self._world.passed(f"{point}.after")

    def detach(self, step: Step) -> None:
        """Stops watching: the tab is closed or the network is gone."""
        if self.attached:
            self.attached = False
            self._record(ClientDetached())
            self._link.request("detach", "", step.travel, lambda: self._backend.disconnected(self.session, self.name))

    def attach(self, step: Step) -> None:
        """Begins to watch again, from now on."""
        if not self.attached:
            self.attached = True
            self._record(ClientAttached())

    def hide(self, step: Step) -> None:
        """Puts the tab into the background, which only a client on the wire notices."""

    def show(self, step: Step) -> None:
        """Brings the tab back to the front."""

    def switch(self, step: Step) -> None:
        """Opens another session; a client that is not on the wire has only one."""

    # --- the connection

    def lose_connection(self) -> None:
        """Breaks the connection because the server is gone; nothing more arrives until the client reattaches."""
        if self.connected:
            self.connected = False
            if self.attached:
                self._record(ClientDisconnected())

    def server_is_back(self) -> None:
        """Schedules a reattachment after the client's retry time, if the client reattaches by itself."""
        if not self.connected and self._spec.kind != "cli":
            self._world.scheduler.after(self._spec.retry_ns, f"person.{self.name}", self.reattach)

    def reattach(self) -> None:
        """Connects again and displays the items of the journal."""
        if self.connected:
            return
        self.connected = True
        if self.attached:
            self._record(ClientAttached())
            self._link.request(
                "read", "", Travel(), lambda: self._backend.read(self.session, "reattach", self._reloaded)
            )

    # --- incoming frames and answers

    def run_began(self, run: str) -> None:
        """Takes the news that a run began in the displayed session; its frames arrive by themselves."""

    def frame(self, frame: Frame) -> None:
        """Receives a frame from the server; the client applies it once the link has delivered it."""
        if self.attached and self.connected:
            self._link.frame(lambda: self._apply(frame))

    def _apply(self, frame: Frame) -> None:
        if not self.attached:
            return
        self._learn(frame)
        point = self._before("apply")
        self._record_applied(frame, frame.event_id)
        self._world.passed(f"{point}.after")

    def _learn(self, frame: Frame) -> None:
        """Remembers the ids that later actions need: the run that a Stop names, and the run of each question."""
        if frame.kind == "run.started":
            self._seen_run = frame.run_id
        if frame.kind == "approval.requested" and frame.call_id is not None:
            self._asked[frame.call_id] = frame.run_id

    def _record_applied(self, frame: Frame, event_id: str | None, view: ViewAfter | None = None) -> None:
        self._record(
            ClientApplied(
                run=frame.run_id,
                frame=frame.kind,
                message=frame.message_id,
                text=frame.text,
                reasoning=frame.reasoning,
                source=frame.source,
                call_id=frame.call_id,
                state=frame.state,
                event_id=event_id,
                view=view,
            )
        )

    def _reloaded(self, items: tuple[Item, ...]) -> None:
        self._link.answer(lambda: self._record(ClientReloaded(items=items)))

    def _told_start(self, sent: Sent, outcome: Outcome, run: str | None, reason: str) -> None:
        self._record(ClientTold(run=run, verb="start", key=sent.key, outcome=outcome, reason=reason))
        if run is not None:
            sent.run = run
            latched, sent.latched = sent.latched, []
            for step in latched:
                self._request_stop(step, run)
        elif outcome == "failed":
            sent.refused = True

    # --- inside

    def _submit(self, sent: Sent, step: Step) -> None:
        point = self._before(step.verb)
        self._record(ClientSent(key=sent.key, text=sent.text, session=self.session, label=sent.label))

        def answer(outcome: Outcome, run: str | None, reason: str) -> None:
            self._link.answer(lambda: self._told_start(sent, outcome, run, reason))

        def deliver() -> None:
            self._backend.start(self.session, sent.text, sent.key, answer)

        self._link.request("start", sent.key, step.travel, deliver)
        self._world.passed(f"{point}.after")

    def _press_stop(self, step: Step) -> None:
        point = self._before("stop")
        sent = self._find(step.of)
        run = sent.run if sent is not None else self._seen_run
        named = run if run is not None else (sent.key if sent is not None else None)
        self._record(StopPressed(run=run, named=named, mode=step.mode))
        if run is not None:
            self._request_stop(step, run)
        elif sent is not None and not sent.refused:
            sent.latched.append(step)
        self._world.passed(f"{point}.after")

    def _request_stop(self, step: Step, run: str) -> None:
        def answer(outcome: Outcome, run: str | None, reason: str) -> None:
            answered = ClientTold(run=run, verb="stop", key="", outcome=outcome, reason=reason)
            self._link.answer(lambda: self._record(answered))

        def deliver() -> None:
            self._backend.stop(self.session, run, step, answer)

        self._link.request("stop", run, step.travel, deliver)

    def _answer(self, step: Step) -> None:
        point = self._before(step.verb)
        sent = self._find(None)
        run = self._asked.get(step.call or "") or (sent.run if sent is not None else self._seen_run)
        self._record(ClientAnswered(run=run, call_id=step.call, approved=step.verb == "approve"))
        if run is not None:

            def answer(outcome: Outcome, run: str | None, reason: str) -> None:
                answered = ClientTold(run=run, verb="answer", key=step.call, outcome=outcome, reason=reason)
                self._link.answer(lambda: self._record(answered))

            def deliver() -> None:
                self._backend.answer(self.session, run, step, answer)

            self._link.request("answer", step.call or "", step.travel, deliver)
        self._world.passed(f"{point}.after")

    def _find(self, label: str | None) -> Sent | None:
        return next((sent for sent in reversed(self._sent) if label in (None, sent.label)), None)

    def _before(self, verb: str) -> str:
        point = f"{self.name}.{verb}#{self._world.number(f'{self.name}.{verb}')}"
        self._world.passed(f"{point}.before")
        return point

    def _record(self, data: EventRecord) -> None:
        self._world.record(self.name, data)
